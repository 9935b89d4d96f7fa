"""An embedder for tests: texts that share words and pieces of words are near each other; the same ones every time."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING
from zlib import crc32

from shared.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PIECE = re.compile(r"[a-z0-9_]+|[\u3400-\u9fff]")


def _pieces(text: str) -> Iterator[str]:
    words = _PIECE.findall(text.casefold())
    yield from words
    for one, other in pairwise(words):
        if len(one) == len(other) == 1:
            yield one + other


@dataclass
class HashEmbedder:
    """Counts what it is asked; with `down` it does not answer."""

    name: str = "hash"
    dimension: int = 256
    floor: float = 0.1
    down: bool = False
    asked: list[str] = field(default_factory=list)

    def of_texts(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [self._vector(text) for text in texts]

    def of_query(self, text: str) -> Sequence[float]:
        return self._vector(text)

    def _vector(self, text: str) -> Sequence[float]:
        if self.down:
            raise Unavailable
        self.asked.append(text)
        vector = [0.0] * self.dimension
        for piece in _pieces(text):
            vector[crc32(piece.encode()) % self.dimension] += 1.0
        length = math.sqrt(sum(x * x for x in vector)) or 1.0
        return [x / length for x in vector]
