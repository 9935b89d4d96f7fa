"""Reconciliation: removes the objects of one day that no record owns.

A crash between storing an object and committing its record leaves one behind; a day later nothing can
be on its way to owning it any more, since objects are committed by the request that stored them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.retention.rounds import Settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.objects import Objects
    from shared.retention.faults import Faults
    from shared.retention.ownership import Ownership


class Reconciliation:
    """The step `reconcile` of the nightly rounds."""

    def __init__(self, ownership: Ownership, objects: Objects) -> None:
        self._ownership = ownership
        self._objects = objects

    def __call__(self, keys: Sequence[str], faults: Faults) -> Settled:
        """Remove those of at most 100 keys that no record owns.

        Raises:
            Unavailable: records can't be read, or S3 refuses some of the removals.
        """
        unowned = self._ownership.sort(keys, faults).unowned
        self._objects.delete(*unowned)
        return Settled(removed=len(unowned))
