"""How much an Add may bring, and a search answer (contract "memories"); a deployment may set other limits."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from shared.wiring.environment import EnvironmentInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX = "MEMORY_LIMIT_"
ATTACHMENTS = 45
"""Files and images that one transaction can accept, with what else it holds."""


@dataclass(frozen=True)
class Limits:
    """Each is set by the variable `MEMORY_LIMIT_` and its name."""

    message_characters: int = 12_000
    code_message_characters: int = 128_000
    summaries_characters: int = 512_000
    messages: int = 200
    images_a_message: int = 4
    images: int = 8
    image_bytes: int = 8 << 20
    image_pixels: int = 20_000_000
    image_frames: int = 16
    files: int = 10
    file_bytes: int = 20 << 20
    metadata_bytes: int = 16 << 10
    answer_bytes: int = 4_400_000

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Limits:
        """Return the limits of a deployment.

        Raises:
            EnvironmentInvalid: one is not a number above 0, or more attachments are let in than can be accepted.
        """
        names = {field.name: f"{_PREFIX}{field.name.upper()}" for field in fields(cls)}
        given = {name: environ[variable] for name, variable in names.items() if environ.get(variable)}
        for name, text in given.items():
            if not text.isascii() or not text.isdigit() or int(text) == 0:
                raise EnvironmentInvalid(f"{names[name]} is not a number above 0: {text!r}")
        limits = cls(**{name: int(text) for name, text in given.items()})
        if limits.files + limits.images > ATTACHMENTS:
            raise EnvironmentInvalid(f"{names['files']} and {names['images']} are over {ATTACHMENTS} together")
        return limits
