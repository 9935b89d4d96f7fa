"""Who is calling and where: the tenant and project that every key, path, filter and cursor carries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""The form of tenant and project ids (contract "platform"); it holds no `#`, `|` or `/`, our separators."""


class Role(IntEnum):
    """What a key may do, in rising rank; an operator stands beside the tenants and sees no data."""

    MEMBER = 1
    PROJECT_ADMIN = 2
    TENANT_ADMIN = 3
    OPERATOR = 4


@dataclass(frozen=True)
class Scope:
    """One project of one tenant."""

    tenant: str
    project: str


@dataclass(frozen=True)
class Caller:
    """An authenticated request's author: key id, principal (owner name), role and scope."""

    key_id: str
    principal: str
    role: Role
    scope: Scope
