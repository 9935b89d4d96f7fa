"""The one document of all surfaces (OpenAPI 3.1).

    python -m functions.platform.openapi            # write functions/platform/openapi.json anew
    python -m functions.platform.openapi --check    # fail if that file is not current

Nothing that is deployed imports this: the function serves the file.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from functions.memories import openapi as memories
from functions.platform import description as platform
from functions.platform.documents import DOCUMENT
from functions.platform.version import VERSION
from functions.projects import openapi as projects
from functions.stores import openapi as stores
from shared.http.openapi import HEADERS, NAME_PATTERN, parameter, typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.http.openapi import Json

SURFACES = (projects.DESCRIPTION, stores.DESCRIPTION, memories.DESCRIPTION, platform.DESCRIPTION)
_PURPOSE = """Memory for AI agents.

Every request but those of `/health`, `/ready` and this document carries a key: `Authorization: Bearer K`,
`Authorization: Token K` or `X-Api-Key: K`. The tenant is the key's. The project is the key's as well; for a key
that is bound to none it is the one that `X-Sandbox-Project-Id` or `anthropic-workspace-id` names, or `default`.

What the gateway in front answers by itself (413 above its payload, its own 429, 503 and 504) has the gateway's shape.
"""
_NAMED = typed("string", pattern=NAME_PATTERN)
_PARAMETERS: dict[str, Json] = {
    "CorrelationId": parameter(
        "header", "x-correlation-id", typed("string"), "Echoed if it is printable ASCII of at most 128 characters"
    ),
    "ProjectId": parameter("header", "X-Sandbox-Project-Id", _NAMED, "The project, for a key that is bound to none"),
    "TenantId": parameter("header", "X-Sandbox-Tenant-Id", _NAMED, "Must be the key's tenant"),
    "WorkspaceId": parameter("header", "anthropic-workspace-id", _NAMED, "Another name for X-Sandbox-Project-Id"),
}
_SECURITY: dict[str, Json] = {
    "Bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer K`"},
    "ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "Token": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "`Token K`"},
}


def document() -> Json:
    """Return the document."""
    responses: Json = {}
    schemas: Json = {}
    paths: Json = {}
    for surface in SURFACES:
        responses |= surface.errors.components()
        schemas |= surface.schemas
        paths |= surface.paths
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Lodestore",
            "version": VERSION,
            "description": _PURPOSE,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": surface.tag} for surface in SURFACES],
        "security": [{name: []} for name in _SECURITY],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": {name: responses[name] for name in sorted(responses) if _is_used(name, paths)},
            "parameters": _PARAMETERS,
            "headers": HEADERS,
            "securitySchemes": _SECURITY,
        },
    }


def text() -> str:
    """Return the document as it is committed."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = ArgumentParser(prog="openapi", description="Write the API's document, or check that it is current.")
    parser.add_argument("--write", action="store_true", help="write it anew (the default)")
    parser.add_argument("--check", action="store_true", help="only tell whether it is current")
    if not parser.parse_args(arguments).check:
        DOCUMENT.write_text(text(), "utf-8")
    elif DOCUMENT.read_text("utf-8") != text():
        sys.stderr.write(f"{DOCUMENT.name} is not current: run `make openapi`.\n")
        return 1
    return 0


def _is_used(response: str, paths: Json) -> bool:
    wanted = {"$ref": f"#/components/responses/{response}"}
    return any(wanted in op["responses"].values() for item in paths.values() for op in item.values())


if __name__ == "__main__":
    sys.exit(main())
