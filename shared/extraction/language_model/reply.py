"""What is made of a language model's answer: each value checked, what is wrong left out, the useless refused."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from shared.extraction.language_model.framing import MEMORY_TYPES
from shared.extraction.port import CATEGORIES, Extraction, Learnt, MemoryType
from shared.models.text import legible

if TYPE_CHECKING:
    from collections.abc import Collection

FACTS = 200
FACT_CHARACTERS = 2_000
SUMMARY_CHARACTERS = 6_000
YEARS = range(1900, 2200)
_PARTIAL_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?")


class Unusable(Exception):
    """Nothing can be made of a value; the message tells the model why."""


def extraction_of(value: Any, positions: Collection[int]) -> Extraction:
    """Return the summary and the facts of an answer, about the messages at `positions`.

    An answer that has neither, or facts of which none can be read, is refused; one that says that there is none is not.

    Raises:
        Unusable: and why.
    """
    answer = _answer(value)
    summary = learnt(answer.get("summary"), SUMMARY_CHARACTERS, positions)
    told = _listed(answer.get("facts"))
    facts = [fact for item in told[:FACTS] if (fact := learnt(item, FACT_CHARACTERS, positions))]
    if told and not facts:
        raise Unusable('none of its "facts" is an object with a "text"')
    if not summary and "facts" not in answer:
        raise Unusable('it has neither "summary" nor "facts"')
    return Extraction(summary, tuple(facts))


def summary_of(value: Any) -> Learnt:
    """Return the summary of an answer that is one.

    Raises:
        Unusable: and why.
    """
    answer = value if isinstance(value, dict) else {}
    summary = learnt(answer.get("summary", answer), SUMMARY_CHARACTERS, ())
    if not summary:
        raise Unusable('it has no "summary" with a "text"')
    return summary


def learnt(item: Any, characters: int, positions: Collection[int]) -> Learnt | None:
    """Return one summary or fact, or None where it has no text; what else is wrong with it is left out."""
    item = {"text": item} if isinstance(item, str) else item
    text = item.get("text") if isinstance(item, dict) else None
    if not isinstance(text, str) or not legible(text).strip():
        return None
    kind = str(item.get("memory_type", "")).lower()
    labels = [str(label).lower() for label in _listed(item.get("categories"))]
    named = {n for n in _listed(item.get("positions")) if isinstance(n, int) and not isinstance(n, bool)}
    return Learnt(
        text=_shortened(legible(text).strip(), characters),
        memory_type=cast("MemoryType", kind) if kind in MEMORY_TYPES else "semantic",
        categories=tuple(label for label in CATEGORIES if label in labels),
        event_at=_moment(item.get("event_date")),
        positions=tuple(sorted(named.intersection(positions))),
        forget=item.get("forget") is True,
    )


def _answer(value: Any) -> dict[str, Any]:
    """Return an answer as the object that was asked for: a list is its facts, an object with a text one of them."""
    if isinstance(value, list) and value:
        if len(value) == 1 and isinstance(value[0], dict) and {"summary", "facts"} & value[0].keys():
            return dict(value[0])
        return {"facts": value}
    if not isinstance(value, dict):
        raise Unusable("it is no JSON object")
    return {"facts": [value]} if "text" in value and "facts" not in value else value


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _shortened(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"


def _moment(told: Any) -> int | None:
    """Return the time (ms) of a date or date-time; without a zone it is UTC's; of a year or month its beginning."""
    if not isinstance(told, str):
        return None
    partial = _PARTIAL_DATE.fullmatch(told.strip())
    try:
        moment = (
            datetime(int(partial[1]), int(partial[2] or 1), 1, tzinfo=UTC)
            if partial
            else datetime.fromisoformat(told.strip())
        )
    except ValueError:
        return None
    if moment.year not in YEARS:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
