"""Days, weeks, months and seasons around a moment; each returns a first moment."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

Unit = Literal["minute", "hour", "day", "week", "month", "year"]

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month that a season begins with; winter is named by the year it begins in."""


def day(moment: datetime, days: int = 0) -> datetime:
    """Return the day so many days from that of `moment`."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=days)


def week(moment: datetime, weeks: int = 0) -> datetime:
    """Return the Monday so many weeks from that of `moment`."""
    return day(moment, 7 * weeks - moment.weekday())


def month(moment: datetime, months: int = 0) -> datetime:
    """Return the first of the month so many months from that of `moment`."""
    number = moment.year * 12 + moment.month - 1 + months
    return day(moment).replace(year=number // 12, month=number % 12 + 1, day=1)


def date(moment: datetime, year: int, of_month: int = 1, of_day: int = 1) -> datetime:
    """Return a date, in the zone of `moment`; ValueError: there is no such day."""
    return day(moment).replace(year=year, month=of_month, day=of_day)


def away(moment: datetime, number: float, unit: Unit) -> datetime:
    """Return the time so many units from `moment`: exact for minutes and hours, else the day."""
    if unit in ("minute", "hour"):
        return moment + timedelta(**{f"{unit}s": number})
    if unit in ("day", "week"):
        return day(moment, round(number * (7 if unit == "week" else 1)))
    months = number * (12 if unit == "year" else 1)
    if months != int(months):
        return day(moment, round(months * 30.44))
    first = month(moment, int(months))
    return first.replace(day=min(moment.day, (month(first, 1) - timedelta(days=1)).day))


def nearest(moment: datetime, of_month: int, of_day: int, *, ahead: bool | None) -> datetime:
    """Return the date in the year that puts it ahead, behind, or (None) next to `moment`."""
    today = day(moment)
    years = [moment.year - 1, moment.year, moment.year + 1]
    if of_day == 29 and of_month == 2:
        years = [year for year in range(moment.year - 4, moment.year + 5) if year % 4 == 0 and year % 100]
    dates = [date(moment, year, of_month, of_day) for year in years]
    if ahead is not None:
        dates = [each for each in dates if (each >= today if ahead else each <= today)] or dates
    return min(dates, key=lambda each: abs(each - today))


def season(moment: datetime, name: str, years: int | None) -> datetime:
    """Return the season of the year so many years on, or (None) the latest one that is over."""
    first = SEASONS[name]
    if years is not None:
        return date(moment, moment.year + years, first)
    begun = date(moment, moment.year, first)
    return (
        begun
        if month(begun, 3) <= moment
        else date(moment, moment.year - (1 if month(begun, -9) <= moment else 2), first)
    )
