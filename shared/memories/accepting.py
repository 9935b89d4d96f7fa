"""Accepting an Add: payload and bytes, then task, then messages, and only then the answer (design §6).

A caller is told of nothing that is not stored. What is left half done by a crash is invisible: an object without a
record, or a task that nobody was told of, which the sweeper sends.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import together
from shared.aws.writes import ABSENT, PRESENT, Delete, Put, Update
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import Conflict, LodestoreError, RateLimited, Unavailable
from shared.kernel.strict_json import compact
from shared.memories.files.attaching import Attaching
from shared.memories.files.sending import jobs_of, send_next, sends_of
from shared.memories.records import task_key
from shared.memories.repeating import digest_of, remembered
from shared.memories.tasks import NewTask
from shared.retention.records import object_key, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item, Key
    from shared.aws.writes import Write
    from shared.memories.backing import Backing
    from shared.memories.files.rows import Attachment
    from shared.memories.models import Add
    from shared.memories.records import UserAddress
    from shared.tenancy.models import KeyRecord
    from shared.tenancy.quotas import Balance, Quotas, Reservation

PAYLOADS = "r30"
"""The class of payloads: a worker removes them at a task's end, the class is the backstop."""

_UNTOUCHED = "(#tries = :none AND attribute_not_exists(#told))"


def _anything(_: Mapping[int, Item | None]) -> None:
    """Take any file for one that may be named."""


@dataclass(frozen=True)
class Wanted:
    """One checked request; `queued` tells whether a worker shall be told of it.

    `check` is given the rows of the files that `attachments` name by id, by `n` (None: not there, or not the user's),
    and raises what their caller is told of them.
    """

    address: UserAddress
    add: Add
    key: KeyRecord
    correlation_id: str
    idempotency_key: str | None = None
    queued: bool = True
    attachments: tuple[Attachment, ...] = ()
    check: Callable[[Mapping[int, Item | None]], None] = _anything


@dataclass(frozen=True)
class Accepted:
    """The task that will do it, and what is left of the key's quota."""

    task_id: str
    balance: Balance | None


@dataclass
class _Attempt:
    """What was done and found before the commit."""

    wanted: Wanted
    task: NewTask
    body: bytes
    files: Attaching
    found: dict[Key, Item] = field(default_factory=dict)
    reservation: Reservation | None = None
    refused: RateLimited | None = None

    @property
    def again(self) -> Key | None:
        """The key of what was answered under the idempotency key, if one was given."""
        return self.task.idempotency

    def completed(self) -> NewTask:
        """Return the task with all that was found."""
        address = self.task.address
        generations = self.found.get(address.generation_key, {})
        generation = generations.get(address.generation_name, 0)
        return replace(self.task, generation=generation, reservation=self.reservation)


