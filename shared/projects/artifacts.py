"""Artifacts: exact bytes under a name of a turn, with the content type they came with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from shared.aws.errors import ObjectMissing
from shared.aws.parallel import together
from shared.aws.writes import ABSENT, Put, Update
from shared.kernel.errors import InvalidInput, NotFound, Unavailable
from shared.projects.commit import Plan, Stamp
from shared.projects.content import EMPTY, pack
from shared.projects.models import ARTIFACTS_A_TURN
from shared.projects.records import artifact_record
from shared.projects.sight import LOOKS, look_at_artifact, look_for_write
from shared.projects.turns import new_turn_row
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

URL_SECONDS = 5 * 60
DEFAULT_TYPE = "application/octet-stream"


@dataclass(frozen=True)
class Description:
    """What is known of an artifact's bytes: content type (verbatim), length, SHA-256 in hex."""

    content_type: str
    size: int
    sha256: str

    @classmethod
    def of(cls, body: bytes, content_type: str) -> Description:
        """Describe bytes at hand."""
        return cls(content_type, len(body), hashlib.sha256(body).hexdigest())

    @property
    def etag(self) -> str:
        """The ETag: of the bytes and their type, so that the same artifact put again keeps it."""
        both = f"{self.content_type}\n{self.sha256}".encode()
        return f'"{hashlib.sha256(both).hexdigest()[:32]}"'


class Artifacts:
    """The artifacts of turns."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing

    def find(self, address: Address) -> Item:
        """Return an artifact's row.

        Raises:
            NotFound: no such task, turn or artifact.
        """
        row = look_at_artifact(self._backing, address).rows.get(address.artifact_key[1])
        if row is None:
            raise NotFound("No such artifact.")
        return row

    def read(
        self, address: Address, row: Item, choose: Callable[[Item], tuple[int, int] | None]
    ) -> tuple[Item, tuple[int, int] | None, bytes]:
        """Return an artifact's row, the range (first and last position) that `choose` takes of it, and the bytes.

        The row is a newer one than the one given if the artifact was replaced since.

        Raises:
            NotFound: it is gone since.
        """
        for _ in range(LOOKS):
            span = choose(row)
            try:
                return row, span, self._backing.objects.get(row["object"], span)
            except ObjectMissing:
                row = self.find(address)
        raise Unavailable

    def download_url(self, row: Item) -> str:
        """Return a presigned URL that downloads an artifact, for five minutes."""
        return self._backing.objects.presign_get(row["object"], seconds=URL_SECONDS, content_type=row["content_type"])

    def put(
        self, address: Address, principal: str, body: bytes, *, content_type: str, preconditions: Preconditions
    ) -> tuple[Record, str]:
        """Store an artifact and return the seed's ArtifactRecord and its ETag.

        Raises:
            InvalidInput: the turn has 1,000 artifacts.
            PreconditionFailed: a condition of the request does not hold.
            Conflict: others kept writing for longer than the retries last.
        """
        description = Description.of(body, content_type)
        change = Replacement(self._backing, address, principal, description=description, preconditions=preconditions)
        change.store = lambda key, owner: self._backing.objects.put(key, body, owner=owner)
        return change.run()


class Companion(Protocol):
    """A row below the task that changes together with an artifact: an upload that ends, for one."""

    @property
    def sort_key(self) -> str:
        """Its sort key."""

    def check(self, sight: Sight) -> None:
        """Raise the error that the row and its task, as they are now, mean for the artifact's write."""

    def write(self, artifact: Item) -> Write:
        """Return the row's change, from the artifact's new row."""


