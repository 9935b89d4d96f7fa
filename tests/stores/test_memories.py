"""Memories: create, retrieve, update, delete, and the paths that they may have."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from tests.stores.world import ROOT

if TYPE_CHECKING:
    from tests.clients.events import Answer
    from tests.stores.world import StoreClient, World


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def is_at(expected: str) -> dict[str, str]:
    return {"type": "content_sha256", "content_sha256": expected}


def conflict(answer: Answer) -> tuple[int, str, str, str]:
    error = answer.json["error"]
    return answer.status, error["type"], error["conflicting_path"], error["conflicting_memory_id"]


def test_a_new_memory_is_answered_with_every_field_and_no_content(client: StoreClient, store: str) -> None:
    made = client.create(store, "/projects/foo/notes.md", "héllo")
    memory = made.json
    assert made.status == 200
    assert memory == {
        "id": memory["id"],
        "type": "memory",
        "memory_store_id": store,
        "path": "/projects/foo/notes.md",
        "content": None,
        "content_size_bytes": 6,
        "content_sha256": sha("héllo"),
        "memory_version_id": memory["memory_version_id"],
        "created_at": memory["created_at"],
        "updated_at": memory["created_at"],
    }
    assert memory["id"].startswith("mem_")
    assert memory["memory_version_id"].startswith("memver_")


def test_each_operation_has_its_own_default_view(client: StoreClient, store: str) -> None:
    memory = client.create(store, "/a", "one", query="view=full").json
    assert memory["content"] == "one"
    assert client.retrieve(store, memory["id"]).json == memory
    assert client.retrieve(store, memory["id"], query="view=basic").json == {**memory, "content": None}
    assert client.update(store, memory["id"], content="two").json["content"] is None
    assert client.update(store, memory["id"], query="view=full", content="three").json["content"] == "three"
    assert client.update(store, memory["id"], query="view=full", path="/b").json["content"] == "three"
    assert client.update(store, memory["id"], query="view=full").json["content"] == "three"
    assert client.retrieve(store, memory["id"], query="view=all").status == 400


@pytest.mark.parametrize(
    "content",
    ["", "\r\n", "e\u0301 decomposed", "\ufeffBOM", "a\u2028b", "nul \x00 and \x1f", "😀" * 25_600, "\x00" * 102_400],
    ids=["empty", "CRLF", "NFD", "BOM", "U+2028", "NUL", "4 bytes each", "102400 NUL"],
)
def test_content_is_kept_byte_for_byte(client: StoreClient, store: str, content: str) -> None:
    memory = client.memory(store, "/a", content)
    assert memory["content_size_bytes"] == len(content.encode())
    assert memory["content_sha256"] == sha(content)
    assert client.retrieve(store, memory["id"]).json["content"] == content


@pytest.mark.parametrize("content", ["x" * 102_401, "é" * 51_201], ids=["ascii", "two bytes each"])
def test_content_over_100_kb_is_refused(client: StoreClient, store: str, content: str) -> None:
    assert client.create(store, "/a", content).status == 400
    assert client.listed(store) == []


@pytest.mark.parametrize(
    "path",
    [
        "/a",
        "/ ",
        "/a b/c\\d%20?#_.md",
        "/...",
        "/.hidden",
        "/" + "x" * 1023,
        "/" + "é" * 511,
        "/".join(["", *"abcdefghijklmnopqrst"]),
        "/\ue000private",
        "/\U0010ffff",
        "/unassigned\u0378",
        "/A",
        "/日本語/ノート",
    ],
)
def test_a_path_within_the_rules_is_taken_as_it_is(client: StoreClient, store: str, path: str) -> None:
    memory = client.memory(store, path)
    assert memory["path"] == path
    assert client.listed(store) == [path]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "a",
        "a/b",
        "/a/",
        "//a",
        "/a//b",
        "/.",
        "/a/..",
        "/a/./b",
        "/a\x00",
        "/a\nb",
        "/a\u007f",
        "/a\u0085",
        "/a\u200db",
        "/a\u00adb",
        "/a\ufeff",
        "/a\u202e",
        "/a\U000e0041",
        "/a\u2028",
        "/a\u2029",
        "/e\u0301",
        "/" + "x" * 1024,
        "/" + "é" * 512,
        "/".join(["", *"abcdefghijklmnopqrstu"]),
        None,
        1,
    ],
)
def test_a_path_that_breaks_a_rule_is_refused_in_create_and_rename(client: StoreClient, store: str, path: Any) -> None:
    assert client.create(store, path).status == 400
    memory = client.memory(store, "/fine")
    if path is not None:
        assert client.update(store, memory["id"], path=path).status == 400
    assert client.listed(store) == ["/fine"]


@pytest.mark.parametrize("body", [{"path": "/a"}, {"content": "x"}, {"path": "/a", "content": None}, {}, []])
def test_path_and_content_are_both_needed(client: StoreClient, store: str, body: Any) -> None:
    assert client.post(f"{ROOT}/{store}/memories", json_body=body).status == 400


def test_a_taken_path_names_what_is_there_above_and_below(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a/b/c")
    blocked = 409, "memory_path_conflict_error", "/a/b/c", memory["id"]
    for path in ("/a/b/c", "/a/b/c/d", "/a/b/c/d/e", "/a/b", "/a"):
        answer = client.create(store, path)
        assert conflict(answer) == blocked
        assert answer.headers["x-should-retry"] == "false"
        assert answer.json["request_id"] == answer.headers["request-id"]
    other = client.memory(store, "/other")
    assert conflict(client.update(store, other["id"], path="/a/b")) == blocked
    assert client.listed(store) == ["/a/b/c", "/other"]


def test_siblings_with_a_common_beginning_are_no_conflict(client: StoreClient, store: str) -> None:
    for path in ("/a/b", "/a-b", "/a.md", "/ab", "/A/b", "/a/bc"):
        client.memory(store, path)
    assert client.listed(store) == sorted(["/a/b", "/a-b", "/a.md", "/ab", "/A/b", "/a/bc"])


def test_a_freed_path_and_its_directories_can_be_taken_again(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a/b/c")
    client.remove(store, memory["id"])
    again = client.memory(store, "/a/b")
    assert again["id"] != memory["id"]
    client.update(store, again["id"], path="/x")
    client.memory(store, "/a")
    assert client.listed(store) == ["/a", "/x"]


def test_a_rename_keeps_the_id_and_never_overwrites(client: StoreClient, store: str) -> None:
    one, two = client.memory(store, "/one", "1"), client.memory(store, "/two", "2")
    assert conflict(client.update(store, one["id"], path="/two"))[3] == two["id"]
    moved = client.update(store, one["id"], path="/three/deep").json
    assert (moved["id"], moved["path"], moved["content_sha256"]) == (one["id"], "/three/deep", sha("1"))
    assert moved["created_at"] == one["created_at"] < moved["updated_at"]
    assert client.retrieve(store, one["id"]).json["content"] == "1"
    assert client.listed(store) == ["/three/deep", "/two"]


def test_a_memory_moves_below_and_above_its_own_path(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a")
    for path in ("/a/b/c/d", "/a/b", "/a/b/c", "/a"):
        assert client.update(store, memory["id"], path=path).status == 200
        assert client.listed(store) == [path]
    client.memory(store, "/b")
    assert client.listed(store, depth=1) == ["/a", "/b"]


def test_content_and_path_change_together_or_not_at_all(client: StoreClient, store: str) -> None:
    memory, other = client.memory(store, "/a", "old"), client.memory(store, "/b")
    assert client.update(store, memory["id"], content="new", path="/b").status == 409
    assert client.retrieve(store, memory["id"]).json["content"] == "old"
    changed = client.update(store, memory["id"], content="new", path="/c").json
    assert (changed["path"], changed["content_sha256"]) == ("/c", sha("new"))
    assert [v["operation"] for v in client.versions(store, memory_id=memory["id"])] == ["modified", "created"]
    assert client.retrieve(store, other["id"]).json["path"] == "/b"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"content": None, "path": None, "precondition": None},
        {"content": "text"},
        {"path": "/a"},
        {"content": "text", "path": "/a"},
        {"content": "text", "precondition": is_at("0" * 64)},
        {"content": "text", "path": "/a", "precondition": is_at("0" * 64)},
    ],
)
def test_what_is_so_already_is_answered_200_without_a_version(client: StoreClient, store: str, body: Any) -> None:
    memory = client.memory(store, "/a", "text")
    answer = client.update(store, memory["id"], **body)
    assert (answer.status, answer.json) == (200, memory)
    assert len(client.versions(store)) == 1


def test_a_precondition_guards_content_and_rename(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a", "one")
    for change in ({"content": "two"}, {"path": "/b"}, {"content": "one", "path": "/b"}):
        answer = client.update(store, memory["id"], **change, precondition=is_at(sha("other")))
        assert (answer.status, answer.json["error"]["type"]) == (409, "memory_precondition_failed_error")
        assert answer.headers["x-should-retry"] == "false"
        assert set(answer.json["error"]) == {"type", "message"}
    assert client.retrieve(store, memory["id"]).json["content"] == "one"
    assert client.update(store, memory["id"], content="two", precondition=is_at(sha("one"))).status == 200
    assert client.update(store, memory["id"], path="/b", precondition=is_at(sha("two"))).status == 200


def test_a_stale_precondition_is_told_before_a_path_conflict(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a")
    client.memory(store, "/b")
    answer = client.update(store, memory["id"], path="/b", precondition=is_at("0" * 64))
    assert answer.json["error"]["type"] == "memory_precondition_failed_error"


@pytest.mark.parametrize(
    "precondition",
    [{}, {"type": "content_sha256"}, is_at("A" * 64), is_at("0" * 63), {"type": "x", "content_sha256": "0" * 64}, "x"],
)
def test_a_malformed_precondition_is_refused(client: StoreClient, store: str, precondition: Any) -> None:
    memory = client.memory(store, "/a")
    assert client.update(store, memory["id"], content="new", precondition=precondition).status == 400


def test_a_deleted_memory_is_gone_and_its_history_is_not(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a/b")
    assert client.remove(store, memory["id"]).json == {"id": memory["id"], "type": "memory_deleted"}
    assert client.retrieve(store, memory["id"]).status == 404
    assert client.update(store, memory["id"], content="x").status == 404
    assert client.remove(store, memory["id"]).status == 404
    assert client.listed(store) == []
    assert [v["operation"] for v in client.versions(store)] == ["deleted", "created"]


def test_a_delete_can_be_guarded(client: StoreClient, store: str) -> None:
    memory = client.memory(store, "/a", "text")
    stale = client.remove(store, memory["id"], query={"expected_content_sha256": sha("other")})
    assert (stale.status, stale.json["error"]["type"]) == (409, "memory_precondition_failed_error")
    assert stale.headers["x-should-retry"] == "false"
    assert client.remove(store, memory["id"], query={"expected_content_sha256": "short"}).status == 400
    assert client.remove(store, memory["id"], query={"expected_content_sha256": sha("text")}).status == 200


def test_a_full_store_refuses_new_memories_only(world: World) -> None:
    world.settings["MEMORIES_A_STORE"] = "2"
    client = world.client()
    store = client.store()
    one, two = client.memory(store, "/one"), client.memory(store, "/two")
    full = client.create(store, "/three")
    assert (full.status, full.json["error"]["type"]) == (400, "invalid_request_error")
    assert client.create(store, "/two").status == 409
    assert client.update(store, one["id"], content="new", path="/a/b/c").status == 200
    client.remove(store, two["id"])
    client.memory(store, "/three")


def test_unknown_and_malformed_ids_are_404(client: StoreClient, store: str) -> None:
    unknown = "mem_01M3250V06YW639FSPCZQ3TJW5"
    for memory in (unknown, "mem_", "x", "..%2F..", "%F0%9F%98%80", "mem_" + "0" * 5000):
        assert client.retrieve(store, memory).status == 404
        assert client.update(store, memory, content="x").status == 404
        assert client.remove(store, memory).status == 404
    for named in ("memstore_x", unknown, "%20", "memstore_" + "0" * 5000):
        assert client.get(f"{ROOT}/{named}/memories").status == 404
        assert client.create(named, "/a").status == 404


def test_bytes_stored_in_vain_are_removed(client: StoreClient, store: str, world: World) -> None:
    memory = client.memory(store, "/a", "text")
    kept = world.cloud.object_keys()
    client.create(store, "/a", "other")
    client.create("memstore_01M3250V06YW639FSPCZQ3TJW5", "/a", "other")
    client.update(store, memory["id"], content="text")
    client.update(store, memory["id"], content="new", precondition=is_at("0" * 64))
    assert world.cloud.object_keys() == kept
