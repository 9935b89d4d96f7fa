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
"""Lines a request: of 1,024 numbers and much text each they are 3 to 6 MB; small domains take 10 MiB."""


_THERE = 409


class IndexGone(Exception):
    """An index was dropped between looking and writing: a rebuild has just switched to its successor."""


def store(client: OpenSearch, indexes: Sequence[str], passages: Sequence[Passage]) -> None:
    """Store passages in all of the indexes (at least one); they are searchable when it returns.

    Raises:
        IndexGone: one of the indexes is not there.
        Unavailable: at least one passage is not stored.
    """
    size = max(1, BATCH // len(indexes))  # while a rebuild goes on, each passage is in a request twice
    batches = [passages[start : start + size] for start in range(0, len(passages), size)]
    for batch in batches:
        # A refresh makes a segment, and merging many small ones is what vectors cost most: so one for all.
        _send(client, indexes[0], list(_lines(indexes, batch)), refresh=len(batches) == 1)
    if len(batches) > 1:
        with translated():
            names = ",".join(writing(index) for index in indexes)
            client.indices.refresh(index=names, params={"request_timeout": WRITE_SECONDS})


def take_back(client: OpenSearch, index: str, passages: Sequence[Passage]) -> None:
    """Remove passages by their ids from one index; those that are not there are fine.

    Raises:
        Unavailable: at least one may still be there.
    """
    for start in range(0, len(passages), BATCH):
        lines = [{"delete": _place(index, passage)} for passage in passages[start : start + BATCH]]
        _send(client, index, lines, refresh=True)


def _send(client: OpenSearch, index: str, lines: list[dict[str, Any]], *, refresh: bool) -> None:
    options: Any = {
        "refresh": str(refresh).lower(),
        "require_alias": "true",
        "timeout": "5s",
        "request_timeout": WRITE_SECONDS,
    }
    with translated():
        answer = client.bulk(body=lines, index=writing(index), params=options)
    _check(answer)


def _lines(indexes: Sequence[str], passages: Sequence[Passage]) -> Iterator[dict[str, Any]]:
    for passage in passages:
        made = document(passage)
        for index in indexes:
            # A passage never changes. Writing it again would leave a deleted one behind, which counts in every score.
            yield {"create": _place(index, passage)}
            yield made


def _place(index: str, passage: Passage) -> dict[str, str]:
    return {"_index": writing(index), "_id": passage.id, "routing": digest(passage.owner)}


def _check(answer: Any) -> None:
    """Raise what the lines of an answer say together: one that failed is the whole that failed."""
    if not answer["errors"]:
        return
    failed = {status for item in answer["items"] for status in _failures(item)}
    if 404 in failed:
        raise IndexGone
    if failed:
        raise unavailable(busy=429 in failed)


def _failures(item: dict[str, Any]) -> Iterator[int]:
    """Yield the status of a line that failed; a passage that is there already has not."""
    for action, told in item.items():
        if "error" in told and (action, told["status"]) != ("create", _THERE):
            yield told["status"]
