"""One memory: read, with its entity tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ObjectMissing
from shared.kernel.errors import Unavailable
from shared.memories.sight import LOOKS, seen
from shared.memories.texts import text_of
from shared.memories.views import etag_of, memory_view

if TYPE_CHECKING:
    from shared.kernel.preconditions import Preconditions
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing


@dataclass(frozen=True)
class Shown:
    """A memory as it is answered: its entity tag, and its view; None where the caller has that state already."""

    etag: str
    view: dict[str, Any] | None


@dataclass(frozen=True)
class Reading:
    """Reads memories by their ids."""

    backing: Backing

    def retrieve(self, scope: Scope, memory_id: str, conditions: Preconditions) -> Shown:
        """Return a memory.

        Raises:
            NotFound: there is none, or it was forgotten.
        """
        for _ in range(LOOKS):
            row, document = seen(self.backing.table, scope, memory_id)
            etag = etag_of(row)
            if conditions.not_modified(etag):
                return Shown(etag, None)
            try:
                return Shown(etag, memory_view(scope, row, text_of(self.backing.objects, row), document=document))
            except ObjectMissing:
                continue  # changed between the two reads: look again
        raise Unavailable
