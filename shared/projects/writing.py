"""The course of one write below a task: look, check, store the object, commit; again when others were first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from shared.aws.errors import ObjectMissing
from shared.kernel.contention import LostRace, persist
from shared.kernel.errors import LodestoreError, Unavailable
from shared.projects.commit import Outdated, Writer
from shared.retention.records import class_of, object_key, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item, Key
    from shared.projects.backing import Backing
    from shared.projects.records import Address
    from shared.projects.sight import Sight

R = TypeVar("R")


class TaskWrite(ABC, Generic[R]):
    """One request's write. Objects are stored first, under fresh keys; the commit makes one of them visible."""

    def __init__(self, backing: Backing, address: Address, principal: str) -> None:
        self.backing, self.address = backing, address
        self.writer = Writer(backing, address, principal)
        self._sight: Sight | None = None
        self._staged: dict[tuple[int, str], str] = {}  # object keys written so far, by retention days and bytes

    @abstractmethod
    def look(self) -> Sight:
        """See what is there; what can be stored without knowing it may be stored at the same time."""

    @abstractmethod
    def apply(self, sight: Sight) -> tuple[R, str | None]:
        """Check, commit, and return the result and the object's key that is now visible (None: no object)."""

    @abstractmethod
    def overwrites(self, sight: Sight) -> bool:
        """Tell whether the write takes the place of a row, which others who meet it change too."""

    def told_all(self, before: Sight, newer: Sight) -> bool:  # noqa: ARG002 - what matters is the write's own
        """Tell whether a refused commit showed all that the next attempt needs, so that it need not look again."""
        return True

    def run(self) -> R:
        """Do the write; objects that certainly did not become visible are removed.

        Raises:
            Conflict: others kept writing for longer than the retries last.
        """
        used = None
        try:
            result, used = persist(self._attempt)
        except Unavailable:
            raise  # the commit may have been applied all the same: what it names must stay
        except LodestoreError:
            self.backing.objects.discard(*self._staged.values())
            raise
        self.backing.objects.discard(*[key for key in self._staged.values() if key != used])
        return result

    def _attempt(self) -> tuple[R, str | None]:
        try:
            if self._sight is None:
                self._sight = self.look()
                self.backing.expect(self.address.scope, self._sight.settings.retention_days)
            return self.apply(self._sight)
        except Outdated as outdated:
            told = self._sight is not None and self.told_all(self._sight, outdated.sight)
            self._sight = outdated.sight if told else None
            raise
        except LostRace:
            if self._sight is not None and self.overwrites(self._sight):
                self._sight = None  # after the pause another's will be there: seeing it costs less than a refusal
            raise
        except ObjectMissing:
            self._sight = None
            raise LostRace from None

    def stage(self, days: int, owner: Key, store: Callable[[str, str], None], *, digest: str = "") -> str:
        """Store the bytes in a retention class once, by `store(key, owner)`, and return their key.

        A write whose bytes depend on what it saw gives their `digest`: its next attempt may have others.
        """
        wanted = days, digest
        if wanted not in self._staged:
            key = object_key(class_of(days), self.backing.clock.now_ms(), self.address.scope)
            self._staged[wanted] = key  # before it is stored: what lost only its answer must be removed too
            try:
                store(key, owner_of(owner))
            except ObjectMissing:
                del self._staged[wanted]  # nothing was there to copy from
                raise
        return self._staged[wanted]


def object_of(row: Item | None) -> str | None:
    """Return the key of a row's object, if there is a row and it has one."""
    key: str | None = row.get("object") if row else None
    return key
