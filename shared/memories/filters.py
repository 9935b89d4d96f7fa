"""Filters: what a search or a list may be narrowed by (seed, Search request body; contract, "Settled here")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from shared.kernel.clock import DAY_MS
from shared.kernel.errors import InvalidInput
from shared.search.port import AllOf, AnyOf, Is, Not, Within

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.aws.items import Item
    from shared.search.port import Condition, Keyword, Moment

    Place = tuple[str | int, ...]

IDENTITIES: Final = ("agent_id", "app_id", "session_id")
MOMENTS: Final[dict[str, Moment]] = {"created_at": "created_at", "event_created_at": "event_at"}
FIELDS: Final = (*IDENTITIES, "mem_type", *MOMENTS)
BOUNDS: Final = ("eq", "gt", "gte", "lt", "lte")

CONDITIONS = 100
"""The most conditions in `and` or `or`, and the most values in `in`."""
VALUE_CHARACTERS = 255

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?([Zz]|[+-]\d\d:?\d\d)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def condition_of(filters: Any, *place: str | int) -> AllOf:
    """Return what the filters of a request ask of a passage; `place` is where in the request they are.

    Raises:
        InvalidInput: an unknown field or operator, a value of the wrong form, or conditions that contradict each other.
    """
    if filters is None:
        return AllOf()
    groups = dict(_object(filters, place))
    every = [_terms(entry, at) for entry, at in _group(groups.pop("and", None), (*place, "and"))]
    some = [_terms(entry, at) for entry, at in _group(groups.pop("or", None), (*place, "or"))]
    every.append(_terms(groups, place))
    parts: list[Condition] = list(_all_hold([term for terms in every for term in terms]))
    if some:
        parts.append(AnyOf(tuple(AllOf(_all_hold(terms)) for terms in some)))
    return AllOf(tuple(parts))


def lets_through(condition: Condition, row: Item) -> bool:
    """Tell whether a memory's row satisfies a condition, as an index would have it."""
    match condition:
        case AllOf(parts):
            return all(lets_through(part, row) for part in parts)
        case AnyOf(parts):
            return any(lets_through(part, row) for part in parts)
        case Not(part):
            return not lets_through(part, row)
        case Is(field, values):
            return not set(values).isdisjoint(_values(field, row))
        case Within(field, _, gte, lt, _):
            moment = row[field]
            return moment is not None and (gte is None or moment >= gte) and (lt is None or moment < lt)


def span_of(condition: AllOf) -> Within:
    """Return the bounds of `created_at` that a condition sets for all that it lets through."""
    bounds = [part for part in condition.parts if isinstance(part, Within) and part.field == "created_at"]
    return bounds[0] if bounds else Within("created_at")


def _values(field: Keyword, row: Item) -> list[str]:
    if field == "types":
        return [row["memory_type"], *row["categories"]]
    value = row[field]
    return value if isinstance(value, list) else [value]


@dataclass(frozen=True)
class _Term:
    """One restriction of one field, and where in the request it stands."""

    part: Is | Within
    place: Place


def _group(entries: Any, place: Place) -> Iterable[tuple[Any, Place]]:
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise _broken(place, "A list of conditions", entries)
    if len(entries) > CONDITIONS:
        raise _broken(place, f"At most {CONDITIONS} conditions", len(entries))
    for number, entry in enumerate(entries):
        if not _object(entry, (*place, number)):
            raise _broken((*place, number), f"A condition names at least one of {', '.join(FIELDS)}", entry)
    return [(entry, (*place, number)) for number, entry in enumerate(entries)]


def _terms(entry: dict[str, Any], place: Place) -> list[_Term]:
    terms = []
    for name, value in entry.items():
        if name not in FIELDS:
            raise _broken((*place, name), f"Unknown filter field; the known ones are {', '.join(FIELDS)}", name)
        if value is not None:
            terms.append(_Term(_part(name, _object(value, (*place, name)), (*place, name)), (*place, name)))
    return terms


def _part(name: str, operators: dict[str, Any], place: Place) -> Is | Within:
    known = BOUNDS if name in MOMENTS else ("eq", "in") if name == "mem_type" else ("eq",)
    for operator in operators:
        if operator not in known:
            raise _broken((*place, operator), f"Unknown operator; {name} takes {', '.join(known)}", operator)
    given = {operator: value for operator, value in operators.items() if value is not None}
    if name in MOMENTS:
        return _within(MOMENTS[name], given, place)
    if name == "mem_type":
        return Is("types", _types(given, place))
    if "eq" not in given:
        raise _broken((*place, "eq"), "Field required", operators)
    field: Keyword = "agent_id" if name == "agent_id" else "app_id" if name == "app_id" else "session_id"
    return Is(field, (_word(given["eq"], (*place, "eq")),))


