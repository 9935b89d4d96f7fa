"""A restore that dies at any of its calls, and is run again, ends as one that never died."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from functions.platform import restore
from shared.aws.table import Table
from shared.aws.writes import Put
from shared.kernel.clock import rfc3339
from shared.kernel.errors import Unavailable
from shared.kernel.ids import ulid
from shared.retention.erasures import Erasure, ErasureLog
from shared.retention.restoring import STATE, RestoreRefused, Walk
from shared.tenancy.opening import MARK, check_open
from shared.wiring.restoring import reopen
from tests.emulator.faults import Call, Fault, Killed, faults, kill_at, recorded
from tests.projects.world import turn_path
from tests.restoring.history import History, a_day

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

VOLATILE = {"revoked_at", "rev", "listed", "completed_at", "updated_at", "expires_at", "due", "created_at", "ttl"}
STRIDE = 23
"""A restore of the day makes some hundreds of calls; a death before and after each of them takes too long."""


@pytest.fixture(scope="module")
def day() -> Iterator[History]:
    with a_day() as at:
        yield at


def outcome(at: History, name: str) -> Any:
    """Return what a restored table holds, but for what another run of the same makes otherwise."""
    rows = at.rows(name)
    jobs = sorted(row["kind"] for row in rows.values() if row["sk"] == "job")
    kept = {
        key: {n: v for n, v in row.items() if n not in VOLATILE}
        for key, row in rows.items()
        if row["sk"] != "job" and not key[0].startswith("SYS#")
    }
    tasks = sum(kept.pop(key)["n"] for key in list(kept) if key[1].startswith("count#"))
    return kept, jobs, tasks


def different(one: Any, other: Any) -> dict[Any, Any]:
    """Return what differs between two outcomes, by row."""
    rows = {key: (one[0].get(key), other[0].get(key)) for key in one[0].keys() | other[0].keys()}
    found: dict[Any, Any] = {key: pair for key, pair in rows.items() if pair[0] != pair[1]}
    return found | ({"else": (one[1:], other[1:])} if one[1:] != other[1:] else {})


def restored(at: History, name: str) -> None:
    at.restorer(name, old=None).restoration().run(lambda *_: None)


def test_a_death_anywhere_changes_nothing_of_the_end(day: History) -> None:
    day.restored("whole")
    with recorded() as calls:
        restored(day, "whole")
    wanted = outcome(day, "whole")
    for number in range(2, calls.total, STRIDE):
        name = day.restored(f"dead-{number}")
        for applied, at in ((False, number), (True, number // 2 + 1)):
            with suppress(Killed), kill_at(at, applied=applied):
                restored(day, name)
        if day.rows(name)[MARK]["name"] != name:
            restored(day, name)
        assert different(outcome(day, name), wanted) == {}, number
        check_open(Table(day.shelf.cloud.aws, name))


def test_a_restore_of_what_is_restored_changes_nothing(day: History) -> None:
    day.restored("twice")
    restored(day, "twice")
    once = outcome(day, "twice")
    restored(day, "twice")
    assert outcome(day, "twice") == once


def test_a_copy_of_a_table_that_was_restored_itself_is_begun_anew(day: History) -> None:
    name = day.restored("copied")
    with suppress(Killed), kill_at(200):
        restored(day, name)
    table = Table(day.shelf.cloud.aws, name)
    state = table.get(STATE)
    assert state is not None
    assert state["marks"]
    table.write(Put({**state, "table": "another", "moment": day.moment + 1}))
    restored(day, name)
    check_open(table)


def test_one_that_was_begun_with_a_later_moment_is_refused(day: History) -> None:
    name = day.restored("later")
    table = Table(day.shelf.cloud.aws, name)
    state = {"table": name, "moment": day.moment + 1, "step": "counts", "marks": {}}
    table.write(Put({"pk": STATE[0], "sk": STATE[1], **state}))
    with pytest.raises(RestoreRefused, match="later moment"):
        restored(day, name)


def test_a_drill_leaves_the_old_table_in_use_and_the_new_one_closed(day: History) -> None:
    name = day.restored("drill")
    day.restorer(name, drill=True).restoration().run(lambda *_: None)
    assert day.rows(name)[MARK]["name"] == ""
    check_open(day.table)
    entry = Erasure(ulid(day.shelf.clock.now_ms()), "task", day.shelf.address().scope, _kept(day))
    ErasureLog(day.objects).write(entry)
    restored(day, name)
    check_open(Table(day.shelf.cloud.aws, name))
    assert not [key for key in day.rows(name) if key[1] == "task#kept"]


def _kept(day: History) -> dict[str, str]:
    return {"task": "kept", "gen": day.rows(day.table_name)[("P#acme#default", "task#kept")]["gen"]}


def test_the_new_table_is_protected_from_deletion_as_the_old_one_is_but_in_a_drill(day: History) -> None:
    client, old = day.shelf.cloud.aws.dynamodb, day.shelf.cloud.table_name

    def protected(name: str, **plan: Any) -> bool:
        day.restorer(day.restored(name), **plan).restoration().run(lambda *_: None)
        return client.describe_table(TableName=name)["Table"]["DeletionProtectionEnabled"]

    assert not protected("of-an-open-one", drill=False, grace=0)
    client.update_table(TableName=old, DeletionProtectionEnabled=True)
    try:
        assert protected("of-a-protected-one")
        assert not protected("drilled", drill=True)
    finally:
        client.update_table(TableName=old, DeletionProtectionEnabled=False)
        reopen(day.table)


def test_a_kind_of_erasure_that_is_not_known_keeps_the_table_closed(day: History) -> None:
    name = day.restored("unknown")
    entry = Erasure(ulid(day.shelf.clock.now_ms()), "something_new", day.shelf.address().scope, {})
    ErasureLog(day.objects).write(entry)
    with pytest.raises(RestoreRefused, match="something_new"):
        restored(day, name)
    day.objects.delete(entry.key)
    assert day.rows(name)[MARK]["name"] == ""


def test_a_kind_of_row_that_is_not_known_keeps_the_table_closed(day: History) -> None:
    walk = Walk(day.table, "attribute_exists(#object)", {"J": None})
    with pytest.raises(RestoreRefused, match="newer version"):
        walk("", lambda *_: None)


def test_a_store_that_does_not_answer_stops_it_and_it_goes_on(day: History) -> None:
    name = day.restored("throttled")
    with (
        faults(_no_listing),
        pytest.raises(Unavailable),
    ):
        restored(day, name)
    restored(day, name)
    check_open(Table(day.shelf.cloud.aws, name))


@pytest.fixture
def asked(day: History) -> list[str]:
    at = rfc3339(day.moment)
    return ["--bucket", day.shelf.cloud.bucket_name, "--at", at, "--old", day.shelf.cloud.table_name]


def test_the_command_restores_and_tells_what_is_next(
    day: History, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = day.restored("by-command")
    pauses: list[float] = []
    run = ["--table", name, *asked]
    assert restore.main([*run, "--drill"], day.shelf.cloud.aws, day.shelf.clock, pause=pauses.append) == 0
    assert "stays closed" in capsys.readouterr().err
    assert restore.main(run, day.shelf.cloud.aws, day.shelf.clock, pause=pauses.append) == 0
    assert f"TableName={name}" in capsys.readouterr().err
    assert pauses == [240]
    assert restore.main(run, day.shelf.cloud.aws, day.shelf.clock) == 1
    assert "open already" in capsys.readouterr().err
    day.shelf.clock.move(ms=60_000)
    assert day.client("projects").get(turn_path("overwritten")).status == 503
    old = ["--table", day.shelf.cloud.table_name, "--reopen"]
    assert restore.main(old, day.shelf.cloud.aws, day.shelf.clock) == 0
    assert day.client("projects").get(turn_path("overwritten")).status == 200
    assert restore.main(["--table", "drill", "--reopen"], day.shelf.cloud.aws, day.shelf.clock) == 1


def test_the_command_makes_the_index_anew_of_the_new_table_for_the_deployed_embedder(
    day: History, asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, environs = day.restored("indexed"), []

    def reindexing(environ: dict[str, str], _aws: Any, *, grace: float) -> Any:
        environs.append((environ, grace))
        return SimpleNamespace(run=lambda tell: tell(SimpleNamespace(memories=7)))

    monkeypatch.setattr("shared.wiring.reindexing.reindexing", reindexing)
    search = ["--drill", "--search", "https://search.example.org", "--embedder", "bedrock:cohere.embed-multilingual-v3"]
    assert restore.main(["--table", name, *asked, *search], day.shelf.cloud.aws, day.shelf.clock, pause=_nothing) == 0
    ((environ, grace),) = environs
    assert (environ["TABLE_NAME"], environ["BUCKET_NAME"]) == (name, day.shelf.cloud.bucket_name)
    assert (environ["SEARCH_BACKEND"], environ["SEARCH_ENDPOINT"]) == ("existing", "https://search.example.org")
    assert (environ["EMBEDDER"], grace) == ("bedrock:cohere.embed-multilingual-v3", 0)
    assert "index, 7" in capsys.readouterr().err


def test_aws_is_asked_to_make_the_table_where_it_is_not_there(
    day: History, asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = []

    def make(*, SourceTableName: str, TargetTableName: str, RestoreDateTime: datetime, **_: Any) -> None:  # noqa: N803
        assert SourceTableName == day.shelf.cloud.table_name
        moments.append(int(RestoreDateTime.timestamp() * 1000))
        day.restored(TargetTableName)

    monkeypatch.setattr(day.shelf.cloud.aws.dynamodb, "restore_table_to_point_in_time", make)
    assert (
        restore.main(["--table", "made", *asked, "--drill"], day.shelf.cloud.aws, day.shelf.clock, pause=_nothing) == 0
    )
    assert day.rows("made")[MARK]["name"] == ""
    assert moments == [day.moment]
    gone = [*asked[:-2], "--old-is-gone"]
    assert restore.main(["--table", "nowhere", *gone], day.shelf.cloud.aws, day.shelf.clock, pause=_nothing) == 1
    assert "no table nowhere" in capsys.readouterr().err


@pytest.mark.parametrize("change", [["--at", "yesterday"], ["--at", "2026-11-30T10:00:00"], ["--search", "https://x"]])
def test_what_can_not_be_meant_is_refused(asked: list[str], change: list[str]) -> None:
    with pytest.raises(SystemExit):
        restore.main(["--table", "x", *asked, *change])
    with pytest.raises(SystemExit):
        restore.main(["--table", "x"])


def _no_listing(call: Call) -> Fault | None:
    return Fault.THROTTLED if call.operation == "ListObjectsV2" else None


def _nothing(_: float) -> None:
    """Wait for nothing."""
