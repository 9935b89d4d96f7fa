"""What DynamoDB counts, by its rules."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from bench.courses import Caller
from bench.operations import put_artifact, request, turn
from bench.stage import open_stage
from bench.units import Meter, size_of, stored_size_of, write_units
from shared.aws.clients import calls_made
from shared.aws.objects import Objects
from shared.aws.table import Query, Table
from shared.aws.writes import ABSENT, Check, Put, Update

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.stage import Stage


def row(**values: str) -> dict[str, Any]:
    return {name: {"S": value} for name, value in {"pk": "p", "sk": "s", **values}.items()}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "été"}, 5),
        ({"N": "-12.5"}, 3),
        ({"N": "123456"}, 4),
        ({"BOOL": True}, 1),
        ({"NULL": True}, 1),
        ({"L": [{"S": "ab"}, {"NULL": True}]}, 3 + 3 + 2),
        ({"M": {"a": {"S": "b"}}}, 3 + 3),
    ],
)
def test_values_are_weighed_as_dynamodb_weighs_them(value: dict[str, Any], size: int) -> None:
    assert size_of({"name": value}) == len("name") + size


def test_nothing_weighs_nothing() -> None:
    assert size_of(None) == 0


def test_a_write_is_a_unit_a_kilobyte_of_the_larger_row_and_double_in_a_transaction() -> None:
    small, large = row(), row(text="x" * 3000)
    assert write_units(None, small) == 1
    assert write_units(large, small) == write_units(small, large) == write_units(large, None) == 3
    assert write_units(small, large, transaction=True) == 6


def test_indexes_are_written_where_their_rows_change() -> None:
    plain, first, second = row(), row(l1="a"), row(l1="b")
    assert write_units(plain, first) == write_units(first, plain) == 1 + 1
    assert write_units(first, first) == 1
    assert write_units(first, second) == 1 + 2, "its key changes: it goes from one place to another"
    assert write_units(row(l1="a", text="x"), row(l1="a", text="y")) == 2, "the whole row is in it"
    assert write_units(row(l2="a", text="x"), row(l2="a", text="y")) == 1, "the keys alone are in it"
    assert write_units(plain, row(l1="a", due="d"), transaction=True) == 2 + 2 + 1, "the global one is written after it"


def test_what_is_stored_has_a_hundred_bytes_more_a_row_and_index() -> None:
    size = size_of(row(l1="a", l2="b"))
    assert stored_size_of(row(l1="a", l2="b")) == (size + 100, size + 100 + size_of(row(l2="b")) + 100)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with open_stage() as made:
        yield made


def test_calls_are_counted_with_their_units_and_only_those_of_requests(stage: Stage) -> None:
    meter = Meter(stage.emulator, stage.aws, stage.stack.outputs["TableName"])
    table = Table(stage.aws, stage.stack.outputs["TableName"])
    objects = Objects(stage.aws, stage.stack.outputs["BucketName"])
    with meter.counting() as units:
        table.write(Put({"pk": "beside", "sk": "a"}))
    assert units.calls == 0
    token = calls_made.set([])
    try:
        with meter.counting() as units:
            table.write(Put({"pk": "p", "sk": "a", "l1": "x", "text": "x" * 5000}))
            table.transact(Update(("p", "b"), {"n": 1}), Check(("q", "none"), ABSENT))
            table.get(("p", "a"))
            table.batch_get([("p", "a"), ("p", "b"), ("p", "none")])
            table.query(Query("p"))
            table.query(Query("p", "l1", only=("pk", "sk")))
            objects.put("r7/x", b"bytes", owner="p|a")
            objects.get("r7/x")
            objects.delete("r7/x")
        assert (units.writes, units.busiest) == (5 + 5 + 2 + 2, 5 + 5 + 2)
        assert units.reads == 2 + (2 + 1 + 1) + 2 + 2
        assert (units.s3_puts, units.s3_gets, units.calls) == (1, 1, 9)
    finally:
        calls_made.reset(token)


def test_what_goes_out_is_weighed_as_the_client_gets_it(stage: Stage) -> None:
    caller = Caller(stage, "ProjectsFunction")
    body = bytes(range(256)) * 12
    caller.send(put_artifact("weighed", body))
    _, sent, _ = caller.send(request("GET", f"{turn('weighed')}/artifacts/log"))
    assert sent == len(body), "not as Lambda writes it for the gateway"


def test_the_processors_time_between_calls_is_a_functions_own(stage: Stage) -> None:
    caller = Caller(stage, "ProjectsFunction")
    with stage.recorded() as calls:
        began = time.process_time()
        caller.send(put_artifact("timed", b"x"))
        ended = time.process_time()
    times = [call.worked for call in calls]
    assert times
    assert all(began <= first <= last <= ended for first, last in times)
