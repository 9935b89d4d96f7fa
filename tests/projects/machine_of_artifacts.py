"""What the state machine does with artifacts, put straight or by upload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from shared.kernel.clock import DAY_MS
from tests.projects.machine import BODIES, CONDITIONS, KINDS, NAMES, TASKS, TURNS, WHO, Scenery, condition
from tests.projects.model import File, Upload
from tests.projects.world import artifact_path

if TYPE_CHECKING:
    from tests.clients.events import Answer


class ArtifactMachine(Scenery):
    """Every request about artifacts."""

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
