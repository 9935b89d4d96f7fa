"""Memories' key design.

| record      | pk                         | sk                    | l1                          | l3 |
| memory      | `L#tenant#project#bucket`  | `m#{memory}`          | `{user}#{created}#{memory}` | the same by kind |
| past state  | the same                   | `h#{memory}#{at}#{n}` |                             | |
| fingerprint | the same                   | `f#{user}#{digest}`   |                             | |
| generation  | the same                   | `user`                |                             | |
| lease       | the same                   | `lease#{user}`        |                             | |
| idempotency | the same                   | `k#{user}#{digest}`   |                             | |
| group       | the same                   | `g#{user}#{digest}`   |                             | |
| pointer     | the same                   | `x#{user}#{task}#…`   |                             | |
| task        | `W#tenant#project#task`    | `task`, `plan`        |                             | |
| file        | `L#tenant#project#bucket`  | `u#{file}`            | `{user}~{created}#{file}`   | |
| document    | the same                   | `d#{document}`        |                             | |
| file job    | `W#tenant#project#task`    | `file#{n}`            |                             | |
| piece       | the same                   | `piece#{n}#{number}`  |                             | |
| erasure     | `F#tenant#project#erasure` | `erasure`             |                             | |

`l2` of memories and past states is `{user}#{origin}#{sk}`: what came of one add task, or of one reading of a file
(decision 17). Ids of files and documents have the form of a memory's, and say as well where their records are.

`{user}` is 32 hex digits of a hash of the user's id, so that no character of an id can meet a separator. `bucket` is
15 of another, and a memory's id begins with it: a partition is one user's (two users in one are kept apart by
`{user}`, which every row has), and an id alone says where its record is.
The generation item counts, for each user, the times that everything was forgotten: `g_{user}`. What was written
under an earlier generation is invisible from that write on.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.aws.items import Key
    from shared.kernel.scope import Scope

_BUCKET = 15
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

INLINE_BYTES = 32 * 1024
"""A text above it is an object (design §3)."""


@dataclass(frozen=True)
class UserAddress:
    """One user of one project; `user_id` is as the caller wrote it, without the space around it."""

    scope: Scope
    user_id: str

    @cached_property
    def user(self) -> str:
        """The user in keys: 32 hex digits."""
        return _digest(self.user_id)[:32]

    @cached_property
    def bucket(self) -> str:
        """The beginning of the user's partition, and of the ids of the user's memories."""
        return _digest(f"{self.scope.tenant}/{self.scope.project}/{self.user_id}")[:_BUCKET]

    @property
    def owner(self) -> str:
        """The user in the search index."""
        return f"{self.scope.tenant}#{self.scope.project}#{self.user}"

    @property
    def group(self) -> str:
        """The user's group in the queue: its messages in order, one at a time."""
        return _digest(f"{self.scope.tenant}/{self.scope.project}/{self.user}")[:32]

    @property
    def pk(self) -> str:
        """The partition of all that the user's memories need."""
        return partition(self.scope, self.bucket)

    def memory_id(self, *seed: str | int) -> str:
        """Return the id of the memory that a seed stands for (a task and a place in it): always the same one."""
        return _uuid(self.bucket, _digest("/".join(map(str, (self.user, *seed)))))

    def lease_key(self) -> Key:
        """Return the key of the lease that lets one worker at a time write for the user."""
        return self.pk, f"lease#{self.user}"

    def fingerprint_key(self, fingerprint: str) -> Key:
        """Return the key that keeps one fact from being there twice."""
        return self.pk, f"f#{self.user}#{fingerprint}"

    def idempotency_key(self, key: str) -> Key:
        """Return the key of what was answered under an idempotency key."""
        return self.pk, f"k#{self.user}#{_digest(key)}"

    def group_key(self, group_id: str) -> Key:
        """Return the key of a group of chunks."""
        return self.pk, f"g#{self.user}#{_digest(group_id)}"

    def file_id(self, *seed: str | int) -> str:
        """Return the id of the file that a seed stands for: always the same one."""
        return self.memory_id("file", *seed)

    def document_id(self, name: str) -> str:
        """Return the id of the document that has this filename (or, for an image, whose file has this id)."""
        return self.memory_id("document", name)

    @property
    def generation_key(self) -> Key:
        """The key of the item that counts generations."""
        return self.pk, GENERATIONS

    @property
    def generation_name(self) -> str:
        """The attribute of that item which counts this user's."""
        return generation_name(self.user)


