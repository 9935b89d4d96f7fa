"""Project memory over a hundred days: written, renewed, expired, with lifecycle rules at work every midnight."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unittest.mock import patch

from shared.kernel.clock import DAY_MS
from shared.kernel.scope import Scope
from shared.wiring.environment import Environment
from shared.wiring.tenancy import tenancy
from tests.emulator.ageing import expire_objects, s3_clock
from tests.projects.world import ROOT, MovedClock, artifact_path, project_world, turn_path

if TYPE_CHECKING:
    from tests.clients.events import Client
    from tests.projects.world import World

RETENTIONS = {"week": 7, "month": 30, "quarter": 90}


@dataclass
class Project:
    """One project and what must be readable of it: task -> (until ms, summary by turn, artifact)."""

    name: str
    days: int
    client: Client
    tasks: dict[str, tuple[int, dict[int, str], bytes]] = field(default_factory=dict)

    def write(self, task: str, turn: int, chance: random.Random, now: int) -> None:
        until, summaries, body = self.tasks.get(task, (0, {}, b""))
        if until <= now:
            summaries, body = {}, b""
        summaries[turn] = f"{turn} " * (chance.choice([3, 15_000]))
        put = self.client.put(turn_path(task, turn), json_body={"summary_md": summaries[turn]})
        assert put.status == 200
        if not body:
            body = chance.randbytes(50)
            assert self.client.put(artifact_path(task, turn), body=body).status == 200
            self.client.put(artifact_path(task, 0), body=body)
            summaries.setdefault(0, "")
        self.tasks[task] = (now + self.days * DAY_MS, summaries, body)

    def check(self, now: int) -> None:
        living = {task: rest for task, (until, *rest) in self.tasks.items() if until > now + 60_000}
        ending = {task for task, (until, *_) in self.tasks.items() if now < until <= now + 60_000}
        listed = self.client.get(f"{ROOT}/tasks", query={"limit": 200}).json
        assert {t["task_id"] for t in listed["tasks"]} - ending == set(living)
        assert listed["total"] == len(listed["tasks"])
        for task, (summaries, body) in living.items():
            for turn, summary in summaries.items():
                assert self.client.get(turn_path(task, turn)).json["summary_md"] == summary
            assert self.client.get(artifact_path(task, 0)).content == body


def test_over_a_hundred_days_what_lives_is_whole_and_what_ended_is_gone() -> None:
    clock, chance = MovedClock(), random.Random(20261130)
    # One bucket an hour instead of four: the sweeper reads as many hours, in a quarter of the time.
    with project_world(clock=clock) as world, s3_clock(clock), patch("shared.retention.records.DUE_SPREAD", 1):
        projects = [_project(world, name, days) for name, days in RETENTIONS.items()]
        for day in range(100):
            for project in projects:
                task = f"t{chance.randrange(3)}"
                if chance.random() < (0.25 if day < 70 else 0.02):
                    project.write(task, chance.randrange(4), chance, clock.now)
            _night(world)
            if day % 5 == 4:
                for project in projects:
                    project.check(clock.now)
        for _ in range(12):
            _night(world, days=9)
        assert all(project.client.get(f"{ROOT}/tasks").json["total"] == 0 for project in projects)
        assert world.leftovers() == ([], [])


def _project(world: World, name: str, days: int) -> Project:
    projects = tenancy(Environment.of(world.environ), world.cloud.aws, world.clock).projects
    projects.change(Scope("acme", name), {"retention_days": days})
    return Project(name, days, world.client(project=name))


def _night(world: World, days: int = 1) -> None:
    """Days pass: the night's round, which sweeps too, and at midnight S3's own rules."""
    world.clock.move(days=days)
    world.sweep("reconcile")
    expire_objects(world.cloud, world.clock.now)
