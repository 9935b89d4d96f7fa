"""Indexes for tests on a real node: each of its own stack, gone at the end."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

from shared.search.opensearch.connecting import connect
from shared.search.opensearch.index import OpenSearchIndex
from shared.search.opensearch.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opensearchpy import OpenSearch

    from shared.search.port import SearchIndex


class Memo:
    """A ledger that forgets with the process."""

    made = False

    def tells(self) -> bool:
        return self.made

    def note(self) -> None:
        self.made = True


@contextmanager
def opensearch_index(endpoint: str, dimension: int, name: str) -> Iterator[SearchIndex]:
    """Yield a fresh empty index."""
    with connection(endpoint) as (client, names):
        index = OpenSearchIndex(client, Names(names.prefix, name, dimension), Memo())
        index.ensure()
        yield index


@contextmanager
def connection(endpoint: str, dimension: int = 4) -> Iterator[tuple[OpenSearch, Names]]:
    """Yield a client and the names of a stack that has nothing yet; what it has at the end is dropped."""
    names = Names(f"lodestore.test-{uuid4().hex}", "test", dimension)
    client = connect(endpoint)
    try:
        yield client, names
    finally:
        there = client.indices.get_alias(index=names.prefix, params={"ignore": (404,)})
        for index in there if "error" not in there else ():
            client.indices.delete(index=index)
        client.close()
