"""Amazon Titan Text Embeddings V2 on Bedrock: one text a call, several calls at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.models.text import first_bytes, readable
from shared.models.vectors import checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.models.bedrock import Bedrock
    from shared.models.port import Vector

MODELS = ("amazon.titan-embed-text-v2:0",)
BYTES = 8_192  # it takes as many tokens, and none is shorter than a byte
SECONDS = 15.0


class TitanEmbedder:
    """Titan V2 at 512 dimensions: half of an index's memory for a hundredth of its accuracy, as its makers say.

    The floor is a guess on the safe side, not measured: set `min_semantic_similarity` to override it.
    """

    name = "titan-embed-text-v2-512"
    dimension = 512
    floor = 0.10

    def __init__(self, bedrock: Bedrock, model: str = MODELS[0]) -> None:
        self._bedrock = bedrock
        self._model = model

    def of_texts(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector a text; of a long one, that of its first 8,192 bytes."""
        return self._bedrock.each(self.of_query, texts)

    def of_query(self, text: str) -> Vector:
        """Return a text's vector: queries and passages are alike to this model."""
        given = first_bytes(readable(text, BYTES), BYTES)
        body = {"inputText": given, "dimensions": self.dimension, "normalize": True}
        answer = self._bedrock.invoke(self._model, body, SECONDS)
        found = answer.get("embedding") if isinstance(answer, dict) else None
        return checked(found, self.name, self.dimension)