def _types(given: dict[str, Any], place: Place) -> tuple[str, ...]:
    if len(given) != 1:
        raise _broken(place, "Exactly one of eq and in", list(given))
    if "eq" in given:
        return (_word(given["eq"], (*place, "eq")).strip(),)
    values = given["in"]
    if not isinstance(values, list) or not 0 < len(values) <= CONDITIONS:
        raise _broken((*place, "in"), f"A list of 1 to {CONDITIONS} types", values)
    words = [_word(value, (*place, "in", number)).strip() for number, value in enumerate(values)]
    return tuple(dict.fromkeys(words))


def _within(field: Moment, given: dict[str, Any], place: Place) -> Within:
    if not given:
        raise _broken(place, f"At least one of {', '.join(BOUNDS)}", {})
    low, high = None, None
    for operator, value in given.items():
        first, last = _span(value, (*place, operator))
        if operator in ("eq", "gt", "gte"):
            low = _later(low, last if operator == "gt" else first)
        if operator in ("eq", "lt", "lte"):
            high = _earlier(high, first if operator == "lt" else last)
    return Within(field, gte=low, lt=high)


def _all_hold(terms: list[_Term]) -> tuple[Is | Within, ...]:
    """Return what terms that all have to hold come to: bounds are merged, and what can't hold together is refused."""
    merged: dict[str, Is | Within] = {}
    for term in terms:
        before = merged.setdefault(term.part.field, term.part)
        if isinstance(before, Within) and isinstance(term.part, Within):
            stricter = _later(before.gte, term.part.gte), _earlier(before.lt, term.part.lt)
            merged[before.field] = Within(before.field, gte=stricter[0], lt=stricter[1])
        elif before is not term.part:
            _refuse_conflict(before, term)
    return tuple(merged.values())


def _refuse_conflict(before: Is | Within, term: _Term) -> None:
    name = term.place[-1]
    if name == "mem_type":
        raise _broken(term.place, "At most one mem_type condition; list the types in one `in`, or use `or`", None)
    if before != term.part:
        raise _broken(term.place, f"Another condition asks for another {name}: both can't hold", None)


def _later(one: int | None, other: int | None) -> int | None:
    return max(one, other) if one is not None and other is not None else one if other is None else other


def _earlier(one: int | None, other: int | None) -> int | None:
    return min(one, other) if one is not None and other is not None else one if other is None else other


def _span(value: Any, place: Place) -> tuple[int, int]:
    """Return the first millisecond that a moment covers and the first one after it: a date is its UTC day."""
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    try:
        if isinstance(value, str) and _DATE.fullmatch(value):
            days = date.fromisoformat(value).toordinal() - _EPOCH.toordinal()
            return days * DAY_MS, (days + 1) * DAY_MS
        if found is not None and found[4] is None:
            raise _broken(place, "A date-time needs an offset, such as Z or +08:00", value)
        if found is not None:
            return _instant(*found.groups(default=""))
    except (ValueError, OverflowError):
        pass
    raise _broken(place, "Input should be an ISO date, or a date-time with an offset", value)


def _instant(day: str, time: str, fraction: str, offset: str) -> tuple[int, int]:
    seconds = (datetime.fromisoformat(f"{day}T{time}{offset.upper()}").astimezone(UTC) - _EPOCH) // _MS
    nanoseconds = int(fraction.ljust(9, "0"))
    ms, finer = divmod(nanoseconds, 1_000_000)
    # Records know milliseconds: what lies between two of them is no moment of any record.
    return (seconds + ms, seconds + ms + 1) if not finer else (seconds + ms + 1, seconds + ms + 1)


def _word(value: Any, place: Place) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > VALUE_CHARACTERS:
        raise _broken(place, f"A string of 1 to {VALUE_CHARACTERS} characters, not all of them space", value)
    return value


def _object(value: Any, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _broken(place, "Input should be an object", value)
    return value


def _broken(place: Place, message: str, value: Any) -> InvalidInput:
    return InvalidInput.at(*place, message=message, value=value)