class Replacement(TaskWrite[tuple[Record, str]]):
    """One artifact's bytes taking their place; `store(key, owner)` puts them at a fresh key.

    `beside` is a row that changes in the same transaction.
    """

    def __init__(
        self,
        backing: Backing,
        address: Address,
        principal: str,
        *,
        description: Description,
        preconditions: Preconditions,
    ) -> None:
        super().__init__(backing, address, principal)
        self._description, self._preconditions = description, preconditions
        self.store: Callable[[str, str], None] = _nowhere
        self.beside: Companion | None = None

    def look(self) -> Sight:
        """See the turn and the artifact, and store the bytes beside it."""
        days = self.backing.expected_days(self.address.scope)
        keys = [self.address.turn_key[1], self.address.artifact_key[1]]
        if self.beside:
            keys.append(self.beside.sort_key)
        sight: Sight = together(lambda: self._stage(days), lambda: look_for_write(self.backing, self.address, *keys))[1]
        return sight

    def apply(self, sight: Sight) -> tuple[tuple[Record, str], str | None]:
        """Replace the artifact."""
        row = sight.rows.get(self.address.artifact_key[1])
        if self.beside:
            self.beside.check(sight)
        self._preconditions.check_write(row["etag"] if row else None)
        self._check_room(sight, row)
        written = self._commit(sight, self._stage(sight.settings.retention_days))
        return (artifact_record(self.address, written), written["etag"]), written["object"]

    def overwrites(self, sight: Sight) -> bool:
        """Tell whether the artifact exists."""
        return self.address.artifact_key[1] in sight.stored

    def _stage(self, days: int) -> str:
        return self.stage(days, self.address.artifact_key, self.store)

    def _check_room(self, sight: Sight, row: Item | None) -> None:
        turn = sight.rows.get(self.address.turn_key[1])
        if row is None and turn and turn["artifact_count"] >= ARTIFACTS_A_TURN:
            raise InvalidInput.at("path", "name", message=f"A turn has at most {ARTIFACTS_A_TURN} artifacts")

    def _commit(self, sight: Sight, key: str) -> Item:
        artifact, turn = self.address.artifact_key[1], self.address.turn_key[1]
        new_turn = turn not in sight.rows
        replaced = object_of(sight.stored.get(artifact)), object_of(sight.stored.get(turn)) if new_turn else None
        plan = Plan(lambda stamp: self._writes(stamp, sight, key), new_turn=new_turn, replaced=replaced)
        stamp, _ = self.writer.commit(sight, plan)
        self._meter(sight)
        return self._row(stamp, sight, key)

    def _writes(self, stamp: Stamp, sight: Sight, key: str) -> list[Write]:
        artifact = self._row(stamp, sight, key)
        beside = [self.beside.write(artifact)] if self.beside else []
        return [_as_seen(artifact, sight), self._turn(stamp, sight), *beside]

    def _turn(self, stamp: Stamp, sight: Sight) -> Write:
        sk = self.address.turn_key[1]
        if sk not in sight.rows:
            empty = new_turn_row(self.address, stamp, self.writer.rev) | pack(EMPTY).attributes
            return _as_seen(empty | {"artifact_count": 1, "listed": self.writer.rev}, sight)
        new = self.address.artifact_key[1] not in sight.rows
        return Update(
            self.address.turn_key,
            put={"rev": self.writer.rev, "listed": self.writer.rev, "updated_at": stamp.at},
            add={"artifact_count": 1} if new else {},
            when="#gen = :gen" + (" AND #artifact_count < :limit" if new else ""),
            values={"gen": stamp.gen} | ({"limit": ARTIFACTS_A_TURN} if new else {}),
        )

    def _row(self, stamp: Stamp, sight: Sight, key: str) -> Item:
        pk, sk = self.address.artifact_key
        before = sight.rows.get(sk, {})
        return {
            "pk": pk,
            "sk": sk,
            "kind": "artifact",
            "gen": stamp.gen,
            "rev": self.writer.rev,
            "etag": self._description.etag,
            "content_type": self._description.content_type,
            "size": self._description.size,
            "sha256": self._description.sha256,
            "object": key,
            "created_at": before.get("created_at", stamp.at),
            "updated_at": stamp.at,
        }

    def _meter(self, sight: Sight) -> None:
        turn, artifact = self.address.turn_key[1], self.address.artifact_key[1]
        before = sight.stored.get(artifact)
        grown = self._description.size - (before["size"] if before else 0)
        if turn not in sight.rows:
            grown += pack(EMPTY).attributes["bytes"] - (sight.stored[turn]["bytes"] if turn in sight.stored else 0)
        counts = {"turns": int(turn not in sight.stored), "artifacts": int(before is None)}
        self.backing.note(self.address.scope, tasks=int(sight.begins), bytes=grown, **counts)


def _as_seen(row: Item, sight: Sight) -> Put:
    stored = sight.stored.get(row["sk"])
    return Put(row, "#rev = :seen", {"seen": stored["rev"]}) if stored else Put(row, ABSENT)


def _nowhere(_: str, __: str) -> None:
    """Store nothing: the default until a caller says where the bytes come from."""
