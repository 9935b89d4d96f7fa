"""The tests' own instruments do what their names say."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

from shared.aws.parallel import together
from shared.tenancy import background
from tests.emulator.ageing import expire_items, expire_objects, s3_clock
from tests.emulator.cloud import Cloud, emulated_cloud
from tests.emulator.faults import Call, Fault, Killed, faults, kill_at, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

DAY_MS = 86_400_000


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with emulated_cloud() as started:
        yield started


def put_item(cloud: Cloud, sk: str, **more: Any) -> None:
    cloud.aws.dynamodb.put_item(TableName=cloud.table_name, Item={"pk": {"S": "p"}, "sk": {"S": sk}, **more})


def put_items(cloud: Cloud, names: str) -> None:
    for sk in names:
        put_item(cloud, sk)


def put_object(cloud: Cloud, key: str) -> None:
    cloud.aws.s3.put_object(Bucket=cloud.bucket_name, Key=key, Body=b"bytes")


@pytest.mark.parametrize(("applied", "kept"), [(False, ["a"]), (True, ["a", "b"])])
def test_a_kill_ends_the_sequence_before_or_after_the_call(cloud: Cloud, applied: bool, kept: list[str]) -> None:  # noqa: FBT001
    with kill_at(2, applied=applied), pytest.raises(Killed):
        put_items(cloud, "abc")
    assert [item["sk"]["S"] for item in cloud.items()] == kept


def test_after_a_kill_no_thread_applies_anything(cloud: Cloud) -> None:
    with kill_at(1), ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(put_item, cloud, str(number)) for number in range(8)]:
            with pytest.raises(Killed):
                future.result()
    assert cloud.items() == []


def test_a_kill_beyond_the_last_call_changes_nothing(cloud: Cloud) -> None:
    with kill_at(4) as calls:
        put_item(cloud, "a")
    assert calls.total == 1


@pytest.mark.parametrize("fault", list(Fault))
def test_one_fault_is_retried_by_botocore(cloud: Cloud, fault: Fault) -> None:
    seen: list[Call] = []

    def once(call: Call) -> Fault | None:
        seen.append(call)
        return fault if len(seen) == 1 else None

    with faults(once) as calls:
        put_object(cloud, "k")
    assert calls.names == ["s3.PutObject", "s3.PutObject"]
    assert cloud.object_keys() == ["k"]


@pytest.mark.parametrize(
    ("fault", "error", "kept"),
    [
        (Fault.THROTTLED, ClientError, 0),
        (Fault.SERVER_ERROR, ClientError, 0),
        (Fault.CONNECT_TIMEOUT, ConnectTimeoutError, 0),
        (Fault.TIMEOUT, ReadTimeoutError, 0),
        (Fault.APPLIED_TIMEOUT, ReadTimeoutError, 1),
        (Fault.APPLIED_SERVER_ERROR, ClientError, 1),
    ],
)
def test_a_lasting_fault_reaches_the_caller(cloud: Cloud, fault: Fault, error: type[Exception], kept: int) -> None:
    with faults(lambda _call: fault) as calls, pytest.raises(error):
        put_item(cloud, "a")
    assert calls.total > 1
    assert len(cloud.items()) == kept


def test_calls_are_recorded_with_what_ran_in_parallel(cloud: Cloud) -> None:
    with recorded() as calls:
        together(lambda: put_item(cloud, "k"), lambda: put_object(cloud, "k"))
        put_item(cloud, "later")
    assert sorted(calls.names) == ["dynamodb.PutItem", "dynamodb.PutItem", "s3.PutObject"]
    assert (calls.total, calls.sequential) == (3, 2)
    assert calls.request_bytes > 100
    assert {call.status for call in calls.made} == {200}


def test_calls_that_need_not_wait_for_each_other_are_not_in_a_row_when_the_machine_makes_them_so(cloud: Cloud) -> None:
    over = Event()

    def late() -> None:
        assert over.wait(60)
        put_item(cloud, "late")

    def early() -> None:
        for name in ("b", "c"):
            together(lambda: put_item(cloud, "a"), lambda: put_item(cloud, name))  # noqa: B023 - called at once
        over.set()

    with recorded() as calls:
        together(late, early)
    assert (calls.total, calls.sequential) == (5, 2)


def test_what_is_written_beside_requests_is_not_recorded_and_kills_nobody(cloud: Cloud) -> None:
    for around in (recorded(), kill_at(1)):
        with around as calls:
            background.later(lambda: put_item(cloud, "beside"))
            background.finish()
            assert calls.total == 0
        assert [item["sk"]["S"] for item in cloud.items()] == ["beside"]


def test_what_is_written_beside_requests_is_written_before_the_stack_is_gone() -> None:
    written = []

    def write(cloud: Cloud) -> None:
        time.sleep(0.05)  # the machine comes to it late
        put_item(cloud, "beside")
        written.append("beside")

    with emulated_cloud() as cloud:
        background.later(lambda: write(cloud))
    assert written == ["beside"]


@dataclass
class Moved:
    ms: int

    def now_ms(self) -> int:
        return self.ms


def test_objects_expire_by_their_rule_at_the_midnight_after(cloud: Cloud) -> None:
    noon = 20_000 * DAY_MS + DAY_MS // 2
    with s3_clock(Moved(noon)):
        for key in ("r7/a", "r30/a", "up/a", "keep/a"):
            put_object(cloud, key)
    assert expire_objects(cloud, noon + DAY_MS) == []
    assert expire_objects(cloud, noon + DAY_MS + DAY_MS // 2) == ["up/a"]
    assert expire_objects(cloud, noon + 10 * DAY_MS) == []
    assert expire_objects(cloud, noon + 11 * DAY_MS) == ["r7/a"]
    assert expire_objects(cloud, noon + 4000 * DAY_MS) == ["r30/a"]
    assert cloud.object_keys() == ["keep/a"]


def test_items_expire_by_their_time_to_live(cloud: Cloud) -> None:
    for sk, ttl in (("old", 100), ("young", 200)):
        put_item(cloud, sk, ttl={"N": str(ttl)})
    put_item(cloud, "eternal")
    assert expire_items(cloud, 150_000) == 1
    assert [item["sk"]["S"] for item in cloud.items()] == ["eternal", "young"]
