"""Keys: made, listed, revoked; each change is one transaction over all the rows by which a key is found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING

from shared.aws.errors import TransactionFailed
from shared.aws.parallel import each
from shared.aws.table import Query
from shared.aws.writes import ABSENT, PRESENT, Delete, Put, Update
from shared.kernel import cursor
from shared.kernel.contention import persist
from shared.kernel.errors import InvalidInput, NotFound
from shared.kernel.ids import is_ulid, prefixed
from shared.tenancy import records, rules
from shared.tenancy.credentials import digest_of, new_secret
from shared.tenancy.models import KeyRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.tenancy.models import Admitted, KeyWish
    from shared.tenancy.remembered import Remembered

ID_PREFIX = "apikey"


@dataclass(frozen=True)
class Issued:
    """A new key: its record and, only here, its secret."""

    record: KeyRecord
    secret: str


@dataclass(frozen=True)
class KeyList:
    """Which keys to list: at most `limit`, after the cursor `page`; revoked ones too, or not."""

    limit: int = 20
    page: str | None = None
    include_revoked: bool = False


@dataclass(frozen=True)
class KeyPage:
    """One page of keys, by project and age, and the cursor of the next."""

    records: list[KeyRecord]
    next_page: str | None


def _untold(_: KeyRecord) -> None:
    """Tell nobody: for whoever revokes no key."""


class Keys:
    """The keys of all tenants. `remembered` is what admission remembers of them in this process.

    `note_revoked` keeps outside of the table that a key is revoked: a restored table must refuse it again.
    """

    def __init__(
        self,
        table: Table,
        clock: Clock,
        remembered: Remembered[KeyRecord],
        *,
        note_revoked: Callable[[KeyRecord], None] = _untold,
    ) -> None:
        self._table = table
        self._clock = clock
        self._remembered = remembered
        self._note_revoked = note_revoked

    def issue(self, wish: KeyWish, *, created_by: str | None = None) -> Issued:
        """Make a key with nobody's leave: for whoever holds the table itself (the first key, the local run)."""
        now = self._clock.now_ms()
        key_id = prefixed(ID_PREFIX, now)
        wished = {**vars(wish), "principal": wish.principal or key_id}
        record = KeyRecord(id=key_id, created_at=now, created_by=created_by, **wished)
        secret = new_secret()
        digest = digest_of(secret)
        rows = (
            records.record_item(record),
            records.secret_item(record, digest),
            records.pointer_item(record, digest),
        )
        persist(lambda: self._insert(*rows))
        return Issued(record, secret)

    def create(self, maker: Admitted, wish: KeyWish) -> Issued:
        """Make the key that `maker` wishes.

        Raises:
            PermissionDenied: it would give more than its maker has.
        """
        rules.check_may_make(maker, wish)
        return self.issue(wish, created_by=maker.key_id)

    def get(self, asker: Admitted, key_id: str) -> KeyRecord:
        """Return a key's record.

        Raises:
            NotFound: unknown, or not among the keys that `asker` sees.
            PermissionDenied: `asker` has nothing to do with keys.
        """
        return self._find(asker, key_id)[0]

    def page(self, asker: Admitted, wanted: KeyList) -> KeyPage:
        """Return one page of the keys that `asker` sees; an operator may narrow it to the tenant it names.

        Raises:
            PermissionDenied: `asker` has nothing to do with keys.
            InvalidInput: a cursor of another list.
        """
        rules.check_may_administer(asker)
        tenant, project = rules.visible(asker)
        tenant = tenant or asker.scope.tenant or None
        binding = ("api_keys", tenant or "", project or "")
        low, high = records.range_of(tenant, project)
        if wanted.page:
            low = records.after(_position(wanted.page, binding, low, high=high))
        partitions = (records.LIVE, records.REVOKED)[: 1 + wanted.include_revoked]
        pages = each(lambda pk: self._read(pk, (low, high), wanted.limit + 1), partitions)
        found = list(islice(merge(*pages, key=_sk), wanted.limit + 1))
        shown = found[: wanted.limit]
        more = len(found) > len(shown)
        next_page = cursor.encode(_sk(shown[-1]), *binding) if more else None
        return KeyPage([records.record_of(item) for item in shown], next_page)

    def revoke(self, asker: Admitted, key_id: str) -> None:
        """Revoke a key; one that is revoked stays so.

        Raises:
            NotFound: unknown, or not among the keys that `asker` sees.
            PermissionDenied: it ranks above `asker`.
        """
        record, digest = self._find(asker, key_id)
        rules.check_may_revoke(asker, record)
        if record.revoked_at is None:
            # Noted first: a key that is noted and then not revoked is revoked by nothing but a restored table's replay.
            self._note_revoked(record)
            persist(lambda: self._revoke(record, digest))
        self._remembered.forget(digest)

    def revoke_again(self, key_id: str) -> None:
        """Revoke a key that was revoked before its table was restored; one that is unknown or revoked is left."""
        pointer = self._table.get(records.pointer_key(key_id))
        record = self._pointed(pointer) if pointer else None
        if pointer and record and record.revoked_at is None:
            persist(lambda: self._revoke(record, pointer["digest"]))

    def authenticated(self, secret: str) -> KeyRecord | None:
        """Return the record that a live secret belongs to: for the local run, which keeps its keys."""
        item = self._table.get(records.secret_key(digest_of(secret)))
        return None if item is None else records.record_of(item)

    def has_operator(self) -> bool:
        """Tell whether there is a live operator's key."""
        return bool(self._read(records.LIVE, records.operators_range(), 1))

    def _find(self, asker: Admitted, key_id: str) -> tuple[KeyRecord, str]:
        rules.check_may_administer(asker)
        prefix, _, ulid = key_id.partition("_")
        pointer = self._table.get(records.pointer_key(key_id)) if prefix == ID_PREFIX and is_ulid(ulid) else None
        low, high = records.range_of(*rules.visible(asker))
        # A key that the asker does not see costs as many reads as one that does not exist.
        if pointer is None or not low <= pointer["record_sk"] <= high:
            raise NotFound("There is no such key.")
        record = self._pointed(pointer)
        if record is None or not rules.sees(asker, record):
            raise NotFound("There is no such key.")
        return record, pointer["digest"]

    def _pointed(self, pointer: Item) -> KeyRecord | None:
        # A record that went while the pointer was read went to the revoked ones.
        for pk in dict.fromkeys((pointer["record_pk"], records.REVOKED)):
            if item := self._table.get((pk, pointer["record_sk"])):
                return records.record_of(item)
        return None

    def _insert(self, *rows: Item) -> None:
        try:
            self._table.transact(*(Put(row, ABSENT) for row in rows))
        except TransactionFailed:
            return  # all of it is fresh and random: what is there is this, written by an attempt whose answer was lost

    def _revoke(self, record: KeyRecord, digest: str) -> None:
        revoked = replace(record, revoked_at=self._clock.now_ms())
        try:
            self._table.transact(
                Delete((records.LIVE, records.sort_key(record)), PRESENT),
                Put(records.record_item(revoked, records.REVOKED), ABSENT),
                Delete(records.secret_key(digest), PRESENT),
                Update(records.pointer_key(record.id), put={"record_pk": records.REVOKED}),
            )
        except TransactionFailed:
            return  # someone else revoked it meanwhile, which is what was asked for

    def _read(self, pk: str, between: tuple[str, str], size: int) -> list[Item]:
        return self._table.query(Query(pk, between=between, size=size)).items


def _position(page: str, binding: tuple[str, ...], low: str, *, high: str) -> str:
    position = cursor.decode(page, *binding, field="page")
    # A cursor can be forged: it may name no place but one of the list.
    if isinstance(position, str) and records.is_sort_key(position) and low <= position <= high:
        return position
    raise InvalidInput.at("query", "page", message="This cursor was not given out for this list.")


def _sk(item: Item) -> str:
    return str(item["sk"])
