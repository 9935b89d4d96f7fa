"""Files, described (contract, "Files")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from functions.memories.add_schemas import COUNT, TEXT, TEXT_OR_NULL, TIME, USER_ID, UUID, envelope
from functions.memories.describing import EVERY_ERROR, REPORT, TAG, told
from functions.memories.file_routes import FILES
from functions.memories.filenames import FILE_NAME_CHARACTERS
from functions.memories.reading_schemas import CURSOR
from shared.http.openapi import answer, array, operation, parameter, record, ref, typed

if TYPE_CHECKING:
    from shared.http.openapi import Json

FILE: Final = f"{FILES}/{{file_id}}"

_ID = parameter("path", "file_id", UUID)
_OF_USER = parameter("query", "user_id", typed("string", minLength=1), "404 unless it is this user's")
_USER = {**parameter("query", "user_id", typed("string", minLength=1)), "required": True}
_LIMIT = parameter("query", "limit", typed("integer", minimum=1, maximum=100, default=50))
_CURSOR = parameter("query", "cursor", TEXT, "The `next_cursor` of the page before")
_IF_NONE_MATCH = parameter("header", "If-None-Match", TEXT, "304 if this is still its ETag")
_RANGE = parameter("header", "Range", TEXT, "`bytes=0-99`: one range of bytes")
_IF_RANGE = parameter("header", "If-Range", TEXT, "Heed `Range` only if this is still its ETag")

_BYTES: Json = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
_HEADERS = ("ETag", "Accept-Ranges", "Last-Modified", "Content-Disposition", "X-Content-Type-Options")
_UNCHANGED = answer("As the caller has it", headers=("ETag",))
_ON_ONE = (*EVERY_ERROR, 404)

_SHA256 = typed("string", "null", pattern="^[0-9a-f]{64}$", description="In hex, small letters")

SCHEMAS: dict[str, Json] = {
    "FileAnnouncement": record(
        {
            "user_id": USER_ID,
            "filename": typed(
                "string",
                maxLength=FILE_NAME_CHARACTERS,
                description="With the extension of a document or of an image, without folders",
            ),
            "size": typed("integer", minimum=1, description="Bytes; over the limit is 413"),
        },
        {"sha256": _SHA256},
    ),
    "FileUpload": envelope(
        record(
            {
                "id": UUID,
                "status": typed("string", const="pending"),
                "upload": record(
                    {
                        "method": typed("string", const="PUT"),
                        "url": typed("string", description="Takes the bytes once, for 15 minutes"),
                        "headers": typed(
                            "object", additionalProperties=TEXT, description="To be sent as they are with the bytes"
                        ),
                        "expires_at": TIME,
                    }
                ),
            }
        )
    ),
    "File": record(
        {
            "id": UUID,
            "user_id": TEXT,
            "filename": TEXT_OR_NULL,
            "size": COUNT,
            "media_type": TEXT,
            "sha256": _SHA256,
            "status": typed("string", enum=["pending", "ready"]),
            "created_at": TIME,
            "document_id": typed(
                "string",
                "null",
                format="uuid",
                description="The document that was made of it, to search in, but for images",
            ),
        }
    ),
    "FileAnswer": envelope(ref("File")),
    "FilePage": envelope(record({"data": array(ref("File")), "next_cursor": CURSOR})),
}


def filing() -> dict[str, dict[str, Json]]:
    """Return the descriptions by path and verb."""
    return {FILES: _files(), FILE: _file(), f"{FILE}/complete": _completing(), f"{FILE}/content": _content()}


def _files() -> dict[str, Json]:
    return {
        "get": told(
            "list_files",
            "A user's files, the newest first",
            *(_USER, _LIMIT, _CURSOR),
            errors=EVERY_ERROR,
            answers={"200": "FilePage"},
        ),
        "post": told(
            "start_file",
            "Announce a file, and get a URL that takes its bytes",
            body="FileAnnouncement",
            errors=(*EVERY_ERROR, 413, 415),
            answers={"200": "FileUpload"},
        ),
    }


def _file() -> dict[str, Json]:
    return {
        "get": told("get_file", "One file", _ID, _OF_USER, errors=_ON_ONE, answers={"200": "FileAnswer"}),
        "delete": told(
            "delete_file",
            "Delete a file and what was made of it: out of sight at once, removed soon after",
            *(_ID, _OF_USER),
            errors=(*_ON_ONE, 409),
            answers={"202": "ErasureAccepted"},
        ),
    }


def _completing() -> dict[str, Json]:
    return {
        "post": told(
            "complete_file",
            "Make a file ready whose bytes have come; repeating it answers the same",
            *(_ID, _OF_USER),
            errors=(*_ON_ONE, 409),
            answers={"200": "FileAnswer"},
        )
    }


def _content() -> dict[str, Json]:
    return {
        "get": _operation(
            ("read_file", "Download a file"),
            *(_ID, _OF_USER, _IF_NONE_MATCH, _RANGE, _IF_RANGE),
            errors=(*_ON_ONE, 409, 416),
            _200=answer("Its bytes", _BYTES, headers=_HEADERS),
            _206=answer("A range of them", _BYTES, headers=(*_HEADERS, "Content-Range")),
            _302=answer("They are too many to go through the gateway", headers=("ETag", "Location")),
            _304=_UNCHANGED,
        ),
        "head": _operation(
            ("describe_file", "What GET would answer, without the bytes"),
            *(_ID, _OF_USER, _IF_NONE_MATCH),
            errors=(*_ON_ONE, 409),
            _200=answer("It is there", headers=_HEADERS),
            _304=_UNCHANGED,
        ),
    }


def _operation(name: tuple[str, str], *parameters: Json, errors: tuple[int, ...], **answers: Any) -> Json:
    responses = {status.lstrip("_"): shown for status, shown in answers.items()} | REPORT.refer(errors)
    return operation(name, *parameters, tag=TAG, responses=responses)
