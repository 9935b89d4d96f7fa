"""Turns: read one, put one (an upsert that keeps `created_at` and artifacts), patch one."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import together
from shared.aws.table import Query
from shared.aws.writes import ABSENT, Put
from shared.kernel.clock import rfc3339
from shared.kernel.errors import NotFound, Unavailable
from shared.projects.commit import Plan, Stamp, SummaryChange
from shared.projects.content import Content, Packed, pack, unpack
from shared.projects.records import NO_TURN, artifact_view, summary_index
from shared.projects.sight import LOOKS, look_at_turn, look_with_turn
from shared.projects.writing import TaskWrite, object_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.aws.writes import Write
    from shared.kernel.preconditions import Preconditions
    from shared.projects.backing import Backing
    from shared.projects.records import Address
    from shared.projects.sight import Sight

Record = dict[str, Any]


class Turns:
    """The turns of tasks."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing

    def read(self, address: Address) -> tuple[Record, str]:
        """Return the seed's TurnRecord and its ETag.

        Raises:
            NotFound: no such task or turn.
        """
        for _ in range(LOOKS):
            sight = look_at_turn(self._backing, address)
            row = sight.rows.get(address.turn_key[1])
            if row is None:
                raise NotFound("No such turn.")
            try:
                return turn_record(address, sight, row, content=self._content(row)), etag_of(row)
            except ObjectMissing:
                continue  # replaced between the two reads: look again
        raise Unavailable

    def put(
        self, address: Address, principal: str, content: Content, *, preconditions: Preconditions
    ) -> tuple[Record, str]:
        """Store a turn's content and return its TurnRecord and ETag.

        Raises:
            PreconditionFailed: a condition of the request does not hold.
            Conflict: others kept writing for longer than the retries last.
        """
        upsert = _Upsert(self._backing, address, principal, preconditions=preconditions, content_for=lambda _: content)
        upsert.ahead = pack(content)
        return upsert.run()

    def patch(
        self, address: Address, principal: str, change: Callable[[Content], Content], *, preconditions: Preconditions
    ) -> tuple[Record, str]:
        """Change what a turn has and return its TurnRecord and ETag.

        Raises:
            NotFound: no such task or turn.
            PreconditionFailed, Conflict: as for `put`.
        """

        def changed(row: Item | None) -> Content:
            if row is None:
                raise NotFound("No such turn.")
            return change(self._content(row))

        return _Upsert(self._backing, address, principal, preconditions=preconditions, content_for=changed).run()

    def _content(self, row: Item) -> Content:
        return content_of(self._backing, row)


