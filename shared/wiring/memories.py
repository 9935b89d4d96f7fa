"""Memories, composed: what their functions work with, made once a process and only when it is asked for."""

from __future__ import annotations

import threading
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from shared.aws.objects import Objects
from shared.aws.queue import Queue
from shared.aws.table import Table
from shared.kernel.errors import Unavailable
from shared.memories.backing import Backing
from shared.wiring.environment import Environment
from shared.wiring.models import captions, check_models, decider_of, embedder_of, extractor_of, reads_pictures
from shared.wiring.tenancy import tenancy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.clients import Aws
    from shared.aws.items import Key
    from shared.extraction.port import Decider, Extractor
    from shared.kernel.clock import Clock
    from shared.memories.means import Means
    from shared.models.port import Embedder
    from shared.search.port import SearchIndex
    from shared.wiring.tenancy import Tenancy

SURFACE = "memories"


class SearchIsOff(Unavailable):
    """This deployment has no search, and memories are nothing without it."""

    def __init__(self) -> None:
        super().__init__(
            "Search is switched off in this deployment, and memories with it.",
            retry_after=3600,
            code="search_off",
            hint="Deploy with SearchBackend=domain (or existing, with SearchEndpoint).",
        )


class Memories:
    """One deployment's memories. Index and models are built at their first use, and shared by all of a process."""

    def __init__(self, environ: Mapping[str, str], aws: Aws, clock: Clock) -> None:
        self.environ = environ
        self.environment = Environment.of(environ)
        check_models(environ)
        self.callers: Tenancy = tenancy(self.environment, aws, clock)
        self.quotas = self.callers.quotas
        self._aws = aws
        self._clock = clock

    @property
    def is_on(self) -> bool:
        """Tell whether there is an index."""
        return self.environment.search_backend != "none"

    @property
    def reads_documents(self) -> bool:
        """Tell whether files are read here."""
        return self.environment.documents == "on" and bool(self.environment.documents_queue_url)

    @property
    def reads_pictures(self) -> bool:
        """Tell whether text is read off pictures."""
        return reads_pictures(self.environ)

    @property
    def describes_images(self) -> bool:
        """Tell whether there is a model that says what images show."""
        return captions(self.environ)

    @cached_property
    def backing(self) -> Backing:
        """The stores and the queues."""
        documents = self.environment.documents_queue_url
        return Backing(
            Table(self._aws, self.environment.table_name),
            Objects(self._aws, self.environment.bucket_name),
            self._clock,
            partial(self.callers.meter.note, surface=SURFACE),
            queue=Queue(self._aws, self.environment.queue_url),
            documents_queue=Queue(self._aws, documents) if documents else None,
        )

    @property
    def embedder(self) -> Embedder:
        """The embedder that `EMBEDDER` names; its weights are read once a process."""
        with _building:
            return _embedder(self._of_models)

    @property
    def index(self) -> SearchIndex:
        """The index that `SEARCH_BACKEND` names, one a process.

        Raises:
            SearchIsOff: it names none.
            IndexMismatch: the index was made for another embedder.
        """
        if not self.is_on:
            raise SearchIsOff
        embedder = self.embedder
        if self.environment.search_backend == "embedded":
            with _building:
                return _embedded_index(self.environment.index_folder, embedder.name, embedder.dimension)
        with _building:
            return self._domain

    @property
    def means(self) -> Means:
        """What the work on an Add is done with.

        Raises:
            SearchIsOff: there is no index.
            IndexMismatch: the index was made for another embedder.
        """
        from shared.memories.means import Means  # noqa: PLC0415 - with all that learning brings

        with _building:
            extractor, decider = _learning(self._of_models)
            return Means(self.backing, self.index, self.embedder, extractor, decider)

    @property
    def dead_letters(self) -> Queue:
        """The queue of what could not be done."""
        return Queue(self._aws, self.environment.dead_letter_queue_url)

    def run(self, key: Key) -> None:
        """Do an add task here and now.

        Raises:
            Unavailable: it can't even begin.
        """
        from shared.memories.work import Worker  # noqa: PLC0415 - with all that learning brings

        Worker(self.means).run(key)

    @cached_property
    def _of_models(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(item for item in self.environ.items() if item[0].startswith(_OF_MODELS)))

    @cached_property
    def _domain(self) -> SearchIndex:
        from shared.wiring.search import client_of, opensearch_index  # noqa: PLC0415 - the local run does without it

        client = client_of(self.environment.search_endpoint)
        index = opensearch_index(client, self.backing.table, self.embedder)
        index.ensure()
        return index


_building = threading.RLock()
_OF_MODELS = ("EMBEDDER", "EXTRACTOR", "VISION", "BEDROCK", "AWS_")
"""What the names of variables that models depend on begin with."""


@lru_cache(maxsize=4)
def _embedder(environ: tuple[tuple[str, str], ...]) -> Embedder:
    return embedder_of(dict(environ))


@lru_cache(maxsize=4)
def _learning(environ: tuple[tuple[str, str], ...]) -> tuple[Extractor, Decider]:
    return extractor_of(dict(environ)), decider_of(dict(environ))


@lru_cache(maxsize=16)
def _embedded_index(folder: str, embedder: str, dimension: int) -> SearchIndex:
    from shared.search.embedded.index import EmbeddedIndex  # noqa: PLC0415 - a deployment does without it

    index = EmbeddedIndex(Path(folder), embedder, dimension)
    index.ensure()
    return index
