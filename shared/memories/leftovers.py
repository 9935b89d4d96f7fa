"""What a change or a delete leaves behind in the index and the bucket: removed at once, else by a job.

Nothing of it can be seen any more: its records are gone, or say something else.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from shared.aws.items import key_of
from shared.aws.parallel import together
from shared.aws.writes import Delete
from shared.kernel.contention import LostRace
from shared.kernel.errors import Unavailable
from shared.retention.records import due_bucket, job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item
    from shared.memories.backing import Backing
    from shared.memories.records import UserAddress
    from shared.search.port import SearchIndex, State

LEFTOVERS: Final = "memory_leftovers"
PATIENCE_MS: Final = 15 * 60_000
"""How long a write may take, far beyond any function's time-out, until what it has indexed is taken for left behind."""


class Leftovers:
    """One write's leftovers of one user, and the job that stands for them."""

    def __init__(self, backing: Backing, address: UserAddress) -> None:
        self._backing = backing
        self.address = address
        self._for_a_worker = False
        self._job = job(LEFTOVERS, address.scope, backing.clock.now_ms(), user_id=address.user_id)

    @property
    def id(self) -> str:
        """The job's ULID: the name of the write."""
        return str(self._job["pk"]).removeprefix("J#")

    def if_it_dies(self, states: Sequence[State]) -> Item:
        """Return the job for states that are about to be indexed, due when nobody can be at work with them any more."""
        moment = self._job["created_at"] + PATIENCE_MS
        return {**self.due(states), "expires_at": moment, "due": due_bucket(moment, self.id)}

    def due(
        self,
        states: Sequence[State],
        objects: Sequence[str] = (),
        forgotten: Sequence[str] = (),
        *,
        beside: Sequence[str] = (),
    ) -> Item:
        """Return the job for what is over with the transaction that the job is written in.

        `forgotten` are memories whose past must say no more what they said; `beside` are messages that are found by
        what was said around them, which a worker brings up to date.
        """
        self._for_a_worker = bool(beside)
        told = {"objects": list(objects), "forgotten": list(forgotten), "beside": list(beside)}
        return {**self._job, "states": [list(state) for state in states], **told}

    def remove(self, index: SearchIndex, states: Sequence[State], objects: Sequence[str] = ()) -> None:
        """Remove them now; what does not answer, or only a worker can do, is left to the job."""
        with suppress(Unavailable, LostRace):
            together(
                *([partial(index.remove, self.address.owner, states)] if states else []),
                *([partial(self._backing.objects.delete, *objects)] if objects else []),
            )
            if not self._for_a_worker:
                self.done()

    def done(self) -> None:
        """Remove the job.

        Raises:
            Unavailable: the table does not answer.
        """
        self._backing.table.write(Delete(key_of(self._job)))
