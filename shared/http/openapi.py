"""Words in which a surface describes its operations (OpenAPI 3.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Json = dict[str, Any]

NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
HEADERS: dict[str, Json] = {
    "request-id": {"description": "The request's own id.", "schema": {"type": "string"}},
    "x-correlation-id": {"description": "As sent, or made here.", "schema": {"type": "string"}},
    "ETag": {"description": "The state of what is answered.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {"description": "`Bearer`.", "schema": {"type": "string"}},
    "Allow": {"description": "The verbs that this path has.", "schema": {"type": "string"}},
    "Content-Range": {"description": "The range, and the size of the whole.", "schema": {"type": "string"}},
    "Location": {"description": "Where the bytes are: a URL for five minutes.", "schema": {"type": "string"}},
    "Accept-Ranges": {"description": "`bytes`.", "schema": {"type": "string"}},
    "Last-Modified": {"description": "When it was written.", "schema": {"type": "string"}},
    "Content-Disposition": {"description": "`attachment`.", "schema": {"type": "string"}},
    "X-Content-Type-Options": {"description": "`nosniff`.", "schema": {"type": "string"}},
    "Cache-Control": {"description": "How long it may be kept.", "schema": {"type": "string"}},
}
EVERY_ANSWER = ("request-id", "x-correlation-id")
MEANINGS: dict[int, tuple[str, tuple[str, ...]]] = {
    400: ("A rule of the request is broken; nothing was changed.", ()),
    401: ("No key, or one that is unknown, expired or revoked.", ("WWW-Authenticate",)),
    403: ("The key may not do this, or not there.", ()),
    404: ("It does not exist, or not where this key can see it.", ()),
    405: ("The path exists, but not with this verb.", ("Allow",)),
    409: ("The state forbids it, or others kept changing it at the same time.", ()),
    412: ("A condition of the request does not hold.", ()),
    413: ("A part of the request is too large.", ()),
    415: ("The body is of a type that this operation does not read.", ()),
    416: ("No byte of the range exists.", ("Content-Range",)),
    422: ("A rule of the request is broken; nothing was changed.", ()),
    429: ("The requests of this minute, or the calls of this month, are used up.", ("Retry-After",)),
    503: ("Something that this rests on does not answer; nothing was lost.", ("Retry-After",)),
}


@dataclass(frozen=True)
class Description:
    """What one surface adds to the document: its paths and the schemas that they name."""

    tag: str
    paths: Mapping[str, Mapping[str, Json]]
    schemas: Mapping[str, Json]
    errors: ErrorStyle


@dataclass(frozen=True)
class ErrorStyle:
    """How a surface says errors: the name of its style, the schema of most, and of some statuses another one."""

    name: str
    schema: str
    others: Mapping[int, str] = field(default_factory=dict)

    def refer(self, statuses: Iterable[int]) -> Json:
        """Return the responses of an operation's errors."""
        return {str(status): {"$ref": f"#/components/responses/{self.name}{status}"} for status in sorted(statuses)}

    def components(self) -> Json:
        """Return the responses that `refer` refers to."""
        made = {}
        for status, (meaning, headers) in MEANINGS.items():
            content = json_content(ref(self.others.get(status, self.schema)))
            made[f"{self.name}{status}"] = answer(meaning, content, headers=headers)
        return made


def ref(schema: str) -> Json:
    """Refer to a schema by its name."""
    return {"$ref": f"#/components/schemas/{schema}"}


def parameter_ref(name: str) -> Json:
    """Refer to a parameter of the document by its name."""
    return {"$ref": f"#/components/parameters/{name}"}


def record(required: Mapping[str, Json], optional: Mapping[str, Json] | None = None, **rules: Any) -> Json:
    """Return the schema of an object with these fields."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required), **rules}


def array(items: Json, **rules: Any) -> Json:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **rules}


def typed(*kinds: str, **rules: Any) -> Json:
    """Return the schema of a value of one of these types."""
    return {"type": kinds[0] if len(kinds) == 1 else list(kinds), **rules}


def json_content(schema: Json) -> Json:
    """Return the content of a JSON body."""
    return {"application/json": {"schema": schema}}


def json_body(schema: Json) -> Json:
    """Return a request body of JSON, which has to be there."""
    return {"required": True, "content": json_content(schema)}


def answer(description: str, content: Json | None = None, *, headers: Iterable[str] = ()) -> Json:
    """Return the description of one answer; every one has the request's two ids."""
    named = {name: {"$ref": f"#/components/headers/{name}"} for name in (*EVERY_ANSWER, *headers)}
    return {"description": description, "headers": named, **({"content": content} if content else {})}


def parameter(place: str, name: str, schema: Json, description: str = "") -> Json:
    """Return a parameter in the `path`, `query` or `header`; those in the path are required."""
    told = {"description": description} if description else {}
    return {"name": name, "in": place, "required": place == "path", **told, "schema": schema}


ENVELOPE = ErrorStyle("Envelope", "Error")
"""`shared.http.dialects.envelope`, described."""

ENVELOPE_SCHEMAS: dict[str, Json] = {
    "Error": record(
        {
            "type": typed("string", const="error"),
            "error": record({"type": typed("string"), "message": typed("string")}),
            "request_id": typed("string"),
        }
    )
}
COMMON_PARAMETERS = ("CorrelationId", "ProjectId", "TenantId", "WorkspaceId")


def operation(
    told: tuple[str, str], *parameters: Json, tag: str, body: Json | None = None, responses: Mapping[str, Json]
) -> Json:
    """Return the description of an operation that needs a key; `told` is its id and its summary."""
    return {
        "operationId": told[0],
        "summary": told[1],
        "tags": [tag],
        "parameters": [*parameters, *map(parameter_ref, COMMON_PARAMETERS)],
        **({"requestBody": body} if body else {}),
        "responses": dict(responses),
    }


def ok(schema: str, *headers: str) -> Json:
    """Return the description of a successful JSON answer."""
    return answer("Successful Response", json_content(ref(schema)), headers=headers)
