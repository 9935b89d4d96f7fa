"""S3 and DynamoDB fail: trying again helps, or the answer is 503 with a moment to come back; nothing is lost."""

from __future__ import annotations

import itertools
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from moto.core.botocore_stubber import MockRawResponse
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from shared.aws.clients import ATTEMPTS, Aws
from shared.kernel.contention import persist
from tests.emulator.faults import Call, Fault, faults, intercepted, no_backoff, recorded
from tests.projects.scenes import LONG, SCENES, Scene, Stage, nothing_beside, warm
from tests.projects.sightings import shape, sighting
from tests.projects.upkeep import nights, sweep
from tests.projects.world import ROOT, artifact_path, project_world, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.clients.events import Answer, Client
    from tests.projects.world import World

REFUSED = (Fault.THROTTLED, Fault.SERVER_ERROR, Fault.CONNECT_TIMEOUT, Fault.TIMEOUT)
APPLIED = (Fault.APPLIED_TIMEOUT, Fault.APPLIED_SERVER_ERROR)
TIDYING = {"s3.DeleteObject", "s3.DeleteObjects"}
"""What fails without harm: the nightly reconciliation removes what these would have."""


pytestmark = pytest.mark.usefixtures("few_rounds")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    # Clients of its own: botocore tries less and less again the more has failed, over the life of a client.
    monkeypatch.setattr("tests.emulator.cloud.shared_aws", lambda: Aws({}))
    with nothing_beside(), project_world() as made:
        yield made


def _is_503(answer: Answer) -> bool:
    """Tell whether an answer says that a dependency is down, in the surface's shape."""
    if answer.status != 503:
        return False
    assert set(answer.json) == {"detail"}
    assert isinstance(answer.json["detail"], str)
    assert int(answer.headers["retry-after"]) > 0
    return True


def _always(name: str, fault: Fault) -> Callable[[Call], Fault | None]:
    return lambda call: fault if call.name == name else None


def _once_each(fault: Fault) -> Callable[[Call], Fault | None]:
    met: set[str] = set()

    def rule(call: Call) -> Fault | None:
        if call.name in met:
            return None
        met.add(call.name)
        return fault

    return rule


def _rehearse(scene: Scene, world: World, client: Client) -> tuple[list[str], tuple[str, str]]:
    """Return the calls that a scene makes when all goes well, and the shapes of its task before and after."""
    stage = Stage.of(client, world, "task-rehearsal-end")
    prepared = scene.prepare(stage)
    world.clock.move(days=scene.days)
    before = sighting(stage.client, stage.task)
    with recorded() as calls:
        assert scene.act(stage, prepared).status in {200, 204}
    after = sighting(stage.client, stage.task)
    return calls.names, (shape(before, before, stage.task), shape(after, before, stage.task))


@pytest.mark.parametrize(("number", "scene"), list(enumerate(SCENES)), ids=list(map(str, SCENES)))
def test_a_write_that_meets_a_lasting_fault_is_503_and_may_be_tried_again(
    world: World, number: int, scene: Scene
) -> None:
    sweep(world)
    client = world.client()
    names, shapes = _rehearse(scene, world, client)
    # Each call meets one fault of each sort; over all scenes, each kind of call meets every fault.
    meetings = [
        (name, fault)
        for n, name in enumerate(dict.fromkeys(names), start=number)
        for fault in (REFUSED[n % len(REFUSED)], APPLIED[n % len(APPLIED)])
    ]
    stages = [Stage.of(client, world, f"task-{n:02d}-end") for n in range(len(meetings))]
    prepared = [scene.prepare(stage) for stage in stages]
    world.clock.move(days=scene.days)
    seen = []
    for stage, ready, (name, fault) in zip(stages, prepared, meetings, strict=True):
        before = sighting(stage.client, stage.task)
        with faults(_always(name, fault)) as calls:
            answer = scene.act(stage, ready)
        assert _is_503(answer) or (name in TIDYING and answer.status in {200, 204}), (name, fault, answer)
        assert names.count(name) <= calls.names.count(name) <= names.count(name) * ATTEMPTS
        after = sighting(stage.client, stage.task)
        assert after == before or shape(after, before, stage.task) == shapes[1], (name, fault)
        again = scene.act(stage, ready)
        assert again.status in {200, 204, scene.repeated}, (name, fault, again.content)
        seen.append(sighting(stage.client, stage.task))
        assert shape(seen[-1], before, stage.task) == shapes[1], (name, fault)
    sweep(world)
    nights(world, 3)
    assert [sighting(stage.client, stage.task) for stage in stages] == seen
    _, keys = world.leftovers()
    assert set(keys) == {i["object"]["S"] for i in world.cloud.items() if "object" in i}


