"""The port of embedders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    Vector = Sequence[float]
    """A direction of length 1."""


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their similarity, from -1 to 1.

    `name` stands for the model, its version and what is done around it: vectors of two names never meet in one
    index. `dimension` is their length; `floor` is the similarity below which a passage says nothing about a
    query, the default of `min_semantic_similarity` (it belongs to the model, not to the product).
    """

    @property
    def name(self) -> str:
        """The model's name, of small letters, digits and hyphens."""

    @property
    def dimension(self) -> int:
        """How long its vectors are."""

    @property
    def floor(self) -> float:
        """The default of `min_semantic_similarity`."""

    def of_texts(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector a text, in order; a text too long for the model is cut by it.

        Raises:
            Unavailable: the model can't be asked now.
        """

    def of_query(self, text: str) -> Vector:
        """Return a query's vector.

        Raises:
            Unavailable: the model can't be asked now.
        """
