"""Under faults and kills nothing that was acknowledged is lost or doubled, and nothing that was deleted comes back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.proving import table
from tests.soak.history import ABSENT, NO_ANSWER, History, Reply, Thing
from tests.soak.soak import soak

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
SEED = int(os.environ.get("SOAK_SEED", "1"))


def test_a_minute_of_faults_and_kills_breaks_no_promise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = soak(tmp_path, SECONDS, SEED)
    with capsys.disabled():
        print(table("Faults at scale", outcome.rows))
    assert not outcome.violations, "\n".join(outcome.violations[:20])


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
