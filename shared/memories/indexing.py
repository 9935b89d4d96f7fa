"""From a memory's row to the passages that it is found by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.memories.past import scope_in
from shared.memories.rows import memory_id_of
from shared.search.analysis import is_chinese
from shared.search.passages import CONTEXT, day_words, embedding_text
from shared.search.passages import passages_of as pieces_of
from shared.search.port import Passage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shared.aws.items import Item
    from shared.models.port import Embedder, Vector

_USERS_OWN = ("summary", "fact")
"""Kinds that are made of what the user said."""

_FIRST_PERSON = re.compile(r"\b(I|me|my|mine|we|us|our|ours)\b|[我咱]", re.IGNORECASE)


def passages_of(rows: Sequence[tuple[Item, str]], embedder: Embedder) -> list[Passage]:
    """Return the passages of rows with their whole texts; all are embedded in one call.

    Raises:
        Unavailable: the embedder can't be asked now.
    """
    pieces = [piece for row, text in rows for piece in _pieces(row, text)]
    texts = [embedding_text(p.text, speaker=p.voice, previous=p.previous) for p in pieces]
    vectors = embedder.of_texts(texts) if texts else []
    return [piece.passage(vector) for piece, vector in zip(pieces, vectors, strict=True)]


def owner_of_row(row: Item) -> str:
    """Return the user of a row in the search index."""
    scope = scope_in(row["pk"])
    return f"{scope.tenant}#{scope.project}#{row['user']}"


class _Piece:
    """A piece of a row's text, between its neighbours."""

    def __init__(self, row: Item, ordinal: int, text: str, *, neighbours: tuple[str, str]) -> None:
        self.row, self.ordinal, self.text = row, ordinal, text
        self.previous, self.following = neighbours

    @property
    def voice(self) -> str:
        """Who says it, for its meaning: agents ask about "the user", whose own sentences say "I"."""
        known: str = self.row["speaker"]
        if known or self.row["kind"] not in _USERS_OWN or not _FIRST_PERSON.search(self.text):
            return known
        return "用户" if is_chinese(self.text) else "User"

    def passage(self, vector: Vector) -> Passage:
        """Return it as the index has it."""
        row = self.row
        return Passage(
            owner=owner_of_row(row),
            memory_id=memory_id_of(row),
            revision=row["revision"],
            ordinal=self.ordinal,
            generation=row["generation"],
            text=self.text,
            vector=vector,
            modes=tuple(row["modes"]),
            kind=row["kind"],
            source=row["source"],
            created_at=row["created_at"],
            event_at=row["event_at"],
            speaker=row["speaker"],
            previous=self.previous,
            following=self.following,
            day=day_words(row["event_at"]),
            types=(row["memory_type"], *row["categories"]),
            document_id=row["document_id"],
            reading=row.get("token"),
            agent_id=row["agent_id"],
            app_id=row["app_id"],
            session_id=row["session_id"],
        )


def _pieces(row: Item, text: str) -> Iterator[_Piece]:
    """Yield the pieces of a text; those inside it have each other for neighbours."""
    texts = pieces_of(text)
    last = len(texts) - 1
    for n, piece in enumerate(texts):
        previous = texts[n - 1][-CONTEXT:] if n else row["previous"]
        following = texts[n + 1][:CONTEXT] if n < last else row["following"]
        yield _Piece(row, n, piece, neighbours=(previous, following))
