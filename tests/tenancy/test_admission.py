from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from shared.kernel.errors import InvalidInput, PermissionDenied, RateLimited, Unauthenticated
from shared.kernel.scope import Role, Scope
from shared.tenancy.credentials import digest_of, new_secret
from shared.tenancy.keys import KeyList
from tests.tenancy.desk import PROJECT, WORKSPACE, Desk

if TYPE_CHECKING:
    from shared.tenancy.models import Permission


def test_a_key_admits_its_owner_to_its_tenant_and_project(desk: Desk) -> None:
    made = desk.issue(project="blue", principal="ann")
    caller = desk.admit(made.secret)
    assert (caller.key_id, caller.principal, caller.role) == (made.record.id, "ann", Role.MEMBER)
    assert caller.scope == Scope("acme", "blue")


def test_the_principal_of_a_key_is_its_own_id_unless_given(desk: Desk) -> None:
    made = desk.issue()
    assert desk.admit(made.secret).principal == made.record.id


@pytest.mark.parametrize("secret", [None, "", "x", "lsk_", "lsk_" + "A" * 43, "ключ", "\ud800", "lsk_" + "a" * 9000])
def test_no_key_or_a_wrong_one_is_unauthenticated(desk: Desk, secret: str | None) -> None:
    desk.issue()
    with pytest.raises(Unauthenticated):
        desk.admit(secret)


def test_a_wrong_key_costs_what_an_unknown_one_costs(desk: Desk) -> None:
    made = desk.issue()
    desk.tenancy.keys.revoke(desk.admit(desk.issue(Role.TENANT_ADMIN).secret), made.record.id)
    costs = []
    for secret in (made.secret, made.secret[:-1] + "_", new_secret(), "nothing like a key"):
        desk.calls.clear()
        with pytest.raises(Unauthenticated) as refused:
            desk.admit(secret)
        costs.append((list(desk.calls), refused.value.message))
    assert costs == [costs[0]] * 4
    assert costs[0][0] == ["dynamodb.GetItem"]


def test_only_the_hash_of_a_secret_is_stored(desk: Desk) -> None:
    made = desk.issue()
    stored = str(desk.cloud.items())
    assert made.secret not in stored
    assert made.secret.removeprefix("lsk_") not in stored
    assert digest_of(made.secret) in stored


def test_a_secret_has_256_bits_and_a_prefix() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(s.startswith("lsk_") and len(s) == 47 for s in secrets)


def test_an_expired_key_is_refused_from_its_very_moment_though_remembered(desk: Desk) -> None:
    made = desk.issue(expires_at=desk.clock.now_ms() + 10_000)
    desk.admit(made.secret)
    desk.clock.move(seconds=9.999)
    desk.admit(made.secret)
    desk.clock.move(seconds=0.001)
    with pytest.raises(Unauthenticated):
        desk.admit(made.secret)


def test_a_revoked_key_is_refused_at_once_where_it_was_revoked(desk: Desk) -> None:
    admin, made = desk.issue(Role.TENANT_ADMIN), desk.issue()
    desk.admit(made.secret)
    desk.tenancy.keys.revoke(desk.admit(admin.secret, "write"), made.record.id)
    with pytest.raises(Unauthenticated):
        desk.admit(made.secret)


def test_a_revoked_key_is_refused_everywhere_within_a_minute(desk: Desk) -> None:
    elsewhere = desk.elsewhere()
    admin, made = desk.issue(Role.TENANT_ADMIN), desk.issue()
    desk.admit(made.secret, at=elsewhere)
    desk.clock.move(seconds=1)
    desk.tenancy.keys.revoke(desk.admit(admin.secret, "write"), made.record.id)
    desk.admit(made.secret, at=elsewhere)
    desk.clock.move(seconds=58)
    with pytest.raises(Unauthenticated):
        desk.admit(made.secret, at=elsewhere)


def test_a_key_that_is_used_all_the_time_is_still_read_again_every_minute(desk: Desk) -> None:
    made = desk.issue()
    for _ in range(24):
        desk.admit(made.secret)
        desk.clock.move(seconds=5)
    keys_read = [c for c in desk.calls if c == "dynamodb.GetItem"]
    assert len(keys_read) == 3 * 3  # the key, its project's settings and whether the table is open, each 55 s


