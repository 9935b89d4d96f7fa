"""What goes wrong with a model for good; what passes is the kernel's `Unavailable`."""

from __future__ import annotations

from shared.kernel.errors import Unavailable


class ModelRefused(Unavailable):
    """The model can't be used as it is set up: no access, no such model, an input or an answer of the wrong shape.

    It is an `Unavailable`, so that callers are told to come back and nothing is lost; but asking again helps only
    after an operator did what the hint says, so a worker does not wait for it. Both may be shown to callers.
    """

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message, retry_after=60, code="model_refused", hint=hint)
