"""Images that are told of in words: the words become a memory, as part of the add that brought them.

An image's document has one chunk, so all of it is one transaction, held by the add's attempt like its other writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from shared.aws.items import key_of
from shared.aws.writes import Put, Update
from shared.kernel.errors import Conflict
from shared.memories.attempts import Overtaken
from shared.memories.files.documents import Switch, repeated, said_again, seen_of, standing
from shared.memories.files.drafting import ChunkDraft
from shared.memories.files.jobs import FileGone, there_still
from shared.memories.files.readings import Readings
from shared.memories.files.stages import DELETED
from shared.memories.indexing import passages_of
from shared.memories.leftovers import Leftovers
from shared.memories.plan import state_of
from shared.memories.tidying import NotFound

if TYPE_CHECKING:
    from typing import Any

    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.memories.attempts import Attempt
    from shared.memories.means import Means
    from shared.memories.models import Add

ROUNDS: Final = 3
"""How often an image's document is looked at anew because another add was faster."""


class Imaging:
    """The images of one attempt at an add."""

    def __init__(self, means: Means, attempt: Attempt, add: Add) -> None:
        self._means, self._attempt, self._add = means, attempt, add
        self._backing = means.backing

    def file(self, job: Item) -> Item:
        """Make a memory of an image's caption, and return its job as it is then.

        Raises:
            Conflict: other adds kept being faster.
            Erased: everything of the user was forgotten meanwhile.
            Fenced: another attempt has taken over.
            Unavailable: a dependency is down.
        """
        for _ in range(ROUNDS):
            try:
                return self._file(job)
            except Overtaken:
                continue
        raise Conflict("Others kept changing this image at the same time.")

    def _file(self, job: Item) -> Item:
        task = self._attempt.task
        try:
            document = seen_of(self._backing.table, task, job).document
        except FileGone:
            error = {"code": DELETED.code, "message": DELETED.message}
            return self._end(job, {"status": "failed", "error": error})
        if there := standing(document, task, job):
            return self._end(job, repeated(there), said_again(there, task, job))
        return self._switch(job, Switch(self._backing, task, job, document, 1))

    def _switch(self, job: Item, switch: Switch) -> Item:
        address = self._attempt.address
        row = ChunkDraft(self._attempt.task, job, self._add, self._backing.clock.now_ms()).image()
        leftovers, left = Leftovers(self._backing, address), switch.left
        self._backing.table.write(Put(leftovers.if_it_dies([state_of(row)])))
        self._means.index.put(passages_of([(row, row["text"])], self._means.embedder))
        if not self._means.index.present(address.owner, {state_of(row)}):
            raise NotFound("Search does not find yet what was stored.")
        there = there_still(self._attempt.task, job)
        ended = self._end(job, switch.ended, there, *switch.writes(left), Put(row))
        leftovers.done()
        if left:
            Readings(self._backing, address).send(left)
        self._backing.note(address.scope, memories=1, bytes=row["size"])
        return ended

    def _end(self, job: Item, told: dict[str, Any], *writes: Write) -> Item:
        attempt = self._attempt
        told = {**told, "updated_at": self._backing.clock.now_ms()}
        end = Update(key_of(job), told, when="#status = :parsed", values={"parsed": "parsed"})
        attempt.progress(attempt.holds_lease(), attempt.holds_generation(), end, *writes)
        return {**job, **told}
