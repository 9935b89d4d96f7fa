"""Files of memories from the add to the search, over an emulated stack; parser and model are told what to say."""

from __future__ import annotations

import base64
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from moto.sqs.models import sqs_backends

from shared.aws.queue import Queue
from shared.aws.table import Query
from shared.documents.port import Chunk, DocumentFailed
from shared.kernel.errors import Unavailable
from shared.memories.delivery import Deliveries
from shared.memories.files.intake import Intake
from shared.memories.files.reading import Eyes
from shared.memories.letters import Message
from shared.memories.outcome import Outcome, State
from shared.memories.records import document_key, file_job_key, task_key
from shared.models.port import Picture
from shared.search.port import Ask
from tests.documents.drawing import png
from tests.memories.shelf import ROOT, USER, Reader, shelf_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from infra.local.transactions import Conflicts
    from shared.aws.items import Item
    from shared.memories.means import Means
    from tests.memories.shelf import Shelf

VISION = "bedrock:test.seer-v1:0"
SOON_MS = 31_000
"""After so long what a dead function held is given out again."""


def never() -> bool:
    return False


@dataclass
class FakeParser:
    """A chunk a paragraph; `# a` begins a section, `p. 2` a page, `!code` fails there."""

    read: list[str] = field(default_factory=list)
    afterwards: list[Callable[[], Any]] = field(default_factory=list)

    def parse(self, path: Path, extension: str) -> Iterator[Chunk]:
        self.read.append(extension)
        heading: tuple[str, ...] = ()
        page = None
        while self.afterwards:
            self.afterwards.pop()()
        for part in path.read_text(encoding="utf-8").split("\n\n"):
            if part.startswith("# "):
                heading = (part.removeprefix("# "),)
            elif found := re.fullmatch(r"p\. (\d+)", part):
                page = int(found[1])
            elif part.startswith("!"):
                raise DocumentFailed(part.removeprefix("!"), f"It is {part.removeprefix('!')}.")  # type: ignore[arg-type]
            elif part.strip():
                yield Chunk(part, heading, page)


@dataclass
class FakeSeer:
    """Sees what it is told to; `down` so often it does not answer."""

    name: str = "seer"
    sees: str = "A red cedar beside a lake."
    down: int = 0
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def caption(self, picture: Picture, *, detail: str, language: str) -> str:
        if self.down:
            self.down -= 1
            raise Unavailable
        self.asked.append(("caption", picture.form, detail, language))
        return self.sees

    def transcribe(self, picture: Picture) -> str:
        self.asked.append(("transcribe", picture.form))
        return self.sees


