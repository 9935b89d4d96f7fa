"""One attempt at an Add, phase by phase. What a phase reaches is kept, and no later attempt does it again."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import each
from shared.aws.writes import Put
from shared.kernel.errors import Conflict, Unavailable
from shared.kernel.strict_json import compact
from shared.memories.attempts import Erased, Fenced, Overtaken
from shared.memories.commit import Numbered, batches, objects_of, writes_of
from shared.memories.drafting import Draft
from shared.memories.ending import succeed
from shared.memories.files.imaging import Imaging
from shared.memories.files.sending import jobs_of
from shared.memories.groups import Part
from shared.memories.indexing import passages_of
from shared.memories.leftovers import Leftovers
from shared.memories.models import Add
from shared.memories.plan import Plan
from shared.memories.planning import Planner
from shared.memories.records import plan_key
from shared.memories.remains import clear_away, clear_away_now, dropped, made_by
from shared.memories.sight import generation_in
from shared.memories.tidying import tidy
from shared.retention.records import object_key, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.memories.attempts import Attempt
    from shared.memories.means import Means
    from shared.memories.plan import Change

ROUNDS = 3
"""How often an attempt decides anew because others changed what it had decided about."""

INDEXED_AT_ONCE = 32
"""Memories that are embedded and indexed at a time."""

PLANS = "r30"
"""The class of plans: they go at a task's end, the class is the backstop."""


class OutOfTime(Unavailable):
    """This function's time is over; the next delivery goes on from what was reached."""


class PayloadMissing(Exception):
    """What was sent, or the plan that was made of it, is no longer stored."""


