"""What an index holds of a passage, and how.

Nothing is kept that a search does not need: the texts are in the records, so here are only the words they are found
by. Words are made by `shared.search.analysis`, for both indexes the same: the engine divides at spaces and does no
more. What is compared exactly is kept as a digest, so that no character and no length of it can matter.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, get_args

from shared.search.analysis import terms
from shared.search.asking import is_question
from shared.search.fields import BOOSTS, K1, B, texts_of
from shared.search.port import Keyword, Moment

if TYPE_CHECKING:
    from shared.search.port import Passage, State

VERSION: Final = 2
"""Counts up with every change of the mapping, of a digest or of the analysis: indexes of two never mix."""

OWNER: Final = "owner"
STATE: Final = "state"
GENERATION: Final = "generation"
VECTOR: Final = "vector"
ASKS: Final = "asks"
DOCUMENT: Final = "document"

_DIGITS = 7
"""Of a vector's numbers: what single precision holds."""


def definition(dimension: int, shards: int) -> dict[str, Any]:
    """Return the settings and the mapping of a new index."""
    return {
        "settings": {
            "number_of_shards": shards,
            "auto_expand_replicas": "0-1",
            "refresh_interval": "30s",  # what must be seen at once is refreshed by who wrote it
            "knn": True,
            "similarity": {"short": {"type": "BM25", "k1": K1, "b": B}},
        },
        "mappings": {
            "dynamic": "strict",
            "_source": {"enabled": False},
            "_routing": {"required": True},
            "properties": _properties(dimension),
        },
    }


def _properties(dimension: int) -> dict[str, Any]:
    words = {"type": "text", "analyzer": "whitespace", "similarity": "short", "index_options": "freqs"}
    exact = {"type": "keyword", "doc_values": False}
    number = {"type": "long"}
    return {
        **dict.fromkeys(BOOSTS, words),
        **dict.fromkeys((OWNER, *get_args(Keyword)), exact),
        **dict.fromkeys((GENERATION, *get_args(Moment)), number),
        STATE: {"type": "keyword"},
        ASKS: {"type": "boolean"},
        DOCUMENT: {"type": "keyword", "index": False},
        VECTOR: {
            "type": "knn_vector",
            "dimension": dimension,
            "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
        },
    }


def document(passage: Passage) -> dict[str, Any]:
    """Return a passage as it is indexed."""
    made: dict[str, Any] = {name: " ".join(terms(text)) for name, text in texts_of(passage).items()}
    made |= {name: digests(getattr(passage, name)) for name in get_args(Keyword)}
    made |= {name: getattr(passage, name) for name in (GENERATION, *get_args(Moment))}
    made |= {ASKS: is_question(passage.text) or None}
    made |= {DOCUMENT: passage.document_id}
    made |= {OWNER: digest(passage.owner), STATE: state_name((passage.memory_id, passage.revision))}
    if any(passage.vector):
        made[VECTOR] = numbers(passage.vector)
    return {name: value for name, value in made.items() if value not in (None, "", [])}


def state_name(state: State) -> str:
    """Return a state as a word; words sort as states do."""
    return f"{state[0]}.{state[1]:012d}"


def state_of(passage_id: str) -> State:
    """Return the state that a passage's id names."""
    memory_id, revision, _ = passage_id.rsplit(".", 2)
    return memory_id, int(revision)


def digests(value: str | tuple[str, ...] | None) -> list[str]:
    """Return the digests of a field's values."""
    values = (value,) if isinstance(value, str) else value or ()
    return [digest(one) for one in values]


def digest(value: str) -> str:
    """Return what is kept of a value that is only compared."""
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def numbers(vector: Any) -> list[float]:
    """Return a vector as it is sent."""
    return [round(number, _DIGITS) for number in vector]
