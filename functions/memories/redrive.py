"""Takes dead letters of memories' work back to their queue, and has their tasks begin again.

    python -m functions.memories.redrive --table NAME --queue URL --documents URL --dead URL [--list] [--task ID]

It needs AWS credentials that may use the queues and read and write the table. The names are the stack's outputs
`TableName`, `QueueUrl`, `DocumentsQueueUrl` and `DeadLetterQueueUrl`.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shared.aws.clients import Aws
from shared.aws.errors import told
from shared.aws.objects import Objects
from shared.aws.queue import Queue
from shared.aws.table import Table
from shared.kernel.clock import SystemClock
from shared.kernel.errors import Unavailable
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.memories.backing import Backing
from shared.memories.settling import redrive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

NAMED = {
    "table": "TableName",
    "queue": "QueueUrl",
    "documents": "DocumentsQueueUrl",
    "dead": "DeadLetterQueueUrl",
}
"""The arguments, and the outputs of the stack that they are."""

HIDDEN_SECONDS = 60
"""How long a letter that was looked at stays out of sight: nobody else redrives it meanwhile."""

READING = "read"
"""The work of the queue of documents."""

BATCH = 10
WAIT_SECONDS = 1
"""A receive that waits asks all of the queue's servers, and so sees every letter."""


@dataclass(frozen=True)
class Letter:
    """One dead letter: its body (None: not one of ours), its group and its receipt."""

    receipt: str
    group: str
    body: dict[str, Any] | None
    raw: str

    @classmethod
    def of(cls, message: Any) -> Letter:
        """Return a received message."""
        try:
            body = json.loads(message["Body"])
        except ValueError:
            body = None
        known = body if isinstance(body, dict) and {"work", "tenant", "project"} <= body.keys() else None
        return cls(message["ReceiptHandle"], message["Attributes"]["MessageGroupId"], known, message["Body"])

    def told(self) -> str:
        """Return a line about it, without any text of a user."""
        if self.body is None:
            return f"unreadable ({len(self.raw)} characters)"
        names = ("work", "task", "tenant", "project", "reason", "correlation_id")
        return "  ".join(f"{name}={self.body[name]}" for name in names if self.body.get(name))


@dataclass
class Redrive:
    """One run over the dead letters; `only` is a task's id, to leave the others alone."""

    backing: Backing
    documents: Queue
    dead: Queue
    aws: Aws
    only: str | None = None
    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Send every letter back that can be worked on, and forget those with nothing left to do."""
        found = True
        while found:  # behind what was sent there may be more of its group
            before = len(self.done)
            self.left.clear()
            self._send_what_is_seen()
            found = len(self.done) > before

    def _send_what_is_seen(self) -> None:
        for letter in self.letters():
            body = letter.body
            if body is None or (self.only and body.get("task") != self.only):
                self.left.append(letter.told())
                self._show_again(letter)
                continue
            sent = self._send(letter, body)
            self.aws.sqs.delete_message(QueueUrl=self.dead.url, ReceiptHandle=letter.receipt)
            self.done.append(f"{'sent' if sent else 'nothing left to do'}: {letter.told()}")

    def show(self) -> None:
        """Note every letter, and leave it."""
        for letter in self.letters():
            self.left.append(letter.told())
            self._show_again(letter)

    def letters(self) -> Iterator[Letter]:
        """Yield the letters that are there now, each once; none is given out behind one that is held."""
        held: list[Letter] = []
        while messages := self._receive():
            held += map(Letter.of, messages)
        yield from held

    def _receive(self) -> list[Any]:
        answer = self.aws.sqs.receive_message(
            QueueUrl=self.dead.url,
            MaxNumberOfMessages=BATCH,
            VisibilityTimeout=HIDDEN_SECONDS,
            WaitTimeSeconds=WAIT_SECONDS,
            MessageSystemAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))

    def _send(self, letter: Letter, body: dict[str, Any]) -> bool:
        if body["work"] == "add":
            return redrive(self.backing, Scope(body["tenant"], body["project"]), str(body.get("task")))
        kept = {name: value for name, value in body.items() if name != "reason"}
        queue = self.documents if body["work"] == READING else self.backing.queue
        queue.send(kept, group=letter.group, once=f"{kept.get('task', 'redrive')}:{ulid()}")
        return True

    def _show_again(self, letter: Letter) -> None:
        self.aws.sqs.change_message_visibility(
            QueueUrl=self.dead.url, ReceiptHandle=letter.receipt, VisibilityTimeout=0
        )


def main(arguments: Sequence[str] | None = None, aws: Aws | None = None) -> int:
    """Run the command and return its exit status."""
    asked = _parse(arguments)
    if asked.region:
        os.environ["AWS_DEFAULT_REGION"] = asked.region
    run = _redrive(asked, aws or Aws(os.environ))
    try:
        run.show() if asked.list else run.run()
    except Unavailable as error:
        sys.stderr.write(f"redrive: {error}\n")
        return 1
    except Exception as error:
        if (said := told(error)) is None:
            raise
        sys.stderr.write(f"redrive: {said}\n")
        return 1
    for line in run.done:
        sys.stdout.write(f"{line}\n")
    for line in run.left:
        sys.stdout.write(f"left: {line}\n")
    return 0


def _redrive(asked: Namespace, aws: Aws) -> Redrive:
    queue, documents, dead = (Queue(aws, url) for url in (asked.queue, asked.documents, asked.dead))
    backing = Backing(Table(aws, asked.table), Objects(aws, ""), SystemClock(), queue=queue, documents_queue=documents)
    return Redrive(backing, documents, dead, aws, asked.task)


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="redrive", description="Take dead letters of memories' work back to their queue.")
    for name, output in NAMED.items():
        parser.add_argument(f"--{name}", required=True, help=f"the stack's output {output}")
    parser.add_argument("--region", help="where they are (default: as AWS is configured)")
    parser.add_argument("--list", action="store_true", help="only show what is there")
    parser.add_argument("--task", help="only this task's")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