def test_a_warm_request_of_a_key_without_limits_makes_no_call(desk: Desk) -> None:
    made = desk.issue()
    desk.admit(made.secret)
    desk.calls.clear()
    desk.admit(made.secret, "write")
    assert desk.calls == []


@pytest.mark.parametrize(("permissions", "refused"), [(("read",), "write"), (("write",), "read")])
def test_a_permission_that_a_key_lacks_is_refused(
    desk: Desk, permissions: tuple[Permission, ...], refused: Permission
) -> None:
    made = desk.issue(permissions=permissions)
    desk.admit(made.secret, permissions[0])
    with pytest.raises(PermissionDenied, match=refused):
        desk.admit(made.secret, refused)


def test_an_operator_sees_no_data(desk: Desk) -> None:
    operator = desk.issue(Role.OPERATOR)
    with pytest.raises(PermissionDenied):
        desk.admit(operator.secret)
    assert desk.caller(Role.OPERATOR).scope == Scope("", "")
    assert desk.caller(Role.OPERATOR, asking="acme").scope == Scope("acme", "")


def test_an_operator_that_names_no_possible_tenant_is_told_so(desk: Desk) -> None:
    with pytest.raises(InvalidInput):
        desk.caller(Role.OPERATOR, asking="a#b")


@pytest.mark.parametrize("tenant", ["acme-corp", "acm", "ACME", "", "acme#", "acme,acme"])
def test_a_header_of_another_tenant_is_refused_without_naming_it(desk: Desk, tenant: str) -> None:
    with pytest.raises(PermissionDenied) as refused:
        desk.admit(desk.issue().secret, tenant=tenant)
    assert "acme" not in refused.value.message


def test_a_header_of_the_keys_own_tenant_is_fine(desk: Desk) -> None:
    assert desk.admit(desk.issue().secret, tenant="acme").scope.tenant == "acme"


@pytest.mark.parametrize(
    ("bound", "named", "project"),
    [
        (None, [], "default"),
        (None, [(PROJECT, "blue")], "blue"),
        (None, [(WORKSPACE, "wrkspc_1")], "wrkspc_1"),
        (None, [(PROJECT, "blue"), (WORKSPACE, "blue")], "blue"),
        ("blue", [], "blue"),
        ("blue", [(PROJECT, "blue")], "blue"),
    ],
)
def test_the_project_is_the_keys_or_the_named_one_or_the_default(
    desk: Desk, bound: str | None, named: list[tuple[str, str]], project: str
) -> None:
    assert desk.admit(desk.issue(project=bound).secret, projects=named).scope == Scope("acme", project)


@pytest.mark.parametrize(
    ("bound", "named"),
    [
        (None, [(PROJECT, "blue"), (WORKSPACE, "red")]),
        ("blue", [(PROJECT, "red")]),
        ("blue", [(PROJECT, "blue"), (WORKSPACE, "red")]),
        ("blue", [(PROJECT, "")]),
        ("blue", [(PROJECT, "blue#")]),
    ],
)
def test_a_header_that_contradicts_key_or_other_header_is_refused(
    desk: Desk, bound: str | None, named: list[tuple[str, str]]
) -> None:
    with pytest.raises(PermissionDenied):
        desk.admit(desk.issue(project=bound).secret, projects=named)


