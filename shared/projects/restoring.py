"""Project memory in a restored table: what was erased since goes again, and what has lost its object is mended.

An object may only have moved: the sweeper renews those of tasks that live on, and the row was restored with the key
before. Then a fresh one names the row as its owner and has the same content. What is lost goes from its row.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ConditionFailed, ObjectMissing, TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.table import Query
from shared.aws.writes import Delete, Put, Update
from shared.kernel.clock import DAY_MS, day_of
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope
from shared.projects.commit import removal
from shared.projects.content import EMPTY, pack, unpack
from shared.projects.records import UPLOAD_PREFIX, Address, count
from shared.projects.recounting import recount_task
from shared.projects.removal import Removal
from shared.retention.ownership import owner_in
from shared.retention.records import DAYS, class_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.aws.items import Item, Key
    from shared.projects.backing import Backing
    from shared.retention.erasures import Erasure


def _never() -> bool:
    return False


@dataclass
class Restoring:
    """Repairs project memory in a table restored to `moment` (ms)."""

    backing: Backing
    moment: int
    _fresh: dict[str, dict[Key, list[str]]] = field(default_factory=dict)

    def replays(self) -> Mapping[str, Callable[[Erasure], None]]:
        """Return what replays the entries of the erasure log, by kind."""
        return {"task": self.forget_task}

    def forget_task(self, entry: Erasure) -> None:
        """Remove a task's life again, with all that lies below it."""
        address = Address(entry.scope, entry.ids["task"])
        work = removal(address, {"gen": entry.ids["gen"]}, entry.at) | {"pk": f"J#{entry.id}"}
        same = Delete(address.task_key, "#gen = :gen", {"gen": work["gen"]})
        with suppress(TransactionFailed):  # it was buried, or not born, when the table was as it is restored
            self.backing.table.transact(same, Put(work), count(address.scope, -1))
        Removal(self.backing, _never).remove_task(work)
        self.backing.table.write(Delete(key_of(work)))

    def mend(self, row: Item) -> None:
        """Give a row below a task its object back, or take from it what is lost; then its task is recounted.

        An upload that is not completed yet has none; the sweeper looks after it.
        """
        if row["sk"].startswith(UPLOAD_PREFIX):
            return
        address = _address_of(row)
        fresh = next((key for key in self._moved(address.scope).get(key_of(row), []) if self._fits(row, key)), None)
        if fresh is not None:
            self._write(Update(key_of(row), {"object": fresh}, when="#object = :old", values={"old": row["object"]}))
            return
        self._drop(address, row)
        recount_task(self.backing, address)

    def _drop(self, address: Address, row: Item) -> None:
        sk: str = row["sk"]
        if sk.isdigit() and self.backing.table.query(Query(address.pk, begins=f"{sk}#", size=1)).items:
            lost = ("object", "excerpt", "l2")
            new = {**{k: v for k, v in row.items() if k not in lost}, **pack(EMPTY).attributes, "rev": ulid()}
            # It stays as long as its artifacts, which may be there still.
            self._write(Put({**new, "lost": True}, "#object = :old", {"old": row["object"]}))
            return
        self._write(Delete(key_of(row), "#object = :old", {"old": row["object"]}))

    def _write(self, write: Put | Update | Delete) -> None:
        with suppress(ConditionFailed):
            self.backing.table.write(write)

    def _fits(self, row: Item, key: str) -> bool:
        try:
            body = self.backing.objects.get(key)
            return _holds(row, body)
        except (ObjectMissing, ValueError, KeyError):
            return False

    def _moved(self, scope: Scope) -> Mapping[Key, list[str]]:
        """Return the keys of a project's objects that were written since the moment, by the rows that own them."""
        name = f"{scope.tenant}/{scope.project}"
        if name not in self._fresh:
            keys = [key for prefix in self._prefixes(name) for key in self._listed(prefix)]
            found: dict[Key, list[str]] = {}
            for key, owner in zip(keys, each(self._owner, keys), strict=True):
                if owner:
                    found.setdefault(owner, []).append(key)
            self._fresh[name] = found
        return self._fresh[name]

    def _prefixes(self, name: str) -> list[str]:
        today = self.backing.clock.now_ms()
        days = {day_of(moment) for moment in (*range(self.moment, today, DAY_MS), today)}
        return [f"{class_of(n)}/{day}/{name}/" for n in DAYS for day in sorted(days)]

    def _listed(self, prefix: str) -> list[str]:
        keys: list[str] = []
        token = None
        while True:
            page = self.backing.objects.list(prefix, token)
            keys += [key for key, _ in page.objects]
            token = page.token
            if token is None:
                return keys

    def _owner(self, key: str) -> Key | None:
        try:
            return owner_in(self.backing.objects.head(key))
        except ObjectMissing:
            return None


def _address_of(row: Item) -> Address:
    _, tenant, project, task = row["pk"].split("#")
    return Address(Scope(tenant, project), task)


def _holds(row: Item, body: bytes) -> bool:
    """Tell whether bytes are what a row was written with."""
    if "sha256" in row:
        return bool(hashlib.sha256(body).hexdigest() == row["sha256"])
    packed: dict[str, Any] = pack(unpack(row, body)).attributes
    return all(row.get(name) == packed.get(name) for name in ("bytes", "summary_bytes", "excerpt"))
