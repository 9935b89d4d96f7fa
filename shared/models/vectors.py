"""What a service answers as vectors, checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from shared.models.errors import ModelRefused

if TYPE_CHECKING:
    from shared.models.port import Vector

REMEDY = "Check which model the deployment is set up with: its answers have another form than this one's should."


def checked(answer: Any, name: str, dimension: int) -> Vector:
    """Return an answer's vector at length 1.

    Raises:
        ModelRefused: it is none, has another dimension than the index was made for, or no direction.
    """
    if not isinstance(answer, list) or len(answer) != dimension:
        found = len(answer) if isinstance(answer, list) else "none"
        raise refused(f"The embedder {name} should answer vectors of {dimension} numbers; it answers {found}.")
    if not all(isinstance(number, int | float) for number in answer):
        raise refused(f"The embedder {name} answers a vector that holds something else than numbers.")
    length = math.sqrt(math.fsum(number * number for number in answer))
    if not length or not math.isfinite(length):
        raise refused(f"The embedder {name} answers a vector without a direction.")
    return [number / length for number in answer]


def refused(message: str) -> ModelRefused:
    """Return the error for an answer of the wrong form."""
    return ModelRefused(message, hint=REMEDY)
