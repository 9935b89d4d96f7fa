"""Key design of what outlives a request: object keys by retention class, due buckets, jobs.

Every owning record keeps its object's key in the attribute `object`, and the object names its
owner in its metadata (`owner`: `pk|sk`), so that either can be checked against the other.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zlib import crc32

from shared.kernel.clock import DAY_MS, day_of
from shared.kernel.ids import ulid
from shared.kernel.scope import Scope

if TYPE_CHECKING:
    from shared.aws.items import Item, Key

DAYS = (7, 30, 90, 365)
"""The retention classes that a project may choose from, in days (contract "platform", Endpoints)."""

SLACK_DAYS = 3
"""How long after a class's days its lifecycle rule waits, so that the sweeper is first (design §3)."""

UPLOADS = "up"
KEEP = "keep"
ERASURES = f"{KEEP}/erasures"
DUE_SPREAD = 4


def class_of(days: int) -> str:
    """Return the object class of a retention in days."""
    return f"r{days}"


def object_key(class_name: str, now_ms: int, scope: Scope) -> str:
    """Return a fresh key `{class}/{yyyymmdd}/{tenant}/{project}/{ulid}`; scope ids need no escape in it."""
    return f"{class_name}/{day_of(now_ms)}/{scope.tenant}/{scope.project}/{ulid(now_ms)}"


def owner_of(key: Key) -> str:
    """Return the owner metadata of an object that the record at `key` owns."""
    return f"{key[0]}|{key[1]}"


def owner_key(owner: str) -> Key:
    """Return the key of the record that an owner metadata names."""
    pk, _, sk = owner.partition("|")
    return pk, sk


def due_buckets(hour_ms: int) -> list[str]:
    """Return the due buckets of the hour that holds the moment."""
    return [f"{_hour(hour_ms)}#{n}" for n in range(DUE_SPREAD)]


def due_bucket(moment_ms: int, spread_by: str) -> str:
    """Return the due bucket of something to be looked at when `moment_ms` has come.

    A bucket is an hour, so that moving the moment costs the index a write only once an hour.
    """
    return f"{_hour(moment_ms)}#{crc32(spread_by.encode()) % DUE_SPREAD}"


def job(kind: str, scope: Scope, now_ms: int, **payload: Any) -> Item:
    """Return a job record, due at once: work that a transaction leaves to the sweeper.

    The sweeper hands it to the handler of its `kind` until that succeeds, then removes it.
    """
    name = ulid(now_ms)
    return {
        "pk": f"J#{name}",
        "sk": "job",
        "kind": kind,
        "tenant": scope.tenant,
        "project": scope.project,
        "created_at": now_ms,
        "due": due_bucket(now_ms, name),
        **payload,
    }


def is_job(item: Item) -> bool:
    """Tell whether a record is a job, which the sweeper removes when its handler is done."""
    return item["sk"] == "job" and str(item["pk"]).startswith("J#")


def moved_bucket(bucket: str, moment_ms: int) -> str:
    """Return the bucket of another moment, in the same spread."""
    return f"{_hour(moment_ms)}#{bucket.rpartition('#')[2]}"


def scope_of(key: str) -> Scope:
    """Return the scope that an object's key was made for."""
    _, _, tenant, project, _ = key.split("/")
    return Scope(tenant, project)


def ttl_of(moment_ms: int) -> int:
    """Return the TTL attribute (epoch seconds) of a record that must be gone at `moment_ms`: with the slack."""
    return (moment_ms + SLACK_DAYS * DAY_MS) // 1000


def _hour(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y%m%d%H}"