@dataclass
class Desk:
    """A stack with its queues; what is delivered is delivered by hand."""

    shelf: Shelf
    parser: FakeParser = field(default_factory=FakeParser)
    seer: FakeSeer = field(default_factory=FakeSeer)
    user: str = USER
    held: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reader = self.shelf.client()
        self.eyes = Eyes(self.parser, self.seer, lambda path: Picture(path.read_bytes(), "png"))

    # ---- What a client does ---------------------------------------------------------------------------------

    def add(self, *parts: dict[str, Any] | str, reader: Reader | None = None, **fields: Any) -> str:
        """Add one message of these parts, and return its task."""
        content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
        messages = [{"role": "user", "content": content, "timestamp": -1}]
        body = {"user_id": self.user, "memory_output_language": "en", "messages": messages, **fields}
        answer = (reader or self.reader).post(f"{ROOT}/add", json_body=body)
        assert answer.status == 202, answer.content
        task: str = answer.json["data"]["task_id"]
        return task

    def added(self, *parts: dict[str, Any] | str, **fields: Any) -> dict[str, Any]:
        """Add, let all be done, and return the status."""
        task = self.add(*parts, **fields)
        self.work()
        return self.status(task)

    def status(self, task: str) -> dict[str, Any]:
        answer = self.reader.get(f"{ROOT}/add/status/{task}")
        assert answer.status == 200, answer.content
        told: dict[str, Any] = answer.json
        return told

    def found(self, query: str, **body: Any) -> list[str]:
        """Return the texts of the chunks that a search of documents finds."""
        return [hit["memory"] for hit in self.hits(query, **body)]

    def hits(self, query: str, **body: Any) -> list[dict[str, Any]]:
        return self.reader.hits(query, self.user, **{"sources": ["document"], "top_k": 50, **body})

    # ---- What the stack does --------------------------------------------------------------------------------

    def work(self, rounds: int = 60) -> None:
        """Deliver messages until there are none, while time goes by."""
        for _ in range(rounds):
            while self.step():
                pass
            if self.is_idle():
                return
            self.shelf.clock.move(ms=1_000)
            self.show_hidden()
        raise AssertionError("it never ends")

    def step(self) -> bool:
        """Deliver one message of either queue; False where none is to be had."""
        return bool(self.read_one() or self.work_one())

    def read_one(self, late: Callable[[], bool] = never) -> Outcome | None:
        intake = Intake(self.shelf.composed.backing, self.eyes, self.dead)
        return self._one(self.documents_url, intake.take, late)

    def work_one(self, late: Callable[[], bool] = never) -> Outcome | None:
        deliveries = Deliveries(self.means, self.dead)
        return self._one(self.queue_url, deliveries.take, late)

    def _one(self, url: str, take: Callable[..., Outcome], late: Callable[[], bool]) -> Outcome | None:
        sqs: Any = self.shelf.cloud.aws.sqs
        names = ["ApproximateReceiveCount"]
        got = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1, MessageSystemAttributeNames=names)
        for message in got.get("Messages", []):
            self.held.append((url, message["ReceiptHandle"]))
            receives = int(message["Attributes"]["ApproximateReceiveCount"])
            outcome = take(Message(message["Body"], receives), late=late, watch=lambda _: None)
            if outcome.state is State.DONE:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                self.held.pop()
            return outcome
        return None

    def show_hidden(self) -> None:
        """Let what was received and not done be received again, as its time-out does."""
        self.held.clear()
        for queue in self._queues():
            for message in queue._messages:
                message.visible_at = 0.0

    def lose_messages(self) -> None:
        """Lose all messages of all queues."""
        for queue in self._queues():
            queue._messages.clear()

    def _queues(self) -> Iterator[Any]:
        for of_account in sqs_backends.values():
            for backend in of_account.values():
                yield from backend.queues.values()

    def is_idle(self) -> bool:
        return not self.held and not any(map(self._count, (self.documents_url, self.queue_url)))

    def _count(self, url: str) -> int:
        names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        told = self.shelf.cloud.aws.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(number) for number in told.values())

    @property
    def means(self) -> Means:
        return self.shelf.composed.means

    @property
    def dead(self) -> Queue:
        return Queue(self.shelf.cloud.aws, self.shelf.cloud.environment("WorkerFunction")["DEAD_LETTER_QUEUE_URL"])

    @property
    def queue_url(self) -> str:
        return self.shelf.environ["QUEUE_URL"]

    @property
    def documents_url(self) -> str:
        return self.shelf.environ["DOCUMENTS_QUEUE_URL"]

    def letters(self) -> list[dict[str, Any]]:
        """Take the dead letters."""
        url = self.dead.url
        got = self.shelf.cloud.aws.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(message["Body"]) for message in got]

    # ---- What is stored -------------------------------------------------------------------------------------

    def row(self, task: str) -> Item:
        found = self.shelf.table.get(task_key(self.shelf.address(self.user).scope, task))
        assert found is not None
        return found  # type: ignore[no-any-return]

    def job(self, task: str, n: int = 0) -> Item:
        found = self.shelf.table.get(file_job_key(self.shelf.address(self.user).scope, task, n))
        assert found is not None
        return found  # type: ignore[no-any-return]

    def document(self, document_id: str) -> Item | None:
        found: Item | None = self.shelf.table.get(document_key(self.shelf.address(self.user).scope, document_id))
        return found

    def rows(self, begin: str) -> list[Item]:
        """Return the rows of the user's partition whose sort key begins so."""
        address = self.shelf.address(self.user)
        return [row for row in self.shelf.table.every(Query(address.pk, begins=begin)) if row["user"] == address.user]

    def pieces(self, task: str) -> list[Item]:
        pk, _ = task_key(self.shelf.address(self.user).scope, task)
        return list(self.shelf.table.every(Query(pk, begins="piece#")))

    def indexed(self) -> set[tuple[str, int]]:
        """Return all states that the index holds for the user."""
        address = self.shelf.address(self.user)
        ask = Ask(address.owner, "x", [1.0, *([0.0] * 255)], 10_000, 0, -1.0)
        return {one.state for one in self.shelf.index.index.search([ask])[0].dense}

    def sweep(self) -> None:
        """Let the sweeper come until nothing is left to it, and do what it sends."""
        for _ in range(3):
            self.shelf.clock.move(ms=20 * 60_000)
            self.shelf.sweep()
            self.work()

    def orphans(self) -> list[str]:
        """Return the objects that no row names: neither the log of what was erased, nor bytes on their way."""
        named = json.dumps(self.shelf.cloud.items(), default=str)
        kept = (name for name in self.shelf.cloud.object_keys() if not name.startswith(("keep/erasures/", "up/")))
        return [name for name in kept if json.dumps(name) not in named]

    def check_nothing_is_left_over(self) -> None:
        """Make sure that rows and index agree, once the sweeper has been there."""
        self.sweep()
        self.check_rows()
        assert self.orphans() == []

    def check_rows(self) -> None:
        states = {(row["sk"].removeprefix("m#"), row["revision"]) for row in self.rows("m#")}
        assert self.indexed() == states
        named = {row["token"] for row in self.rows("d#")}
        assert {row["token"] for row in self.rows("m#") if "token" in row} <= named
        items = [json.loads(json.dumps(item, default=str)) for item in self.shelf.cloud.items()]
        assert not [item for item in items if item["pk"]["S"].startswith("J#")]
        assert not [item for item in items if item["sk"]["S"].startswith("piece#")]


def file(text: str | bytes, name: str = "cedar.txt") -> dict[str, Any]:
    content = text if isinstance(text, bytes) else text.encode()
    return {"type": "file", "file": {"filename": name, "file_data": base64.b64encode(content).decode()}}


def image(caption: str | None = None, number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return an image part; each number is another picture."""
    url = "data:image/png;base64," + base64.b64encode(png(number, 1)).decode()
    return {"type": "input_image", "image_url": url, **({"caption": caption} if caption else {}), **fields}


def paragraphs(count: int, word: str = "cedar") -> str:
    return "\n\n".join(f"The {word} rule number {n} holds." for n in range(count))


@contextmanager
def desk_world(*, conflicts: Conflicts | None = None, **settings: str) -> Iterator[Desk]:
    with shelf_world(conflicts=conflicts, settings={"VISION": VISION, **settings}) as shelf:
        yield Desk(shelf)
