"""A new index beside the old one: written by all from its first moment, searched from its last."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from shared.search.opensearch.bulk import IndexGone, store, take_back
from shared.search.opensearch.connecting import WRITE_SECONDS, translated, unavailable
from shared.search.opensearch.names import writing

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
        names = self._index.names
        begun = names.half_built(there)
        self._new = begun[-1] if begun else names.next_index(there)
        if not begun:
            self._index.create(self._new, self._shards)
        # Only now do others see it: until it can be used, they would be refused.
        self._change([_add(self._new, names.prefix), _add(self._new, writing(self._new))])
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
        """Let the new index be searched from one moment to the next, then drop all others of the stack."""
        names, there = self._index.names, self._index.there()
        others = sorted(there.keys() - {self._new})
        left = [(index, alias) for index in others for alias in there[index] & {names.searched, writing(index)}]
        self._change([_add(self._new, names.searched), *(_remove(*one) for one in left)])
        self._index.note_made()
        if others:
            time.sleep(self._grace)  # who looked for the indexes just before may still work with the old one
            self._change([{"remove_index": {"index": index}} for index in others])

    def _change(self, actions: list[dict[str, Any]]) -> None:
        with translated():
            self._client.indices.update_aliases(body={"actions": actions}, params={"request_timeout": WRITE_SECONDS})

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


def _add(index: str, alias: str) -> dict[str, Any]:
    return {"add": {"index": index, "alias": alias}}


def _remove(index: str, alias: str) -> dict[str, Any]:
    return {"remove": {"index": index, "alias": alias}}
