"""Every write of the surface, each with what is there before it: for tests that let it go wrong."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from tests.clients.events import Answer, Client
from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.projects.world import World

LONG = "word " * 8_000
LONGER = "other " * 8_000


@dataclass(frozen=True)
class Stage:
    """A world, and the one task in it that a scene is about."""

    world: World
    client: Client
    task: str

    def turn(self, number: int = 1, **body: Any) -> Answer:
        return self.client.put(turn_path(self.task, number), json_body=body)

    def artifact(self, name: str = "a", body: bytes = b"old", turn: int = 1) -> Answer:
        return self.client.put(artifact_path(self.task, turn, name), body=body, headers={"Content-Type": "text/plain"})

    def begin_upload(self, body: bytes) -> str:
        started = self.client.post(f"{artifact_path(self.task, 1, 'a')}/upload", json_body={"size": len(body)}).json
        upload_id: str = started["upload_id"]
        row = next(i for i in self.world.cloud.items() if i["sk"]["S"] == f"u#{upload_id}")
        self.world.cloud.aws.s3.put_object(Bucket=self.world.cloud.bucket_name, Key=row["object"]["S"], Body=body)
        return upload_id

    @classmethod
    def of(cls, client: Client, world: World, task: str) -> Stage:
        """Return a stage of a client's key and instance, with a project of its own for the task."""
        return cls(world, Client(client.handler, client.key, {"X-Sandbox-Project-Id": task}), task)

    def again(self) -> Stage:
        """Return the same stage with a new instance of the function."""
        return Stage(self.world, replace(self.client, handler=self.world.handler()), self.task)


@dataclass(frozen=True)
class Scene:
    """`prepare` returns what `act` needs beside the stage; `days` pass in between.

    `repeated` is the status of acting again after success.
    """

    name: str
    prepare: Callable[[Stage], Any]
    act: Callable[[Stage, Any], Answer]
    days: int = 0
    repeated: int = 200

    def __str__(self) -> str:
        return self.name


def _nothing(_: Stage) -> None:
    """Leave the task unwritten."""


def _small(stage: Stage) -> None:
    stage.turn(1, summary_md="old", meta={"model": "old"})
    stage.artifact()


def _large(stage: Stage) -> None:
    stage.turn(1, summary_md=LONG)
    stage.artifact()


def _put(turn: int = 1, summary: str = "new") -> Callable[[Stage, Any], Answer]:
    return lambda stage, _: stage.turn(turn, summary_md=summary)


def _put_artifact(name: str = "a", turn: int = 1) -> Callable[[Stage, Any], Answer]:
    return lambda stage, _: stage.artifact(name, b"new", turn)


def _patch(stage: Stage, _: Any) -> Answer:
    return stage.client.patch(turn_path(stage.task), json_body={"meta": {"job_id": "new"}})


def _complete(stage: Stage, upload_id: str) -> Answer:
    return stage.client.post(f"{artifact_path(stage.task, 1, 'a')}/complete", json_body={"upload_id": upload_id})


def _start(stage: Stage, _: Any) -> Answer:
    return stage.client.post(f"{artifact_path(stage.task, 1, 'a')}/upload", json_body={"size": 3})


def _uploaded(prepare: Callable[[Stage], Any]) -> Callable[[Stage], str]:
    def both(stage: Stage) -> str:
        prepare(stage)
        return stage.begin_upload(b"new")

    return both


def _delete(stage: Stage, _: Any) -> Answer:
    return stage.client.delete(f"{ROOT}/tasks/{stage.task}")


SCENES = (
    Scene("put a first turn", _nothing, _put()),
    Scene("put a first turn with a long summary", _nothing, _put(summary=LONG)),
    Scene("put another turn", _small, _put(2)),
    Scene("put another turn with a long summary", _small, _put(2, LONG)),
    Scene("replace a turn", _small, _put()),
    Scene("replace a long summary by a short one", _large, _put()),
    Scene("replace a long summary by a long one", _large, _put(summary=LONGER)),
    Scene("take a summary away", _small, _put(summary="")),
    Scene("put a turn of an expired task", _large, _put(2), days=31),
    Scene("put the same turn of an expired task", _large, _put(summary=LONGER), days=31),
    Scene("patch a turn", _small, _patch),
    Scene("patch a turn with a long summary", _large, _patch),
    Scene("put a first artifact of a new task", _nothing, _put_artifact()),
    Scene("put another artifact", _small, _put_artifact("b")),
    Scene("put an artifact of a new turn", _small, _put_artifact("b", 2)),
    Scene("replace an artifact", _small, _put_artifact()),
    Scene("put an artifact of an expired task", _large, _put_artifact(), days=31),
    Scene("start an upload", _small, _start),
    Scene("complete an upload of a new task", _uploaded(_nothing), _complete),
    Scene("complete an upload of another artifact", _uploaded(_small), _complete),
    Scene("delete a task", _large, _delete, repeated=404),
)


@contextmanager
def nothing_beside() -> Iterator[None]:
    """Leave out what is written beside requests, so that every call is the request's own."""
    with patch("shared.tenancy.background.later", lambda _: None):
        yield


def warm(client: Client) -> None:
    """Let the function remember the key, as it does of all but one request a minute."""
    assert client.get(f"{ROOT}/tasks", query={"limit": 1}).status == 200
