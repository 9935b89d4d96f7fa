"""What is left of what is gone: no word of it in a row or an object, no passage of it in the index."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

from shared.search.embedded.file import OwnerFile
from tests.soak.actors import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.clients.whole import Whole
    from tests.soak.actors import Actor
    from tests.soak.history import History


def hold_words(stack: Whole, actors: Sequence[Actor], history: History) -> None:
    """Look for each word that was deleted, replaced or refused in all that is stored."""
    places: dict[str, list[str]] = {}
    for place, text in _stored(stack):
        for word in words_in(text):
            places.setdefault(word, []).append(place)
    for actor in actors:
        for word in sorted(actor.gone()):
            told = (actor.name, word, places.get(word))
            history.hold("what was deleted, replaced or refused is stored nowhere", holds=word not in places, told=told)


def hold_payloads(stack: Whole, history: History) -> None:
    """Look at the adds that have succeeded: what they were told is kept as memories, and nowhere else."""
    for row in stack.items():
        if row["pk"]["S"].startswith("W#") and row["sk"]["S"] == "task" and row["status"]["S"] == "success":
            told = (row["pk"]["S"], row.get("object"))
            history.hold("an add that has succeeded keeps no payload", holds="object" not in row, told=told)


def hold_index(stack: Whole, folder: Path, history: History) -> None:
    """Hold the index to the records: what it has of a memory is of the revision that the memory's row has."""
    rows = {row["sk"]["S"].removeprefix("m#"): int(row["revision"]["N"]) for row in stack.items() if _is_memory(row)}
    left = sorted(state for state in _indexed(folder) if rows.get(state[0]) != state[1])
    history.hold("every passage in the index has its record", holds=not left, told=left[:10])


def _is_memory(row: dict[str, dict[str, str]]) -> bool:
    return row["pk"]["S"].startswith("L#") and row["sk"]["S"].startswith("m#")


def _stored(stack: Whole) -> Iterator[tuple[str, str]]:
    """Yield where something is stored, and what is."""
    for row in stack.items():
        yield f"{row['pk']['S']} {row['sk']['S']}", json.dumps(row)
    bucket = str(stack.stack.outputs["BucketName"])
    for key in stack.object_keys():
        yield key, stack.aws.s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode("utf-8", "replace")


def _indexed(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield each state of a memory of which the index has a passage."""
    for path in folder.glob("*/*.sqlite"):
        with closing(OwnerFile(path)) as file, file.reading():
            yield from {(memory, revision) for _, memory, revision, *_ in file.added_after(0)}