GENERATIONS = "user"

MEMORY_ROWS = ("begins_with(#pk, :pk) AND begins_with(#sk, :sk)", {"pk": "L#", "sk": "m#"})
"""The filter of a scan, and its values, that keeps the memories of all users."""


def generation_name(user: str) -> str:
    """Return the attribute that counts a user's generations."""
    return f"g_{user}"


def partition(scope: Scope, bucket: str) -> str:
    """Return the partition of a bucket."""
    return f"L#{scope.tenant}#{scope.project}#{bucket}"


def memory_key(scope: Scope, memory_id: str) -> Key:
    """Return the key of a memory's record; the id must have the form of one."""
    return partition(scope, _bucket_of(memory_id)), f"m#{memory_id}"


def generations_of(scope: Scope, memory_id: str) -> Key:
    """Return the key of the generations that a memory's record is held against."""
    return partition(scope, _bucket_of(memory_id)), GENERATIONS


def past_key(scope: Scope, memory_id: str, at: int, *, number: int) -> Key:
    """Return the key of a past state or decision: in order of time."""
    return partition(scope, _bucket_of(memory_id)), f"h#{memory_id}#{at:015d}#{number:06d}"


def past_prefix(memory_id: str) -> str:
    """Return what the sort keys of a memory's past begin with."""
    return f"h#{memory_id}#"


def by_time(user: str, created_at: int, memory_id: str) -> str:
    """Return a memory's place among all of its user's."""
    return f"{user}#{created_at:015d}#{memory_id}"


def by_kind(user: str, kind: str, created_at: int, *, memory_id: str) -> str:
    """Return a memory's place among its user's of one kind."""
    return f"{user}#{kind}#{created_at:015d}#{memory_id}"


def by_origin(user: str, task_id: str, name: str) -> str:
    """Return the place of a memory, or of a past state, among all that came of one task; `name` ends its sort key."""
    return f"{user}#{task_id}#{name}"


def file_key(scope: Scope, file_id: str) -> Key:
    """Return the key of a file's record; the id must have the form of one."""
    return partition(scope, _bucket_of(file_id)), f"u#{file_id}"


def document_key(scope: Scope, document_id: str) -> Key:
    """Return the key of the record that says which reading of a document counts; the id must have the form of one."""
    return partition(scope, _bucket_of(document_id)), f"d#{document_id}"


def file_job_key(scope: Scope, task_id: str, number: int) -> Key:
    """Return the key of what an add task has to do for one of its files and images, which count from 0."""
    return f"W#{scope.tenant}#{scope.project}#{task_id}", f"file#{number:02d}"


def piece_key(scope: Scope, task_id: str, number: int, *, piece: int) -> Key:
    """Return the key of a run of chunks of that file, which are parsed and not yet indexed."""
    return f"W#{scope.tenant}#{scope.project}#{task_id}", f"piece#{number:02d}#{piece:05d}"


def task_key(scope: Scope, task_id: str) -> Key:
    """Return the key of an add task."""
    return f"W#{scope.tenant}#{scope.project}#{task_id}", "task"


def plan_key(scope: Scope, task_id: str) -> Key:
    """Return the key of the record of what a task is going to write."""
    return f"W#{scope.tenant}#{scope.project}#{task_id}", "plan"


def pointer_key(address: UserAddress, task_id: str, what: str) -> Key:
    """Return the key of the row by which forgetting a user finds an object of a failed task (`payload`, `plan`)."""
    return address.pk, f"x#{address.user}#{task_id}#{what}"


def erasure_key(scope: Scope, erasure_id: str) -> Key:
    """Return the key of the receipt of forgetting a user."""
    return f"F#{scope.tenant}#{scope.project}#{erasure_id}", "erasure"


def has_form(identifier: str) -> bool:
    """Tell whether an id can be one of ours; what can't is asked of no table."""
    return _UUID.fullmatch(identifier) is not None


def _bucket_of(memory_id: str) -> str:
    return memory_id.replace("-", "")[:12] + memory_id[15:18]


def _uuid(bucket: str, digest: str) -> str:
    variant = "89ab"[int(digest[0], 16) & 3]
    return f"{bucket[:8]}-{bucket[8:12]}-8{bucket[12:]}-{variant}{digest[1:4]}-{digest[4:16]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
