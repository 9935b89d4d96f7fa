"""The whole surface against a simple model of it, by requests in any order, while time passes and the sweeper runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from shared.kernel.clock import DAY_MS
from shared.kernel.scope import Scope
from tests.projects.machine import (
    BODIES,
    CONDITIONS,
    KINDS,
    LIMITS,
    METAS,
    NAMES,
    TASKS,
    TURNS,
    WHO,
    Scenery,
    condition,
)
from tests.projects.model import SUMMARIES, File, Upload
from tests.projects.upkeep import nights, sweep
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    import pytest

    from tests.clients.events import Answer
    from tests.projects.model import Turn

EXAMPLES, STEPS = 200, 50
UPKEEP = 6
"""Runs of the sweeper in one example: each costs as much as ten requests."""


class ProjectMachine(Scenery):
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

    # ---- artifacts

    @rule(who=WHO, task=TASKS, turn=TURNS, name=NAMES, body=BODIES, kind=KINDS)
    def put_artifact(self, *, who: str, task: str, turn: int, name: str, body: bytes, kind: str) -> None:
        self.put_artifact_if(who=who, task=task, turn=turn, name=name, body=body, kind=kind, when="")

    @rule(who=WHO, task=TASKS, turn=TURNS, name=NAMES, body=BODIES, kind=KINDS, when=CONDITIONS)
    def put_artifact_if(self, *, who: str, task: str, turn: int, name: str, body: bytes, kind: str, when: str) -> None:
        found = self.model().file(task, turn, name)
        headers, holds = condition(when, found.etag if found else None)
        before = self.world.clock.now
        path = artifact_path(task, turn, name)
        answer = self.clients[who].put(path, body=body, headers={**headers, "Content-Type": kind})
        assert answer.status == (200 if holds else 412), answer.content
        if holds:
            self.artifact_answered(who, (task, turn, name), File(body, kind, answer.etag, ""), answer, before)

    def artifact_answered(self, who: str, where: tuple[str, int, str], file: File, answer: Answer, before: int) -> None:
        task, turn, name = where
        same = self.model().file(task, turn, name)
        if same and (same.body, same.kind) == (file.body, file.kind):
            assert answer.etag == same.etag
        file.updated = self.check_written(answer, before)
        written = self.model().write(task, turn, who, file.updated)
        written.files[name] = file
        written.touch(file.updated, None)
        assert answer.json == {**file.view(name), "task_id": task, "turn": turn}

    @rule(who=WHO, task=TASKS, turn=TURNS, name=NAMES)
    def read_artifact(self, who: str, task: str, turn: int, name: str) -> None:
        found, client, path = self.model().file(task, turn, name), self.clients[who], artifact_path(task, turn, name)
        answer, head = client.get(path), client.head(path)
        assert answer.status == head.status == (200 if found else 404)
        if found is None:
            return
        assert (answer.content, answer.headers["content-type"], answer.etag) == (found.body, found.kind, found.etag)
        assert (head.content, head.headers["content-length"], head.etag) == (b"", str(len(found.body)), found.etag)
        part = client.get(path, headers={"Range": "bytes=2-4"})
        assert (part.status, part.content) == (206, found.body[2:5]) if found.body else part.status == 416
        assert client.get(path, headers={"If-None-Match": found.etag}).status == 304

    @rule(task=TASKS, turn=TURNS, name=NAMES, body=BODIES, kind=KINDS)
    def start_upload(self, *, task: str, turn: int, name: str, body: bytes, kind: str) -> None:
        life = self.model().life(task)
        wanted = {"size": len(body), "content_type": kind}
        answer = self.clients["owner"].post(f"{artifact_path(task, turn, name)}/upload", json_body=wanted)
        assert answer.status == 200, answer.content
        upload_id: str = answer.json["upload_id"]
        row = next(i for i in self.world.cloud.items() if i["sk"]["S"] == f"u#{upload_id}")
        self.world.cloud.aws.s3.put_object(Bucket=self.world.cloud.bucket_name, Key=row["object"]["S"], Body=body)
        began, number = self.world.clock.now, life.number if life else None
        ends = self.project.ends(task)
        self.uploads.append(Upload(upload_id, task, turn, name, body, kind, began, number, ends))

    @precondition(lambda self: self.uploads)
    @rule(which=st.integers(min_value=0, max_value=100))
    def complete_upload(self, which: int) -> None:
        upload = self.uploads[which % len(self.uploads)]
        life, before = self.model().life(upload.task), self.world.clock.now
        path = f"{artifact_path(upload.task, upload.turn, upload.name)}/complete"
        answer = self.clients["owner"].post(path, json_body={"upload_id": upload.id})
        over = before >= upload.began + DAY_MS
        ended = upload.life is not None and (life is None or life.number != upload.life)
        perhaps = (
            upload.life is None and self.project.ends(upload.task) > upload.ends
        )  # the sweeper may have been there
        assert answer.status in ({404} if over or ended else {200, 404} if perhaps else {200}), answer.content
        if answer.status == 404:
            return
        if upload.done:
            assert (answer.json, answer.etag) == upload.done
            return
        file = File(upload.body, upload.kind, answer.etag, "")
        self.artifact_answered("owner", (upload.task, upload.turn, upload.name), file, answer, before)
        alive = self.model().life(upload.task)
        assert alive
        upload.done, upload.life = (answer.json, answer.etag), alive.number

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
