"""What the work on memories is done with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.extraction.port import Decider, Extractor
    from shared.memories.backing import Backing
    from shared.models.port import Embedder, Vector
    from shared.search.port import SearchIndex


@dataclass(frozen=True)
class Means:
    """The stores, the index and the models."""

    backing: Backing
    index: SearchIndex
    embedder: Embedder
    extractor: Extractor
    decider: Decider


@dataclass
class OnceEmbedder:
    """An embedder that is asked once for each text, while one task is worked on."""

    embedder: Embedder
    known: dict[str, Vector] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.embedder.name

    @property
    def dimension(self) -> int:
        """How long its vectors are."""
        return self.embedder.dimension

    @property
    def floor(self) -> float:
        """The default of `min_semantic_similarity`."""
        return self.embedder.floor

    def of_texts(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector a text, in order.

        Raises:
            Unavailable: the model can't be asked now.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, self.embedder.of_texts(new), strict=True))
        return [self.known[text] for text in texts]

    def of_query(self, text: str) -> Vector:
        """Return a query's vector.

        Raises:
            Unavailable: the model can't be asked now.
        """
        return self.embedder.of_query(text)
