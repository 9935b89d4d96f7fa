"""The ports of embedders, and of models that see."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Picture:
    """An image, ready for a model: its bytes, and `png`, `jpeg`, `gif` or `webp`."""

    content: bytes
    form: str


class Vision(Protocol):
    """Says in words what an image shows, and reads what is written in it."""

    @property
    def name(self) -> str:
        """The model's name."""

    def caption(self, picture: Picture, *, detail: str, language: str) -> str:
        """Return a description, at most 4,000 characters; `detail` is `auto`, `low`, `high` or `original`.

        Raises:
            ModelRefused: it will not describe this image.
            Unavailable: the model can't be asked now.
        """

    def transcribe(self, picture: Picture) -> str:
        """Return the text in the image, line by line, headings as Markdown; "" where there is none.

        Raises:
            ModelRefused: it will not read this image.
            Unavailable: the model can't be asked now.
        """
