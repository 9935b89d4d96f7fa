from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from infra.local.transactions import Conflicts
from shared.kernel.errors import NotFound, Unauthenticated, Unavailable
from shared.kernel.scope import Role
from shared.tenancy.keys import KeyList
from shared.tenancy.records import is_sort_key, sort_key
from tests.emulator.cloud import emulated_cloud
from tests.emulator.faults import Call, Fault, Killed, faults, kill_at
from tests.tenancy.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Callable


def test_each_change_of_a_key_is_one_call_that_writes(desk: Desk) -> None:
    admin, made = desk.caller(Role.TENANT_ADMIN), desk.issue()
    desk.calls.clear()
    desk.issue()
    assert desk.calls == ["dynamodb.TransactWriteItems"]
    desk.calls.clear()
    desk.tenancy.keys.revoke(admin, made.record.id)
    assert desk.calls == ["dynamodb.GetItem", "dynamodb.GetItem", "dynamodb.TransactWriteItems"]


def test_a_list_is_one_query_however_many_keys_there_are(desk: Desk) -> None:
    for _ in range(40):
        desk.issue()
    admin = desk.caller(Role.TENANT_ADMIN)
    desk.calls.clear()
    assert len(desk.tenancy.keys.page(admin, KeyList(limit=10)).records) == 10
    assert desk.calls == ["dynamodb.Query"]


def test_revoking_leaves_no_way_to_the_secret(desk: Desk) -> None:
    admin, made = desk.caller(Role.TENANT_ADMIN), desk.issue()
    desk.tenancy.keys.revoke(admin, made.record.id)
    assert desk.tenancy.keys.authenticated(made.secret) is None
    rows = [item["pk"]["S"] for item in desk.cloud.items() if made.record.id in str(item)]
    assert sorted(rows) == ["KEYID#" + made.record.id, "KEYS#revoked"]


def test_a_key_that_two_revoke_at_once_is_revoked_for_both(desk: Desk) -> None:
    admin, made = desk.caller(Role.TENANT_ADMIN), desk.issue()
    barrier = Barrier(8)

    def revoke(_: int) -> None:
        barrier.wait()
        desk.tenancy.keys.revoke(admin, made.record.id)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(revoke, range(8)))
    assert desk.tenancy.keys.get(admin, made.record.id).revoked_at is not None
    everything = desk.tenancy.keys.page(admin, KeyList(include_revoked=True)).records
    assert [r.id for r in everything].count(made.record.id) == 1


def test_keys_are_made_and_revoked_under_transaction_conflicts() -> None:
    with emulated_cloud(conflicts=Conflicts()) as cloud:
        desk = Desk(cloud, [])
        admin, made = desk.caller(Role.TENANT_ADMIN), desk.issue()
        with ThreadPoolExecutor(10) as threads:
            list(threads.map(lambda _: desk.tenancy.keys.revoke(admin, made.record.id), range(10)))
            issued = list(threads.map(lambda _: desk.issue(), range(10)))
        assert desk.tenancy.keys.authenticated(made.secret) is None
        assert all(desk.tenancy.keys.authenticated(one.secret) for one in issued)


@pytest.mark.parametrize("applied", [False, True])
def test_a_key_whose_making_is_killed_is_there_as_a_whole_or_not_at_all(desk: Desk, *, applied: bool) -> None:
    with pytest.raises(Killed), kill_at(1, applied=applied):
        desk.issue(name="half")
    rows = [item for item in desk.cloud.items() if "half" in str(item) or item["pk"]["S"].startswith("KEYID#")]
    assert len(rows) == (3 if applied else 0)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("applied", [False, True])
def test_a_revocation_that_is_killed_can_be_repeated(desk: Desk, number: int, *, applied: bool) -> None:
    admin, made = desk.caller(Role.TENANT_ADMIN), desk.issue()
    with pytest.raises(Killed), kill_at(number, applied=applied):
        desk.tenancy.keys.revoke(admin, made.record.id)
    desk.tenancy.keys.revoke(admin, made.record.id)
    assert desk.tenancy.keys.authenticated(made.secret) is None
    assert len(desk.tenancy.keys.page(admin, KeyList(include_revoked=True)).records) == 2


@pytest.mark.parametrize("fault", [Fault.APPLIED_TIMEOUT, Fault.APPLIED_SERVER_ERROR])
def test_a_lost_answer_to_making_a_key_makes_it_once(desk: Desk, fault: Fault) -> None:
    with faults(once(fault)):
        made = desk.issue()
    assert desk.tenancy.keys.authenticated(made.secret) == made.record
    assert len(desk.tenancy.keys.page(desk.caller(Role.TENANT_ADMIN), KeyList()).records) == 2


@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.SERVER_ERROR, Fault.TIMEOUT])
def test_a_table_that_is_down_is_unavailable_and_not_a_wrong_key(desk: Desk, fault: Fault) -> None:
    made = desk.issue()
    with faults(lambda _: fault), pytest.raises(Unavailable):
        desk.admit(made.secret)
    desk.admit(made.secret)
    with faults(lambda _: fault):
        desk.admit(made.secret)  # known for a minute


def test_a_record_that_moves_while_it_is_looked_up_is_found(desk: Desk) -> None:
    admin, made = desk.caller(Role.TENANT_ADMIN), desk.issue()
    looked_up: list[str] = []

    def meanwhile(call: Call) -> None:
        looked_up.append(call.operation)
        if len(looked_up) == 2:
            desk.elsewhere().keys.revoke(admin, made.record.id)

    with faults(meanwhile):
        assert desk.tenancy.keys.get(admin, made.record.id).revoked_at is not None


def test_ids_of_other_tenants_are_not_found(desk: Desk) -> None:
    made = desk.issue(tenant="acme-corp")
    for role in (Role.TENANT_ADMIN, Role.PROJECT_ADMIN):
        with pytest.raises(NotFound):
            desk.tenancy.keys.get(desk.caller(role), made.record.id)


def test_every_sort_key_has_the_form_that_cursors_are_held_to(desk: Desk) -> None:
    long = "a" * 64
    for made in (desk.issue(), desk.issue(Role.OPERATOR), desk.issue(tenant=long, project=long)):
        assert is_sort_key(sort_key(made.record))


def test_a_secret_is_remembered_by_its_hash_only(desk: Desk) -> None:
    made = desk.issue()
    desk.admit(made.secret)
    with pytest.raises(Unauthenticated):
        desk.admit(made.secret + " ")
    assert made.secret not in str(vars(desk.tenancy.gatekeeper._remembered))


def once(fault: Fault) -> Callable[[Call], Fault | None]:
    pending = [fault]
    return lambda _: pending.pop() if pending else None
