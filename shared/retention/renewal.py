"""Renewal: moves what still lives to a fresh key before a lifecycle rule takes the old one.

S3 counts an object's age from its writing, while a task lives from its last write. So a class's objects
are visited when its days are over, on each of the three days before the rule is applied (design, §3).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing, TransactionFailed
from shared.aws.items import key_of
from shared.aws.parallel import each
from shared.aws.writes import Put, Update
from shared.kernel.contention import persist
from shared.retention.faults import Faults, isolated
from shared.retention.records import DAYS, class_of, due_bucket, job, object_key, owner_of, scope_of
from shared.retention.rounds import Settled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.aws.items import Item
    from shared.aws.objects import Objects
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.retention.ownership import Owned, Ownership

GRACE_MS = 2 * 3_600_000
"""How long the old object stays: reads that began before, and URLs given out for it, must not break."""


def _lives(_: Item) -> bool:
    return True


class Renewal:
    """The step `renew` of the nightly rounds.

    `lives` tells whether an owner is worth a copy; records of what is past its time are swept anyway.
    """

    def __init__(
        self,
        table: Table,
        objects: Objects,
        clock: Clock,
        *,
        ownership: Ownership,
        lives: Callable[[Item], bool] = _lives,
    ) -> None:
        self._table = table
        self._objects = objects
        self._clock = clock
        self._ownership = ownership
        self._lives = lives

    def __call__(self, keys: Sequence[str], faults: Faults) -> Settled:
        """Renew those of at most 100 objects that a living record owns, and remove those that none does.

        Raises:
            Unavailable: records can't be read, or S3 refuses some of the removals.
        """
        found = self._ownership.sort(keys, faults)
        living = [owned for owned in found.owned if self._lives(owned.record)]
        counted = [Faults() for _ in living]  # one each: they are counted in several threads
        renewed = each(lambda n: isolated("renew", counted[n], partial(self._renew, living[n])), range(len(living)))
        for some in counted:
            faults.update(some)
        self._objects.delete(*found.unowned)
        return Settled(removed=len(found.unowned), renewed=sum(map(bool, renewed)))

    def _renew(self, owned: Owned) -> bool:
        fresh = object_key(_class_for(owned), self._clock.now_ms(), scope_of(owned.key))
        try:
            self._objects.copy(owned.key, fresh, owner=owner_of(key_of(owned.record)), etag=owned.etag)
        except ObjectMissing:
            return False  # replaced or removed since it was listed
        switched = persist(lambda: self._switch(owned, fresh))
        if not switched:
            self._objects.delete(fresh)
        return switched

    def _switch(self, owned: Owned, fresh: str) -> bool:
        now = self._clock.now_ms()
        later = due_bucket(now + GRACE_MS, fresh)
        switch = Update(key_of(owned.record), {"object": fresh}, when="#object = :old", values={"old": owned.key})
        try:
            self._table.transact(
                switch, Put(job("remove_object", scope_of(owned.key), now, object=owned.key, due=later))
            )
        except TransactionFailed as failed:
            there = failed.items.get(0)
            return there is not None and there.get("object") == fresh  # ours: only the answer was lost
        return True


def _class_for(owned: Owned) -> str:
    days = owned.record.get("retention_days")
    return class_of(days) if days in DAYS else owned.key.partition("/")[0]
