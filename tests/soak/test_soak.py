"""Under faults and kills nothing that was acknowledged is lost or doubled, and nothing that was deleted comes back."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.proving import table
from tests.soak.history import ABSENT, NO_ANSWER, History, Reply, Thing
from tests.soak.soak import check_objects, soak

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
SEED = int(os.environ.get("SOAK_SEED", "1"))


def test_a_minute_of_faults_and_kills_breaks_no_promise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = soak(tmp_path, SECONDS, SEED)
    if outcome.unchecked and not outcome.violations:  # a slow machine does not come to everything in a minute
        (tmp_path / "longer").mkdir()
        outcome = soak(tmp_path / "longer", 3 * SECONDS, SEED)
    with capsys.disabled():
        print(table("Faults at scale", outcome.rows))
    assert not outcome.violations, "\n".join(outcome.violations[:20])
    assert not outcome.unchecked


def test_what_may_be_read_is_what_was_acknowledged_last_or_anything_unsure_since() -> None:
    thing = Thing()
    thing.write("a", Reply(200))
    thing.write("b", NO_ANSWER)
    thing.write("c", Reply(503))
    thing.write("d", Reply(412))
    assert thing.possible == ["a", "b", "c"]
    thing.write(ABSENT, Reply(204))
    assert thing.possible == [ABSENT]


def test_a_broken_promise_is_counted_and_written_down(tmp_path: Path) -> None:
    history = History(tmp_path / "history.jsonl")
    history.note("ann", "PUT", "/x", Reply(200, b"{}"))
    history.hold("it is there", holds=True, told="x")
    history.hold("it is there", holds=False, told="y")
    history.close()
    assert (history.checked["it is there"], history.violations) == (2, ["it is there: y"])
    assert "VIOLATION" in (tmp_path / "history.jsonl").read_text()


PLAN = "r30/20261130/acme/default/plan"
PIECE, TURN = "r30/20261130/acme/default/piece", "r30/20261130/acme/default/turn"


def table_of(*, ended: bool) -> list[dict[str, Any]]:
    """Return the rows of an add's task and plan, of a file's job, of a piece of it, and of a turn with an object."""
    file = {"pk": "W#acme#default#t", "sk": "file#00", "status": "success" if ended else "parsed"}
    piece = {"pk": "W#acme#default#t", "sk": "piece#00#00000", "object": PIECE}
    turn = {"pk": "T#acme", "sk": "turn#1", "object": TURN}
    task = {"pk": "W#acme#default#t", "sk": "task", "status": "failed" if ended else "processing"}
    plan = {"pk": "W#acme#default#t", "sk": "plan", "object": PLAN}
    return [{name: {"S": value} for name, value in row.items()} for row in (task, plan, file, piece, turn)]


@pytest.mark.parametrize(
    ("ended", "there", "broken"),
    [
        (False, [PLAN, PIECE, TURN], []),
        (True, [PLAN, PIECE, TURN], []),
        (True, [PLAN, TURN], []),
        (True, [PIECE, TURN], []),
        (False, [PLAN, TURN], ["every object that a record names is there"]),
        (False, [PIECE, TURN], ["every object that a record names is there"]),
        (True, [PLAN, PIECE], ["every object that a record names is there"]),
        (True, [PLAN, PIECE, TURN, "r30/20261130/acme/default/orphan"], ["every object that is there has a record"]),
    ],
)
def test_only_what_was_needed_for_something_that_has_ended_may_name_what_is_gone(
    tmp_path: Path, *, ended: bool, there: list[str], broken: list[str]
) -> None:
    stack: Any = SimpleNamespace(
        items=lambda: table_of(ended=ended),
        object_keys=lambda: there,
        run=lambda _: {"complete": True},
        clock=SimpleNamespace(move=lambda **_: None),
    )
    history = History(tmp_path / "history.jsonl")
    check_objects(stack, history)
    history.close()
    assert [violation.partition(":")[0] for violation in history.violations] == broken
