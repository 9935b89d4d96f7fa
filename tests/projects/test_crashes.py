"""The function dies at every AWS call of every write, before it or just after it was applied."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.faults import Killed, kill_at, recorded
from tests.projects.scenes import LONG, SCENES, Scene, Stage, nothing_beside, warm
from tests.projects.sightings import shape, sighting
from tests.projects.upkeep import known_empty_hours, nights, sweep
from tests.projects.world import ROOT, artifact_path, project_world, turn_path

if TYPE_CHECKING:
    from tests.clients.events import Client
    from tests.projects.world import World

pytestmark = pytest.mark.usefixtures("few_rounds")


@dataclass
class Death:
    """One way to die in a scene: at which call, applied or not, and whether the client tries again."""

    call: int
    applied: bool
    retried: bool
    stage: Stage
    prepared: Any


def _deaths(scene: Scene, world: World, client: Client, calls: int) -> list[Death]:
    """Prepare a task for each death."""
    sorts = ((False, True), (True, True), (True, False))  # applied, retried
    ways = ((call, *sort) for call in range(1, calls + 1) for sort in sorts)
    made = []
    for number, (call, applied, retried) in enumerate(ways):
        stage = Stage.of(client, world, f"task-{number:02d}-end")
        made.append(Death(call, applied, retried, stage, scene.prepare(stage)))
    return made


def _rehearse(scene: Scene, world: World, client: Client) -> tuple[int, tuple[str, str]]:
    """Return how many calls a scene makes when all goes well, and the shapes of its task before and after."""
    stage = Stage.of(client, world, "task-rehearsal-end")
    prepared = scene.prepare(stage)
    world.clock.move(days=scene.days)
    before = sighting(stage.client, stage.task)
    with recorded() as calls:
        assert scene.act(stage.again(), prepared).status in {200, 204}
    after = sighting(stage.client, stage.task)
    return calls.total, (shape(before, before, stage.task), shape(after, before, stage.task))


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_a_death_leaves_all_or_nothing_and_no_orphan(scene: Scene) -> None:
    with nothing_beside(), project_world() as world:
        sweep(world)
        client = world.client()
        calls, shapes = _rehearse(scene, world, client)
        deaths = _deaths(scene, world, client, calls)
        world.clock.move(days=scene.days)
        _tidied(world, [(death.stage, _die(scene, death, shapes)) for death in deaths])


def _die(scene: Scene, death: Death, shapes: tuple[str, str]) -> Any:
    """Die, hold what is left to all or nothing, perhaps try again, and return what can be seen in the end."""
    reader, task = death.stage.client, death.stage.task
    before = sighting(reader, task)
    acting = death.stage.again()
    with kill_at(death.call, applied=death.applied), pytest.raises(Killed):
        scene.act(acting, death.prepared)
    after = sighting(reader, task)
    assert after == before or shape(after, before, task) == shapes[1], death
    if not death.retried:
        return after
    again = scene.act(death.stage, death.prepared)
    assert again.status == scene.repeated or (again.status in {200, 204} and after == before), death
    after = sighting(reader, task)
    assert shape(after, before, task) == shapes[1], death
    return after


def _tidied(world: World, seen: list[tuple[Stage, Any]]) -> None:
    """Hold the stores to what they must be after a sweep and some nights, and to nothing after a month."""
    sweep(world)
    nights(world, 3)
    for stage, sighted in seen:
        assert sighting(stage.client, stage.task) == sighted
    rows, keys = world.leftovers()
    assert set(keys) == {i["object"]["S"] for i in world.cloud.items() if "object" in i}
    assert not [row for row in rows if row[1] == "job"]
    world.clock.move(days=31)
    sweep(world)
    nights(world, 2)
    assert world.leftovers() == ([], [])
    for stage, _ in seen:
        assert stage.client.get(f"{ROOT}/tasks").json["total"] == 0


def _deleted(stage: Stage) -> None:
    stage.client.delete(f"{ROOT}/tasks/{stage.task}")


def _month(stage: Stage) -> None:
    stage.world.clock.move(days=31)


@pytest.mark.parametrize("end", [_deleted, _month])
def test_a_sweeper_that_dies_anywhere_leaves_the_rest_to_the_next_one(end: Any) -> None:
    with nothing_beside(), project_world() as world, known_empty_hours(world):
        sweep(world)
        client = world.client()
        for call in itertools.count(1):
            stage = Stage.of(client, world, f"task-{call}")
            for turn in (1, 2):
                stage.turn(turn, summary_md=LONG)
                stage.artifact(turn=turn)
            stage.artifact("b")
            stage.turn(1, summary_md="short")
            stage.begin_upload(b"never completed")
            stage.world.clock.move(ms=1)
            end(stage)
            warm(stage.client)
            try:
                with kill_at(call):
                    world.sweep()
            except Killed:
                assert stage.client.get(f"{ROOT}/tasks").json["total"] == 0
                assert stage.client.get(turn_path(stage.task)).status == 404
                assert stage.client.get(artifact_path(stage.task, 1, "a")).status == 404
                sweep(world)
                assert world.leftovers() == ([], [])
                continue
            assert call > 8
            return


def test_a_task_reborn_between_two_sweeps_of_which_the_first_died_keeps_its_new_life() -> None:
    with nothing_beside(), project_world() as world, known_empty_hours(world):
        sweep(world)
        client = world.client()
        for call in itertools.count(1):
            stage = Stage.of(client, world, f"task-{call}")
            stage.turn(1, summary_md=LONG)
            stage.artifact()
            _deleted(stage)
            warm(stage.client)
            try:
                with kill_at(call):
                    world.sweep()
            except Killed:
                stage.turn(1, summary_md="new " + LONG)
                stage.artifact("b", b"new")
                seen = sighting(stage.client, stage.task)
                sweep(world)
                assert sighting(stage.client, stage.task) == seen
                assert len(world.leftovers()[1]) == 2
                _deleted(stage)
                sweep(world)
                assert world.leftovers() == ([], [])
                continue
            assert call > 5
            return
