"""A restart with much in store is quick, and what is stored does not fill the memory."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from infra.local.journal import Journal
from infra.local.stack import TEMPLATE, Stack
from tests.local.running import running

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEMS = 100_000
TIMES = 5
"""So many times the processor's time that writing and reading the rows as JSON takes here may a start take."""

SPARSE_BYTES = 4 << 30


def rows() -> Iterator[tuple[str, str]]:
    for number in range(ITEMS):
        pk, sk = f"turns#local#default#task-{number // 1000}", f"{number:06}"
        item = {
            "pk": {"S": pk},
            "sk": {"S": sk},
            "l1": {"S": f"{number * 7919 % ITEMS:08}"},
            "due": {"S": f"d{number % 16}"},
            "n": {"N": str(number)},
            **{f"text{column}": {"S": "x" * 40} for column in range(10)},
        }
        yield json.dumps([pk, sk]), json.dumps(item)


def yardstick() -> float:
    """Return the processor's seconds that it takes to write and read the rows as JSON, once."""
    began = time.process_time()
    assert sum(json.loads(text)["n"]["N"] != key for key, text in rows()) == ITEMS
    return time.process_time() - began


def test_a_restart_with_100_000_items_is_quick_and_object_bytes_stay_on_disk(tmp_path: Path) -> None:
    names = Stack(TEMPLATE).outputs
    journal = Journal(tmp_path / "state")
    journal.save_items(names["TableName"], rows())
    blob = journal.blobs.write(b"")
    os.truncate(tmp_path / "state" / "objects" / blob[:2] / blob, SPARSE_BYTES)
    record = json.dumps({"size": SPARSE_BYTES, "etag": "x", "modified": "2026-01-01T00:00:00", "metadata": {}})
    with journal.changes() as db:
        db.execute("INSERT INTO objects VALUES (?, 'large', ?, ?)", (names["BucketName"], blob, record))
    journal.close()
    with running(tmp_path) as server:
        process = Path(f"/proc/{server.process.pid}")
        ticks = sum(map(int, (process / "stat").read_text().split()[13:15]))
        # The processor's time, not the clock's, and not in seconds: a machine may be busy, or slow.
        assert ticks / os.sysconf("SC_CLK_TCK") < TIMES * yardstick()
        resident = next(line for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS"))
        assert int(resident.split()[1]) * 1024 < SPARSE_BYTES // 8
        assert server.call("GET", "/tasks").status_code == 200
