"""Routes of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.stores.asking import STORE, Asked
from shared.http.answers import json_answer
from shared.http.routing import new_router, request_of
from shared.stores.models import check_nothing
from shared.stores.records import ACTOR_IDS
from shared.stores.versions import VersionList

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.stores.versions import Versions

VERSIONS = f"{STORE}/memory_versions"
VERSION = f"{VERSIONS}/<memory_version_id>"
OPERATIONS = ("created", "modified", "deleted")


def version_routes(versions: Versions) -> Router:
    """Return the routes of versions."""
    router = new_router()

    @router.get(VERSIONS)
    def list_versions(memory_store_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        wanted = _version_list_of(asked)
        return json_answer(versions.page(asked.store(memory_store_id), wanted).view())

    @router.get(VERSION)
    def retrieve_version(memory_store_id: str, memory_version_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        full, named = asked.full("full"), memory_version_id
        return json_answer(versions.retrieve(asked.store(memory_store_id), named, full=full))

    @router.post(f"{VERSION}/redact")
    def redact_version(memory_store_id: str, memory_version_id: str) -> Response[Any]:
        asked = Asked.of(request_of(router))
        check_nothing(asked.body())
        address, named = asked.store(memory_store_id), memory_version_id
        return json_answer(versions.redact(address, named, asked.actor))

    return router


def _version_list_of(asked: Asked) -> VersionList:
    full = asked.full("basic")
    named = ((kind, asked.text(name)) for kind, name in ACTOR_IDS.items())
    return VersionList(
        asked.limit(full=full),
        asked.text("page"),
        asked.moments(),
        memory_id=asked.text("memory_id"),
        operation=asked.choice("operation", OPERATIONS),
        actors=tuple((kind, name) for kind, name in named if name is not None),
        full=full,
    )
