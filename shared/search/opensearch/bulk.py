"""Writing passages: in batches, each stored in every index that takes writes, and searchable, or not taken as done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from shared.search.opensearch.connecting import WRITE_SECONDS, translated, unavailable
from shared.search.opensearch.mapping import digest, document
from shared.search.opensearch.names import writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from opensearchpy import OpenSearch

    from shared.search.port import Passage

BATCH: Final = 200
"""Passages a request: of 1,024 numbers each about 3 MB; small domains take 10 MiB."""


class IndexGone(Exception):
    """An index was dropped between looking and writing: a rebuild has just switched to its successor."""


def store(client: OpenSearch, indexes: Sequence[str], passages: Sequence[Passage], *, refresh: bool = True) -> None:
    """Store passages in all of the indexes (at least one); when it returns they are searchable, if `refresh`.

    Raises:
        IndexGone: one of the indexes is not there.
        Unavailable: at least one passage is not stored.
    """
    for start in range(0, len(passages), BATCH):
        lines = list(_lines(indexes, passages[start : start + BATCH]))
        options: Any = {"refresh": "true" if refresh else "false", "require_alias": "true", "timeout": "5s"}
        with translated():
            answer = client.bulk(
                body=lines, index=writing(indexes[0]), params=options | {"request_timeout": WRITE_SECONDS}
            )
        _check(answer)


def _lines(indexes: Sequence[str], passages: Sequence[Passage]) -> Iterator[dict[str, Any]]:
    for passage in passages:
        made = document(passage)
        for index in indexes:
            yield {"index": {"_index": writing(index), "_id": passage.id, "routing": digest(passage.owner)}}
            yield made


def _check(answer: Any) -> None:
    if not answer["errors"]:
        return
    failed = {item["index"]["status"] for item in answer["items"] if item["index"]["status"] >= 300}
    if 404 in failed:
        raise IndexGone
    raise unavailable(busy=429 in failed)
