"""Routes of files: announce, complete, list, read, download, delete (contract, "Files")."""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING, Any, Final

from functions.memories.add_routes import admitted
from functions.memories.answers import success
from functions.memories.file_body import upload_wish
from functions.memories.limits import Limits
from functions.memories.memory_routes import limit_in, user_in
from shared.http.answers import bytes_answer, empty_answer
from shared.http.routing import new_router, request_of
from shared.kernel.disposition import attachment
from shared.kernel.preconditions import Preconditions, range_of
from shared.memories.files.contents import Contents, etag_of
from shared.memories.files.deleting import Deleting
from shared.memories.files.listing import FileListWish, Files
from shared.memories.files.uploads import Uploads

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response
    from aws_lambda_powertools.event_handler.api_gateway import Router

    from shared.aws.items import Item
    from shared.http.request import Request
    from shared.kernel.scope import Scope
    from shared.wiring.memories import Memories

FILES: Final = "/v1/files"
FILE: Final = f"{FILES}/<file_id>"
CONTENT: Final = f"{FILE}/content"
BODY_BYTES: Final = 16 << 10


def file_routes(composed: Memories) -> Router:
    """Return the routes; bodies above what fits through the gateway go by presigned URL, both ways."""
    router = new_router()
    _add_reads(router, composed)
    _add_contents(router, composed)
    _add_writes(router, composed)
    return router


def _add_reads(router: Router, composed: Memories) -> None:
    @router.get(FILES)
    def list_files() -> Response[Any]:
        request = request_of(router)
        wish = FileListWish(user_in(request), limit_in(request), request.query.get("cursor"))
        return success(request, Files(composed.backing).page(wish))

    @router.get(FILE)
    def get_file(file_id: str) -> Response[Any]:
        request = request_of(router)
        return success(request, Files(composed.backing).file(*_named(request, file_id)))


def _add_contents(router: Router, composed: Memories) -> None:
    direct_bytes = composed.environment.direct_body_bytes

    @router.get(CONTENT)
    def read_file(file_id: str) -> Response[Any]:
        request, contents = request_of(router), Contents(composed.backing)
        named = _named(request, file_id)
        row = contents.find(*named)
        etag = etag_of(row)
        if Preconditions.of(request.headers).not_modified(etag):
            return empty_answer(304, ETag=etag)
        span = range_of(request.headers, row["size"], etag)
        if (span[1] - span[0] + 1 if span else row["size"]) > direct_bytes:
            return empty_answer(302, Location=contents.url(row), ETag=etag)
        body = contents.read(row, span, lambda: contents.find(*named))
        where = {"Content_Range": f"bytes {span[0]}-{span[1]}/{row['size']}"} if span else {}
        return bytes_answer(body, row["media_type"], 206 if span else 200, **_headers(row), **where)

    @router.route(CONTENT, method="HEAD")
    def describe_file(file_id: str) -> Response[Any]:
        request = request_of(router)
        row = Contents(composed.backing).find(*_named(request, file_id))
        if Preconditions.of(request.headers).not_modified(etag_of(row)):
            return empty_answer(304, ETag=etag_of(row))
        known = {"Content_Type": row["media_type"], "Content_Length": str(row["size"])}
        return empty_answer(200, **known, **_headers(row))


def _add_writes(router: Router, composed: Memories) -> None:
    limits = Limits.of(composed.environ)

    @router.post(FILES)
    def start_file() -> Response[Any]:
        request = request_of(router)
        wish = upload_wish(request.json_within(BODY_BYTES), admitted(request).scope, limits)
        return success(request, Uploads(composed.backing).start(wish))

    @router.post(f"{FILE}/complete")
    def complete_file(file_id: str) -> Response[Any]:
        request = request_of(router)
        return success(request, Uploads(composed.backing).complete(*_named(request, file_id)))

    @router.delete(FILE)
    def delete_file(file_id: str) -> Response[Any]:
        request = request_of(router)
        told = Deleting(composed.backing).delete(*_named(request, file_id), correlation_id=request.correlation_id)
        return success(request, told, 202)


def _named(request: Request, file_id: str) -> tuple[Scope, str, str | None]:
    """Return which file is meant: its project, its id, and the user that it must be of where the query names one."""
    user_id = user_in(request).user_id if "user_id" in request.query else None
    return admitted(request).scope, file_id.lower(), user_id


def _headers(row: Item) -> dict[str, str]:
    """Return what every answer about a file's bytes carries: a browser must neither guess its type nor run it."""
    return {
        "ETag": etag_of(row),
        "Accept_Ranges": "bytes",
        "X_Content_Type_Options": "nosniff",
        "Content_Disposition": attachment(row["filename"]),
        "Last_Modified": formatdate(row["created_at"] // 1000, usegmt=True),
    }
