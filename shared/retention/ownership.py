"""Who owns the objects of a listing: each names its owner, and the owner must name it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import each
from shared.retention.faults import Fault, Faults, fault_of
from shared.retention.records import owner_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item, Key
    from shared.aws.objects import Head, Objects
    from shared.aws.table import Table

PK_BYTES, SK_BYTES = 2048, 1024
"""DynamoDB's limits for keys: what is longer can't be a record's, and asking for it would be refused."""


@dataclass(frozen=True)
class Owned:
    """An object's key, S3's ETag of it, and the record that owns it."""

    key: str
    etag: str
    record: Item


@dataclass(frozen=True)
class Sorted:
    """The objects of a listing that records own, the keys of those that none does; gone ones are in neither."""

    owned: list[Owned]
    unowned: list[str]


class Ownership:
    """Looks owners up."""

    def __init__(self, table: Table, objects: Objects) -> None:
        self._table = table
        self._objects = objects

    def sort(self, keys: Sequence[str], faults: Faults) -> Sorted:
        """Tell owned objects from unowned ones, among at most 100; those that can't be told are counted as faults.

        Raises:
            Unavailable: the records can't be read.
        """
        heads: dict[str, Head] = {}
        for key, answer in zip(keys, each(self._head, keys), strict=True):
            if isinstance(answer, Fault):
                faults[answer] += 1
            elif answer is not None:
                heads[key] = answer
        owners = {key: owner for key, head in heads.items() if (owner := owner_in(head))}
        records = self._table.batch_get(list(owners.values())) if owners else {}
        owned = [
            Owned(key, heads[key].etag, records[owner])
            for key, owner in owners.items()
            if owner in records and records[owner].get("object") == key
        ]
        return Sorted(owned, sorted(heads.keys() - {o.key for o in owned}))

    def _head(self, key: str) -> Head | Fault | None:
        try:
            return self._objects.head(key)
        except ObjectMissing:
            return None
        except Exception as error:  # noqa: BLE001 - one object that S3 refuses must not stop the others of its day
            return fault_of("head", error)


def owner_in(head: Head) -> Key | None:
    """Return the key of the record that an object names as its owner, or None if it names none."""
    pk, sk = owner_key(head.metadata.get("owner", ""))
    fits = 0 < len(pk.encode()) <= PK_BYTES and 0 < len(sk.encode()) <= SK_BYTES
    return (pk, sk) if fits else None
