"""What is durable of a passage: its vector in half precision, its terms as hashes, and its labels."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from shared.search.analysis import terms
from shared.search.asking import is_question
from shared.search.fields import texts_of
from shared.search.port import Keyword

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.search.port import Passage

TERM: Final = np.dtype([("hash", "<u8"), ("field", "u1"), ("times", "<u2")])
"""A term of a field of a passage, and how often it is there."""

VECTOR: Final = np.dtype("<f2")

_KEYWORDS: Final[tuple[Keyword, ...]] = get_args(Keyword)
_MOST: Final = 65_535


@dataclass(frozen=True)
class Row:
    """A passage as it is stored."""

    memory: bytes
    revision: int
    ordinal: int
    generation: int
    created_at: int
    event_at: int | None
    document: bytes | None
    asks: bool
    vector: bytes
    terms: bytes
    labels: tuple[tuple[str, bytes], ...]


def row_of(passage: Passage, dimension: int) -> Row:
    """Return what is stored of a passage.

    Raises:
        ValueError: its vector is of another length: it is of another embedder.
    """
    if len(passage.vector) != dimension:
        raise ValueError(f"a vector of {len(passage.vector)} numbers in an index of {dimension}")
    return Row(
        memory=name(passage.memory_id),
        revision=passage.revision,
        ordinal=passage.ordinal,
        generation=passage.generation,
        created_at=passage.created_at,
        event_at=passage.event_at,
        document=None if passage.document_id is None else name(passage.document_id),
        asks=is_question(passage.text),
        vector=np.asarray(passage.vector, dtype=VECTOR).tobytes(),
        terms=_terms(passage),
        labels=tuple(dict.fromkeys(_labels(passage))),
    )


def name(text: str) -> bytes:
    """Return what stands for a text in the file: its bytes, so that nothing is compared but exactly."""
    return text.encode("utf-8", "surrogatepass")


def spelt(written: bytes) -> str:
    """Return the text that a name stands for."""
    return written.decode("utf-8", "surrogatepass")


@lru_cache(maxsize=65_536)
def hash_of(term: str) -> int:
    """Return what stands for a term: 64 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(name(term), digest_size=8).digest(), "little")


def _terms(passage: Passage) -> bytes:
    counted = [
        (hash_of(term), field, min(times, _MOST))
        for field, text in enumerate(texts_of(passage).values())
        for term, times in Counter(terms(text)).items()
    ]
    return np.array(counted, dtype=TERM).tobytes()


def _labels(passage: Passage) -> Iterator[tuple[str, bytes]]:
    for field in _KEYWORDS:
        value = getattr(passage, field)
        for each in (value,) if isinstance(value, str) else value or ():
            yield field, name(each)
