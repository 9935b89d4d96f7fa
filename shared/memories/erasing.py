"""Forgetting all of a user: invisible at once, removed by a worker, told in a receipt (contract "memories").

The user's generation goes up by one, and with it everything written under earlier ones is out of sight. The receipt
is written in the same transaction; until it says that all is gone, the sweeper sends the worker again.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from shared.aws.errors import ConditionFailed, TransactionFailed
from shared.aws.items import key_of
from shared.aws.writes import PRESENT, Delete, Put, Update
from shared.kernel.clock import DAY_MS
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import NotFound, Unavailable
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.memories.records import UserAddress, erasure_key, has_form
from shared.memories.rows import moment_or_none
from shared.memories.sight import generation_in
from shared.retention.erasures import Erasure, ErasureLog
from shared.retention.records import due_bucket

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.items import Item, Key
    from shared.memories.backing import Backing
    from shared.retention.sweeper import Handler

    Record = dict[str, Any]

ERASURE: Final = "memory_erasure"
UNFILE: Final = "unfile"
"""The work that a receipt of a file asks for; others ask for `erase`."""
AGAIN_MS: Final = 5 * 60_000
"""How long after it was sent an erasure that is not done is sent again."""
KEPT_MS: Final = 30 * DAY_MS
"""How long a receipt is kept."""


@dataclass(frozen=True)
class Erasing:
    """Forgets users, and tells how far that is."""

    backing: Backing

    def erase(self, address: UserAddress, correlation_id: str) -> Record:
        """Put everything of a user out of sight for good, and return what a caller asks the receipt by.

        Raises:
            Conflict: others kept erasing the same user for longer than the retries last.
            Unavailable: a store does not answer; it may have been done or not.
        """
        erasure_id = str(uuid.uuid4())
        receipt = persist(lambda: self._turn(address, erasure_id, correlation_id))
        with suppress(Unavailable):  # the receipt is there: the sweeper sends it
            send(self.backing, receipt)
        return {"task_id": erasure_id, "status": "accepted"}

    def receipt(self, scope: Scope, erasure_id: str) -> Record:
        """Return how far an erasure is: what was removed, and when.

        Raises:
            NotFound: there is none, or it was forgotten.
        """
        row = self.backing.table.get(erasure_key(scope, erasure_id)) if has_form(erasure_id) else None
        if row is None:
            raise NotFound("There is no such erasure.")
        return {
            "task_id": erasure_id,
            "status": row["status"],
            "removed": {name: row[name] for name in ("objects", "records", "index")},
            "created_at": moment_or_none(row["created_at"]),
            "completed_at": moment_or_none(row["completed_at"]),
        }

    def _turn(self, address: UserAddress, erasure_id: str, correlation_id: str) -> Item:
        """Begin the user's next generation, and keep the receipt of the ones before."""
        generations = self.backing.table.get(address.generation_key)
        name, seen = address.generation_name, generation_in(generations, address.user)
        first = f"attribute_not_exists(#{name}) OR " if seen == 0 else ""
        now = self.backing.clock.now_ms()
        self._log(address, erasure_id, seen + 1, now=now)
        turn = Update(address.generation_key, {name: seen + 1}, when=f"{first}#{name} = :seen", values={"seen": seen})
        receipt = {**new_receipt(address, erasure_id, correlation_id, now=now), "generation": seen + 1}
        try:
            self.backing.table.transact(turn, Put(receipt))
        except TransactionFailed:
            raise LostRace(pause=False) from None
        return receipt

    def _log(self, address: UserAddress, erasure_id: str, generation: int, *, now: int) -> None:
        """Log, before it is so, that everything of the generations before one is forgotten."""
        ids = {"user": address.user, "pk": address.pk, "generation": generation, "erasure": erasure_id}
        ErasureLog(self.backing.objects).write(Erasure(ulid(now), "memories_of_user", address.scope, ids))


@dataclass(frozen=True)
class Receipts:
    """The sweeper's care for receipts: what is not done is sent again, and after 30 days they go."""

    backing: Backing

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by kind."""
        return {ERASURE: self.look}

    def look(self, row: Item) -> bool:
        """Send an erasure that is not done, or remove the receipt of one that is, when its time has come."""
        now = self.backing.clock.now_ms()
        if row["status"] == "success" and now - row["created_at"] >= KEPT_MS:
            self.backing.table.write(Delete(key_of(row)))
            return True
        if row["status"] != "success":
            send(self.backing, row)
        done = row["status"] == "success"
        moment = row["created_at"] + KEPT_MS if done else now + AGAIN_MS
        due = {"expires_at": moment, "due": due_bucket(moment, row["erasure"])}
        # Whose it was is not kept once it is done.
        self.backing.table.write(Update(key_of(row), due, drop=("user_id", "tokens") if done else (), when=PRESENT))
        return True


def new_receipt(address: UserAddress, erasure_id: str, correlation_id: str, *, now: int) -> Item:
    """Return the receipt of an erasure that begins, with nothing counted yet."""
    pk, sk = erasure_key(address.scope, erasure_id)
    return {
        "pk": pk,
        "sk": sk,
        "kind": ERASURE,
        "erasure": erasure_id,
        "tenant": address.scope.tenant,
        "project": address.scope.project,
        "user_id": address.user_id,
        "status": "accepted",
        "objects": 0,
        "records": 0,
        "index": 0,
        "created_at": now,
        "completed_at": None,
        "correlation_id": correlation_id,
        "expires_at": now + AGAIN_MS,
        "due": due_bucket(now + AGAIN_MS, erasure_id),
    }


def send(backing: Backing, receipt: Item) -> None:
    """Have a worker do what a receipt is for.

    Raises:
        Unavailable: the queue does not answer.
    """
    told = ("tenant", "project", "user_id", "generation", "erasure", "correlation_id")
    address = UserAddress(Scope(receipt["tenant"], receipt["project"]), receipt["user_id"])
    work = receipt.get("work", "erase")
    # A large document must not hold up its user's adds: what removes it is in a group of its own.
    group = receipt["erasure"] if work == UNFILE else address.group
    body = {"work": work, **{name: receipt[name] for name in told if name in receipt}}
    # Sent anew under another name each time: the queue takes one name once in five minutes.
    backing.queue.send(body, group=group, once=ulid(backing.clock.now_ms()))


def complete(backing: Backing, receipt: Key) -> None:
    """Say in a receipt that all is gone.

    Raises:
        Unavailable: the table does not answer.
    """
    done = {"status": "success", "completed_at": backing.clock.now_ms()}
    accepted = Update(receipt, done, when="#status = :accepted", values={"accepted": "accepted"})
    try:
        backing.table.write(accepted)
    except ConditionFailed:
        return  # another delivery was first