@pytest.mark.parametrize("name", ["", ".", "-a", "a#b", "a/b", "a|b", "a,b", "é", "a" * 65, "a b"])
def test_a_header_that_can_not_name_a_project_is_invalid(desk: Desk, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        desk.admit(desk.issue().secret, projects=[(PROJECT, name)])
    assert refused.value.violations[0].loc == ("header", PROJECT)


def test_a_rate_limit_counts_every_request_and_tells_when_to_come_back(desk: Desk) -> None:
    made = desk.issue(rate_limit=3)
    desk.clock.now = desk.clock.now // 60_000 * 60_000 + 45_500
    for _ in range(3):
        desk.admit(made.secret)
    with pytest.raises(RateLimited) as refused:
        desk.admit(made.secret)
    assert refused.value.retry_after == 15
    desk.clock.move(seconds=refused.value.retry_after)
    desk.admit(made.secret)


def test_who_hammers_on_when_limited_costs_no_write(desk: Desk) -> None:
    made = desk.issue(rate_limit=1)
    desk.admit(made.secret)
    with pytest.raises(RateLimited):
        desk.admit(made.secret)
    desk.calls.clear()
    with pytest.raises(RateLimited):
        desk.admit(made.secret)
    assert desk.calls == []


def test_a_refused_request_does_not_count_against_the_limit(desk: Desk) -> None:
    made = desk.issue(rate_limit=1, permissions=("read",))
    for _ in range(3):
        with pytest.raises(PermissionDenied):
            desk.admit(made.secret, "write")
    desk.admit(made.secret)


def test_a_rate_limit_is_exact_under_concurrency_and_over_instances(desk: Desk) -> None:
    made = desk.issue(rate_limit=20)
    instances = [desk.elsewhere() for _ in range(5)]
    barrier = Barrier(50)

    def ask(n: int) -> bool:
        barrier.wait()
        try:
            desk.admit(made.secret, at=instances[n % 5])
        except RateLimited:
            return False
        return True

    with ThreadPoolExecutor(50) as threads:
        assert sum(threads.map(ask, range(50))) == 20


def test_a_projects_limit_holds_for_all_its_keys_and_no_other_project(desk: Desk) -> None:
    desk.tenancy.projects.change(Scope("acme", "blue"), {"rate_limit_per_minute": 2})
    one, two = desk.issue(project="blue"), desk.issue()
    desk.admit(one.secret)
    desk.admit(two.secret, projects=[(PROJECT, "blue")])
    for secret in (one.secret, two.secret):
        with pytest.raises(RateLimited, match="project"):
            desk.admit(secret, projects=[(PROJECT, "blue")])
    desk.admit(two.secret)
    desk.admit(desk.issue(tenant="acme-corp", project="blue").secret)


def test_what_a_keys_own_limit_refuses_does_not_use_up_its_projects(desk: Desk) -> None:
    desk.tenancy.projects.change(Scope("acme", "default"), {"rate_limit_per_minute": 3})
    greedy, modest = desk.issue(rate_limit=1), desk.issue()
    for _ in range(5):
        try:
            desk.admit(greedy.secret)
        except RateLimited:
            continue
    for _ in range(2):
        desk.admit(modest.secret)


def test_a_changed_project_limit_is_known_at_once_here_and_within_a_minute_elsewhere(desk: Desk) -> None:
    elsewhere = desk.elsewhere()
    made = desk.issue()
    for one in (desk.tenancy, elsewhere):
        desk.admit(made.secret, at=one)
    desk.tenancy.projects.change(Scope("acme", "default"), {"rate_limit_per_minute": 1})
    desk.admit(made.secret)
    with pytest.raises(RateLimited):
        desk.admit(made.secret)
    desk.admit(made.secret, at=elsewhere)
    desk.clock.move(seconds=59)
    desk.admit(made.secret, at=elsewhere)
    with pytest.raises(RateLimited):
        desk.admit(made.secret, at=elsewhere)
    desk.tenancy.projects.change(Scope("acme", "default"), {"rate_limit_per_minute": None})
    desk.admit(made.secret)


def test_the_last_use_of_a_key_is_written_once_an_hour_and_not_by_a_request(desk: Desk) -> None:
    admin, made = desk.issue(Role.TENANT_ADMIN), desk.issue()
    asker = desk.admit(admin.secret)
    desk.calls.clear()
    for _ in range(30):
        desk.admit(made.secret)
        desk.clock.move(seconds=60)
    assert "dynamodb.UpdateItem" not in desk.calls
    desk.deferred.run()
    record = desk.tenancy.keys.get(asker, made.record.id)
    assert record.last_used_at is not None
    assert record.last_used_at % 3_600_000 == 0
    assert 0 <= desk.clock.now_ms() - record.last_used_at <= 2 * 3_600_000
    assert desk.calls.count("dynamodb.UpdateItem") <= 3  # two hours of one key, one of the other


def test_noting_a_use_never_brings_back_a_revoked_key(desk: Desk) -> None:
    admin, made = desk.issue(Role.TENANT_ADMIN), desk.issue()
    asker = desk.admit(admin.secret)
    desk.admit(made.secret)
    desk.tenancy.keys.revoke(asker, made.record.id)
    desk.deferred.run()
    listed = desk.tenancy.keys.page(asker, KeyList()).records
    assert [r.id for r in listed] == [admin.record.id]
