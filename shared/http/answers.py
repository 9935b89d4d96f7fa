"""Answers, in the form that Lambda and API Gateway carry them."""

from __future__ import annotations

import base64
import json
from typing import Any

from aws_lambda_powertools.event_handler import Response

from shared.kernel.strict_json import compact

BINARY_ABOVE = 1_000_000
"""Text of more bytes than this travels in whichever form is shorter, so that what fits in fits out again."""

JSON = "application/json"


def json_answer(value: Any, status: int = 200, **headers: str) -> Response[Any]:
    """Return a JSON answer; `headers` are given with `_` for `-`."""
    return text_answer(compact(value), JSON, status, **headers)


def text_answer(text: str, content_type: str, status: int = 200, **headers: str) -> Response[Any]:
    """Return a text answer."""
    if len(text) * 4 > BINARY_ABOVE and len(encoded := text.encode()) > BINARY_ABOVE:
        # Lambda's runtime writes text as JSON once more, separators of lines and paragraphs as escapes of six.
        separators = text.count("\u2028") + text.count("\u2029")
        as_text = len(json.dumps(text, ensure_ascii=False).encode()) + 3 * separators
        if as_text * 3 > len(encoded) * 4:
            return bytes_answer(encoded, content_type, status, **headers)
    return Response(status, content_type, text, headers=_named(headers))


def bytes_answer(body: bytes, content_type: str, status: int = 200, **headers: str) -> Response[Any]:
    """Return an answer of raw bytes, whatever they are.

    They are encoded here: Powertools would write bytes of a JSON type as JSON once more.
    """
    response: Response[Any] = Response(status, content_type, base64.b64encode(body).decode(), headers=_named(headers))
    response.base64_encoded = True
    return response


def empty_answer(status: int, **headers: str) -> Response[Any]:
    """Return an answer without a body."""
    return Response(status, None, "", headers=_named(headers))


def _named(headers: dict[str, str]) -> dict[str, Any]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
