"""When something happened or will, by the words of its sentence, in English and Chinese, all in UTC.

A day is its first moment, so are a month, a season and a year; a week is its Monday, a weekend its Saturday; today is
the moment of speaking. "last Friday" is the latest before today, "next Friday" the first after it; 上周五 and 下周五
are those of the weeks beside this one. A date without its year is the nearest that the sentence's tense allows.
Minutes and hours are counted exactly.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from shared.extraction.rules import times_en, times_zh
from shared.extraction.script import is_chinese

_LONGEST = 1_000


def time_in(text: str, at: int) -> int | None:
    """Return the time (ms) that the text's words name, seen from `at` (ms); None: no words of time, or no such day."""
    try:
        now = datetime.fromtimestamp(at / 1000, UTC)
        bounded = text[:_LONGEST]
        readers = (times_zh.read, times_en.read) if is_chinese(bounded) else (times_en.read, times_zh.read)
        found = next((moment for read in readers if (moment := read(bounded, now)) is not None), None)
        return None if found is None else round((found - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))
    except (ValueError, OverflowError, OSError):
        return None
