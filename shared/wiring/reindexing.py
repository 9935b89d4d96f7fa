"""A rebuild of the search index, composed for whichever index the environment names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shared.aws.objects import Objects
from shared.aws.table import Table
from shared.memories.reindexing import Reindexing
from shared.search.opensearch.index import SHARDS
from shared.search.opensearch.rebuilding import GRACE_SECONDS
from shared.wiring.environment import Environment
from shared.wiring.models import embedder_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.clients import Aws
    from shared.models.port import Embedder
    from shared.search.port import Rebuild


def reindexing(
    environ: Mapping[str, str], aws: Aws, *, shards: int = SHARDS, grace: float = GRACE_SECONDS
) -> Reindexing:
    """Return the rebuild of a stack's index; `grace` is in seconds, 0 where nobody writes.

    Raises:
        EnvironmentInvalid: a variable is missing or wrong, or there is no search.
    """
    environment = Environment.of(environ)
    embedder = embedder_of(environ)
    table = Table(aws, environment.table_name)
    if environment.search_backend == "embedded":
        rebuild = _embedded(environment, embedder)
    else:
        rebuild = _opensearch(environment, table, embedder, shards=shards, grace=grace)
    return Reindexing(table, Objects(aws, environment.bucket_name), embedder, rebuild=rebuild)


def _embedded(environment: Environment, embedder: Embedder) -> Rebuild:
    from shared.search.embedded.rebuilding import EmbeddedRebuild  # noqa: PLC0415 - brings numpy

    return EmbeddedRebuild(Path(environment.index_folder), embedder.name, embedder.dimension)


def _opensearch(environment: Environment, table: Table, embedder: Embedder, *, shards: int, grace: float) -> Rebuild:
    from shared.search.opensearch.rebuilding import OpenSearchRebuild  # noqa: PLC0415
    from shared.wiring.search import client_of, opensearch_index  # noqa: PLC0415

    client = client_of(environment.search_endpoint)
    index = opensearch_index(client, table, embedder)
    return OpenSearchRebuild(client, index, shards=shards, grace=grace)