class Accepting:
    """Accepts Adds."""

    def __init__(self, backing: Backing, quotas: Quotas) -> None:
        self._backing = backing
        self._quotas = quotas

    def accept(self, wanted: Wanted) -> Accepted:
        """Store a request and hand it to a worker; a repeated one gets the answer of the first.

        Raises:
            RateLimited: the key's calls of this month are used up.
            Conflict: another request under the same idempotency key.
            LodestoreError: a file that is named is not there, or breaks a rule.
            Unavailable: something is down; nothing is kept, or a repetition finds what is.
        """
        attempt = self._begin(wanted)
        self._prepare(attempt)
        earlier = self._earlier(attempt)
        if earlier is None:
            self._refuse(attempt)
        earlier = earlier or self._commit(attempt)
        if earlier is not None:
            self._undo(attempt)
            return self._repeat(attempt, earlier)
        self._hand_over(attempt)
        balance = attempt.reservation.balance if attempt.reservation else None
        return Accepted(attempt.task.task_id, balance)

    def ended(self, accepted: Accepted, key: KeyRecord) -> Accepted:
        """Return what was accepted with what is left now that it has ended: its call is no longer a reserved one."""
        if accepted.balance is None:
            return accepted
        with suppress(LodestoreError):  # it is done, and was told of before its call was counted
            return replace(accepted, balance=self._left_of(key))
        return accepted

    def _begin(self, wanted: Wanted) -> _Attempt:
        address, now = wanted.address, self._backing.clock.now_ms()
        again = wanted.idempotency_key
        files = Attaching(self._backing, address, wanted.attachments, wanted.check, now, wanted.add.language)
        add = wanted.add.attached(files.ids) if wanted.attachments else wanted.add
        task = NewTask(
            address,
            str(uuid.uuid4()),
            now,
            payload=object_key(PAYLOADS, now, address.scope),
            digest=digest_of(add),
            correlation_id=wanted.correlation_id,
            idempotency=None if again is None else address.idempotency_key(again),
            files=len(wanted.attachments),
            waiting=files.waiting,
        )
        return _Attempt(wanted, task, compact(add.to_json()).encode(), files)

    def _prepare(self, attempt: _Attempt) -> None:
        """Read, take a call of the quota, store the payload and the bytes, all at once."""
        task = attempt.task
        owner = owner_of(task_key(task.address.scope, task.task_id))
        try:
            together(
                lambda: self._reserve(attempt),
                lambda: self._look(attempt),
                *attempt.files.puts,
                lambda: self._backing.objects.put(task.payload, attempt.body, owner=owner),
            )
        except Exception:
            self._undo(attempt)
            raise

    def _reserve(self, attempt: _Attempt) -> None:
        try:
            attempt.reservation = self._quotas.reserve(attempt.wanted.key, "memory_write")
        except RateLimited as refused:
            attempt.refused = refused  # a repeated request takes no call, and is answered even so

    def _look(self, attempt: _Attempt) -> None:
        keys = [attempt.task.address.generation_key, *([attempt.again] if attempt.again else []), *attempt.files.keys]
        attempt.found = self._backing.table.batch_get(keys)

    def _refuse(self, attempt: _Attempt) -> None:
        """Raise what forbids the request, with nothing left of it."""
        try:
            if attempt.refused:
                raise attempt.refused
            attempt.files.see(attempt.found)
        except LodestoreError:
            self._undo(attempt)
            raise

    def _earlier(self, attempt: _Attempt) -> Item | None:
        """Return what was answered under the key, if that still counts: everything forgotten since, it does not."""
        row = attempt.found.get(attempt.again) if attempt.again else None
        counts = row and row["expires_at"] > attempt.task.now and row["generation"] >= attempt.completed().generation
        return row if counts else None

    def _commit(self, attempt: _Attempt) -> Item | None:
        """Make the task and return None, or return what another request under the same key has left meanwhile."""
        try:
            persist(lambda: self._store(attempt))
        except TransactionFailed as failed:
            other = failed.items.get(1)
            # botocore asks again after an answer that was lost: then what is there is our own.
            return None if failed.items.get(0) or (other and other["task"] == attempt.task.task_id) else other
        except Exception:
            self._withdraw(attempt)
            raise
        return None

    def _store(self, attempt: _Attempt) -> None:
        """Write it all; where only its files are not as they were seen, they are looked at anew.

        Raises:
            TransactionFailed: the task is there, or another request under the same key.
            LostRace: not written, and worth another attempt.
        """
        task = attempt.completed()
        writes: list[Write] = [Put(task.row(), when=ABSENT)]
        if attempt.again:
            free = f"{ABSENT} OR #expires_at <= :now OR #generation < :generation"
            values = {"now": task.now, "generation": task.generation}
            writes.append(Put(remembered(task, attempt.again), when=free, values=values))
        own, files = len(writes), attempt.files.writes(task)
        if own + len(files) == 1:
            self._backing.table.create(task.row())
            return
        try:
            self._backing.table.transact(*writes, *files)
        except TransactionFailed as failed:
            if min(failed.items) < own:
                raise
            self._look(attempt)
            attempt.files.see(attempt.found)
            raise LostRace from failed

    def _hand_over(self, attempt: _Attempt) -> None:
        """Send what is next, and remove bytes that were there already."""
        task, files, backing = attempt.completed(), attempt.files, self._backing
        sends = sends_of(backing, task.row(), files.jobs(task)) if attempt.wanted.queued else []
        spare = files.spare
        try:
            together(*sends, *([lambda: backing.objects.discard(*spare)] if spare else []))
        except Exception:
            self._withdraw(attempt)
            raise
        files.note_made()

    def _keep(self, task: Item) -> None:
        """Keep whoever made a task from taking it back, since another request is told of it.

        Raises:
            Unavailable: it was taken back.
        """
        try:
            persist(lambda: self._backing.table.write(Update(key_of(task), {"told": True}, when=PRESENT)))
        except ConditionFailed:
            raise Unavailable from None

    def _withdraw(self, attempt: _Attempt) -> None:
        """Take back a task that the caller is not told of; what can't be taken back is done by the sweeper's word."""
        task = attempt.task
        writes: list[Write] = [
            Delete(task_key(task.address.scope, task.task_id), when=f"{ABSENT} OR {_UNTOUCHED}", values={"none": 0})
        ]
        if attempt.again:
            ours = f"{ABSENT} OR #task = :task"
            writes.append(Delete(attempt.again, when=ours, values={"task": task.task_id}))
        try:
            self._backing.table.transact(*writes, *attempt.files.undone(task))
            self._undo(attempt)
        except (LodestoreError, LostRace, TransactionFailed):
            return

    def _undo(self, attempt: _Attempt) -> None:
        """Give the call back and remove payload and bytes, as far as that works."""
        taken, attempt.reservation = attempt.reservation, None
        if taken:
            with suppress(Unavailable, LostRace):
                self._quotas.give_back(taken)
        attempt.files.take_back()
        self._backing.objects.discard(attempt.task.payload)

    def _repeat(self, attempt: _Attempt, earlier: Item) -> Accepted:
        if earlier["digest"] != attempt.task.digest:
            raise Conflict(
                "This idempotency key was used for another request.",
                code="idempotency_conflict",
                hint="A key stands for one request for 24 hours: send the same body again, or use another key.",
            )
        task = self._backing.table.get(task_key(attempt.task.address.scope, earlier["task"]))
        if task is None:
            raise Unavailable  # whoever made it could not hand it over, and takes it back
        if task["phase"] == "queued":
            self._keep(task)
        if task["phase"] == "queued" and attempt.wanted.queued:
            send_next(self._backing, task, jobs_of(self._backing.table, task))
        return Accepted(earlier["task"], self._left_of(attempt.wanted.key))

    def _left_of(self, key: KeyRecord) -> Balance | None:
        return next((balance for balance in self._quotas.of_key(key) if balance.kind == "memory_write"), None)
