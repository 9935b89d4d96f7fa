"""Whatever is wrong with a node is told as `Unavailable`: never as an empty answer, never as something done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.aws.errors import code_of
from shared.kernel.errors import Unavailable
from shared.search.opensearch import connecting
from shared.search.opensearch.connecting import connect
from shared.search.opensearch.index import OpenSearchIndex
from shared.search.opensearch.names import Names, writing
from shared.search.port import IndexMismatch
from tests.search.fake_node import FakeNode, fake_node
from tests.search.nodes import Memo
from tests.search.passages import DIMENSION, OWNER, passage, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.search.port import SearchIndex

NAMES = Names("lodestore.test", "test", DIMENSION)
FIRST = NAMES.index(1)
ALIASES = {FIRST: {"aliases": {"lodestore.test": {}, NAMES.searched: {}, writing(FIRST): {}}}}
STORED = {"errors": False, "items": []}
GONE = {"create": {"status": 404, "error": {"type": "index_not_found_exception"}}}
NOTHING = {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": []}, "status": 200}
REMOVED = {"deleted": 0, "total": 0, "version_conflicts": 0, "failures": [], "timed_out": False}
CALLS: dict[str, Callable[[SearchIndex], Any]] = {
    "ensure": lambda index: index.ensure(),
    "put": lambda index: index.put([passage()]),
    "present": lambda index: index.present(OWNER, [("m1", 1)]),
    "search": search,
    "remove": lambda index: index.remove(OWNER, [("m1", 1)]),
    "clear": lambda index: index.clear(OWNER, 1),
}


@pytest.fixture
def node() -> Iterator[FakeNode]:
    with fake_node() as made:
        made.says("_alias", 200, ALIASES)
        made.says("_bulk", 200, STORED)
        made.says("_msearch", 200, {"responses": [NOTHING, NOTHING]})
        made.says("_delete_by_query", 200, REMOVED)
        made.says("_refresh", 200, {})
        yield made


@pytest.fixture
def index(node: FakeNode) -> Iterator[OpenSearchIndex]:
    client = connect(node.address)
    yield OpenSearchIndex(client, NAMES, Memo())
    client.close()


def test_no_request_is_larger_than_small_domains_take(index: OpenSearchIndex, node: FakeNode) -> None:
    second = NAMES.index(2)
    both = {name: {"aliases": {"lodestore.test": {}, writing(name): {}}} for name in (FIRST, second)}
    both[FIRST]["aliases"][NAMES.searched] = {}
    node.says("_alias", 200, both)
    unlike = "".join(chr(0x4E00 + n) for n in range(2_000))  # what is stored of text is longest in such a script
    full = passage(
        "0" * 36,
        unlike[:1_500],
        vector=tuple(-0.1234567 - n / 10_000 for n in range(1_024)),
        previous=unlike[:200],
        following=unlike[200:400],
        speaker=unlike[:255],
        types=tuple(unlike[n : n + 64] for n in range(50)),
        **dict.fromkeys(("agent_id", "app_id", "session_id"), unlike[:255]),
    )
    index.put([full] * 201)
    sent = [asked.body for asked in node.asked if asked.action == "_bulk"]
    assert sum(body.count(b'"create"') for body in sent) == 2 * 201
    assert max(map(len, sent)) < 10 << 20


def breaks(node: FakeNode, status: int, body: Any) -> None:
    for action in list(node.answers):
        node.says(action, status, body)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("status", "pause"), [(429, 5), (500, 2), (503, 2), (403, 2), (400, 2)])
def test_a_node_that_refuses_is_unavailable(
    node: FakeNode, index: OpenSearchIndex, call: str, status: int, pause: int
) -> None:
    breaks(node, status, {"error": {"type": "circuit_breaking_exception", "reason": "[parent] Data too large"}})
    with pytest.raises(Unavailable) as told:
        CALLS[call](index)
    assert told.value.retry_after == pause
    assert "Data too large" not in told.value.message


@pytest.mark.parametrize("call", CALLS)
def test_a_node_that_is_down_is_unavailable(call: str) -> None:
    with fake_node() as gone:
        address = gone.address
    with pytest.raises(Unavailable):
        CALLS[call](OpenSearchIndex(connect(address), NAMES, Memo()))


@pytest.mark.parametrize("call", ["search", "put", "remove"])
def test_a_node_that_does_not_answer_in_time_is_unavailable(
    node: FakeNode, index: OpenSearchIndex, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("bulk", "index"):
        monkeypatch.setattr(f"shared.search.opensearch.{module}.WRITE_SECONDS", 0.05)
    monkeypatch.setattr(connecting, "READ_SECONDS", 0.05)
    for action in ("_msearch", "_bulk", "_delete_by_query"):
        node.hangs(action)
    with pytest.raises(Unavailable):
        CALLS[call](OpenSearchIndex(connect(node.address), NAMES, Memo()))


@pytest.mark.parametrize("call", CALLS)
def test_an_answer_that_is_no_json_is_unavailable(node: FakeNode, index: OpenSearchIndex, call: str) -> None:
    breaks(node, 200, "<html>who are you?</html>")
    with pytest.raises(Unavailable):
        CALLS[call](index)


@pytest.mark.parametrize(("status", "pause"), [(429, 5), (503, 2), (400, 2)])
def test_a_bulk_of_which_one_passage_failed_is_not_done(
    node: FakeNode, index: OpenSearchIndex, status: int, pause: int
) -> None:
    items = [{"create": {"status": 201}}, {"create": {"status": status, "error": {"type": "rejected"}}}]
    node.says("_bulk", 200, {"errors": True, "items": items})
    with pytest.raises(Unavailable) as told:
        index.put([passage("m1"), passage("m2")])
    assert told.value.retry_after == pause


def test_a_passage_that_went_to_a_dropped_index_goes_to_its_successor(node: FakeNode, index: OpenSearchIndex) -> None:
    second = NAMES.index(2)
    lines: list[bytes] = []

    def bulk(asked: Any) -> tuple[int, Any]:
        lines.append(asked.body)
        if len(lines) == 1:
            node.says("_alias", 200, {second: {"aliases": {"lodestore.test": {}, writing(second): {}}}})
            return 200, {"errors": True, "items": [GONE]}
        return 200, STORED

    node.answers["_bulk"] = bulk
    index.put([passage()])
    assert [FIRST.encode() in body for body in lines] == [True, False]
    assert writing(second).encode() in lines[1]


def test_no_index_that_takes_writes_is_no_success(node: FakeNode, index: OpenSearchIndex) -> None:
    node.says("_alias", 404, {"error": "alias [lodestore.test] missing", "status": 404})
    with pytest.raises(Unavailable):
        index.put([passage()])
    node.says("_alias", 200, ALIASES)
    node.says("_bulk", 200, {"errors": True, "items": [GONE]})
    with pytest.raises(Unavailable):
        index.put([passage()])


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"type": "search_phase_execution_exception"}, "status": 429},
        {"error": {"type": "index_not_found_exception"}, "status": 404},
        {**NOTHING, "timed_out": True},
        {**NOTHING, "_shards": {"failed": 1}},
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_one_channel_that_failed_is_no_empty_channel(
    node: FakeNode, index: OpenSearchIndex, answer: dict[str, Any], place: int
) -> None:
    answers = [NOTHING, NOTHING]
    answers[place] = answer
    node.says("_msearch", 200, {"responses": answers})
    with pytest.raises(Unavailable):
        search(index)


@pytest.mark.parametrize(
    "answer", [{"failures": [{"cause": "shard is gone"}]}, {"timed_out": True}, {"version_conflicts": 1}]
)
def test_a_removal_that_left_something_is_not_done(
    node: FakeNode, index: OpenSearchIndex, answer: dict[str, Any]
) -> None:
    node.says("_delete_by_query", 200, REMOVED | answer)
    with pytest.raises(Unavailable):
        index.remove(OWNER, [("m1", 1)])


def test_a_busy_gateway_is_asked_once_more(node: FakeNode, index: OpenSearchIndex) -> None:
    node.says("_msearch", 503, {})
    with pytest.raises(Unavailable):
        search(index)
    assert [asked.action for asked in node.asked] == ["_msearch"] * 2


def test_a_lost_index_is_not_replaced_by_an_empty_one(node: FakeNode, index: OpenSearchIndex) -> None:
    node.says("_alias", 404, {"error": "alias [lodestore.test] missing", "status": 404})
    lost = OpenSearchIndex(connect(node.address), NAMES, ledger := Memo())
    ledger.note()
    with pytest.raises(IndexMismatch, match="Run `make reindex`"):
        lost.ensure()
    assert [asked.method for asked in node.asked] == ["GET"]


def test_an_index_that_the_node_can_not_make_is_not_taken_as_made(node: FakeNode) -> None:
    node.says("_alias", 404, {"error": "alias [lodestore.test] missing", "status": 404})
    node.says(FIRST, 400, {"error": {"type": "mapper_parsing_exception"}, "status": 400})
    index = OpenSearchIndex(connect(node.address), NAMES, ledger := Memo())
    with pytest.raises(Unavailable):
        index.ensure()
    assert not ledger.tells()
    node.says(FIRST, 400, {"error": {"type": "resource_already_exists_exception"}, "status": 400})
    index.ensure()
    assert ledger.tells()


class Credentials:
    access_key = "AKIDEXAMPLE"
    secret_key = "wJalrXUtnFEMI"
    token = "session-token"


def test_requests_to_a_domain_are_signed_with_the_functions_credentials(
    node: FakeNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The name of the machine itself: what is not known as local is taken for a domain.
    monkeypatch.setattr(connecting, "_LOCAL", ())
    index = OpenSearchIndex(connect(node.address, Credentials(), "eu-central-1"), NAMES, Memo())
    for call in CALLS.values():
        call(index)
    assert {asked.action for asked in node.asked} == {"_alias", "_bulk", "_msearch", "_delete_by_query", "_refresh"}
    for asked in node.asked:
        signed = asked.headers["authorization"]
        assert signed.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
        assert "/eu-central-1/es/aws4_request" in signed
        assert asked.headers["x-amz-security-token"] == "session-token"
        assert len(asked.headers["x-amz-content-sha256"]) == 64


def test_requests_to_this_machine_are_not_signed(node: FakeNode, index: OpenSearchIndex) -> None:
    search(index)
    assert "authorization" not in node.asked[0].headers


def test_every_request_of_a_function_begins_with_the_name_that_its_policy_allows(
    node: FakeNode, index: OpenSearchIndex
) -> None:
    for call in CALLS.values():
        call(index)
    assert {asked.method for asked in node.asked} == {"GET", "POST"}
    assert all(asked.path.startswith("/lodestore.") for asked in node.asked)


@pytest.mark.parametrize("status", [400, 403, 429, 500])
@pytest.mark.parametrize("call", CALLS)
def test_what_a_node_refuses_is_not_told_in_the_log_though_it_repeats_it(
    index: OpenSearchIndex, node: FakeNode, caplog: pytest.LogCaptureFixture, call: str, status: int
) -> None:
    for action in list(node.answers):
        node.answers[action] = lambda asked: (status, {"error": {"type": asked.body.decode(), "reason": asked.path}})
    with pytest.raises(Unavailable) as refused:
        CALLS[call](index)
    assert code_of(refused.value.__cause__) == ("AccessDenied" if status == 403 else None)
    told = caplog.text
    assert "lodestore.test" in told, "the client says that a call has failed"
    assert not [word for word in (passage().text, OWNER) if word in told]
