from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from shared.kernel.clock import DAY_MS
from shared.kernel.errors import Unavailable
from shared.kernel.ids import ulid, ulid_ms
from shared.retention.erasures import Erasure, ErasureLog
from tests.emulator.faults import Fault, faults
from tests.retention.world import SCOPE

if TYPE_CHECKING:
    from tests.retention.world import World


def erasure(world: World, task: str = "t1") -> Erasure:
    return Erasure(ulid(world.clock.now_ms()), "task", SCOPE, {"task": task})


def test_an_entry_says_what_was_erased_and_when_and_holds_no_content(world: World) -> None:
    entry = erasure(world)
    ErasureLog(world.objects).write(entry)
    (key,) = world.cloud.object_keys()
    assert key == f"keep/erasures/20261119/{entry.id}"
    assert json.loads(world.objects.get(key)) == {
        "id": entry.id,
        "kind": "task",
        "tenant": "acme",
        "project": "demo",
        "ids": {"task": "t1"},
        "at": "2026-11-19T01:00:00.000Z",
    }


def test_writing_an_entry_again_on_another_day_is_the_same_write(world: World) -> None:
    log, entry = ErasureLog(world.objects), erasure(world)
    log.write(entry)
    before = world.objects.get(entry.key)
    world.clock.move(days=2)
    log.write(entry)
    assert world.cloud.object_keys() == [entry.key]
    assert world.objects.get(entry.key) == before


def test_an_entry_that_is_not_stored_is_an_error(world: World) -> None:
    with faults(lambda _: Fault.SERVER_ERROR), pytest.raises(Unavailable):
        ErasureLog(world.objects).write(erasure(world))


def test_a_replay_gives_all_since_a_moment_in_order_of_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.retention.erasures.PAGE", 2)
    log, written = ErasureLog(world.objects), []
    for n in range(9):
        written.append(erasure(world, f"t{n}"))
        log.write(written[-1])
        world.clock.move(hours=7)
    assert list(log.replay(0)) == written
    assert list(log.replay(written[4].at)) == written[4:]
    assert list(log.replay(written[4].at + 1)) == written[5:]
    assert list(log.replay(world.clock.now_ms() + DAY_MS)) == []


def test_a_ulid_tells_its_moment() -> None:
    assert ulid_ms(ulid(1_795_050_000_123)) == 1_795_050_000_123
