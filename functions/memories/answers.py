"""Successful answers of the surface: `{"success": true, "data", "meta"}` (seed, Add response)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.http.answers import json_answer
from shared.http.dialects import meta_of

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response

    from shared.http.request import Request


def success(request: Request, data: Any, status: int = 200, **headers: str) -> Response[Any]:
    """Return an answer with `data`; `headers` are given with `_` for `-`."""
    return json_answer({"success": True, "data": data, "meta": meta_of(request)}, status, **headers)
