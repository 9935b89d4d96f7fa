"""The shapes that the platform surface takes in and gives out (contract "platform", Endpoints); types are strict."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr
from pydantic_core import PydanticCustomError

from shared.kernel.clock import rfc3339

if TYPE_CHECKING:
    from shared.tenancy.models import KeyRecord
    from shared.tenancy.projects import ProjectSettings
    from shared.tenancy.quotas import Balance
    from shared.tenancy.usage import ProjectUsage, UsagePage

BODY_BYTES = 64 << 10
MOST_PER_MINUTE = 1_000_000
MOST_PER_MONTH = 1_000_000_000

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _moment(text: str) -> int:
    """Return an RFC 3339 time as milliseconds since the epoch."""
    try:
        if _RFC3339.fullmatch(text):
            return int(datetime.fromisoformat(text.upper()).astimezone(UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        pass
    raise PydanticCustomError("datetime_parsing", "Input should be an RFC 3339 time with its offset")


def _whole(value: Any) -> Any:
    """Take `60.0` for 60: JSON knows no difference, and some writers of it make none."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _distinct(permissions: list[str]) -> list[str]:
    return [p for p in ("read", "write") if p in permissions]


Name = Annotated[StrictStr, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Principal = Annotated[StrictStr, Field(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f]+$")]
PerMinute = Annotated[StrictInt, Field(ge=1, le=MOST_PER_MINUTE), BeforeValidator(_whole)]
PerMonth = Annotated[StrictInt, Field(ge=0, le=MOST_PER_MONTH), BeforeValidator(_whole)]
Permissions = Annotated[list[Literal["read", "write"]], Field(min_length=1, max_length=16), AfterValidator(_distinct)]
RetentionDays = Literal[7, 30, 90, 365]
Moment = Annotated[StrictStr, AfterValidator(_moment)]


class Shape(BaseModel):
    """A body whose fields are known: one that is not is refused, not ignored."""

    model_config = ConfigDict(extra="forbid")


class KeyQuotas(Shape):
    """Calls a calendar month (UTC); null or left out: no quota."""

    memory_write: PerMonth | None = None
    memory_search: PerMonth | None = None


class NewKey(Shape):
    """What a new key shall be."""

    name: Annotated[StrictStr, Field(min_length=1, max_length=255)]
    role: Literal["member", "project_admin", "tenant_admin", "operator"]
    tenant_id: Name | None = None
    project_id: Name | None = None
    principal: Principal | None = None
    permissions: Permissions = ["read", "write"]
    expires_at: Moment | None = None
    rate_limit_per_minute: PerMinute | None = None
    quotas: KeyQuotas | None = None


class ProjectChange(Shape):
    """Settings of a project to change; those left out stay as they are."""

    retention_days: RetentionDays = 30
    rate_limit_per_minute: PerMinute | None = None


def key_shown(record: KeyRecord) -> dict[str, Any]:
    """Return a key's record as an answer has it."""
    return {
        "type": "api_key",
        "id": record.id,
        "name": record.name,
        "tenant_id": record.tenant,
        "project_id": record.project,
        "role": record.role.name.lower(),
        "principal": record.principal,
        "permissions": list(record.permissions),
        "expires_at": _time(record.expires_at),
        "rate_limit_per_minute": record.rate_limit,
        "quotas": record.quotas,
        "created_at": _time(record.created_at),
        "created_by": record.created_by,
        "last_used_at": _time(record.last_used_at),
        "revoked_at": _time(record.revoked_at),
    }


def project_shown(project: str, settings: ProjectSettings) -> dict[str, Any]:
    """Return a project's settings as an answer has them."""
    return {
        "type": "project",
        "id": project,
        "retention_days": settings.retention_days,
        "rate_limit_per_minute": settings.rate_limit_per_minute,
        "updated_at": _time(settings.updated_at),
    }


def usage_shown(tenant: str, page: UsagePage) -> dict[str, Any]:
    """Return a page of usage as an answer has it."""
    return {
        "type": "usage",
        "tenant_id": tenant,
        "month": f"{page.month[:4]}-{page.month[4:]}",
        "data": [_project_usage(project) for project in page.projects],
        "quotas": [_balance(balance) for balance in page.unbound],
        "next_page": page.next_page,
    }


def _project_usage(usage: ProjectUsage) -> dict[str, Any]:
    return {
        "project_id": usage.project,
        "stored": usage.stored,
        "requests": usage.requests,
        "quotas": [_balance(balance) for balance in usage.quotas],
    }


def _balance(balance: Balance) -> dict[str, Any]:
    return {
        "api_key_id": balance.key_id,
        "quota": balance.kind,
        "limit": balance.limit,
        "used": balance.used,
        "reserved": balance.reserved,
    }


def _time(ms: int | None) -> str | None:
    return None if ms is None else rfc3339(ms)
