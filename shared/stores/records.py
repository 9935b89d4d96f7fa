"""Memory stores' key design (see `docs/decisions/0010-…` and `0011-…`).

| record  | pk                 | sk         | l1                   | l2                      | l3                  |
| store   | `M#tenant#project` | store id   | its id till archived |                         |                     |
| head    | `H#…#store`        | memory id  | path                 | `{updated_at}#{memory}` | path by level       |
| gate    | `H#…#store`        | `gate#07`  |                      |                         |                     |
| place   | `N#…#store`        | path       |                      | directories by level    |                     |
| version | `V#…#store`        | version id | `{memory}#{version}` |                         | `{actor}#{version}` |

A head is a live memory. Gates are in archived stores alone (`archiving`). A place says what a path is: a file
(`memory_id`) or a directory (`children`, how many places lie directly in it), so that "never both" is a condition on
one item. Ids hold the moment of their making, which is `created_at`, so that the order of ids is the order of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

from shared.kernel.clock import rfc3339
from shared.kernel.ids import is_ulid

if TYPE_CHECKING:
    from shared.aws.items import Item, Key
    from shared.kernel.scope import Scope

Record = dict[str, Any]

STORE = "memstore"
MEMORY = "mem"
VERSION = "memver"

PATH_BYTES = 1024
SEGMENTS = 20
_FIRST_LEVEL = ord("a")

GATES = 64
"""The gates of a store: what changes of content share instead of its row. One transaction, of 100 items, writes all."""


@dataclass(frozen=True)
class StoreAddress:
    """One store of one project."""

    scope: Scope
    store_id: str

    @property
    def key(self) -> Key:
        """The store row's key."""
        return stores_pk(self.scope), self.store_id

    @property
    def heads(self) -> str:
        """The partition of its live memories."""
        return f"H#{self._name}"

    @property
    def places(self) -> str:
        """The partition of its paths."""
        return f"N#{self._name}"

    @property
    def versions(self) -> str:
        """The partition of its versions."""
        return f"V#{self._name}"

    def head_key(self, memory_id: str) -> Key:
        """Return the key of a live memory."""
        return self.heads, memory_id

    def place_key(self, path: str) -> Key:
        """Return the key of what is at a path."""
        return self.places, path

    def version_key(self, version_id: str) -> Key:
        """Return the key of a version."""
        return self.versions, version_id

    @property
    def gates(self) -> list[Key]:
        """The keys of all its gates."""
        return [self._gate(number) for number in range(GATES)]

    def gate_of(self, memory_id: str) -> Key:
        """Return the key of the gate that changes of a memory pass."""
        return self._gate(crc32(memory_id.encode()) % GATES)

    def _gate(self, number: int) -> Key:
        return self.heads, f"gate#{number:02d}"

    @property
    def _name(self) -> str:
        return f"{self.scope.tenant}#{self.scope.project}#{self.store_id}"


def stores_pk(scope: Scope) -> str:
    """Return the partition of a project's stores."""
    return f"M#{scope.tenant}#{scope.project}"


def has_form(identifier: str, prefix: str) -> bool:
    """Tell whether an id can be one of its kind; what can't is asked of no table."""
    head, _, rest = identifier.partition("_")
    return head == prefix and is_ulid(rest)


def ancestors(path: str) -> list[str]:
    """Return the directories above a path, the nearest first; the root is none."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(len(parts) - 1, 1, -1)]


def level_of(path: str) -> int:
    """Return how many segments a path has; a directory's may end in a slash."""
    return path.rstrip("/").count("/")


def by_level(path: str, level: int) -> str:
    """Return a path's place among those of its level; as long as the path, so that it always fits an index."""
    return chr(_FIRST_LEVEL + level - 1) + path[1:]


def head_row(address: StoreAddress, path: str, version: Item, *, created_at: int) -> Item:
    """Return the row of a live memory whose newest version is given."""
    memory_id, at = version["memory_id"], version["created_at"]
    pk, sk = address.head_key(memory_id)
    return {
        "pk": pk,
        "sk": sk,
        "kind": "memory",
        "version": version["sk"],
        "size": version["size"],
        "sha256": version["sha256"],
        "content": version["object"],
        "created_at": created_at,
        "updated_at": at,
        "l1": path,
        "l2": updated_index(at, memory_id),
        "l3": by_level(path, level_of(path)),
    }


def updated_index(updated_at: int, memory_id: str) -> str:
    """Return a memory's place in the order of its changes."""
    return f"{updated_at:015d}#{memory_id}"


def file_row(address: StoreAddress, path: str, memory_id: str) -> Item:
    """Return the row of a path that is a file."""
    pk, sk = address.place_key(path)
    return {"pk": pk, "sk": sk, "kind": "file", "memory_id": memory_id}


def directory_row(address: StoreAddress, path: str, children: int) -> Item:
    """Return the row of a path that is a directory."""
    pk, sk = address.place_key(path)
    return {"pk": pk, "sk": sk, "kind": "directory", "children": children, "l2": by_level(path, level_of(path)) + "/"}


ACTOR_IDS = {
    "api_actor": "api_key_id",
    "session_actor": "session_id",
    "service_account_actor": "service_account_id",
}
"""The field that names each kind of author (contract "memory stores", §3.5)."""


def actor_of(kind: str, identifier: str) -> Record:
    """Return an author."""
    return {"type": kind, ACTOR_IDS[kind]: identifier}


def actor_index(actor: Record, version_id: str = "") -> str:
    """Return a version's place among those of its author."""
    kind = str(actor["type"])
    return f"{kind}#{actor[ACTOR_IDS[kind]]}#{version_id}"


def store_view(row: Item) -> Record:
    """Return a store as an answer has it (contract §3.1)."""
    archived = row.get("archived_at")
    return {
        "id": row["sk"],
        "type": "memory_store",
        "name": row["name"],
        "description": row["description"],
        "metadata": row["metadata"],
        "created_at": rfc3339(row["created_at"]),
        "updated_at": rfc3339(row["updated_at"]),
        "archived_at": None if archived is None else rfc3339(archived),
    }


def memory_view(address: StoreAddress, head: Item, content: str | None) -> Record:
    """Return a memory as an answer has it (contract §3.2); `content` is None under `view=basic`."""
    return {
        "id": head["sk"],
        "type": "memory",
        "memory_store_id": address.store_id,
        "path": head["l1"],
        "content": content,
        "content_size_bytes": head["size"],
        "content_sha256": head["sha256"],
        "memory_version_id": head["version"],
        "created_at": rfc3339(head["created_at"]),
        "updated_at": rfc3339(head["updated_at"]),
    }


def prefix_view(path: str) -> Record:
    """Return a rolled-up directory as an answer has it (contract §3.3)."""
    return {"type": "memory_prefix", "path": path}


def version_view(address: StoreAddress, row: Item, content: str | None) -> Record:
    """Return a version as an answer has it (contract §3.4)."""
    redacted = row.get("redacted_at")
    return {
        "id": row["sk"],
        "type": "memory_version",
        "memory_id": row["memory_id"],
        "memory_store_id": address.store_id,
        "operation": row["operation"],
        "path": row.get("path"),
        "content": content,
        "content_size_bytes": row.get("size"),
        "content_sha256": row.get("sha256"),
        "created_at": rfc3339(row["created_at"]),
        "created_by": row["created_by"],
        "redacted_at": None if redacted is None else rfc3339(redacted),
        "redacted_by": row.get("redacted_by"),
    }
