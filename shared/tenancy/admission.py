"""Admission: from what a request presents to who is calling, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from hmac import compare_digest
from typing import TYPE_CHECKING

from shared.kernel.errors import InvalidInput, PermissionDenied, Unauthenticated
from shared.kernel.scope import NAME, Role, Scope
from shared.tenancy.credentials import digest_of
from shared.tenancy.limits import counter_of_key, counter_of_project
from shared.tenancy.models import DEFAULT_PROJECT, Admitted
from shared.tenancy.opening import Opening
from shared.tenancy.records import record_of, secret_key

if TYPE_CHECKING:
    from shared.aws.table import Table
    from shared.kernel.clock import Clock
    from shared.tenancy.last_used import LastUsed
    from shared.tenancy.limits import RateLimits
    from shared.tenancy.models import KeyRecord, Permission
    from shared.tenancy.projects import Projects
    from shared.tenancy.remembered import Remembered

NAME_RULE = "1 to 64 letters, digits, '.', '_' and '-', the first a letter or a digit."


@dataclass(frozen=True)
class Presented:
    """What a request says of itself: its secret, a tenant, and projects by the header that names each."""

    secret: str | None
    tenant: str | None = None
    projects: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Gates:
    """What stands behind a credential: its limits, the settings of projects, and the note of its use."""

    limits: RateLimits
    projects: Projects
    last_used: LastUsed


class Gatekeeper:
    """Admits requests. A key is read from the table at most once in 55 s, so revoking one is known within 60 s.

    So is a table's closing.
    """

    def __init__(self, table: Table, clock: Clock, gates: Gates, *, remembered: Remembered[KeyRecord]) -> None:
        self._table = table
        self._clock = clock
        self._gates = gates
        self._remembered = remembered
        self._opening = Opening(table, clock)

    def admit(self, presented: Presented, *, needs: Permission, operators: bool = False) -> Admitted:
        """Return the caller of a request that reads or writes; `operators` says whether this is theirs too.

        Raises:
            Unauthenticated: no key, or one that is unknown, expired or revoked.
            PermissionDenied: a key of another tenant or project than the request names, or without the permission.
            InvalidInput: a project header that can't name a project.
            RateLimited: the key's or the project's requests of this minute are used up.
            TableClosed: the table is being restored.
        """
        key = self._authenticate(presented.secret)
        scope = scope_of(key, presented, operators=operators)
        if needs not in key.permissions:
            raise PermissionDenied(f"This key has no permission to {needs}.")
        self._spend(key, scope)
        self._gates.last_used.note(key)
        return Admitted(key.id, key.principal, key.role, scope, key)

    def _authenticate(self, secret: str | None) -> KeyRecord:
        if not secret:
            raise Unauthenticated("Send a key: 'Authorization: Bearer K', 'Authorization: Token K' or 'X-Api-Key: K'.")
        self._opening.check()
        digest = digest_of(secret)
        key = self._remembered.get(digest, lambda: self._read(digest))
        if key is None or (key.expires_at is not None and key.expires_at <= self._clock.now_ms()):
            raise Unauthenticated("This key is unknown, expired or revoked.")
        return key

    def _read(self, digest: str) -> KeyRecord | None:
        item = self._table.get(secret_key(digest)) or {}
        # Found by its hash, it can only be equal; compared all the same, and in constant time, whatever was found.
        known = compare_digest(str(item.get("digest", "")), digest)
        return record_of(item) if known else None

    def _spend(self, key: KeyRecord, scope: Scope) -> None:
        # The key first: what its own limit refuses must not use up its project's.
        self._gates.limits.spend(counter_of_key(key.id), key.rate_limit, whose="key")
        if key.role is not Role.OPERATOR:
            limit = self._gates.projects.rate_limit(scope)
            self._gates.limits.spend(counter_of_project(scope), limit, whose="project")


def scope_of(key: KeyRecord, presented: Presented, *, operators: bool = False) -> Scope:
    """Return the tenant and project of a request: the key's, or where it is not bound, those the request names.

    Raises:
        PermissionDenied: the request names others, or an operator asks for data.
        InvalidInput: the request names what can't be a tenant or project.
    """
    if key.role is Role.OPERATOR or key.tenant is None:
        return _scope_of_operator(presented, operators=operators)
    if presented.tenant not in (None, key.tenant):
        raise PermissionDenied("This key is not of the tenant that X-Sandbox-Tenant-Id names.")
    named = {project for _, project in presented.projects}
    if key.project is not None:
        if named - {key.project}:
            raise PermissionDenied("This key is bound to another project than the request names.")
        return Scope(key.tenant, key.project)
    if len(named) > 1:
        raise PermissionDenied("The request names two different projects.")
    for header, project in presented.projects:
        _check_name(header, project)
    return Scope(key.tenant, named.pop() if named else DEFAULT_PROJECT)


def _scope_of_operator(presented: Presented, *, operators: bool) -> Scope:
    if not operators:
        raise PermissionDenied("An operator's key makes keys; it sees no data.")
    if presented.tenant is not None:
        _check_name("X-Sandbox-Tenant-Id", presented.tenant)
    return Scope(presented.tenant or "", "")


def _check_name(header: str, value: str) -> None:
    if not NAME.fullmatch(value):
        raise InvalidInput.at("header", header, message=NAME_RULE, type_="string_pattern_mismatch", value=value)
