"""Builders of what the tests of learning read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from shared.extraction.port import Conversation, Extraction, Turn
from shared.extraction.rules import RuleExtractor

NOW = round(datetime(2026, 11, 25, 14, 30, tzinfo=UTC).timestamp() * 1000)
"""A Wednesday."""


def conversation(
    *said: str | tuple[str, str], speaker: str | None = None, code: bool = False, at: int = NOW, timed: bool = True
) -> Conversation:
    """A conversation; a text is the user's, a pair is (role, text); `timed`: its messages say when they were said."""
    times = at if timed else None
    turns = tuple(Turn(n, role_of(each), text_of(each), speaker, times) for n, each in enumerate(said))
    return Conversation(turns, at, code=code)


def role_of(said: str | tuple[str, str]) -> Literal["user", "assistant"]:
    return "assistant" if isinstance(said, tuple) and said[0] == "assistant" else "user"


def text_of(said: str | tuple[str, str]) -> str:
    return said if isinstance(said, str) else said[1]


def learnt(*said: str | tuple[str, str], speaker: str | None = None, code: bool = False) -> Extraction:
    return RuleExtractor().extract(conversation(*said, speaker=speaker, code=code))


def facts(*said: str | tuple[str, str], speaker: str | None = None, code: bool = False) -> list[str]:
    return [fact.text for fact in learnt(*said, speaker=speaker, code=code).facts if not fact.forget]


def wishes(*said: str | tuple[str, str], speaker: str | None = None) -> list[str]:
    return [fact.text for fact in learnt(*said, speaker=speaker).facts if fact.forget]


def day(ms: int | None) -> str:
    """A moment as its UTC day."""
    assert ms is not None
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d}"
