"""Words of time in Chinese."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.rules.calendar import away, date, day, month, nearest, season, week

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from shared.extraction.rules.calendar import Unit

    Reader = Callable[[re.Match[str], datetime, str], datetime]

_DIGITS = {character: number for number, character in enumerate("零一二三四五六七八九")} | {
    "\u3007": 0,
    "两": 2,
    "俩": 2,
}
_N = r"(?:\d{1,4}|[零〇一二两三四五六七八九十]{1,4}|几|半)"
_UNITS: dict[str, Unit] = {
    "分钟": "minute",
    "小时": "hour",
    "钟头": "hour",
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "年": "year",
}
_NEAR_DAYS = {
    "大前天": -3, "前天": -2, "前晚": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1,
    "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "今晨": 0,
    "明天": 1, "明日": 1, "明晚": 1, "明早": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_RECURRING = re.compile(
    "每个?(?:周|星期|礼拜)[一二三四五六日天末](?:[和、与及跟或到至](?:周|星期|礼拜)?[一二三四五六日天])*"
)
"""Days that come again and again, and so are no day."""
_AHEAD = re.compile("将|会|要|打算|计划|准备|下次|截止|之前")
_BEHIND = re.compile("了|过|曾|当时|那时")


def read(text: str, now: datetime) -> datetime | None:
    """Return the first kind of time that the text names, the exactest kinds first."""
    text = _RECURRING.sub("", text)
    for pattern, reader in _READERS:
        match = pattern.search(text)
        if match:
            try:
                return reader(match, now, text)
            except (ValueError, OverflowError):  # 6月31日
                continue
    return None


def number_of(said: str) -> float:
    """Return the value of a number up to 9999 in digits or characters; 几 is 3, 半 a half."""
    if said.isascii():
        return int(said)
    if said in ("半", "几"):
        return 0.5 if said == "半" else 3
    if "十" not in said:
        return int("".join(str(_DIGITS[character]) for character in said))
    tens, _, ones = said.partition("十")
    return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)


def _ahead(text: str) -> bool | None:
    if _BEHIND.search(text):
        return False
    return True if _AHEAD.search(text) else None


def _absolute(match: re.Match[str], now: datetime, _: str) -> datetime:
    year = int(number_of(match["year"]))
    return date(now, year, int(number_of(match["month"] or "1")), int(number_of(match["day"] or "1")))


def _of_year(match: re.Match[str], now: datetime, _: str) -> datetime:
    years = _YEARS[match["year"]]
    if match["season"]:
        return season(now, _SEASONS[match["season"]], years)
    return date(now, now.year + years, int(number_of(match["month"] or "1")), int(number_of(match["day"] or "1")))


def _date(match: re.Match[str], now: datetime, text: str) -> datetime:
    return nearest(now, int(number_of(match["month"])), int(number_of(match["day"])), ahead=_ahead(text))


def _near_day(match: re.Match[str], now: datetime, _: str) -> datetime:
    days = _NEAR_DAYS[match[0]]
    return day(now, days) if days else now


def _of_week(match: re.Match[str], now: datetime, _: str) -> datetime:
    if match["weekday"] == "末":
        return day(week(now, _STEPS[match["step"]]), 5)
    return day(week(now, _STEPS[match["step"]]), 6 if match["weekday"] in "日天" else _DIGITS[match["weekday"]] - 1)


def _weeks(match: re.Match[str], now: datetime, _: str) -> datetime:
    return week(now, _STEPS[match["step"]])


def _months(match: re.Match[str], now: datetime, _: str) -> datetime:
    first = month(now, _STEPS[match["step"]])
    return first.replace(day=int(number_of(match["day"]))) if match["day"] else first


def _ago(match: re.Match[str], now: datetime, _: str) -> datetime:
    return away(now, -_much(match), _UNITS[match["unit"]])


def _from_now(match: re.Match[str], now: datetime, _: str) -> datetime:
    return away(now, _much(match), _UNITS[match["unit"]])


def _much(match: re.Match[str]) -> float:
    return number_of(match["number"]) + (0.5 if match["half"] else 0)


def _weekday(match: re.Match[str], now: datetime, text: str) -> datetime:
    number = 6 if match["weekday"] in "日天" else _DIGITS[match["weekday"]] - 1
    forward = (number - now.weekday()) % 7
    return day(now, (forward or 7) if _ahead(text) is not False else forward - 7)


_WEEKDAY = r"(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
_COUNT = rf"(?P<number>{_N})(?:多)?(?:个)?(?P<half>半)?(?:多)?(?P<unit>分钟|小时|钟头|天|日|周|星期|礼拜|月|年)(?:多)?"

_READERS: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (re.compile(rf"(?P<year>(?:19|20)\d\d"
        rf"|[一二][零〇一二三四五六七八九]{{3}})年(?:(?P<month>{_N})月(?:份)?(?:(?P<day>{_N})(?:日"
        rf"|号))?)?"), _absolute),
    (re.compile(rf"(?P<year>前年|去年|今年|明年|后年)的?(?:(?P<season>[春夏秋冬])"
        rf"|(?P<month>{_N})月(?:份)?(?:(?P<day>{_N})(?:日|号))?)"), _of_year),
    (re.compile(rf"(?<![\d年])(?P<month>{_N})月(?P<day>{_N})(?:日|号)"), _date),
    (re.compile("大前天|大后天|前天|昨[天日晚夜]|明[天日晚早]|(?<![以之然最])后天|前晚"), _near_day),
    (re.compile(r"(?P<step>上上|下下|上|下|这|本)(?:个)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末])"), _of_week),
    (re.compile(rf"(?P<step>上上|下下|上|下|这|本)个?月(?:(?P<day>{_N})(?:日|号))?"), _months),
    (re.compile(rf"{_COUNT}(?:之前|以前|前)"), _ago),
    (re.compile(rf"{_COUNT}(?:之后|以后|后)"), _from_now),
    (re.compile(r"(?P<step>上上|下下|上|下|这|本)(?:个)?(?:周|星期|礼拜)(?!期)"), _weeks),
    (re.compile(r"(?P<year>前年|去年|明年|后年|今年)(?P<season>)(?P<month>)(?P<day>)"), _of_year),
    (re.compile(_WEEKDAY), _weekday),
    (re.compile("今[天日晚早晨]"), _near_day),
)  # fmt: skip
