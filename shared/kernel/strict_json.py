"""JSON read strictly: UTF-8, no NaN or Infinity, no lone surrogate, bounded depth; written compactly."""

from __future__ import annotations

import json
import math
import re
import sys
from codecs import BOM_UTF8
from typing import Any

from shared.kernel.errors import InvalidInput

MAX_DEPTH = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
_NESTED = (dict, list)


class _NoNumber(ValueError):
    """What JSON may not write as a number, or we can't keep as one."""


def parse(body: bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        InvalidInput: at `body`, naming what is wrong; never another error, whatever the bytes are.
    """
    try:
        text = body.decode("utf-8")
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise _broken(f"The body is not UTF-8 (byte {error.start}).") from error
    except RecursionError as error:
        raise _broken(f"The body is nested more than {MAX_DEPTH} levels deep.") from error
    except (json.JSONDecodeError, _NoNumber) as error:
        if body.startswith(BOM_UTF8):
            raise _broken("The body begins with a byte order mark; JSON has none.") from error
        raise _broken(f"The body is not JSON: {str(error)[:200]}") from error
    except ValueError as error:
        # Python reads no longer ones, since the time that it takes grows with the square of their length.
        raise _broken(f"An integer of the body has more than {sys.get_int_max_str_digits()} digits.") from error
    _check(value, text)
    return value


def compact(value: Any) -> str:
    """Write `value` as compact JSON, non-ASCII characters as themselves."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _check(value: Any, text: str) -> None:
    if _depth_exceeds(value, MAX_DEPTH):
        raise _broken(f"The body is nested more than {MAX_DEPTH} levels deep.")
    # Only an escape can bring a surrogate in: UTF-8 has none.
    if "\\u" in text and _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise _broken("The body holds half of a surrogate pair, which is no character.")


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for item in level for child in _children(item) if isinstance(child, _NESTED)]
        if not level:
            return False
    return True


def _children(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _refuse_constant(name: str) -> Any:
    raise _NoNumber(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _NoNumber(f"{text[:40]} is too large for a number")
    return value


def _broken(message: str) -> InvalidInput:
    return InvalidInput.at("body", message=message, type_="json_invalid")
