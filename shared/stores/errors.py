"""The two conflicts that memory stores have names for (contract "memory stores", §5.3 and §5.4)."""

from __future__ import annotations

from shared.kernel.errors import Conflict


class PathTaken(Conflict):
    """Another memory is at the path, above it, or below it."""

    def __init__(self, path: str, memory_id: str) -> None:
        super().__init__(
            f"path `{path}` is already used by `{memory_id}`; rename or delete that memory, or update it instead",
            type="memory_path_conflict_error",
            conflicting_path=path,
            conflicting_memory_id=memory_id,
        )


class StaleContent(Conflict):
    """The stored content is not the one that the caller expects."""

    def __init__(self) -> None:
        super().__init__(
            "the memory's content_sha256 is not the expected one; retrieve the memory and try again",
            type="memory_precondition_failed_error",
        )
