"""Where a request may carry its key, and what no header can bring about."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.http.admission import by_method, presented_by
from shared.http.request import Request
from shared.kernel.errors import InvalidInput, PermissionDenied, Unauthenticated
from shared.kernel.scope import NAME, Role
from shared.tenancy.admission import Presented, scope_of
from shared.tenancy.models import KeyRecord
from tests.clients.events import event

KEY = "lsk_" + "k" * 43


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"Token {KEY}"},
        {"Authorization": f"bearer {KEY}"},
        {"Authorization": f"TOKEN {KEY}"},
        {"Authorization": f"  tOkEn   {KEY}  "},
        {"Authorization": f"Bearer\t{KEY}"},
        {"X-Api-Key": KEY},
        {"x-api-key": f" {KEY} "},
        {"X-Api-Key": KEY, "Authorization": f"Bearer {KEY}"},
        {"X-Api-Key": KEY, "Authorization": "Basic dXNlcjpwYXNz"},
        {"X-Api-Key": KEY, "Authorization": ""},
        {"X-Api-Key": "", "Authorization": f"Token {KEY}"},
    ],
)
def test_a_key_is_taken_from_each_of_its_places(headers: dict[str, str]) -> None:
    assert presented_by(Request(event("GET", "/", headers=headers)).headers).secret == KEY


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": KEY},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": f"Bearer{KEY}"},
        {"Authorization": f"Bearer {KEY} x"},
        {"Authorization": f"Bearer: {KEY}"},
        {"X-Api-Key": " "},
        {"Api-Key": KEY},
        {"Cookie": f"key={KEY}"},
    ],
)
def test_a_key_in_no_place_of_its_own_is_none(headers: dict[str, str]) -> None:
    assert presented_by(Request(event("GET", "/", headers=headers)).headers).secret is None


def test_two_different_keys_are_refused() -> None:
    with pytest.raises(Unauthenticated, match="two"):
        presented_by({"x-api-key": KEY, "authorization": "Bearer other"})


def test_headers_name_tenant_and_project_whatever_their_case() -> None:
    request = Request(
        event(
            "GET",
            "/",
            headers={"x-SANDBOX-tenant-ID": "acme", "X-Sandbox-Project-Id": " blue ", "Anthropic-Workspace-Id": "red"},
        )
    )
    assert presented_by(request.headers) == Presented(
        None, "acme", (("X-Sandbox-Project-Id", "blue"), ("anthropic-workspace-id", "red"))
    )


@pytest.mark.parametrize(
    ("method", "needs"),
    [
        ("GET", "read"),
        ("HEAD", "read"),
        ("OPTIONS", "read"),
        ("get", "read"),
        ("PUT", "write"),
        ("PATCH", "write"),
        ("POST", "write"),
        ("DELETE", "write"),
        ("TRACE", "write"),
    ],
)
def test_a_verb_that_is_not_known_to_read_writes(method: str, needs: str) -> None:
    assert by_method(Request(event(method, "/"))) == needs


_PRINTABLE = st.text(st.sampled_from(string.printable + "éß中\u0000#|/"), max_size=70)
_NAMES = st.one_of(st.none(), st.sampled_from(["acme", "acme-corp", "blue", "red", ""]), _PRINTABLE)


def key(role: Role, project: str | None) -> KeyRecord:
    return KeyRecord("apikey_1", "n", None if role is Role.OPERATOR else "acme", project, role, "p", 0)


@given(
    role=st.sampled_from(Role),
    bound=st.sampled_from([None, "blue"]),
    tenant=_NAMES,
    project=_NAMES,
    workspace=_NAMES,
)
def test_no_header_leads_out_of_the_keys_tenant_or_project(
    role: Role, bound: str | None, tenant: str | None, project: str | None, workspace: str | None
) -> None:
    named = {"x-sandbox-tenant-id": tenant, "x-sandbox-project-id": project, "anthropic-workspace-id": workspace}
    presented = presented_by({name: value for name, value in named.items() if value is not None})
    try:
        scope = scope_of(key(role, bound), presented)
    except (PermissionDenied, InvalidInput):
        return
    assert role is not Role.OPERATOR
    assert scope.tenant == "acme"
    assert scope.project == (bound or scope.project)
    assert NAME.fullmatch(scope.project)


@given(headers=st.dictionaries(st.sampled_from(["authorization", "x-api-key"]), _PRINTABLE))
def test_whatever_the_headers_hold_a_key_has_no_space_around_it(headers: dict[str, str]) -> None:
    try:
        secret = presented_by(headers).secret
    except Unauthenticated:
        return
    assert secret is None or secret == secret.strip() != ""