class _Upsert(TaskWrite[tuple[Record, str]]):
    """One PUT or PATCH of a turn; `content_for` gives the new content from the row that is there."""

    def __init__(
        self,
        backing: Backing,
        address: Address,
        principal: str,
        *,
        preconditions: Preconditions,
        content_for: Callable[[Item | None], Content],
    ) -> None:
        super().__init__(backing, address, principal)
        self._preconditions, self._content_for = preconditions, content_for
        self.ahead: Packed | None = None  # content that does not depend on what is there

    def look(self) -> Sight:
        """See the turn with its artifacts, and store content that is known ahead beside it."""
        ahead = self.ahead
        if ahead is None or ahead.body is None:
            return look_with_turn(self.backing, self.address)
        days = self.backing.expected_days(self.address.scope)
        calls = (lambda: self._stage(ahead, days)), (lambda: look_with_turn(self.backing, self.address))
        sight: Sight = together(*calls)[1]
        return sight

    def apply(self, sight: Sight) -> tuple[tuple[Record, str], str | None]:
        """Replace the turn's content."""
        row = sight.rows.get(self.address.turn_key[1])
        self._preconditions.check_write(etag_of(row) if row else None)
        return self._commit(sight, row, self._content_for(row))

    def overwrites(self, sight: Sight) -> bool:
        """Tell whether the turn exists."""
        return self.address.turn_key[1] in sight.stored

    def told_all(self, before: Sight, newer: Sight) -> bool:
        """The turn's artifacts must still be those seen: a refusal does not show them."""
        sk = self.address.turn_key[1]
        return bool(before.rows.get(sk, {}).get("listed") == newer.rows.get(sk, {}).get("listed"))

    def _stage(self, packed: Packed, days: int) -> str | None:
        body = packed.body
        if body is None:
            return None
        digest = sha256(body).hexdigest()
        owner, objects = self.address.turn_key, self.backing.objects
        return self.stage(days, owner, lambda key, name: objects.put(key, body, owner=name), digest=digest)

    def _commit(self, sight: Sight, row: Item | None, content: Content) -> tuple[tuple[Record, str], str | None]:
        packed = self.ahead or pack(content)
        key = self._stage(packed, sight.settings.retention_days)
        plan = Plan(
            lambda stamp: [self._put(stamp, sight, packed, key=key)],
            new_turn=row is None,
            summary=self._summary(sight, packed),
            replaced=(object_of(sight.stored.get(self.address.turn_key[1])),),
        )
        stamp, task = self.writer.commit(sight, plan)
        self._meter(sight, packed)
        written = self._row(stamp, sight, packed, key=key)
        record = turn_record(self.address, sight.with_task(task, stamp.at), written, content=content)
        return (record, etag_of(written)), key

    def _put(self, stamp: Stamp, sight: Sight, packed: Packed, *, key: str | None) -> Write:
        stored = sight.stored.get(self.address.turn_key[1])
        row = self._row(stamp, sight, packed, key=key)
        return Put(row, "#rev = :seen", {"seen": stored["rev"]}) if stored else Put(row, ABSENT)

    def _row(self, stamp: Stamp, sight: Sight, packed: Packed, *, key: str | None) -> Item:
        before = sight.rows.get(self.address.turn_key[1], {})
        row = new_turn_row(self.address, stamp, self.writer.rev) | packed.attributes
        row["created_at"] = before.get("created_at", stamp.at)
        row |= {name: before[name] for name in ("artifact_count", "listed") if name in before}
        if packed.summary_bytes:
            row["l2"] = summary_index(stamp.gen, self.address.turn)
        return row | ({"object": key} if key else {})

    def _summary(self, sight: Sight, packed: Packed) -> SummaryChange:
        size = packed.summary_bytes
        loses = sight.task is not None and size == 0 and sight.task["digest_turn"] == self.address.turn
        return SummaryChange(size, self._fallback(sight.task) if loses and sight.task else None)

    def _fallback(self, task: Item) -> tuple[int, int]:
        low, high = summary_index(task["gen"], 0), summary_index(task["gen"], self.address.turn)
        query = Query(self.address.pk, "l2", between=(low, high), newest_first=True, size=2)
        keys = [(i["pk"], i["sk"]) for i in self.backing.table.query(query).items if i["l2"] != high]
        found = self.backing.table.get(keys[0]) if keys else None
        return (int(found["sk"]), found["summary_bytes"]) if found else (NO_TURN, 0)

    def _meter(self, sight: Sight, packed: Packed) -> None:
        # A row of an ended life whose place was taken counts until now: its removal does not meet it any more.
        before = sight.stored.get(self.address.turn_key[1])
        grown = packed.attributes["bytes"] - (before["bytes"] if before else 0)
        self.backing.note(self.address.scope, tasks=int(sight.begins), turns=int(before is None), bytes=grown)


def new_turn_row(address: Address, stamp: Stamp, rev: str) -> Item:
    """Return a turn's row, to be completed with packed content."""
    pk, sk = address.turn_key
    times = {"created_at": stamp.at, "updated_at": stamp.at}
    return {"pk": pk, "sk": sk, "kind": "turn", "gen": stamp.gen, "rev": rev, "artifact_count": 0, **times}


def turn_record(address: Address, sight: Sight, row: Item, *, content: Content) -> dict[str, Any]:
    """Return the seed's TurnRecord."""
    task = sight.task or {}
    return {
        "task_id": address.task_id,
        "turn": address.turn,
        "meta": content.meta,
        "summary_md": content.summary,
        "artifacts": [artifact_view(r) for sk, r in sight.rows.items() if "#" in sk],
        "created_at": rfc3339(row["created_at"]),
        "updated_at": rfc3339(row["updated_at"]),
        "retain_until": rfc3339(task["retain_until"]),
    }


def content_of(backing: Backing, row: Item) -> Content:
    """Return a turn row's content, with its object where it has one.

    Raises:
        ObjectMissing: the row was replaced since it was read.
    """
    return unpack(row, backing.objects.get(row["object"]) if "object" in row else None)


def etag_of(row: Item) -> str:
    """Return a turn's ETag: it changes with every write to the turn or to an artifact of it."""
    return f'"{row["rev"]}"'
