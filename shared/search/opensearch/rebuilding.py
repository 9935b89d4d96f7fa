"""A new index beside the old one: written by all from its first moment, searched from its last."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from shared.search.opensearch.bulk import IndexGone, store, take_back
from shared.search.opensearch.connecting import WRITE_SECONDS, translated, unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from opensearchpy import OpenSearch

    from shared.search.opensearch.index import OpenSearchIndex
    from shared.search.port import Passage

GRACE_SECONDS: Final = 3 * WRITE_SECONDS
"""A write that looked for the indexes just before the new one was there has ended by then, with its retry."""


class OpenSearchRebuild:
    """The rebuild of one stack's index for one embedder."""

    def __init__(
        self, client: OpenSearch, index: OpenSearchIndex, *, shards: int, grace: float = GRACE_SECONDS
    ) -> None:
        self._client = client
        self._index = index
        self._shards = shards
        self._grace = grace
        self._new = ""

    def begin(self) -> str | None:
        """Make the new index, or go on with the one that was begun: then return the last mark that was noted."""
        there = self._index.there()
        begun = self._index.names.half_built(there)
        self._new = begun[-1] if begun else self._index.names.next_index(there)
        if not begun:
            self._index.create(self._new, searched=False, shards=self._shards)
        mark = self._mark()
        if mark is None:
            time.sleep(self._grace)
        return mark

    def put(self, passages: Sequence[Passage]) -> None:
        """Store passages in the new index; they are visible to whoever removes them from now on."""
        with self._there():
            store(self._client, [self._new], passages)

    def discard(self, passages: Sequence[Passage]) -> None:
        """Take back passages that were put."""
        with self._there():
            take_back(self._client, self._new, passages)

    def note(self, mark: str) -> None:
        """Keep how far the rebuild is, in the index itself."""
        with translated():
            self._client.indices.put_mapping(index=self._new, body={"_meta": {"mark": mark}})

    def finish(self) -> None:
        """Let the new index be searched and drop all others of the stack, in one step."""
        actions: list[dict[str, Any]] = [{"add": {"index": self._new, "alias": self._index.names.searched}}]
        actions += [{"remove_index": {"index": other}} for other in sorted(self._index.there()) if other != self._new]
        with translated():
            self._client.indices.update_aliases(body={"actions": actions}, params={"request_timeout": WRITE_SECONDS})
        self._index.note_made()

    @contextmanager
    def _there(self) -> Iterator[None]:
        try:
            yield
        except IndexGone as error:  # somebody dropped it
            raise unavailable() from error

    def _mark(self) -> str | None:
        with translated():
            answer = self._client.indices.get_mapping(index=self._new)
        mark: str | None = answer[self._new]["mappings"].get("_meta", {}).get("mark")
        return mark
