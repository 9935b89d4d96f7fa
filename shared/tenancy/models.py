"""What a key is: its record, the wish for a new one, and the caller that it makes of a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from shared.kernel.scope import Caller, Role

Permission = Literal["read", "write"]
PERMISSIONS: tuple[Permission, ...] = ("read", "write")

QuotaKind = Literal["memory_write", "memory_search"]
QUOTA_KINDS: tuple[QuotaKind, ...] = ("memory_write", "memory_search")

DEFAULT_PROJECT = "default"
"""The project of a request that names none with a key that is bound to none (contract "platform")."""


@dataclass(frozen=True)
class KeyRecord:
    """Everything known of a key except its secret; times in milliseconds, quotas in calls a calendar month.

    `tenant` is None only for an operator; `project` None means any project of the tenant.
    """

    id: str
    name: str
    tenant: str | None
    project: str | None
    role: Role
    principal: str
    created_at: int
    created_by: str | None = None
    permissions: tuple[Permission, ...] = PERMISSIONS
    expires_at: int | None = None
    rate_limit: int | None = None
    quotas: dict[QuotaKind, int] | None = None
    last_used_at: int | None = None
    revoked_at: int | None = None


@dataclass(frozen=True)
class KeyWish:
    """What a new key shall be; the rules of who may wish what are in `shared.tenancy.rules`.

    `principal` None means the key's own id.
    """

    name: str
    role: Role
    tenant: str | None = None
    project: str | None = None
    principal: str | None = None
    permissions: tuple[Permission, ...] = PERMISSIONS
    expires_at: int | None = None
    rate_limit: int | None = None
    quotas: dict[QuotaKind, int] | None = field(default=None)


@dataclass(frozen=True)
class Admitted(Caller):
    """A caller with the key that admitted it. An operator's scope is empty but for a tenant it asks about."""

    key: KeyRecord
