"""Cohere Embed v3 on Bedrock: up to 96 texts a call, told whether they are passages or a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from shared.models.text import readable
from shared.models.vectors import checked, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.models.bedrock import Bedrock
    from shared.models.port import Vector

MODELS = ("cohere.embed-multilingual-v3", "cohere.embed-english-v3")
TEXTS = 96
CHARACTERS = 2_048
SECONDS = 15.0


class CohereEmbedder:
    """Cohere's embedder; the multilingual one reads English and Chinese alike.

    The floor is a guess on the safe side, not measured: set `min_semantic_similarity` to override it.
    """

    dimension = 1_024
    floor = 0.25

    def __init__(self, bedrock: Bedrock, model: str = MODELS[0]) -> None:
        self._bedrock = bedrock
        self._model = model

    @property
    def name(self) -> str:
        """The model's id, in letters, digits and hyphens."""
        return self._model.replace(".", "-")

    def of_texts(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector a text; of a long one, that of its first 2,048 characters."""
        calls = [texts[n : n + TEXTS] for n in range(0, len(texts), TEXTS)]
        return [vector for answer in self._bedrock.each(self._of_passages, calls) for vector in answer]

    def of_query(self, text: str) -> Vector:
        """Return a query's vector."""
        return self._call([text], "search_query")[0]

    def _of_passages(self, texts: Sequence[str]) -> list[Vector]:
        return self._call(texts, "search_document")

    def _call(self, texts: Sequence[str], kind: Literal["search_document", "search_query"]) -> list[Vector]:
        given = [readable(text, CHARACTERS) for text in texts]
        body = {"texts": given, "input_type": kind, "truncate": "END"}
        answer = self._bedrock.invoke(self._model, body, SECONDS)
        found = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(found, list) or len(found) != len(texts):
            raise refused(f"The embedder {self.name} does not answer one vector for each of {len(texts)} texts.")
        return [checked(vector, self.name, self.dimension) for vector in found]
