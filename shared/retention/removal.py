"""Handlers of the kinds that belong to no domain room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing
from shared.retention.ownership import owner_in

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.aws.objects import Objects
    from shared.aws.table import Table


class ObjectRemoval:
    """Does a job of kind `remove_object`: removes the object at the job's `object`, unless a record owns it."""

    def __init__(self, table: Table, objects: Objects) -> None:
        self._table = table
        self._objects = objects

    def __call__(self, item: Item) -> bool:
        """Remove the object; one that a record owns after all (a write that raced) is left to that record."""
        key: str = item["object"]
        try:
            owner = owner_in(self._objects.head(key))
        except ObjectMissing:
            return True
        record = self._table.get(owner) if owner else None
        if record is None or record.get("object") != key:
            self._objects.delete(key)
        return True