@pytest.mark.parametrize(("number", "scene"), list(enumerate(SCENES)), ids=list(map(str, SCENES)))
def test_a_write_whose_calls_each_fail_once_succeeds(world: World, number: int, scene: Scene) -> None:
    sweep(world)
    client = world.client()
    _, shapes = _rehearse(scene, world, client)
    for n, fault in enumerate((REFUSED[number % len(REFUSED)], *APPLIED)):
        stage = Stage.of(client, world, f"task-{n:02d}-end")
        prepared = scene.prepare(stage)
        world.clock.move(days=scene.days)
        before = sighting(stage.client, stage.task)
        with faults(_once_each(fault)):
            assert scene.act(stage, prepared).status in {200, 204}, fault
        assert shape(sighting(stage.client, stage.task), before, stage.task) == shapes[1], fault


def test_a_put_that_was_applied_but_answered_503_keeps_its_object(world: World) -> None:
    client = world.client()
    warm(client)
    with faults(_always("dynamodb.TransactWriteItems", Fault.APPLIED_TIMEOUT)):
        assert _is_503(client.put(artifact_path(), body=b"bytes"))
        assert _is_503(client.put(turn_path(turn=2), json_body={"summary_md": LONG}))
    nights(world, 4)
    assert client.get(artifact_path()).content == b"bytes"
    assert client.get(turn_path(turn=2)).json["summary_md"] == LONG


READS: dict[str, Callable[[Client], Answer]] = {
    "a turn": lambda client: client.get(turn_path()),
    "a turn with a long summary": lambda client: client.get(turn_path(turn=2)),
    "a task with a long meta": lambda client: client.get(f"{ROOT}/tasks/t1"),
    "an artifact": lambda client: client.get(artifact_path()),
    "a part of an artifact": lambda client: client.get(artifact_path(), headers={"Range": "bytes=1-3"}),
    "what is known of an artifact": lambda client: client.head(artifact_path()),
    "the tasks": lambda client: client.get(f"{ROOT}/tasks"),
    "the digest": lambda client: client.get(f"{ROOT}/project.md"),
    "whether the digest changed": lambda client: client.get(f"{ROOT}/project.md", headers={"If-None-Match": '"0-0"'}),
}


def _filled(world: World) -> Client:
    client = world.client()
    client.put(turn_path(), json_body={"summary_md": "short"})
    client.put(artifact_path(), body=b"0123456789")
    client.put(turn_path(turn=2), json_body={"summary_md": LONG, "meta": {"much": LONG}})
    return client


@pytest.mark.parametrize("read", READS)
def test_a_read_that_meets_a_fault_is_503_and_right_afterwards(world: World, read: str) -> None:
    client = _filled(world)
    with recorded() as calls:
        right = READS[read](client)
    assert right.status in {200, 206}
    for name, fault in itertools.product(dict.fromkeys(calls.names), REFUSED):
        with faults(_always(name, fault)) as made:
            assert _is_503(READS[read](client)), (name, fault)
        assert made.names.count(name) <= calls.names.count(name) * ATTEMPTS
        with faults(_once_each(fault)):
            again = READS[read](client)
        assert (again.status, again.content) == (right.status, right.content)


@pytest.mark.parametrize("fault", REFUSED)
def test_a_key_that_cannot_be_looked_up_is_503_and_not_401(world: World, fault: Fault) -> None:
    client = world.client()
    with faults(_always("dynamodb.GetItem", fault)):
        assert _is_503(client.get(f"{ROOT}/tasks"))
    assert client.get(f"{ROOT}/tasks").status == 200