class Run:
    """An attempt's work; `late` tells when no new piece of it may be begun."""

    def __init__(self, means: Means, attempt: Attempt, late: Callable[[], bool]) -> None:
        self._means = means
        self._attempt = attempt
        self._late = late
        self._backing = means.backing
        self._kept: Item | None = None
        self._jobs: list[Item] = []
        self._turn = 0

    def __call__(self) -> None:
        """Make the request's memories, see that search finds them, and end the task.

        Raises:
            Erased: everything of the user was forgotten meanwhile.
            ExtractionFailed: nothing can be made of a model's answers.
            Fenced: another attempt has taken over.
            ObjectMissing: a memory was changed or removed while it was looked at.
            PayloadMissing: what the task was given is gone.
            Unavailable: a dependency is down, or the time is over.
        """
        self._kept = self._look()
        self._images()
        plan = self._index(self._decided(self._learnt()))
        plan = self._commit(plan)
        changes = [*plan.decided, *self._group(plan)]
        tidy(self._means, self._attempt, changes)
        succeed(self._backing, self._attempt, changes, plan=self._kept, jobs=self._jobs)

    @property
    def _committed(self) -> int:
        committed: int = self._attempt.task.get("committed", 0)
        return committed

    def _look(self) -> Item | None:
        """Return the row of the plan that an earlier attempt has made."""
        address = self._attempt.address
        key = plan_key(address.scope, self._attempt.task["task"])
        found = self._backing.table.batch_get([key, address.generation_key, address.lease_key()])
        self._jobs = jobs_of(self._backing.table, self._attempt.task)
        self._turn = found.get(address.lease_key(), {}).get("turn", 0)
        if generation_in(found.get(address.generation_key), address.user) != self._attempt.task["generation"]:
            raise Erased("All memories of the user were deleted after this request was accepted.")
        return found.get(key)

    @cached_property
    def _add(self) -> Add:
        payload = self._stored(self._attempt.task["object"])
        captions = {job["n"]: job["caption"] for job in self._jobs if job["of"] == "image" and job.get("caption")}
        return Add.from_json(json.loads(payload)).captioned(captions)

    def _stored(self, key: str) -> bytes:
        try:
            return self._backing.objects.get(key)
        except ObjectMissing:
            raise PayloadMissing from None

    def _images(self) -> None:
        """Make memories of what images show."""
        for n, job in enumerate(self._jobs):
            if job["of"] == "image" and job["status"] == "parsed":
                self._go_on()
                self._jobs[n] = Imaging(self._means, self._attempt, self._add).file(job)

    def _planner(self, at: int) -> Planner:
        return Planner(self._means, self._draft(at))

    def _draft(self, at: int) -> Draft:
        return Draft(self._attempt.address, self._attempt.task, self._add, at)

    def _part(self, at: int) -> Part | None:
        if self._add.chunk is None:
            return None
        return Part(self._means, self._attempt, self._draft(at), self._add.chunk)

    def _learnt(self) -> Plan:
        if self._kept is not None:
            return Plan.from_json(json.loads(self._stored(self._kept["object"])))
        at = self._backing.clock.now_ms()
        part = self._part(at)
        if part and part.is_repeated():
            return Plan(at, None, ())
        if self._add.mode != "default" or not self._draft(at).conversation().turns:
            return Plan(at, None)
        self._go_on("extracting")
        plan = self._planner(at).learn()
        self._save(plan, "deciding")
        return plan

    def _decided(self, plan: Plan) -> Plan:
        if plan.changes is not None:
            return self._still_decided(plan)
        decided = self._planner(plan.at).decide(plan)
        self._save(decided, "embedding", indexed=0)
        return decided

    def _still_decided(self, plan: Plan) -> Plan:
        """Return a plan that was decided already; anew, if another task wrote for the user since."""
        if self._kept is None or self._kept["turn"] == self._turn or self._committed == len(plan.decided):
            return plan
        return self._decided_again(plan)

    def _decided_again(self, plan: Plan) -> Plan:
        done = self._committed
        again = self._planner(self._backing.clock.now_ms()).decide_again(plan, done)
        leftovers, remains = self._leftovers(), dropped(plan.decided[done:], again.decided[done:])
        self._save(again, "embedding", *remains.kept(leftovers), indexed=done)
        clear_away_now(self._means, leftovers, remains)
        return again

    def _index(self, plan: Plan) -> Plan:
        """Put the passages of all new states into the index, where nothing finds them until they are committed.

        Putting again what the index has lost is no progress: it may lose it each time. Of what was committed before,
        that goes again which its user has changed or deleted since.
        """
        task = self._attempt.task
        reach = self._attempt.note if "unseen" in task else self._attempt.progress
        for start in range(task.get("indexed", 0), len(plan.decided), INDEXED_AT_ONCE):
            self._go_on()
            piece = plan.decided[start : start + INDEXED_AT_ONCE]
            self._put([(c.row, c.whole_text) for c in piece if c.row])
            clear_away(self._means, self._attempt.address, made_by(piece[: max(0, self._committed - start)]))
            with self._left_if_fenced(piece):
                reach(phase="indexing", indexed=start + len(piece))
        return plan

    def _put(self, rows: Sequence[tuple[Item, str]]) -> None:
        if passages := passages_of(rows, self._means.embedder):
            self._means.index.put(passages)

    @contextmanager
    def _left_if_fenced(self, piece: Sequence[Change]) -> Iterator[None]:
        """Leave a job for passages that an attempt has put which was taken for dead: nothing can keep it from that."""
        try:
            yield
        except Fenced:
            states = sorted(made_by(piece).states)
            self._backing.table.write(Put(self._leftovers().if_it_dies(states)))
            raise

    def _leftovers(self) -> Leftovers:
        return Leftovers(self._backing, self._attempt.address)

    def _commit(self, plan: Plan) -> Plan:
        for _ in range(ROUNDS):
            try:
                for batch in batches(plan.decided, self._committed):
                    self._go_on()
                    self._write(plan, batch)
            except (Overtaken, ObjectMissing):
                plan = self._index(self._decided_again(plan))
            else:
                return plan
        raise Conflict("Others kept changing these memories at the same time.")

    def _write(self, plan: Plan, batch: range) -> None:
        self._store_objects([plan.decided[n] for n in batch])
        self._attempt.commit(batch.stop, *[write for n in batch for write in self._writes(plan, n)])

    def _writes(self, plan: Plan, n: int) -> list[Write]:
        return writes_of(self._backing, self._attempt.address, Numbered(plan.decided[n], n, plan.at + n))

    def _store_objects(self, changes: Sequence[Change]) -> None:
        needed = objects_of(changes)
        put = self._backing.objects.put
        each(lambda key: put(key, needed[key][0], owner=owner_of(needed[key][1])), needed)

    def _group(self, plan: Plan) -> list[Change]:
        """Count a part of a group, and make the group's summary where it was the last."""
        part = self._part(plan.at)
        if part is None:
            return []
        part.note(plan)
        summary = part.summarise(len(plan.decided))
        if summary is not None and summary.row is not None:
            leftovers = self._leftovers()
            self._backing.table.write(Put(leftovers.if_it_dies(sorted(made_by([summary]).states))))
            self._put([(summary.row, summary.whole_text)])
            self._store_objects([summary])
            part.apply(summary)
            leftovers.done()
        applied = part.applied()
        return [applied] if applied else []

    def _go_on(self, phase: str | None = None) -> None:
        if self._late():
            raise OutOfTime
        if phase is not None:
            self._attempt.note(phase=phase)

    def _save(self, plan: Plan, phase: str, *beside: Write, **reached: int) -> None:
        """Keep a plan, and write what goes with it: it takes the place of the one before."""
        task = self._attempt.task
        pk, sk = plan_key(self._attempt.address.scope, task["task"])
        key = object_key(PLANS, self._backing.clock.now_ms(), self._attempt.address.scope)
        self._backing.objects.put(key, compact(plan.to_json()).encode(), owner=owner_of((pk, sk)))
        whose = {"user": task["user"], "generation": task["generation"], "turn": self._turn}
        row = {"pk": pk, "sk": sk, **whose, "object": key}
        self._attempt.progress(Put(row), *beside, phase=phase, **reached)
        before, self._kept = self._kept, row
        if before is not None:
            self._backing.objects.discard(before["object"])
