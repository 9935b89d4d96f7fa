"""From a request, and what was learnt from it, to the rows of new memories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared.extraction.port import Conversation, Learnt, Turn
from shared.kernel.strict_json import compact
from shared.memories.context import said_in
from shared.memories.models import EVERY_MODE, MODES_OF_KIND
from shared.memories.plan import Change
from shared.memories.records import INLINE_BYTES
from shared.memories.rows import Origin, memory_id_of, memory_row, metadata_of, next_revision
from shared.retention.records import KEEP, object_key
from shared.search.passages import CONTEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shared.aws.items import Item
    from shared.extraction.port import Extraction, MemoryType
    from shared.memories.models import Add, Kind, Message
    from shared.memories.records import UserAddress

WRITTEN = "Written as it came."
SUMMARISED = "A summary of this conversation."
LEARNT = "Added without deciding, as was asked for."


@dataclass(frozen=True)
class Entry:
    """Something that a request may add: its kind, its number among those of the kind, what it says, and why it is."""

    kind: Kind
    number: int
    learnt: Learnt
    reason: str


@dataclass(frozen=True)
class Draft:
    """The making of one task's rows: of whom, from what, and the moment (ms) that they are dated from."""

    address: UserAddress
    task: Item
    add: Add
    at: int

    def conversation(self) -> Conversation:
        """Return the request as something to learn from."""
        add = self.add
        return Conversation(
            tuple(_turn(n, m) for n, m in enumerate(add.messages) if m.text.strip() or m.captions),
            at=self.task["received_at"] if self.said_at is None else self.said_at,
            language=add.language,
            code=add.content_type == "code",
            instructions=add.instructions,
            context=tuple(said for entry in add.context if (said := said_in(entry))),
        )

    @property
    def said_at(self) -> int | None:
        """When the first of the messages was said, by its own time, else by the request's; None: not told."""
        return self._said_at(range(len(self.add.messages)))

    def timed(self, extraction: Extraction) -> Extraction:
        """Give what its own words date not the time that its messages were said at, where that is told."""
        summary = extraction.summary
        facts = tuple(map(self._timed, extraction.facts))
        return replace(extraction, summary=self._timed(summary) if summary else None, facts=facts)

    def _timed(self, learnt: Learnt) -> Learnt:
        return learnt if learnt.event_at is not None else replace(learnt, event_at=self._said_at(learnt.positions))

    def entries(self, extraction: Extraction | None) -> Iterator[Entry]:
        """Yield all that the request may add, in order: what was learnt, then every message as it is.

        With `add_only` a wish to forget is no fact: nothing but additions is asked for.
        """
        if self.add.mode == "pre_summarized":
            yield from (Entry("summary", n, learnt, WRITTEN) for n, learnt in self._verbatim("semantic"))
            return
        if extraction and extraction.summary:
            yield Entry("summary", 0, extraction.summary, SUMMARISED)
        for n, fact in enumerate(extraction.facts if extraction else ()):
            if not (fact.forget and self.add.add_only):
                yield Entry("fact", n, fact, LEARNT)
        yield from (Entry("raw", n, learnt, WRITTEN) for n, learnt in self._verbatim("episodic"))

    def addition(self, learnt: Learnt, kind: Kind, number: int, *, reason: str) -> Change:
        """Return the change that adds a memory; `number` tells it from the task's others of its kind."""
        memory_id = self.address.memory_id(self.task["task"], kind, number)
        return self.addition_as(memory_id, learnt, kind, reason=reason)

    def addition_as(self, memory_id: str, learnt: Learnt, kind: Kind, *, reason: str) -> Change:
        """Return the change that adds a memory under an id."""
        row = self._row(memory_id, learnt, kind, reason=reason)
        return Change("ADD", reason, row, text=_apart(row, learnt))

    def dated(self, number: int) -> Draft:
        """Return the draft of the task's change of that number: each is dated a millisecond after the one before."""
        return replace(self, at=self.at + number)

    def revised(self, old: Item, learnt: Learnt, reason: str) -> Change:
        """Return the change that puts a fact in the place of what a memory said.

        What the caller said of the memory stays, where the new request says nothing else. It is later than what it
        takes the place of, whatever this machine's clock says.
        """
        at = max(self.at, old["decided_at"] + 1, old["updated_at"] + 1)
        row = {
            **self._row(memory_id_of(old), learnt, "fact", reason=reason),
            **{name: old[name] for name in ("kind", "l1", "l3", "created_at", "immutable", "modes")},
            "metadata": compact({**metadata_of(old), **self.add.metadata}),
            "revision": next_revision(old),
            "updated_at": at,
            "decided_at": at,
            "event": "UPDATE",
        }
        return Change("UPDATE", reason, row, old, text=_apart(row, learnt))

    def corrected(self, old: Item, text: str, reason: str, **neighbours: str) -> Change:
        """Return the change that puts another text in the place of what a summary or a message said."""
        at = max(self.at, old["decided_at"] + 1, old["updated_at"] + 1)
        row = {
            **{name: value for name, value in old.items() if name not in ("text", "object", "size")},
            **neighbours,
            **self._kept(text),
            "revision": next_revision(old),
            "fingerprint": None,
            "event": "UPDATE",
            "reason": reason,
            "decided_at": at,
            "updated_at": at,
            "task": self.task["task"],
        }
        return Change("UPDATE", reason, row, old, text=text if "object" in row else None, task=self.task["task"])

    def _row(self, memory_id: str, learnt: Learnt, kind: Kind, *, reason: str) -> Item:
        moments = {"created_at": self.at, "updated_at": self.at, "decided_at": self.at}
        return memory_row(
            self.address,
            memory_id,
            kind,
            origin=self._origin(learnt),
            **moments,
            **self._said(learnt, kind),
            **self._kept(learnt.text),
            modes=list(EVERY_MODE if self.add.mode == "raw" else MODES_OF_KIND[kind]),
            revision=1,
            generation=self.task["generation"],
            immutable=False,
            fingerprint=None,
            event="ADD",
            reason=reason,
            task=self.task["task"],
            **({"verbatim": True} if kind == "summary" and self.add.mode == "pre_summarized" else {}),
        )

    def _verbatim(self, memory_type: MemoryType) -> Iterator[tuple[int, Learnt]]:
        for n, message in enumerate(self.add.messages):
            if message.text.strip():
                yield n, Learnt(message.text, memory_type, event_at=self._said_at([n]), positions=(n,))

    def _origin(self, learnt: Learnt) -> Origin:
        add = self.add
        return Origin(
            self.task["task"],
            tuple(learnt.positions),
            content_type="code" if add.content_type == "code" else "dialogue",
            source="dialogue",
            key_id=add.key_id,
            agent_id=add.agent_id,
            app_id=add.app_id,
            session_id=add.session_id,
            metadata=add.metadata,
        )

    def _said(self, learnt: Learnt, kind: Kind) -> Item:
        """Return what a memory is found by besides its text; only a message stands between others."""
        at = learnt.event_at if learnt.event_at is not None else self._said_at(learnt.positions)
        said = {
            "memory_type": learnt.memory_type,
            "categories": list(learnt.categories),
            "event_at": at,
            "speaker": "",
            "previous": "",
            "following": "",
        }
        return said | (self._neighbours(learnt.positions[0]) if kind == "raw" else {})

    def _neighbours(self, position: int) -> Item:
        messages = self.add.messages
        before, after = messages[max(0, position - 1) : position], messages[position + 1 : position + 2]
        return {
            "speaker": messages[position].sender_id or "",
            "previous": "".join(map(_line, before))[-CONTEXT:],
            "following": "".join(map(_line, after))[:CONTEXT],
        }

    def _said_at(self, positions: Iterable[int]) -> int | None:
        """Return when the first of some messages was said: by its own time, else by the request's."""
        times = (self.add.messages[n].at for n in positions)
        return next((at for at in times if at is not None), self.add.at)

    def _kept(self, text: str) -> Item:
        size = len(text.encode())
        if size <= INLINE_BYTES:
            return {"text": text, "size": size}
        return {"object": object_key(KEEP, self.at, self.address.scope), "size": size}


def _turn(position: int, message: Message) -> Turn:
    return Turn(position, message.role, message.text, message.sender_id, message.at, captions=message.captions)


def line_of(speaker: str | None, text: str) -> str:
    """Return a message as its neighbours have it."""
    return f"{speaker}: {text}" if speaker else text


def _line(message: Message) -> str:
    return line_of(message.sender_id, message.text)


def _apart(row: Item, learnt: Learnt) -> str | None:
    return learnt.text if "object" in row else None
