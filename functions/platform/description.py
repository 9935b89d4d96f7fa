"""The platform surface, described (contract "platform", Endpoints)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.platform.models import MOST_PER_MINUTE, MOST_PER_MONTH
from shared.http.openapi import (
    ENVELOPE,
    ENVELOPE_SCHEMAS,
    NAME_PATTERN,
    Description,
    answer,
    array,
    json_body,
    json_content,
    ok,
    operation,
    parameter,
    parameter_ref,
    record,
    ref,
    typed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.http.openapi import Json

TAG = "Platform"
_EVERY_ERROR = (400, 401, 403, 405, 429, 503)
_BODY_ERRORS = (*_EVERY_ERROR, 413, 415)

_TEXT, _TEXT_OR_NULL, _INTEGER = typed("string"), typed("string", "null"), typed("integer")
_NAME, _NAME_OR_NULL = (
    typed("string", pattern=NAME_PATTERN),
    typed("string", "null", pattern=NAME_PATTERN),
)
_ROLE = typed("string", enum=["member", "project_admin", "tenant_admin", "operator"])
_PERMISSION = typed("string", enum=["read", "write"])
_PER_MINUTE = typed("integer", "null", minimum=1, maximum=MOST_PER_MINUTE)
_PER_MONTH = typed("integer", "null", minimum=0, maximum=MOST_PER_MONTH)
_TIME, _TIME_OR_NULL = typed("string", format="date-time"), typed("string", "null", format="date-time")
_STATUS = typed("string", enum=["ok", "unavailable"])
_COUNTS = typed("object", additionalProperties=_INTEGER)

_KEY_FIELDS: dict[str, Json] = {
    "type": typed("string", const="api_key"),
    "id": _TEXT,
    "name": _TEXT,
    "tenant_id": typed("string", "null", description="null only for an operator"),
    "project_id": typed("string", "null", description="null: any project of the tenant"),
    "role": _ROLE,
    "principal": typed("string", description="The name that what is written is owned under"),
    "permissions": array(_PERMISSION),
    "expires_at": _TIME_OR_NULL,
    "rate_limit_per_minute": typed("integer", "null"),
    "quotas": {"anyOf": [_COUNTS, {"type": "null"}]},
    "created_at": _TIME,
    "created_by": typed("string", "null", description="The id of the key that made it"),
    "last_used_at": typed("string", "null", format="date-time", description="To the hour, and approximate"),
    "revoked_at": _TIME_OR_NULL,
}

SCHEMAS: dict[str, Json] = {
    "NewApiKey": record(
        {"name": typed("string", minLength=1, maxLength=255), "role": _ROLE},
        {
            "tenant_id": typed(
                "string",
                "null",
                pattern=NAME_PATTERN,
                description="An operator must give it; others have only their own",
            ),
            "project_id": typed(
                "string", "null", pattern=NAME_PATTERN, description="Left out: that of the key that makes it"
            ),
            "principal": typed("string", "null", minLength=1, maxLength=255, pattern=r"^[^\x00-\x1f\x7f]+$"),
            "permissions": array(_PERMISSION, minItems=1, maxItems=16, default=["read", "write"]),
            "expires_at": typed("string", "null", format="date-time", description="RFC 3339, and to come"),
            "rate_limit_per_minute": _PER_MINUTE,
            "quotas": {"anyOf": [ref("KeyQuotas"), {"type": "null"}]},
        },
        additionalProperties=False,
    ),
    "KeyQuotas": record(
        {},
        {"memory_write": _PER_MONTH, "memory_search": _PER_MONTH},
        additionalProperties=False,
        description="Calls a calendar month (UTC); null or left out: no quota",
    ),
    "ApiKey": record(_KEY_FIELDS),
    "ApiKeyWithSecret": record({**_KEY_FIELDS, "key": typed("string", description="The secret, shown only now")}),
    "ApiKeyList": record({"data": array(ref("ApiKey")), "next_page": _TEXT_OR_NULL}),
    "ApiKeyRevoked": record({"id": _TEXT, "type": typed("string", const="api_key_revoked")}),
    "ProjectChange": record(
        {},
        {"retention_days": typed("integer", enum=[7, 30, 90, 365]), "rate_limit_per_minute": _PER_MINUTE},
        additionalProperties=False,
        description="What is left out stays as it is",
    ),
    "Project": record(
        {
            "type": typed("string", const="project"),
            "id": _TEXT,
            "retention_days": _INTEGER,
            "rate_limit_per_minute": typed("integer", "null"),
            "updated_at": _TIME_OR_NULL,
        }
    ),
    "QuotaBalance": record(
        {"api_key_id": _TEXT, "quota": _TEXT, "limit": _INTEGER, "used": _INTEGER, "reserved": _INTEGER}
    ),
    "ProjectUsage": record(
        {
            "project_id": _TEXT,
            "stored": typed("object", additionalProperties=_COUNTS, description="Bytes and counts by surface"),
            "requests": typed("object", additionalProperties=_INTEGER, description="Of this month, by surface"),
            "quotas": array(ref("QuotaBalance"), description="Of the keys bound to this project"),
        }
    ),
    "Usage": record(
        {
            "type": typed("string", const="usage"),
            "tenant_id": _TEXT,
            "month": typed("string", pattern="^[0-9]{4}-[0-9]{2}$"),
            "data": array(ref("ProjectUsage")),
            "quotas": array(ref("QuotaBalance"), description="Of keys bound to no project"),
            "next_page": _TEXT_OR_NULL,
        }
    ),
    "Health": record({"status": typed("string", const="ok"), "version": _TEXT}),
    "Readiness": record({"status": _STATUS, "dependencies": array(record({"name": _TEXT, "status": _STATUS}))}),
    **ENVELOPE_SCHEMAS,
}


def _operation(
    name: str, summary: str, *parameters: Json, errors: Iterable[int], body: Json | None = None, success: Json
) -> Json:
    responses = {"200": success} | ENVELOPE.refer(errors)
    return operation((name, summary), *parameters, tag=TAG, body=body, responses=responses)


def _open(name: str, summary: str, **answers: Json) -> Json:
    """Describe an operation that needs no key."""
    told = {status.lstrip("_"): one for status, one in answers.items()}
    common = {"tags": [TAG], "security": [], "parameters": [parameter_ref("CorrelationId")]}
    return {"operationId": name, "summary": summary, **common, "responses": told | ENVELOPE.refer([405])}


_PAGE = parameter("query", "page", _TEXT, "The `next_page` of the page before")
_LIMIT = parameter("query", "limit", typed("integer", minimum=1, maximum=100, default=20))
_REVOKED = parameter("query", "include_revoked", typed("boolean", default=False))
_KEY_ID = parameter("path", "key_id", _TEXT)
_PROJECT_ID = parameter("path", "project_id", _NAME)


def _keys() -> dict[str, dict[str, Json]]:
    return {
        "/v1/api_keys": {
            "post": _operation(
                "create_api_key",
                "Make a key (project_admin and above, of its own rank or below)",
                body=json_body(ref("NewApiKey")),
                errors=(*_BODY_ERRORS, 409),
                success=ok("ApiKeyWithSecret", "Cache-Control"),
            ),
            "get": _operation(
                "list_api_keys",
                "List keys, by project and age",
                _LIMIT,
                _PAGE,
                _REVOKED,
                errors=_EVERY_ERROR,
                success=ok("ApiKeyList"),
            ),
        },
        "/v1/api_keys/{key_id}": {
            "get": _operation(
                "read_api_key", "One key's record", _KEY_ID, errors=(*_EVERY_ERROR, 404), success=ok("ApiKey")
            ),
            "delete": _operation(
                "revoke_api_key",
                "Revoke a key: refused everywhere within 60 s",
                _KEY_ID,
                errors=(*_EVERY_ERROR, 404, 409),
                success=ok("ApiKeyRevoked"),
            ),
        },
    }


def _projects() -> dict[str, dict[str, Json]]:
    return {
        "/v1/projects/{project_id}": {
            "get": _operation(
                "read_project", "A project's settings", _PROJECT_ID, errors=(*_EVERY_ERROR, 404), success=ok("Project")
            ),
            "put": _operation(
                "put_project",
                "Set a project's settings (project_admin and above); what is left out stays",
                _PROJECT_ID,
                body=json_body(ref("ProjectChange")),
                errors=(*_BODY_ERRORS, 404, 409),
                success=ok("Project"),
            ),
        },
        "/v1/usage": {
            "get": _operation(
                "read_usage",
                "What is stored, asked and left of quotas, by project; approximate, a minute old",
                _LIMIT,
                _PAGE,
                errors=_EVERY_ERROR,
                success=ok("Usage"),
            )
        },
    }


def _status() -> dict[str, dict[str, Json]]:
    def document(kind: str, schema: Json) -> dict[str, Any]:
        return answer("The document", {kind: {"schema": schema}}, headers=("Cache-Control",))

    unready = answer("Some do not", json_content(ref("Readiness")), headers=("Cache-Control",))
    return {
        "/health": {"get": _open("health", "Whether it runs", _200=ok("Health", "Cache-Control"))},
        "/ready": {
            "get": _open(
                "ready", "Whether what it rests on answers", _200=ok("Readiness", "Cache-Control"), _503=unready
            )
        },
        "/openapi.json": {
            "get": _open("openapi_json", "This document", _200=document("application/json", typed("object")))
        },
        "/openapi.yaml": {"get": _open("openapi_yaml", "This document", _200=document("application/yaml", {}))},
        "/docs": {"get": _open("docs", "A page to read this document", _200=document("text/html", _TEXT))},
    }


DESCRIPTION = Description(TAG, {**_keys(), **_projects(), **_status()}, SCHEMAS, ENVELOPE)
