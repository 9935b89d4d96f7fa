"""Key design of keys: where a key is found by its secret, by its tenant and project, and by its id.

| what | pk | sk |
| --- | --- | --- |
| secret, with what admission needs | `K#{sha256}` | `secret` |
| record | `KEYS`, revoked ones `KEYS#revoked` | `{tenant}#{project}#{id}` |
| where the record is | `KEYID#{id}` | `pointer` |

All live records lie in one partition, so that every list is one consistent query, and revoked ones in
another, so that a list never reads what it does not return. An operator's tenant and an unbound key's
project are empty in a sort key; ids hold no `#`, so that no prefix reaches into another tenant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shared.kernel.scope import Role
from shared.tenancy.models import KeyRecord

if TYPE_CHECKING:
    from shared.aws.items import Item, Key

LIVE = "KEYS"
REVOKED = "KEYS#revoked"
_SORT_KEY = re.compile(r"([A-Za-z0-9._-]{0,64}#){2}apikey_[0-9A-Z]{26}")
_OPTIONAL = ("created_by", "expires_at", "rate_limit", "quotas", "last_used_at", "revoked_at")


def secret_key(digest: str) -> Key:
    """Return the key of a secret's row, by the SHA-256 of the secret in hexadecimal."""
    return f"K#{digest}", "secret"


def pointer_key(key_id: str) -> Key:
    """Return the key of the row that says where a record is."""
    return f"KEYID#{key_id}", "pointer"


def sort_key(record: KeyRecord) -> str:
    """Return the sort key of a record."""
    home = "" if record.role is Role.OPERATOR else record.tenant
    return f"{home}#{record.project or ''}#{record.id}"


def is_sort_key(text: str) -> bool:
    """Tell whether `text` has the form of a record's sort key."""
    return _SORT_KEY.fullmatch(text) is not None


def after(sort_key: str) -> str:
    """Return the lower bound of what comes after a record."""
    return f"{sort_key}!"


def range_of(tenant: str | None, project: str | None) -> tuple[str, str]:
    """Return the first and last sort key of what a list may show: everything, a tenant, or one project of it."""
    if tenant is None:
        return "!", "~"  # below and above everything that an id or a separator starts with
    prefix = f"{tenant}#" if project is None else f"{tenant}#{project}#"
    return prefix, f"{prefix}~"


def operators_range() -> tuple[str, str]:
    """Return the first and last sort key of operators."""
    return range_of("", "")


def record_item(record: KeyRecord, pk: str = LIVE) -> Item:
    """Return the item of a record, in the partition of live or of revoked ones."""
    return {"pk": pk, "sk": sort_key(record), **_fields(record)}


def secret_item(record: KeyRecord, digest: str) -> Item:
    """Return the item by which admission finds a key."""
    pk, sk = secret_key(digest)
    return {"pk": pk, "sk": sk, "digest": digest, **_fields(record)}


def pointer_item(record: KeyRecord, digest: str) -> Item:
    """Return the item that leads from an id to the record and its secret's row."""
    pk, sk = pointer_key(record.id)
    return {"pk": pk, "sk": sk, "record_pk": LIVE, "record_sk": sort_key(record), "digest": digest}


def record_of(item: Item) -> KeyRecord:
    """Return the record that an item holds."""
    return KeyRecord(
        id=item["id"],
        name=item["name"],
        tenant=item["tenant"],
        project=item["project"],
        role=Role(item["role"]),
        principal=item["principal"],
        created_at=item["created_at"],
        permissions=tuple(item["permissions"]),
        **{name: item.get(name) for name in _OPTIONAL},
    )


def _fields(record: KeyRecord) -> dict[str, Any]:
    # An absent attribute, not a null one: a condition can compare only what has the same type.
    optional = {name: value for name in _OPTIONAL if (value := getattr(record, name)) is not None}
    return {
        "id": record.id,
        "name": record.name,
        "tenant": record.tenant,
        "project": record.project,
        "role": int(record.role),
        "principal": record.principal,
        "created_at": record.created_at,
        "permissions": list(record.permissions),
        **optional,
    }
