"""A file from the add to the search, and all that a reader of its status, its chunks and its memories sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from shared.documents.port import IMAGES
from shared.extraction.port import ExtractionFailed
from tests.memories.documents.desk import file, image, paragraphs
from tests.memories.fakes import SentenceExtractor

if TYPE_CHECKING:
    from tests.memories.documents.desk import Desk

RULES = "# Retries\n\nCedar callbacks allow three retries.\n\np. 2\n\n# Keys\n\nEach retry reuses its event_id."


def test_what_is_written_in_a_file_is_found(desk: Desk) -> None:
    told = desk.added(file(RULES, "Cedar rules.md"), metadata={"team": "blue"}, session_id="s1", agent_id="a1")
    assert (told["status"], told["phase"], told["kind"]) == ("success", "done", "document_add")
    assert told["memory"] == {"total": 2}
    (one,) = told["files"]
    assert (one["status"], one["revision"], one["chunks_done"], one["chunks_total"]) == ("success", 1, 2, 2)
    first, _ = desk.hits("retries of cedar callbacks", document_ids=[one["parser_id"]])
    assert first["memory"] == "Cedar callbacks allow three retries."
    assert (first["content_type"], first["session_id"], first["agent_id"]) == ("document", "s1", "a1")
    assert first["metadata"] == {
        "team": "blue",
        "memory_type": "semantic",
        "event_created_at": None,
        "document_id": one["document_id"],
        "filename": "Cedar rules.md",
        "revision": 1,
        "chunk_index": 0,
        "chunks": 2,
        "heading_path": ["Retries"],
    }
    (second,) = desk.hits("event_id")[:1]
    assert second["metadata"]["page"] == 2
    desk.check_nothing_is_left_over()


def test_a_chunk_is_found_by_its_files_name_and_its_heading(desk: Desk) -> None:
    desk.added(file("# Otters\n\nThey swim.\n\n# Cats\n\nThey sleep.", "zebra.md"))
    assert desk.found("otters", k_dense=0)[:1] == ["They swim."]
    assert set(desk.found("zebra", k_dense=0)) == {"They swim.", "They sleep."}


def test_chunks_are_found_in_every_mode_and_beside_conversations(desk: Desk) -> None:
    desk.added("I like cedar tea.", file("Cedar callbacks retry."))
    for mode in ("summary", "facts", "raw"):
        assert "Cedar callbacks retry." in desk.reader.texts("cedar callbacks", output_mode=mode)
    assert "I like cedar tea." in desk.reader.texts("cedar", output_mode="raw")
    assert desk.found("cedar tea", output_mode="raw") == ["Cedar callbacks retry."]


def test_a_file_stays_where_the_texts_beside_it_can_not_be_learnt_from(desk: Desk) -> None:
    with patch.object(SentenceExtractor, "extract", side_effect=ExtractionFailed("There are no facts in it.")):
        told = desk.added("I like cedar tea.", file("Cedar callbacks retry."))
    assert (told["status"], told["error"]["code"]) == ("failed", "extraction_failed")
    assert told["files"][0]["status"] == "success"
    assert desk.found("cedar callbacks") == ["Cedar callbacks retry."]


def test_only_the_documents_that_are_asked_for_are_searched(desk: Desk) -> None:
    one, other = (desk.added(file(f"Cedar {name}.", f"{name}.txt"))["files"][0] for name in ("one", "other"))
    assert desk.found("cedar", document_ids=[one["document_id"]]) == ["Cedar one."]
    assert desk.found("cedar", document_ids=[other["document_id"]]) == ["Cedar other."]
    assert desk.found("cedar", document_ids=["cedar-design"]) == []


def test_a_document_of_many_pieces_is_whole(desk: Desk) -> None:
    told = desk.added(file(paragraphs(2_010)))
    assert told["files"][0]["chunks_total"] == 2_010
    assert told["memory"] == {"total": 2_010}
    assert desk.found("cedar rule number 1999", k_dense=0)[0] == "The cedar rule number 1999 holds."
    assert len(desk.rows("m#")) == 2_010
    desk.check_nothing_is_left_over()


def test_progress_is_told_while_a_document_is_read_and_indexed(desk: Desk) -> None:
    task = desk.add(file(paragraphs(250)))
    seen: list[tuple[str, str, int, int | None]] = []

    def look() -> bool:
        told = desk.status(task)
        (one,) = told["files"]
        seen.append((told["status"], one["status"], one["chunks_done"], one["chunks_total"]))
        assert desk.found("cedar") == [], "nothing of it is found before all of it is"
        return False

    look()
    desk.read_one()
    look()
    desk.work_one(look)
    assert seen[0] == ("processing", "processing", 0, None)
    assert seen[1] == ("processing", "processing", 0, 250)
    assert ("processing", "processing", 80, 250) in seen
    desk.work()
    assert desk.status(task)["status"] == "success"
    assert desk.found("cedar rule number 7", k_dense=0)


def test_a_delivery_that_has_no_more_time_is_followed_by_one_that_goes_on(desk: Desk) -> None:
    task = desk.add(file(paragraphs(250)))
    desk.read_one()
    looks = iter([False, False, False, True])
    desk.work_one(lambda: next(looks))
    assert desk.job(task)["chunks_done"] == 80
    desk.show_hidden()
    desk.shelf.embedder.asked.clear()
    desk.work()
    assert desk.status(task)["files"][0]["chunks_done"] == 250
    assert len([text for text in desk.shelf.embedder.asked if "rule number" in text]) == 170


def test_one_bad_file_of_three_fails_alone(desk: Desk) -> None:
    told = desk.added(file("One.", "1.txt"), file("Two.\n\n!damaged", "2.txt"), file("Three.", "3.txt"))
    assert (told["status"], told["error"], told["memory"]) == ("success", None, {"total": 2})
    assert [one["status"] for one in told["files"]] == ["success", "failed", "success"]
    assert told["files"][1]["error"] == {"code": "damaged", "message": "It is damaged."}
    assert [one["file_index"] for one in told["files"]] == [0, 1, 2]
    assert sorted(desk.found("one two three", min_semantic_similarity=0)) == ["One.", "Three."]
    desk.check_nothing_is_left_over()


def test_a_task_fails_when_nothing_of_it_was_stored(desk: Desk) -> None:
    told = desk.added(file("!encrypted", "1.txt"), file("!damaged", "2.txt"))
    assert (told["status"], told["error"]["code"], told["memory"]) == ("failed", "files_failed", None)
    assert [one["error"]["code"] for one in told["files"]] == ["encrypted", "damaged"]
    assert desk.letters() == [], "to try again would not help"


def test_a_task_with_a_text_succeeds_though_its_file_fails(desk: Desk) -> None:
    told = desk.added("I like tea.", file("!encrypted"))
    assert told["status"] == "success"
    assert told["files"][0]["status"] == "failed"
    assert "I like tea." in desk.reader.texts("tea", output_mode="raw")


def test_a_file_without_text_fails_with_a_reason(desk: Desk) -> None:
    told = desk.added(file("  \n"))
    assert told["files"][0]["error"]["code"] == "no_text"


def test_the_same_file_again_makes_no_second_copy(desk: Desk) -> None:
    first = desk.added(file(RULES))["files"][0]
    told = desk.added(file(RULES))
    assert told["status"] == "success"
    again = told["files"][0]
    assert (again["document_id"], again["revision"]) == (first["document_id"], 1)
    assert (again["status"], again["chunks_done"], again["chunks_total"]) == ("success", 2, 2)
    assert len(desk.rows("m#")) == 2
    assert len(desk.parser.read) == 1, "it is not even read"
    assert told["memory"] == {"total": 0}


def test_other_content_under_the_same_name_is_another_revision(desk: Desk) -> None:
    first = desk.added(file("Cedar callbacks retry thrice.\n\nCedar keys."))["files"][0]
    second = desk.added(file("Cedar callbacks retry five times."))["files"][0]
    assert (second["document_id"], second["revision"]) == (first["document_id"], 2)
    assert desk.found("cedar callbacks retry") == ["Cedar callbacks retry five times."]
    assert desk.hits("cedar")[0]["metadata"]["revision"] == 2
    desk.check_nothing_is_left_over()
    assert len(desk.rows("m#")) == 1


def test_the_same_file_twice_in_one_add_is_one_document(desk: Desk) -> None:
    told = desk.added(file("Cedar."), file("Cedar."))
    assert [one["status"] for one in told["files"]] == ["success", "success"]
    assert told["memory"] == {"total": 1}
    assert desk.found("cedar") == ["Cedar."]
    desk.check_nothing_is_left_over()


def test_a_picture_file_is_read_by_the_model_that_sees(desk: Desk) -> None:
    desk.seer.sees = "# Menu\n\nCedar soup."
    for extension in sorted(IMAGES):
        told = desk.added(file(f"pixels {extension}", f"menu.{extension}"))
        assert told["files"][0]["status"] == "success"
    assert desk.parser.read == ["md"] * len(IMAGES)
    assert set(desk.found("cedar soup")) == {"Cedar soup."}


def test_a_captioned_image_is_a_memory(desk: Desk) -> None:
    told = desk.added("Look.", image("A cedar at the lake."), content_type="work")
    assert (told["status"], told["memory"]["total"]) == ("success", 2 + _facts(desk))
    (hit,) = [h for h in desk.reader.hits("cedar lake") if h["memory"] == "A cedar at the lake."]
    assert (hit["content_type"], told["images"][0]["status"]) == ("dialogue", "success")
    assert hit["metadata"]["document_id"] == told["images"][0]["document_id"]
    assert desk.seer.asked == []
    for mode in ("summary", "facts", "raw"):
        assert "A cedar at the lake." in desk.reader.texts("cedar lake", output_mode=mode)


def test_an_image_is_something_said_and_no_document_to_search_in(desk: Desk) -> None:
    told = desk.added(image("A cedar at the lake."), file("A cedar by the sea."), content_type="work")
    assert desk.found("cedar", sources=["dialogue"]) == ["A cedar at the lake."]
    assert desk.found("cedar", sources=["document"]) == ["A cedar by the sea."]
    assert desk.found("cedar", sources=["document"], document_ids=[told["images"][0]["parser_id"]]) == []


def _facts(desk: Desk) -> int:
    return len([row for row in desk.rows("m#") if row["kind"] != "raw"])


def test_an_image_without_a_caption_is_told_of_by_the_model(desk: Desk) -> None:
    told = desk.added(image(detail="high"), content_type="work")
    assert (told["status"], told["memory"]["total"]) == ("success", 1)
    assert desk.seer.asked == [("caption", "png", "high", "en")]
    assert desk.reader.texts("red cedar") == ["A red cedar beside a lake."]
    assert "caption" not in desk.job(told["task_id"]), "its words are in the memory alone"


def test_an_image_that_comes_again_without_a_caption_is_not_described_again(desk: Desk) -> None:
    desk.added(image(), content_type="work")
    desk.seer.sees = "Something else."
    told = desk.added(image(), content_type="work")
    assert (told["status"], told["images"][0]["status"], told["images"][0]["revision"]) == ("success", "success", 1)
    assert len(desk.seer.asked) == 1
    assert desk.reader.texts("red cedar") == ["A red cedar beside a lake."]


def test_the_same_image_again_is_one_memory_and_another_caption_another(desk: Desk) -> None:
    for _ in range(2):
        desk.added(image("A cedar."), content_type="work")
    assert desk.reader.texts("cedar") == ["A cedar."]
    desk.added(image("A red cedar."), content_type="work")
    assert sorted(desk.reader.texts("cedar")) == ["A cedar.", "A red cedar."]
    desk.check_nothing_is_left_over()


def test_adds_of_a_user_go_on_while_a_big_document_is_read_and_indexed(desk: Desk) -> None:
    big = desk.add(file(paragraphs(450)))
    put = desk.shelf.index.index.put

    def slow(passages: Any) -> None:
        put(passages)
        desk.shelf.clock.move(ms=8_000)

    with patch.object(desk.shelf.index.index, "put", slow):
        desk.read_one()
        small = desk.add("I like tea.")
        while desk.status(small)["status"] == "processing":
            assert desk.step()
    assert desk.status(big)["status"] == "processing"
    assert "I like tea." in desk.reader.texts("tea", output_mode="raw")
    desk.work()
    assert desk.status(big)["status"] == "success"


def test_what_is_being_indexed_takes_nobodys_place_in_a_search(desk: Desk) -> None:
    desk.added(file("A cedar rule holds.", "small.txt"))
    desk.add(file(paragraphs(300)))
    desk.read_one()
    looks = iter([False] * 6 + [True])
    desk.work_one(lambda: next(looks))
    assert len(desk.indexed()) > 150
    assert desk.found("cedar rule number", top_k=5) == ["A cedar rule holds."]
