"""The list of memories: prefixes, depth, order, pages, contents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.faults import recorded
from tests.stores.world import FIRST, NEWEST, ROOT

if TYPE_CHECKING:
    from tests.stores.world import StoreClient, World

PATHS = [
    "/a-b",
    "/a.md",
    "/a/b/c.md",
    "/a/b/d/e.md",
    "/a/c.md",
    "/a0",
    "/notes/x",
    "/notes.md",
    "/nothing",
    "/z/é/日本.md",
    "/z/\U0001f600",
    "/z/\ue000",
]


@pytest.fixture
def filled(client: StoreClient, store: str) -> str:
    for path in reversed(PATHS):
        client.memory(store, path, path)
    return store


def refused(client: StoreClient, store: str, headers: dict[str, str] | None = None, **query: Any) -> bool:
    answer = client.get(f"{ROOT}/{store}/memories", query=query, headers=headers)
    return (answer.status, answer.json.get("error", {}).get("type")) == (400, "invalid_request_error")


def test_the_whole_store_comes_in_the_byte_order_of_paths(client: StoreClient, filled: str) -> None:
    assert client.listed(filled) == sorted(PATHS, key=str.encode)
    for limit in (1, 2, 5, 100):
        assert client.listed(filled, limit=limit) == sorted(PATHS, key=str.encode)
    assert client.listed(filled, order="desc", limit=5) == sorted(PATHS, key=str.encode, reverse=True)


@pytest.mark.parametrize("headers", [FIRST, NEWEST, {}])
def test_depth_one_rolls_up_directories_among_the_files(
    client: StoreClient, filled: str, headers: dict[str, str]
) -> None:
    whole = ["/a-b", "/a.md", "/a/", "/a0", "/notes.md", "/notes/", "/nothing", "/z/"]
    for limit in (1, 3, 100):
        assert client.listed(filled, headers=headers, depth=1, limit=limit) == whole
        assert client.listed(filled, headers=headers, depth=1, path_prefix="/", limit=limit) == whole
    assert client.listed(filled, headers=headers, depth=1, path_prefix="/a/") == ["/a/b/", "/a/c.md"]
    assert client.listed(filled, headers=headers, depth=1, path_prefix="/a/b/") == ["/a/b/c.md", "/a/b/d/"]
    assert client.listed(filled, headers=headers, depth=0, path_prefix="/a/b/") == ["/a/b/c.md", "/a/b/d/e.md"]


def test_a_prefix_marker_is_a_path_and_a_type(client: StoreClient, filled: str) -> None:
    page = client.get(f"{ROOT}/{filled}/memories", query={"depth": 1, "path_prefix": "/a/"}).json
    assert page["data"][0] == {"type": "memory_prefix", "path": "/a/b/"}
    assert page["data"][1]["type"] == "memory"
    assert page["next_page"] is None


def test_the_newest_dialect_wants_whole_segments(client: StoreClient, filled: str) -> None:
    assert refused(client, filled, NEWEST, path_prefix="/no")
    assert refused(client, filled, NEWEST, path_prefix="")
    assert client.listed(filled, headers=NEWEST, path_prefix="/notes/") == ["/notes/x"]
    assert client.listed(filled, headers=NEWEST, path_prefix="/A/") == []
    for depth in (2, -1, "x", "1.0", ""):
        assert refused(client, filled, NEWEST, depth=depth)


def test_the_newest_dialect_ignores_order(client: StoreClient, filled: str) -> None:
    ignored = {"order": "sideways", "order_by": "colour"}
    assert client.listed(filled, headers=NEWEST, **ignored) == sorted(PATHS, key=str.encode)
    assert client.listed(filled, headers=NEWEST, depth=1, order="desc", path_prefix="/a/") == ["/a/b/", "/a/c.md"]


@pytest.mark.parametrize("headers", [FIRST, {}])
def test_the_first_dialect_takes_any_beginning(client: StoreClient, filled: str, headers: dict[str, str]) -> None:
    assert client.listed(filled, headers=headers, path_prefix="/no") == ["/notes.md", "/notes/x", "/nothing"]
    assert client.listed(filled, headers=headers, path_prefix="/no", depth=1) == ["/notes.md", "/notes/", "/nothing"]
    assert client.listed(filled, headers=headers, path_prefix="/notes", depth=1) == ["/notes.md", "/notes/"]
    assert client.listed(filled, headers=headers, path_prefix="/a/b/c") == ["/a/b/c.md"]
    assert client.listed(filled, headers=headers, path_prefix="") == sorted(PATHS, key=str.encode)


@pytest.mark.parametrize("prefix", ["a", "no/", "/missing/", "//", "/" + "x" * 2000, "/a\x00/", "/\U0010ffff/", "%"])
def test_a_prefix_that_nothing_has_is_an_empty_page(client: StoreClient, filled: str, prefix: str) -> None:
    assert client.listed(filled, path_prefix=prefix) == []
    assert client.listed(filled, path_prefix=prefix, depth=1) == []
    if prefix.endswith("/"):
        assert client.listed(filled, headers=NEWEST, path_prefix=prefix, depth=1) == []


def test_the_first_dialect_shows_as_many_levels_as_it_is_asked_for(client: StoreClient, filled: str) -> None:
    two = ["/a-b", "/a.md", "/a/b/", "/a/c.md", "/a0", "/notes.md", "/notes/x", "/nothing", "/z/é/"]
    two += ["/z/\ue000", "/z/\U0001f600"]
    for limit in (1, 4, 100):
        assert client.listed(filled, depth=2, limit=limit) == sorted(two, key=str.encode)
        assert client.listed(filled, depth=2, limit=limit, order="desc") == sorted(two, key=str.encode, reverse=True)
    for depth in (4, 20, 21, 10**18, 10**98):
        assert client.listed(filled, depth=depth) == sorted(PATHS, key=str.encode)
    assert client.listed(filled, depth=2, path_prefix="/a/") == ["/a/b/c.md", "/a/b/d/", "/a/c.md"]
    assert client.listed(filled, depth=2, path_prefix="/a") == ["/a-b", "/a.md", "/a/b/", "/a/c.md", "/a0"]
    for depth in (-1, "x", "1.5", "", "٣"):
        assert refused(client, filled, depth=depth)


def test_the_first_dialect_orders_by_time(client: StoreClient, filled: str) -> None:
    made = list(reversed(PATHS))
    for limit in (1, 5, 100):
        assert client.listed(filled, order_by="created_at", limit=limit) == made
        assert client.listed(filled, order_by="created_at", order="desc", limit=limit) == PATHS
        assert client.listed(filled, order_by="created_at", path_prefix="/a", limit=limit) == [
            p for p in made if p.startswith("/a")
        ]
    memories = {m["path"]: m["id"] for m in client.get(f"{ROOT}/{filled}/memories").json["data"]}
    client.update(filled, memories["/a0"], content="newer")
    changed = ["/a0", *[p for p in PATHS if p != "/a0"]]
    for limit in (1, 5, 100):
        assert client.listed(filled, order_by="updated_at", order="desc", limit=limit) == changed
        assert client.listed(filled, order_by="updated_at", limit=limit) == changed[::-1]
        assert client.listed(filled, order_by="updated_at", path_prefix="/n", limit=limit) == [
            p for p in changed[::-1] if p.startswith("/n")
        ]


@pytest.mark.parametrize(
    "query",
    [
        {"order": "up"},
        {"order_by": "size"},
        {"order_by": "created_at", "depth": 1},
        {"view": "most"},
        {"limit": 0},
        {"limit": -1},
        {"limit": 101},
        {"page": "page_"},
        {"page": ""},
    ],
)
def test_a_list_that_breaks_a_rule_is_refused(client: StoreClient, store: str, query: dict[str, Any]) -> None:
    assert refused(client, store, **query)


def test_a_token_is_good_for_its_own_list_only(client: StoreClient, filled: str) -> None:
    other = client.store("other")
    client.memory(other, "/a")
    query: dict[str, Any] = {"path_prefix": "/a/", "limit": 1}
    token = client.get(f"{ROOT}/{filled}/memories", query=query).json["next_page"]
    assert token.startswith("page_")
    with_token = {**query, "page": token}
    assert client.get(f"{ROOT}/{filled}/memories", query={**with_token, "limit": 2}).status == 200
    assert refused(client, other, **with_token)
    assert refused(client, filled, NEWEST, **with_token)
    for changed in ({"path_prefix": "/"}, {"depth": 1}, {"order": "desc"}, {"order_by": "updated_at"}):
        assert refused(client, filled, **{**with_token, **changed})
    assert refused(client, filled, **{**with_token, "page": token[:-2]})
    assert client.get(f"{ROOT}/{filled}/memory_versions", query={"page": token}).status == 400


def test_pages_neither_repeat_nor_skip_while_others_write(client: StoreClient, filled: str) -> None:
    query: dict[str, Any] = {"limit": 3, "depth": 1}
    first = client.get(f"{ROOT}/{filled}/memories", query=query).json
    assert [entry["path"] for entry in first["data"]] == ["/a-b", "/a.md", "/a/"]
    client.memory(filled, "/a/new/deep")
    client.memory(filled, "/a/zzz")
    client.memory(filled, "/A")
    rest = client.listed(filled, **query, page=first["next_page"])
    assert rest == ["/a0", "/notes.md", "/notes/", "/nothing", "/z/"]


def test_full_pages_have_contents_and_twenty_items_at_most(client: StoreClient, store: str) -> None:
    for number in range(25):
        client.memory(store, f"/{number:02d}", f"text {number}")
    page = client.get(f"{ROOT}/{store}/memories", query={"view": "full", "limit": 100}).json
    assert [m["content"] for m in page["data"]] == [f"text {n}" for n in range(20)]
    assert len(client.listed(store, view="full")) == 25
    basic = client.get(f"{ROOT}/{store}/memories", query={"limit": 100}).json["data"]
    assert len(basic) == 25
    assert {m["content"] for m in basic} == {None}


def test_a_full_page_is_cut_where_it_would_not_fit_an_answer(client: StoreClient, store: str) -> None:
    text = "\x01" * 102_400  # six times as long in JSON
    for number in range(12):
        client.memory(store, f"/{number:02d}", text)
    page = client.get(f"{ROOT}/{store}/memories", query={"view": "full"})
    assert 4_000_000 < len(page.content) < 4_500_000
    assert len(page.json["data"]) == 7
    assert client.listed(store, view="full") == [f"/{n:02d}" for n in range(12)]


def test_a_roll_up_reads_only_what_it_returns(client: StoreClient, store: str, world: World) -> None:
    for number in range(300):
        client.memory(store, f"/deep/{number % 7}/{number}")
    client.memory(store, "/top")
    client.listed(store, depth=1)
    with recorded() as calls:
        assert client.listed(store, depth=1) == ["/deep/", "/top"]
    assert calls.sequential == 1
    assert calls.response_bytes < 2000


def test_a_directory_vanishes_with_its_last_memory(client: StoreClient, store: str) -> None:
    one, two = client.memory(store, "/a/b/one"), client.memory(store, "/a/two")
    client.remove(store, one["id"])
    assert client.listed(store, depth=1, path_prefix="/a/") == ["/a/two"]
    client.update(store, two["id"], path="/c")
    assert client.listed(store, depth=1) == ["/c"]
