"""What went wrong in a run, told without anybody's data: kinds of errors and where they rose, counted."""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from shared.aws.errors import code_of

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@dataclass(frozen=True)
class Fault:
    """One way to fail: of what work, the error's class, AWS's code (or None), and `file:line` in our code."""

    work: str
    error: str
    code: str | None
    place: str

    def told(self) -> dict[str, Any]:
        """Return it as fields of a log line."""
        return asdict(self)


Faults = Counter[Fault]


def fault_of(work: str, error: Exception) -> Fault:
    """Describe an error by class, code and place; its message may hold data and is left out."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return Fault(work, type(error).__name__, code_of(error) or code_of(error.__cause__), place)


def isolated(work: str, faults: Faults, call: Callable[[], T]) -> T | None:
    """Return what `call` returns, or count its error and return None: one failing piece never stops the others."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - whatever a handler's bug raises, the other items must go on
        faults[fault_of(work, error)] += 1
        return None
