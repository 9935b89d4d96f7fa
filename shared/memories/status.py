"""What is told of a task and of each of its files (seed, Asynchronous task status); nothing of anybody's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.kernel.clock import rfc3339
from shared.memories.files.rows import ENDED
from shared.memories.rows import moment_or_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.aws.items import Item

MIXED = "mixed"
"""The `document_type` of files of several kinds."""


def status_view(task: Item, jobs: Sequence[Item] = ()) -> dict[str, Any]:
    """Return what the status of a task shows; `jobs` are those of its files and images."""
    return {
        "task_id": task["task"],
        "status": task["status"],
        "phase": _phase(task, jobs),
        "memory": task.get("memory"),
        "error": task.get("error"),
        "kind": "memory_add",
        "attempts": max(task["tries"], int(_is_begun(jobs))),
        "received_at": rfc3339(task["received_at"]),
        "created_at": rfc3339(task["created_at"]),
        "updated_at": rfc3339(max(task["updated_at"], *(job["updated_at"] for job in jobs), 0)),
        "completed_at": moment_or_none(task.get("completed_at")),
        **attached_view(task, jobs),
    }


def _phase(task: Item, jobs: Sequence[Item]) -> str:
    """Return the task's phase; while only its files are at work, that is reading."""
    return "reading" if task["phase"] == "queued" and _is_begun(jobs) else str(task["phase"])


def _is_begun(jobs: Sequence[Item]) -> bool:
    return any(job["tries"] for job in jobs)


def attached_view(task: Item, jobs: Sequence[Item]) -> dict[str, Any]:
    """Return what is told of a task's files and images; nothing where it has none."""
    files = [job for job in jobs if job["of"] == "file"]
    images = [_job_view(task, job, "image_index") for job in jobs if job["of"] == "image"]
    told: dict[str, Any] = {"images": images} if images else {}
    if files:
        kinds = {job["extension"] for job in files}
        told |= {
            "kind": "document_add",
            "parser_record_id": files[0]["token"],
            "parser_task_id": task["task"],
            "document_type": kinds.pop() if len(kinds) == 1 else MIXED,
            "files": [_job_view(task, job, "file_index") for job in files],
        }
    return told


def _job_view(task: Item, job: Item, index: str) -> dict[str, Any]:
    """Return how one file or image stands; what was not done when its task failed has failed with it."""
    status = job["status"] if job["status"] in ENDED else "processing"
    error = job["error"]
    if task["status"] == "failed" and status == "processing":
        status, error = "failed", task["error"]
    return {
        "parser_id": job["document"],
        "document_id": job["document"],
        "file_id": job["file"],
        index: job["index"],
        "status": status,
        "revision": job["revision"],
        "chunks_done": job["chunks_done"],
        "chunks_total": job["chunks_total"],
        "error": error,
    }
