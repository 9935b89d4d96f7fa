"""The API's document as it is served: JSON, YAML, and a page with everything it needs inside."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = Path(__file__).with_name("openapi.json")
PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lodestore API</title>
<style>{style}</style>
</head>
<body>
<div id="page"></div>
<script>{script}</script>
<script>SwaggerUIBundle({{url: "openapi.json", dom_id: "#page", deepLinking: true, validatorUrl: null}});</script>
</body>
</html>
"""


@cache
def openapi_json() -> str:
    """Return the document as it was committed."""
    return DOCUMENT.read_text("utf-8")


@cache
def openapi_yaml() -> str:
    """Return the document in YAML."""
    return "\n".join(_lines(json.loads(openapi_json()), "")) + "\n"


@cache
def page() -> str:
    """Return a page that reads the document, with Swagger UI inside: it loads nothing from elsewhere."""
    import aws_lambda_powertools.event_handler.openapi as powertools  # noqa: PLC0415 - read only when asked for

    assets = Path(next(iter(powertools.__path__))) / "swagger_ui"
    style = (assets / "swagger-ui.min.css").read_text("utf-8")
    script = (assets / "swagger-ui-bundle.min.js").read_text("utf-8")
    return _PAGE.format(style=style, script=script)


def _lines(value: Any, indent: str) -> Iterator[str]:
    """Yield a mapping or a list as YAML, scalars and keys in JSON, which YAML takes as they are."""
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    for key, item in pairs:
        head = f"{indent}-" if key is None else f"{indent}{json.dumps(key)}:"
        if isinstance(item, dict | list) and item:
            yield head
            yield from _lines(item, f"{indent}  ")
        else:
            yield f"{head} {json.dumps(item, ensure_ascii=False)}"