class _Broken(MockRawResponse):
    """A body that ends, or fails, half way."""

    def __init__(self, whole: bytes, error: Exception | None) -> None:
        super().__init__(whole[: len(whole) // 2])
        self._error = error

    def read(self, *size: Any) -> bytes:
        part: bytes = super().read(*size)
        if self._error and not (part and size):
            raise self._error
        return part


BREAKS: dict[str, Exception | None] = {
    "it ends early": None,
    "the connection breaks": ProtocolError("broken"),
    "nothing more comes": ReadTimeoutError(None, "", "late"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize(
    "read", [name for name in READS if "known" not in name and name not in {"a turn", "the tasks"}]
)
def test_a_body_that_breaks_off_is_never_an_answer_cut_short(world: World, read: str, how: str) -> None:
    client = _filled(world)
    right = READS[read](client)

    def around(call: Call, _request: Any, apply: Callable[[], Any]) -> Any:
        answer = apply()
        if call.name == "s3.GetObject":
            answer.raw = _Broken(answer.raw.getvalue(), BREAKS[how])
        return answer

    with intercepted(around), no_backoff():
        assert _is_503(READS[read](client))
    assert READS[read](client).content == right.content


@pytest.mark.parametrize("how", BREAKS)
def test_an_upload_whose_bytes_cannot_be_read_back_is_503_and_can_be_completed_later(world: World, how: str) -> None:
    client = world.client()
    stage = Stage(world, client, "t1")
    upload_id = stage.begin_upload(b"0123456789")

    def around(call: Call, _request: Any, apply: Callable[[], Any]) -> Any:
        answer = apply()
        if call.name == "s3.GetObject":
            answer.raw = _Broken(answer.raw.getvalue(), BREAKS[how])
        return answer

    path = f"{artifact_path(name='a')}/complete"
    with intercepted(around), no_backoff():
        assert _is_503(client.post(path, json_body={"upload_id": upload_id}))
    assert client.get(artifact_path(name="a")).status == 404
    assert client.post(path, json_body={"upload_id": upload_id}).status == 200
    assert client.get(artifact_path(name="a")).content == b"0123456789"


def _cancelled(request: Any, codes: list[str]) -> AWSResponse:
    """Return the answer to a transaction that DynamoDB cancelled for these reasons."""
    told = {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled",
        "CancellationReasons": [{"Code": code} for code in codes],
    }
    headers = HTTPHeaders.from_dict({"content-type": "application/x-amz-json-1.0"})
    return AWSResponse(request.url, 400, headers, MockRawResponse(json.dumps(told)))


@pytest.mark.parametrize("reason", ["ThrottlingError", "ProvisionedThroughputExceeded"])
@pytest.mark.parametrize("times", [3, 10_000])
def test_a_throttled_transaction_is_tried_again_and_then_503(
    world: World, monkeypatch: pytest.MonkeyPatch, reason: str, times: int
) -> None:
    monkeypatch.setattr("shared.projects.writing.persist", partial(persist, budget=0.3))
    client = world.client()
    warm(client)
    refusals = itertools.count(1)

    def around(call: Call, request: Any, apply: Callable[[], Any]) -> Any:
        if call.operation == "TransactWriteItems" and next(refusals) <= times:
            return _cancelled(request, ["None", reason])
        return apply()

    with intercepted(around):
        answer = client.put(turn_path(), json_body={"summary_md": "s"})
    assert answer.status == 200 if times == 3 else _is_503(answer)
    assert client.get(turn_path()).status == (200 if times == 3 else 404)


def test_keys_that_dynamodb_leaves_unprocessed_are_asked_for_again_and_then_503(world: World) -> None:
    client = _filled(world)
    refusals = {"left": 2}

    def around(call: Call, request: Any, apply: Callable[[], Any]) -> Any:
        if call.operation != "BatchGetItem" or refusals["left"] == 0:
            return apply()
        refusals["left"] -= 1
        told = {"Responses": {}, "UnprocessedKeys": json.loads(request.body)["RequestItems"]}
        headers = HTTPHeaders.from_dict({"content-type": "application/x-amz-json-1.0"})
        return AWSResponse(request.url, 200, headers, MockRawResponse(json.dumps(told)))

    with intercepted(around):
        assert client.get(artifact_path()).content == b"0123456789"
        refusals["left"] = 10_000
        assert _is_503(client.get(artifact_path()))
