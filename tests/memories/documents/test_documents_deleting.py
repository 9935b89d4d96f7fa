"""What was made of a file goes with it, chunk by chunk or at once, whatever is at work on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.memories.documents.desk import file, image, paragraphs
from tests.memories.shelf import ROOT

if TYPE_CHECKING:
    from tests.memories.documents.desk import Desk


def delete_file(desk: Desk, file_id: str) -> dict[str, Any]:
    answer = desk.reader.delete(f"/v1/files/{file_id}")
    assert answer.status in {200, 202}, answer.content
    told: dict[str, Any] = answer.json["data"]
    return told


def test_a_deleted_file_is_found_no_more_at_once_and_gone_soon(desk: Desk) -> None:
    one = desk.added(file(paragraphs(60)))["files"][0]
    chunk = desk.hits("cedar rule")[0]["id"]
    told = delete_file(desk, one["file_id"])
    assert desk.found("cedar rule") == []
    assert desk.reader.listed(desk.user) == []
    assert [desk.reader.memory(chunk).status, desk.reader.history(chunk).status] == [404, 404]
    assert desk.reader.change(chunk, memory="Other.").status == 404
    desk.work()
    receipt = desk.reader.receipt(told["task_id"])
    assert (receipt["status"], receipt["removed"]["index"]) == ("success", 60)
    desk.check_nothing_is_left_over()
    assert desk.rows("m#") == []
    assert desk.rows("u#") == []


def test_a_file_that_was_deleted_can_be_added_again(desk: Desk) -> None:
    one = desk.added(file("Cedar."))["files"][0]
    delete_file(desk, one["file_id"])
    desk.work()
    again = desk.added(file("Cedar."))["files"][0]
    assert (again["document_id"], again["revision"]) == (one["document_id"], 1)
    assert desk.found("cedar") == ["Cedar."]
    desk.check_nothing_is_left_over()


def test_a_chunk_is_deleted_alone(desk: Desk) -> None:
    desk.added(file("Cedar one.\n\nCedar two."))
    (one,) = [hit["id"] for hit in desk.hits("cedar") if hit["memory"] == "Cedar one."]
    answer = desk.reader.forget(one)
    assert answer.json["data"] == {"id": one, "deleted": [one]}
    assert desk.found("cedar") == ["Cedar two."]
    assert desk.reader.memory(one).status == 404
    desk.check_nothing_is_left_over()


def test_a_chunk_goes_with_its_whole_file_when_its_source_is_to_go(desk: Desk) -> None:
    desk.added("I like tea.", file("Cedar one.\n\nCedar two."))
    one = desk.hits("cedar")[0]["id"]
    told = desk.reader.forget(one, "scope=source").json["data"]
    assert told["deleted"] == [one]
    assert desk.found("cedar") == []
    desk.work()
    assert desk.reader.receipt(told["erasures"][0])["status"] == "success"
    assert "I like tea." in desk.reader.texts("tea", output_mode="raw")
    desk.check_nothing_is_left_over()
    assert desk.rows("u#") == []


def test_a_memory_goes_with_the_files_of_its_message_when_its_source_is_to_go(desk: Desk) -> None:
    desk.added("I like tea.", file("Cedar one."), image("An otter."), content_type="work")
    (said,) = [hit for hit in desk.reader.hits("tea", output_mode="raw") if hit["memory"] == "I like tea."]
    told = desk.reader.forget(said["id"], "scope=source").json["data"]
    assert len(told["erasures"]) == 2
    assert desk.reader.listed(desk.user) == []
    desk.work()
    desk.check_nothing_is_left_over()
    assert [desk.rows(begin) for begin in ("u#", "d#", "m#")] == [[], [], []]


def test_the_memory_of_an_image_goes_with_its_image(desk: Desk) -> None:
    desk.added(image("An otter."), content_type="work")
    (hit,) = desk.reader.hits("otter")
    told = desk.reader.forget(hit["id"]).json["data"]
    assert len(told["erasures"]) == 1
    assert desk.reader.texts("otter") == []
    desk.work()
    desk.check_nothing_is_left_over()
    assert desk.rows("u#") == []


def test_a_file_that_is_deleted_before_it_is_read_fails_its_job(desk: Desk) -> None:
    task = desk.add("I like tea.", file("Cedar."))
    delete_file(desk, desk.job(task)["file"])
    desk.work()
    told = desk.status(task)
    assert (told["status"], told["files"][0]["error"]["code"]) == ("success", "deleted")
    assert desk.parser.read == []
    desk.check_nothing_is_left_over()


def test_a_file_that_could_not_be_read_can_be_deleted(desk: Desk) -> None:
    told = desk.added(file("!damaged", "a.txt"))
    assert told["files"][0]["status"] == "failed"
    delete_file(desk, told["files"][0]["file_id"])
    desk.work()
    desk.check_nothing_is_left_over()
    assert desk.rows("u#") == []


def test_a_file_that_is_deleted_while_it_is_read_fails_its_job(desk: Desk) -> None:
    task = desk.add(file(paragraphs(250)))
    desk.parser.afterwards.append(lambda: delete_file(desk, desk.job(task)["file"]))
    desk.work()
    assert desk.status(task)["error"]["code"] == "files_failed"
    assert desk.status(task)["files"][0]["error"]["code"] == "deleted"
    desk.check_nothing_is_left_over()


def test_what_was_read_of_a_file_as_it_was_deleted_does_not_stay_in_the_bucket(desk: Desk) -> None:
    task = desk.add(file(paragraphs(250)))
    desk.parser.afterwards.append(lambda: delete_file(desk, desk.job(task)["file"]))
    desk.work()
    assert desk.orphans() == []


def test_what_was_read_of_a_file_as_all_of_its_user_was_forgotten_does_not_stay_in_the_bucket(desk: Desk) -> None:
    desk.add(file(paragraphs(250)))
    desk.parser.afterwards.append(lambda: desk.reader.forget_all(desk.user))
    desk.work()
    assert desk.orphans() == []


def test_a_file_that_is_deleted_while_it_is_indexed_leaves_nothing(desk: Desk) -> None:
    task = desk.add(file(paragraphs(250)))
    desk.read_one()
    looks = iter(range(100))

    def look() -> bool:
        if next(looks) == 3:
            delete_file(desk, desk.job(task)["file"])
        return False

    desk.work_one(look)
    desk.work()
    assert desk.status(task)["files"][0]["error"]["code"] == "deleted"
    assert desk.found("cedar") == []
    desk.check_nothing_is_left_over()
    assert desk.rows("m#") == []


def test_all_of_a_user_is_forgotten_while_a_document_is_indexed(desk: Desk) -> None:
    task = desk.add(file(paragraphs(250)))
    desk.read_one()
    looks = iter(range(100))

    def look() -> bool:
        if next(looks) == 3:
            desk.reader.forget_all(desk.user)
        return False

    desk.work_one(look)
    desk.work()
    told = desk.status(task)
    assert (told["status"], told["error"]["code"]) == ("failed", "erased")
    assert told["files"][0]["error"]["code"] == "erased"
    desk.check_nothing_is_left_over()
    assert [desk.rows(begin) for begin in ("u#", "d#", "m#")] == [[], [], []]
    assert "filename" not in desk.job(task)


def test_all_of_a_user_is_forgotten_with_files_documents_and_chunks(desk: Desk) -> None:
    desk.added("Tea.", file(paragraphs(60)), image("An otter."), content_type="work")
    erasure = desk.reader.forget_all(desk.user)
    assert (desk.found("cedar"), desk.reader.listed(desk.user)) == ([], [])
    desk.work()
    assert desk.reader.receipt(erasure)["status"] == "success"
    desk.check_nothing_is_left_over()
    assert [desk.rows(begin) for begin in ("u#", "d#", "m#", "h#")] == [[], [], [], []]


def test_chunks_are_listed_changed_and_have_a_history(desk: Desk) -> None:
    desk.added(file("Cedar one.\n\nCedar two.", "a.txt"), metadata={"team": "blue"})
    listed = desk.reader.listed(desk.user, kind="chunk")
    assert [one["memory"] for one in listed] == ["Cedar two.", "Cedar one."]
    assert listed[0]["metadata"]["filename"] == "a.txt"
    one = listed[1]["id"]
    changed = desk.reader.change(one, memory="Cedar won.", metadata=listed[1]["metadata"])
    assert changed.status == 200, changed.content
    assert changed.json["data"]["metadata"] == listed[1]["metadata"]
    assert set(desk.found("cedar")) == {"Cedar won.", "Cedar two."}
    history = desk.reader.history(one).json["data"]["data"]
    assert [state["memory"] for state in history] == ["Cedar won.", "Cedar one."]
    assert desk.rows(f"m#{one}")[0]["metadata"] == '{"team":"blue"}'
    desk.added(file("Cedar three.", "a.txt"))
    assert desk.reader.history(one).status == 404
    desk.check_nothing_is_left_over()
    assert desk.rows("h#") == []


def test_another_user_and_project_see_nothing_of_a_document(desk: Desk) -> None:
    one = desk.added(file("Cedar."))["files"][0]
    chunk = desk.hits("cedar")[0]["id"]
    asked = {"sources": ["document"], "document_ids": [one["document_id"]]}
    assert desk.reader.texts("cedar", "bob", **asked) == []
    stranger = desk.shelf.client(project="other")
    assert stranger.texts("cedar", desk.user, **asked) == []
    assert [stranger.get(f"{ROOT}/{chunk}").status, stranger.forget(chunk, "scope=source").status] == [404, 404]
