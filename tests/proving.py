"""What long runs say at their end: one readable table each, kept where `make nightly` collects them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TABLES = "PROOF_TABLES"
"""The variable that names the file to which tables are added, a JSON object a line."""


def table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Return a table as text, and add it to those of the run that this one is part of, if it is of any."""
    if path := os.environ.get(TABLES):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"title": title, "rows": rows}) + "\n")
    width = max(len(name) for name, _ in rows)
    return "\n".join([f"\n{title}", *(f"  {name:<{width}}  {told}" for name, told in rows)])
