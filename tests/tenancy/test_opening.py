"""A table is read only while it names itself: a copy of it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.aws.writes import Put
from shared.kernel.errors import Unauthenticated, Unavailable
from shared.kernel.scope import Role
from shared.tenancy.admission import Presented
from shared.tenancy.keys import Keys
from shared.tenancy.models import KeyRecord
from shared.tenancy.opening import CLOSED, MARK, Opening, TableClosed, check_open, open_new, row_of
from shared.tenancy.remembered import Remembered

if TYPE_CHECKING:
    from tests.tenancy.desk import Desk


def test_a_table_without_a_mark_is_a_new_one_and_the_first_look_gives_it_its_own(desk: Desk) -> None:
    check_open(desk.table)
    open_new(desk.table)
    open_new(desk.table)
    assert desk.table.get(MARK) == row_of(desk.table.name)


@pytest.mark.parametrize("name", [CLOSED, "lodestore-prod-table"])
def test_a_table_that_has_anothers_mark_or_none_to_be_known_by_is_closed(desk: Desk, name: str) -> None:
    desk.table.write(Put(row_of(name)))
    for look in (check_open, open_new):
        with pytest.raises(TableClosed) as refused:
            look(desk.table)
        assert refused.value.retry_after == 60


def test_a_closed_table_lets_no_key_in_and_a_known_one_only_for_a_minute(desk: Desk) -> None:
    made = desk.issue()
    desk.admit(made.secret)
    desk.table.write(Put(row_of(CLOSED)))
    desk.admit(made.secret)
    desk.clock.move(seconds=60)
    for secret in (made.secret, "unknown"):
        with pytest.raises(TableClosed):
            desk.admit(secret)
    desk.table.write(Put(row_of(desk.table.name)))
    assert desk.admit(made.secret).key_id == made.record.id


def test_an_instance_without_keys_looks_once_a_minute(desk: Desk) -> None:
    opening = Opening(desk.table, desk.clock)
    desk.calls.clear()
    for _ in range(24):
        opening.check()
        desk.clock.move(seconds=5)
    assert desk.calls == ["dynamodb.GetItem"] * 3


def test_a_key_can_be_revoked_again_by_its_id_alone(desk: Desk) -> None:
    made = desk.issue()
    for key in (made.record.id, made.record.id, "apikey_unknown"):
        desk.tenancy.keys.revoke_again(key)
    (row,) = [row for row in desk.cloud.items() if row["pk"]["S"] == "KEYS#revoked"]
    assert row["id"]["S"] == made.record.id
    with pytest.raises(Unauthenticated):
        desk.elsewhere().gatekeeper.admit(Presented(made.secret), needs="read")


def test_a_key_is_noted_as_revoked_before_it_is(desk: Desk) -> None:
    made, noted = desk.issue(), []

    def note(record: KeyRecord) -> None:
        noted.append((record.id, desk.tenancy.keys.authenticated(made.secret) is not None))
        raise Unavailable

    keys = Keys(desk.table, desk.clock, Remembered[KeyRecord](desk.clock), note_revoked=note)
    with pytest.raises(Unavailable):
        keys.revoke(desk.admit(desk.issue(Role.TENANT_ADMIN).secret), made.record.id)
    assert noted == [(made.record.id, True)]
    assert desk.tenancy.keys.authenticated(made.secret) is not None
