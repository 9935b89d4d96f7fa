"""The whole surface against a simple model of it, by requests in any order, while time passes and the sweeper runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from shared.kernel.scope import Scope
from tests.projects.machine import CONDITIONS, LIMITS, METAS, TASKS, TURNS, WHO, condition
from tests.projects.machine_of_artifacts import ArtifactMachine
from tests.projects.model import SUMMARIES
from tests.projects.upkeep import nights, sweep
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    import pytest

    from tests.clients.events import Answer
    from tests.projects.model import Turn

EXAMPLES, STEPS = 200, 50
UPKEEP = 6
"""Runs of the sweeper in one example: each costs as much as ten requests."""


class ProjectMachine(ArtifactMachine):
    """Every request of the surface, and what goes on without one."""

    def teardown(self) -> None:
        try:
            sweep(self.world)
            self.read_all()
            self.check_no_orphans()
        finally:
            self.stack.close()

    def check_no_orphans(self) -> None:
        """Hold what the sweeper left to what belongs to a life: rows by their generation, objects by their rows."""
        items, (_, keys) = self.world.cloud.items(), self.world.leftovers()
        assert set(keys) <= {item["object"]["S"] for item in items if "object" in item}
        lives = {item["gen"]["S"] for item in items if item["sk"]["S"].startswith("task#")}
        assert {item["gen"]["S"] for item in items if item["pk"]["S"].startswith("T#")} <= {*lives, ""}

    def seen_etag(self, task: str, turn: int) -> str | None:
        """Return a turn's entity tag, read if no answer has told it yet."""
        found = self.model().turn(task, turn)
        if found is not None and found.etag is None:
            self.read_turn("owner", task, turn)
        return found.etag if found else None

    # ---- turns

    @rule(who=WHO, task=TASKS, turn=TURNS, meta=METAS, summary=st.sampled_from(list(SUMMARIES)))
    def put_turn(self, *, who: str, task: str, turn: int, meta: Any, summary: str) -> None:
        self.put_turn_if(who=who, task=task, turn=turn, meta=meta, summary=summary, kind="")

    @rule(who=WHO, task=TASKS, turn=TURNS, meta=METAS, summary=st.sampled_from(list(SUMMARIES)), kind=CONDITIONS)
    def put_turn_if(self, *, who: str, task: str, turn: int, meta: Any, summary: str, kind: str) -> None:
        headers, holds = condition(kind, self.seen_etag(task, turn))
        before = self.world.clock.now
        body = {"meta": meta, "summary_md": summary}
        answer = self.clients[who].put(turn_path(task, turn), json_body=body, headers=headers)
        assert answer.status == (200 if holds else 412), answer.content
        if holds:
            written = self.model().write(task, turn, who, self.check_written(answer, before))
            written.meta, written.summary = meta, summary
            self.turn_answered(task, turn, written, answer)

    @rule(
        who=WHO,
        task=TASKS,
        turn=TURNS,
        meta=METAS,
        summary=st.none() | st.sampled_from(list(SUMMARIES)),
        kind=CONDITIONS,
    )
    def patch_turn(self, *, who: str, task: str, turn: int, meta: Any, summary: str | None, kind: str) -> None:
        headers, holds = condition(kind, self.seen_etag(task, turn))
        before, found = self.world.clock.now, self.model().turn(task, turn)
        body = {"meta": meta} | ({} if summary is None else {"summary_md": summary})
        answer = self.clients[who].patch(turn_path(task, turn), json_body=body, headers=headers)
        assert answer.status == (412 if not holds else 404 if found is None else 200), answer.content
        if answer.status == 200:
            written = self.model().write(task, turn, who, self.check_written(answer, before))
            written.meta = {**written.meta, **meta}
            written.summary = written.summary if summary is None else summary
            self.turn_answered(task, turn, written, answer)

    def turn_answered(self, task: str, number: int, turn: Turn, answer: Answer) -> None:
        turn.touch(answer.json["updated_at"], answer.etag)
        assert answer.json == self.model().turn_record(task, number)
        if turn.summary == "":
            self.read_digest("owner")  # which may have to fall back now

    @rule(who=WHO, task=TASKS, turn=TURNS)
    def read_turn(self, who: str, task: str, turn: int) -> None:
        found = self.model().turn(task, turn)
        answer = self.clients[who].get(turn_path(task, turn))
        assert answer.status == (200 if found else 404)
        if found:
            assert answer.json == self.model().turn_record(task, turn)
            assert answer.etag not in found.former
            assert found.etag in {None, answer.etag}
            found.etag = answer.etag
            again = self.clients[who].get(turn_path(task, turn), headers={"If-None-Match": answer.etag})
            assert (again.status, again.content) == (304, b"")

    # ---- tasks

    @rule(who=WHO, limit=LIMITS)
    def list_tasks(self, who: str, limit: int) -> None:
        expected = [self.model().task_summary(task, life) for task, life in self.model().lives()]
        shown, cursor = [], None
        while True:
            query = {"limit": limit} | ({"cursor": cursor} if cursor else {})
            page = self.clients[who].get(f"{ROOT}/tasks", query=query).json
            assert page["total"] == len(expected)
            assert len(page["tasks"]) <= limit
            shown += page["tasks"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert shown == expected

    @rule(who=WHO, task=TASKS, limit=LIMITS)
    def read_task(self, who: str, task: str, limit: int) -> None:
        life, path = self.model().life(task), f"{ROOT}/tasks/{task}"
        answer = self.clients[who].get(path, query={"limit": limit})
        assert answer.status == (200 if life else 404)
        if life is None:
            return
        whole = answer.json
        cursor = whole.pop("next_cursor")
        while cursor is not None:
            assert len(whole["turns"]) % limit == 0
            page = self.clients[who].get(path, query={"limit": limit, "cursor": cursor}).json
            whole["turns"] += page["turns"]
            cursor = page["next_cursor"]
        assert whole == self.model().task_object(task, life)

    @rule(who=WHO, task=TASKS)
    def delete_task(self, who: str, task: str) -> None:
        life = self.model().life(task)
        answer = self.clients[who].delete(f"{ROOT}/tasks/{task}")
        allowed = life is not None and (who in {"admin", life.owner})
        assert answer.status == (404 if life is None else 204 if allowed else 403)
        if allowed:
            self.model().end(task)

    # ---- the digest

    @rule(who=WHO)
    def read_digest(self, who: str) -> None:
        expected = self.model().digest("p")
        answer = self.clients[who].get(f"{ROOT}/project.md")
        assert answer.content.decode() == expected
        if self.digest and self.digest[1] != expected:
            assert answer.etag != self.digest[0]
        self.digest = answer.etag, expected, self.model().changes

    @precondition(lambda self: self.digest is not None)
    @rule(who=WHO)
    def read_digest_if_changed(self, who: str) -> None:
        assert self.digest
        etag, known, changes = self.digest
        expected = self.model().digest("p")
        answer = self.clients[who].get(f"{ROOT}/project.md", headers={"If-None-Match": etag})
        assert answer.status == 304 if changes == self.model().changes else answer.status == 200 or known == expected
        if answer.status == 200:
            assert answer.content.decode() == expected
            self.digest = answer.etag, expected, self.model().changes

    # ---- what goes on without a request

    @rule(hours=st.sampled_from([1, 30, 4 * 24, 9 * 24]), task=TASKS, to=st.sampled_from(["", "end", "after"]))
    def let_time_pass(self, hours: int, task: str, to: str) -> None:
        clock, life = self.world.clock, self.model().life(task)
        if to and life:
            clock.now = max(clock.now, life.until if to == "after" else life.until - 10_000)
        else:
            clock.move(ms=hours * 3_600_000)
        self.keep_clear()

    @precondition(lambda self: self.upkeep < UPKEEP)
    @rule(job=st.sampled_from(["sweep", "night", "month"]))
    def run_upkeep(self, job: str) -> None:
        self.upkeep += 1
        if job == "sweep":
            sweep(self.world)
        elif job == "night":
            nights(self.world, 1)
            self.keep_clear()
        else:
            self.let_everything_end()

    def let_everything_end(self) -> None:
        self.world.clock.move(days=91)
        assert self.model().lives() == []
        sweep(self.world)
        assert self.world.leftovers() == ([], [])
        self.read_digest("owner")

    @rule(days=st.sampled_from([7, 30, 90]))
    def set_retention(self, days: int) -> None:
        self.settings.change(Scope("acme", "p"), {"retention_days": days})
        self.project.days = days

    @rule(path=st.sampled_from([f"{ROOT}/tasks/a", turn_path("a", 0), artifact_path("a", 0, "x")]))
    def ask_as_a_neighbour(self, path: str) -> None:
        assert self.neighbour.get(f"{ROOT}/tasks").json == {"tasks": [], "total": 0, "next_cursor": None}
        assert self.neighbour.get(path).status == 404
        assert self.neighbour.delete(f"{ROOT}/tasks/a").status == 404

    def read_all(self) -> None:
        self.list_tasks("owner", 200)
        self.read_digest("other")
        for task, life in self.model().lives():
            self.read_task("owner", task, 200)
            for number, turn in list(life.turns.items()):
                self.read_turn("owner", task, number)
                for name in list(turn.files):
                    self.read_artifact("owner", task, number, name)


def test_every_answer_is_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.retention.rounds.DAYS", (7, 30, 90))
    monkeypatch.setattr("shared.retention.rounds.CLASSES", ("r7", "r30", "r90", "up"))
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    how = settings(max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, suppress_health_check=checks)
    run_state_machine_as_test(ProjectMachine, settings=how)
