"""Words of time in English."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.rules.calendar import SEASONS, away, date, day, month, nearest, season, week
from shared.extraction.script import words

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shared.extraction.rules.calendar import Unit

    Reader = Callable[[re.Match[str], datetime, str], datetime | None]

_MONTHS = words("january february march april may june july august september october november december")
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_NUMBERS = {
    name: number
    for number, name in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
    )
}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 3, "fifteen": 15, "twenty": 20, "thirty": 30}
_HALF = {"half a": 0.5, "half an": 0.5, "one and a half": 1.5}

_M = (
    r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar"
    r"|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
)
_D = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_Y = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_W = rf"(?P<weekday>{_DAY})\b"
_RECURRING = re.compile(
    rf"\b(?:every|each)\s+(?:other\s+|second\s+)?{_DAY}\b(?:(?:,|,? and|,? or)\s+{_DAY}\b)*|\b{_DAY}s\b", re.IGNORECASE
)
"""Days that come again and again, and so are no day."""
_N = (
    r"(?:about |around |over |almost |nearly |roughly )?(?P<number>\d{1,4}|half an?|one and a half|a couple(?: of)?"
    r"|a few|several|an?|one|two|three|four"
    r"|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty)\s+(?P<unit>minute|hour|day|week|month|year)s?"
)
_AHEAD = re.compile(
    r"\b(?:will|'ll|going to|gonna|plan\w*|tomorrow|next|upcoming|moved to|postponed|rescheduled|due|deadline|until"
    r"|by|is on|are on|is at|have an?"
    r"|scheduled)\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"\b(?:was|were|had|did|went|saw|came|got|made|took|met|bought|ate|won|lost|ran|began|gave|found|told|felt|left"
    r"|born|became"
    r"|since|ago|last|[a-z]{2,}ed)\b",
    re.IGNORECASE,
)


def read(text: str, now: datetime) -> datetime | None:
    """Return the first kind of time that the text names, the exactest kinds first."""
    text = _RECURRING.sub("", text)
    for pattern, reader in _READERS:
        match = pattern.search(text)
        if match and (moment := _or_none(reader, match, now, text=text)) is not None:
            return moment
    return None


def _or_none(reader: Reader, match: re.Match[str], now: datetime, *, text: str) -> datetime | None:
    try:
        return reader(match, now, text)
    except (ValueError, OverflowError):  # 31 June
        return None


def _ahead(text: str) -> bool | None:
    if _AHEAD.search(text):
        return True
    return False if _BEHIND.search(text) else None


def _month_number(name: str) -> int:
    return next(number for number, full in enumerate(_MONTHS, 1) if full.startswith(name.lower()[:3]))


def _iso(match: re.Match[str], now: datetime, _: str) -> datetime:
    return date(now, int(match["year"]), int(match["month"]), int(match["day"]))


def _full(match: re.Match[str], now: datetime, _: str) -> datetime:
    return date(now, int(match["year"]), _month_number(match["month"]), int(match["day"]))


def _month_of_year(match: re.Match[str], now: datetime, _: str) -> datetime:
    return date(now, int(match["year"]), _month_number(match["month"]))


def _day_of_month(match: re.Match[str], now: datetime, text: str) -> datetime:
    return nearest(now, _month_number(match["month"]), int(match["day"]), ahead=_ahead(text))


def _named_month(match: re.Match[str], now: datetime, text: str) -> datetime:
    ahead = {"last": False, "next": True}.get(match["which"].lower().split()[-1], _ahead(text))
    return nearest(now, _month_number(match["month"]), 1, ahead=ahead)


def _ago(match: re.Match[str], now: datetime, _: str) -> datetime:
    return away(now, -_number(match["number"]), _unit(match["unit"]))


def _from_now(match: re.Match[str], now: datetime, _: str) -> datetime:
    return away(now, _number(match["number"]), _unit(match["unit"]))


def _unit(name: str) -> Unit:
    units: dict[str, Unit] = {
        "minute": "minute",
        "hour": "hour",
        "day": "day",
        "week": "week",
        "month": "month",
        "year": "year",
    }
    return units[name.lower()]


def _number(said: str) -> float:
    lowered = " ".join(said.lower().split())
    if lowered in _HALF:
        return _HALF[lowered]
    return int(lowered) if lowered.isdigit() else _NUMBERS[lowered.removesuffix(" of").split()[-1]]


def _near_day(match: re.Match[str], now: datetime, _: str) -> datetime:
    said = " ".join(match[0].lower().split())
    days = {
        "the day before yesterday": -2,
        "yesterday": -1,
        "last night": -1,
        "tomorrow": 1,
        "the day after tomorrow": 2,
    }
    return day(now, days[said]) if said in days else now


def _weekday(match: re.Match[str], now: datetime, text: str) -> datetime:
    number = _DAYS.index(match["weekday"].lower())
    which = (match["which"] or "").lower().split()
    ahead = _ahead(text) if not which or which[-1] == "on" else which[-1] in ("next", "coming", "this", "by", "until")
    if which[-1:] == ["this"]:
        return day(week(now), number)
    forward = (number - now.weekday()) % 7
    return day(now, (forward or 7) if ahead is not False else forward - 7)


def _period(match: re.Match[str], now: datetime, _: str) -> datetime:
    step = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}.get(match["which"].lower().split()[-1], 0)
    name = match["period"].lower()
    if name in SEASONS:
        return season(now, name, None if step < 0 else _coming(now, name, step))
    if name == "year":
        return date(now, now.year + step)
    if name == "month":
        return month(now, step)
    return day(week(now, step), 5 if name == "weekend" else 0)


def _coming(now: datetime, name: str, step: int) -> int:
    return 1 if step and SEASONS[name] <= now.month else 0


def _season_of_year(match: re.Match[str], now: datetime, _: str) -> datetime:
    return date(now, int(match["year"]), SEASONS[match["season"].lower()])


def _year(match: re.Match[str], now: datetime, _: str) -> datetime:
    return date(now, int(match["year"]))


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_READERS: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (_pattern(rf"\b{_Y}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})\b"), _iso),
    (_pattern(rf"\b{_D}\s+(?:of\s+)?{_M},?\s+{_Y}\b"), _full),
    (_pattern(rf"\b{_M}\s+{_D},?\s+{_Y}\b"), _full),
    (_pattern(rf"\b{_M},?\s+(?:of\s+)?{_Y}\b"), _month_of_year),
    (_pattern(r"\b(?:the day before yesterday|the day after tomorrow|yesterday|tomorrow|last night)\b"), _near_day),
    (_pattern(rf"\b{_N}\s+(?:ago|earlier|back)\b"), _ago),
    (_pattern(rf"\b(?:in|within)\s+{_N}\b(?!\s+(?:of|i|we|he|she)\b)"), _from_now),
    (_pattern(rf"\b{_N}\s+from now\b"), _from_now),
    (_pattern(rf"\b{_M}\s+{_D}\b(?!:)"), _day_of_month),
    (_pattern(rf"\b{_D}\s+(?:of\s+)?{_M}"), _day_of_month),
    (
        _pattern(
            rf"\b(?:(?P<which>(?:this )?last|(?:this )?past|(?:this )?next|this coming|coming|this|by|until|on)\s+){_W}"
        ),
        _weekday,
    ),
    (
        _pattern(
            r"\b(?P<which>(?:this )?last|this past|past|previous|(?:this )?next|this coming|coming"
            r"|this)\s+(?P<period>weekend|week|month|year|spring|summer|autumn|fall|winter)\b"
        ),
        _period,
    ),
    (_pattern(rf"\b(?P<season>spring|summer|autumn|fall|winter)(?:\s+of)?\s+{_Y}\b"), _season_of_year),
    (_pattern(rf"\b(?P<which>last|next|this|in|since|during|until|by)\s+{_M}"), _named_month),
    (_pattern(rf"\b(?:in|since|from|during|until|by|around|of|back in|early|late|year)\s+{_Y}\b"), _year),
    (_pattern(rf"\b(?P<which>)(?:{_W})"), _weekday),
    (_pattern(r"\b(?:today|tonight|this (?:morning|afternoon|evening)|earlier today)\b"), _near_day),
)
