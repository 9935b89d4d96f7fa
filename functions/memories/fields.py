"""The fields of a body, read one by one against their rules; what is broken is collected, and told together.

Checked here and not by pydantic, for the sake of a cold start (`docs/decisions/0006-no-pydantic-on-the-hot-path.md`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from shared.kernel.errors import InvalidInput, TooLarge, Violation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Loc = tuple[str | int, ...]

NUL = "\x00"
ID_CHARACTERS = 255
FIRST_MOMENT, LAST_MOMENT = 1_000_000_000_000, 9_999_999_999_999


class Fields:
    """One object of a body, at `loc`. A reader returns None for what is broken or absent."""

    def __init__(self, given: dict[str, Any], loc: Loc, broken: list[Violation]) -> None:
        self.given = given
        self.loc = loc
        self._broken = broken

    @classmethod
    def of_body(cls, body: Any) -> Fields:
        """Return the fields of a whole body, with nothing broken yet.

        Raises:
            InvalidInput: it is no object.
        """
        if not isinstance(body, dict):
            raise InvalidInput.at("body", message="Input should be an object", type_="dict_type")
        return cls(body, ("body",), [])

    def check(self) -> None:
        """Raise InvalidInput if any rule is broken, with all of them."""
        if self._broken:
            raise InvalidInput(*self._broken)

    def refuse(self, name: str | int, message: str, type_: str = "value_error", *, value: Any = None) -> None:
        """Note that a field breaks a rule."""
        self._broken.append(Violation((*self.loc, name), message, type_, value))

    def is_refused(self, name: str | int) -> bool:
        """Tell whether a field was found to break a rule."""
        return any(violation.loc == (*self.loc, name) for violation in self._broken)

    def too_large(self, name: str | int, message: str) -> NoReturn:
        """Raise TooLarge at a field."""
        field = self.path(name)
        raise TooLarge(f"{field}: {message}", details=[{"field": field, "message": message}])

    def path(self, name: str | int) -> str:
        """Return where a field is, as callers are told it: `messages[0].content`."""
        parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*self.loc[1:], name)]
        return "".join(parts).removeprefix(".")

    def text(self, name: str, *, most: int | None = None, required: bool = False, nullable: bool = False) -> str | None:
        """Return a string of at most `most` characters, NUL characters left out."""
        value = self._string(name, required=required, nullable=nullable)
        if value is not None and most is not None and len(value) > most:
            self.refuse(name, f"String should have at most {most} characters", "string_too_long")
            return None
        return None if value is None else value.replace(NUL, "")

    def identifier(self, name: str, *, most: int = ID_CHARACTERS, required: bool = False) -> str | None:
        """Return a string of 1 to `most` characters after trimming; where it is optional, blank or null is none."""
        value = self._string(name, required=required, nullable=not required)
        if value is None:
            return None
        trimmed = value.strip()
        if NUL in trimmed:
            self.refuse(name, "NUL characters are not allowed")
        elif len(trimmed) > most or (required and not trimmed):
            self.refuse(name, f"String should have 1 to {most} characters after trimming", "string_length")
        else:
            return trimmed or None
        return None

    def choice(self, name: str, choices: Collection[str], default: str | None = None) -> str | None:
        """Return one of some words; without a default it has to be there."""
        value = self._present(name, required=default is None)
        if value is None:
            return default
        if type(value) is str and value in choices:
            return value
        self.refuse(name, f"Input should be one of {', '.join(choices)}", "enum", value=value)
        return None

    def integer(self, name: str, low: int, high: int, *, default: int | None = None) -> int | None:
        """Return an integer from `low` to `high`, strictly: no true, no 1.0, no "1"."""
        value = self._present(name, required=default is None)
        if value is None:
            return default
        if type(value) is int and low <= value <= high:
            return value
        self.refuse(name, f"Input should be an integer from {low} to {high}", "int_type", value=value)
        return None

    def moment(self, name: str, *, required: bool = False) -> int | None:
        """Return a 13-digit Unix time in milliseconds, or None for -1."""
        value = self._present(name, required=required, nullable=not required)
        if value is None:
            return None
        if type(value) is not int or not (value == -1 or FIRST_MOMENT <= value <= LAST_MOMENT):
            self.refuse(
                name, "Input should be an integer: 13 digits of Unix milliseconds, or -1", "int_type", value=value
            )
            return None
        return None if value == -1 else value

    def flag(self, name: str, *, default: bool, nullable: bool = False) -> bool:
        """Return a true or false."""
        value = self._present(name, nullable=nullable)
        if value is None:
            return default
        if type(value) is not bool:
            self.refuse(name, "Input should be true or false", "bool_type", value=value)
            return default
        return value

    def object(self, name: str, *, required: bool = False, nullable: bool = False) -> Fields | None:
        """Return the fields of an object in this one."""
        value = self._present(name, required=required, nullable=nullable)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.refuse(name, "Input should be an object", "dict_type", value=value)
            return None
        return Fields(value, (*self.loc, name), self._broken)

    def items(self, name: str) -> list[Any] | None:
        """Return a list, or None if there is none."""
        value = self._present(name)
        if value is not None and not isinstance(value, list):
            self.refuse(name, "Input should be a list", "list_type", value=value)
            return None
        return value

    def objects(self, name: str, items: list[Any]) -> Iterator[Fields]:
        """Yield the fields of each object of a list that is the field `name`; others are noted as broken."""
        below = Fields({}, (*self.loc, name), self._broken)
        for number, item in enumerate(items):
            if isinstance(item, dict):
                yield Fields(item, (*below.loc, number), self._broken)
            else:
                below.refuse(number, "Input should be an object", "dict_type", value=item)

    def _string(self, name: str, *, required: bool, nullable: bool) -> str | None:
        value = self._present(name, required=required, nullable=nullable)
        if value is not None and type(value) is not str:
            self.refuse(name, "Input should be a valid string", "string_type", value=value)
            return None
        return value

    def _present(self, name: str, *, required: bool = False, nullable: bool = False) -> Any:
        if name not in self.given:
            if required:
                self.refuse(name, "Field required", "missing")
            return None
        value = self.given[name]
        if value is None and not nullable:
            self.refuse(name, "Input should not be null", "null")
        return value
