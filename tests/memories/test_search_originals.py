"""Original texts in place of summaries (`return_raw_text`), long texts, and answers that would be too large."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from tests.memories.shelf import shelf_world

if TYPE_CHECKING:
    from tests.memories.shelf import Reader, Shelf

LONG = "Cedar callbacks. " + "A long line of many words.\n" * 2_000


def test_a_summary_is_shown_as_the_messages_it_came_from(shelf: Shelf, reader: Reader) -> None:
    task = str(uuid.uuid4())
    said = ["Cedar retries thrice.", "Understood.", LONG]
    for position, text in enumerate(said):
        shelf.put(text, task=task, number=position)
    shelf.put("Cedar: three retries.", kind="summary", task=task, positions=[0, 1, 2])
    (hit,) = reader.hits("cedar retries", return_raw_text=True)
    assert hit["memory"] == "\n".join(said)
    assert "raw_text_missing" not in hit["metadata"]
    assert reader.texts("cedar retries") == ["Cedar: three retries."]
    assert shelf.index.calls.count("search") == 2


def test_a_summary_without_its_messages_says_so(shelf: Shelf, reader: Reader) -> None:
    shelf.put("Cedar: three retries.", kind="summary", positions=[0])
    (hit,) = reader.hits("cedar retries", return_raw_text=True)
    assert hit["memory"] == "Cedar: three retries."
    assert hit["metadata"]["raw_text_missing"] is True


def test_what_is_left_of_the_messages_is_shown(shelf: Shelf, reader: Reader) -> None:
    task = str(uuid.uuid4())
    kept, gone = (shelf.put(f"Cedar line {n}.", task=task, number=n) for n in range(2))
    shelf.put("Cedar lines.", kind="summary", task=task, positions=[0, 1])
    assert reader.forget(gone).status == 200
    (hit,) = reader.hits("cedar", return_raw_text=True)
    assert hit["memory"] == "Cedar line 0."
    assert reader.forget(kept).status == 200
    (hit,) = reader.hits("cedar", return_raw_text=True)
    assert hit["metadata"]["raw_text_missing"] is True


def test_verbatim_memories_are_their_own_original_and_other_modes_ignore_the_wish(shelf: Shelf, reader: Reader) -> None:
    shelf.put("Cedar, verbatim.", modes=["summary", "facts", "raw"])
    shelf.put("Cedar is a fact.", kind="fact")
    (hit,) = reader.hits("cedar", return_raw_text=True)
    assert hit["memory"] == "Cedar, verbatim."
    assert "raw_text_missing" not in hit["metadata"]
    for mode in ("facts", "raw"):
        hits = reader.hits("cedar", output_mode=mode, return_raw_text=True)
        assert hits
        assert all("raw_text_missing" not in hit["metadata"] for hit in hits)


def test_a_long_text_is_found_and_shown_whole(shelf: Shelf, reader: Reader) -> None:
    shelf.put(LONG)
    assert reader.texts("cedar callbacks", output_mode="raw") == [LONG]


def test_an_answer_that_would_be_too_large_asks_for_fewer() -> None:
    with shelf_world(settings={"MEMORY_LIMIT_ANSWER_BYTES": "120000"}) as shelf:
        reader = shelf.client()
        task = str(uuid.uuid4())
        for number in range(3):
            shelf.put(f"{number} {LONG}", task=task, number=number)
        shelf.put("Cedar lines.", kind="summary", task=task, positions=[0, 1, 2])
        for answer in (
            reader.search("cedar callbacks", output_mode="raw"),
            reader.search("cedar", return_raw_text=True),
        ):
            assert answer.status == 413
            assert answer.json["success"] is False
            assert "fewer" in answer.json["error"]["message"]
        assert len(reader.hits("cedar callbacks", output_mode="raw", top_k=1, k_dense=0)) == 1
