"""Bodies and query parameters, checked against their rules; what is broken is named by where and how."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from shared.kernel.errors import InvalidInput, Violation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")

_INTEGER = re.compile(r"[0-9]{1,9}", re.ASCII)
_FLAGS = {"true": True, "false": False}
_OBJECT_TYPES, _NO_OBJECT = {"dict_type", "model_type"}, "Input should be an object"
"""Pydantic's words for these name dictionaries and classes of ours."""


def validated(model: type[M], body: Any) -> M:
    """Return a body as a model.

    Raises:
        InvalidInput: lists each broken rule; `loc` starts at `body`.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - surfaces that only read a query do without it

    try:
        return model.model_validate(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        told = [(e, _NO_OBJECT if e["type"] in _OBJECT_TYPES else e["msg"]) for e in found]
        raise InvalidInput(*[Violation(("body", *e["loc"]), msg, e["type"], e["input"]) for e, msg in told]) from None


def integer_in(query: Mapping[str, str], name: str, *, within: tuple[int, int], default: int) -> int:
    """Return an integer query parameter, or its default where it is not given.

    Raises:
        InvalidInput: not an integer from the first to the last of `within`.
    """
    text = query.get(name)
    if text is None:
        return default
    if _INTEGER.fullmatch(text) and within[0] <= int(text) <= within[1]:
        return int(text)
    message = f"Input should be an integer from {within[0]} to {within[1]}"
    raise InvalidInput.at("query", name, message=message, type_="int_parsing", value=text[:200])


def flag_in(query: Mapping[str, str], name: str) -> bool:
    """Return a query parameter that is `true` or `false`; false where it is not given.

    Raises:
        InvalidInput: anything else.
    """
    text = query.get(name, "false")
    if text not in _FLAGS:
        message = "Input should be true or false"
        raise InvalidInput.at("query", name, message=message, type_="bool_parsing", value=text[:200])
    return _FLAGS[text]
