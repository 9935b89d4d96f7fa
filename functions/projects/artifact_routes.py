"""Routes of artifacts, and of their uploads by presigned URL."""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from functions.projects.paths import ARTIFACT, address_of, caller_of
from shared.http.answers import bytes_answer, empty_answer, json_answer
from shared.http.routing import new_router, request_of
from shared.kernel.preconditions import Preconditions, range_of
from shared.projects.artifacts import DEFAULT_TYPE
from shared.projects.models import ARTIFACT_BYTES, content_type_of, upload_id_of, upload_request

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.aws.items import Item
    from shared.http.request import Request
    from shared.projects.artifacts import Artifacts
    from shared.projects.uploads import Uploads

BODY_BYTES = 4096


def artifact_routes(artifacts: Artifacts, direct_bytes: int) -> Router:
    """Return the routes that store, describe and download an artifact.

    Bodies above `direct_bytes` do not fit through the gateway: they go by presigned URL, both ways.
    """
    router = new_router()
    limit = min(direct_bytes, ARTIFACT_BYTES)
    hint = "" if limit == ARTIFACT_BYTES else " Up to 50 MiB go by POST …/artifacts/{name}/upload."

    @router.put(ARTIFACT)
    def put_artifact(task_id: str, turn: str, name: str) -> Response[Any]:
        request = request_of(router)
        address = address_of(request, task_id, turn, name=name)
        body = request.body_within(limit, hint)
        kind = content_type_of(request.headers.get("content-type") or DEFAULT_TYPE)
        principal, conditions = caller_of(request).principal, Preconditions.of(request.headers)
        record, etag = artifacts.put(address, principal, body, content_type=kind, preconditions=conditions)
        return json_answer(record, ETag=etag)

    @router.get(ARTIFACT)
    def read_artifact(task_id: str, turn: str, name: str) -> Response[Any]:
        request = request_of(router)
        address = address_of(request, task_id, turn, name=name)
        row = artifacts.find(address)
        if Preconditions.of(request.headers).not_modified(row["etag"]):
            return empty_answer(304, ETag=row["etag"])
        if _size_wanted(request, row) > direct_bytes:
            return empty_answer(302, Location=artifacts.download_url(row), ETag=row["etag"])
        row, span, body = artifacts.read(address, row, lambda seen: _span(request, seen))
        where = {"Content_Range": f"bytes {span[0]}-{span[1]}/{row['size']}"} if span else {}
        return bytes_answer(body, row["content_type"], 206 if span else 200, **_headers(row), **where)

    @router.route(ARTIFACT, method="HEAD")
    def describe_artifact(task_id: str, turn: str, name: str) -> Response[Any]:
        request = request_of(router)
        row = artifacts.find(address_of(request, task_id, turn, name=name))
        if Preconditions.of(request.headers).not_modified(row["etag"]):
            return empty_answer(304, ETag=row["etag"])
        known = {"Content_Type": row["content_type"], "Content_Length": str(row["size"])}
        return empty_answer(200, **known, **_headers(row))

    return router


def upload_routes(uploads: Uploads) -> Router:
    """Return the routes that start and complete an upload by presigned URL."""
    router = new_router()

    @router.post(f"{ARTIFACT}/upload")
    def start_upload(task_id: str, turn: str, name: str) -> Response[Any]:
        request = request_of(router)
        address = address_of(request, task_id, turn, name=name)
        return json_answer(uploads.start(address, upload_request(request.json_within(BODY_BYTES))))

    @router.post(f"{ARTIFACT}/complete")
    def complete_upload(task_id: str, turn: str, name: str) -> Response[Any]:
        request = request_of(router)
        address = address_of(request, task_id, turn, name=name)
        upload_id = upload_id_of(request.json_within(BODY_BYTES))
        principal, conditions = caller_of(request).principal, Preconditions.of(request.headers)
        record, etag = uploads.complete(address, principal, upload_id, preconditions=conditions)
        return json_answer(record, ETag=etag)

    return router


def _span(request: Request, row: Item) -> tuple[int, int] | None:
    return range_of(request.headers, row["size"], row["etag"])


def _size_wanted(request: Request, row: Item) -> int:
    span = _span(request, row)
    return span[1] - span[0] + 1 if span else row["size"]


def _headers(row: Item) -> dict[str, str]:
    """Return what every answer about an artifact carries: a browser must neither guess its type nor run it."""
    return {
        "ETag": row["etag"],
        "Accept_Ranges": "bytes",
        "X_Content_Type_Options": "nosniff",
        "Content_Disposition": "attachment",
        "Last_Modified": formatdate(row["updated_at"] // 1000, usegmt=True),
    }
