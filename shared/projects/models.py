"""The shapes that project memory takes in, as its seed document gives them; types are strict.

They are checked by a table and not by pydantic, whose import alone would cost this function's cold
start more than a third (see `docs/decisions/0006-no-pydantic-on-the-hot-path.md`); messages and `type`s are pydantic's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from shared.kernel.errors import InvalidInput, TooLarge, Violation
from shared.kernel.strict_json import compact

SUMMARY_BYTES = 1 << 20
META_BYTES = 256 << 10
ARTIFACT_BYTES = 50 << 20
ARTIFACTS_A_TURN = 1000

_NAMES = {str: "a valid string", int: "a valid integer", float: "a valid number", dict: "an object", type(None): "null"}
_TYPES = {str: "string_type", int: "int_type", float: "float_type", dict: "dict_type"}

Kinds = tuple[type, ...]
_TEXT: Kinds = (str, type(None))
_MOMENT: Kinds = (str, float, type(None))

TURN_META: dict[str, Kinds] = {
    "agent_id": _TEXT,
    "model": _TEXT,
    "job_id": _TEXT,
    "sandbox_id": _TEXT,
    "commit": _TEXT,
    "exit_code": (int, type(None)),
    "started_at": _MOMENT,
    "ended_at": _MOMENT,
    "tokens": (int, dict, type(None)),
    "cost": (float, dict, type(None)),
    "claude_session_id": _TEXT,
}
"""The seed's TurnMeta: every field is optional, unknown keys are kept."""
PUT_TURN: dict[str, Kinds] = {"meta": (dict,), "summary_md": (str,)}
UPLOAD: dict[str, Kinds] = {"size": (int,), "content_type": _TEXT, "sha256": _TEXT}
COMPLETE: dict[str, Kinds] = {"upload_id": (str,)}


@dataclass(frozen=True)
class UploadRequest:
    """The artifact that a presigned upload will bring: bytes, content type, SHA-256 in lower-case hex."""

    size: int
    content_type: str | None
    sha256: str | None


def turn_body(body: Any) -> dict[str, Any]:
    """Return the body of a PUT or PATCH of a turn, exactly as it came.

    Raises:
        InvalidInput: lists each field with its rule, `loc` starting at `body`.
    """
    checked = _object(body)
    meta = checked.get("meta")
    broken = _broken(checked, PUT_TURN, ("body",))
    if isinstance(meta, dict):
        broken += _broken(meta, TURN_META, ("body", "meta"))
    if broken:
        raise InvalidInput(*broken)
    return checked


def upload_request(body: Any) -> UploadRequest:
    """Return what an upload announces.

    Raises:
        TooLarge: more than 50 MiB.
        InvalidInput: another rule is broken.
    """
    checked = _checked(body, UPLOAD, required="size")
    kind, digest, size = checked.get("content_type"), checked.get("sha256"), checked["size"]
    if size > ARTIFACT_BYTES:
        raise TooLarge(f"An artifact has at most {ARTIFACT_BYTES} bytes.")
    if size < 0:
        raise _refused("size", "Input should be greater than or equal to 0", "greater_than_equal", value=size)
    if kind is not None and not _PRINTABLE.fullmatch(kind):
        raise _refused("content_type", f"String should match pattern '{_PRINTABLE.pattern}'", _PATTERN, value=kind)
    if digest is not None and not _SHA256.fullmatch(digest):
        raise _refused("sha256", f"String should match pattern '{_SHA256.pattern}'", _PATTERN, value=digest)
    return UploadRequest(size, kind, digest)


def upload_id_of(body: Any) -> str:
    """Return the upload that a body names, or raise InvalidInput."""
    text: str = _checked(body, COMPLETE, required="upload_id")["upload_id"]
    return text


def checked_meta(meta: dict[str, Any]) -> dict[str, Any]:
    """Return a turn's meta.

    Raises:
        TooLarge: over 256 KiB as compact UTF-8 JSON.
    """
    if len(compact(meta).encode()) > META_BYTES:
        raise TooLarge(f"meta is over {META_BYTES} bytes of compact JSON.")
    return meta


def checked_summary(summary: str) -> str:
    """Return a summary.

    Raises:
        TooLarge: over 1 MiB of UTF-8.
    """
    if len(summary) > SUMMARY_BYTES or len(summary.encode()) > SUMMARY_BYTES:
        raise TooLarge(f"summary_md is over {SUMMARY_BYTES} bytes of UTF-8.")
    return summary


def content_type_of(text: str) -> str:
    """Return a Content-Type header's value, verbatim, or raise InvalidInput at `header.content-type`.

    Only ASCII: what else a header may hold does not come back alike through every gateway.
    """
    if _PRINTABLE.fullmatch(text):
        return text
    rule = f"String should match pattern '{_PRINTABLE.pattern}'"
    raise InvalidInput.at("header", "content-type", message=rule, type_=_PATTERN, value=text[:200])


_PATTERN = "string_pattern_mismatch"
_PRINTABLE = re.compile(r"[\x20-\x7e]{1,255}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TASK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_ARTIFACT = re.compile(r"[A-Za-z0-9._-]{1,128}")
_TURN = re.compile(r"0*([0-9]{1,4})")


def task_id_of(text: str) -> str:
    """Return a task id, or raise InvalidInput at `path.task_id`."""
    return _matching(_TASK_ID, "task_id", text)


def artifact_name_of(text: str) -> str:
    """Return an artifact name (not `.` or `..`), or raise InvalidInput at `path.name`."""
    if text in {".", ".."}:
        raise _mismatch("name", r"[A-Za-z0-9._-]{1,128}, but not . or ..", text)
    return _matching(_ARTIFACT, "name", text)


def turn_of(text: str) -> int:
    """Return a turn number 0 to 9999 (`7`, `07` and `0007` are one), or raise InvalidInput at `path.turn`."""
    if len(text) <= 20 and text.isascii() and (found := _TURN.fullmatch(text)):
        return int(found[1])
    raise InvalidInput.at(
        "path", "turn", message="Input should be an integer from 0 to 9999", type_="int_parsing", value=text[:200]
    )


def _matching(pattern: re.Pattern[str], name: str, text: str) -> str:
    if pattern.fullmatch(text):
        return text
    raise _mismatch(name, pattern.pattern, text)


def _mismatch(name: str, rule: str, text: str) -> InvalidInput:
    message = f"String should match pattern '{rule}'"
    return InvalidInput.at("path", name, message=message, type_=_PATTERN, value=text[:200])


def _checked(body: Any, fields: dict[str, Kinds], *, required: str) -> dict[str, Any]:
    checked = _object(body)
    if required not in checked:
        raise InvalidInput.at("body", required, message="Field required", type_="missing")
    if broken := _broken(checked, fields, ("body",)):
        raise InvalidInput(*broken)
    return checked


def _object(body: Any) -> dict[str, Any]:
    if isinstance(body, dict):
        return body
    raise InvalidInput.at("body", message="Input should be an object", type_="dict_type", value=body)


def _broken(given: dict[str, Any], fields: dict[str, Kinds], loc: tuple[str, ...]) -> list[Violation]:
    """Return what is not of exactly its types: `true` is no number, `"1"` no integer, `1.5` neither."""
    return [
        Violation(
            (*loc, name), f"Input should be {' or '.join(_NAMES[k] for k in kinds)}", _TYPES[kinds[0]], given[name]
        )
        for name, kinds in fields.items()
        if name in given and not _is_one_of(given[name], kinds)
    ]


def _is_one_of(value: Any, kinds: Kinds) -> bool:
    return type(value) in kinds or (type(value) is int and float in kinds)


def _refused(field: str, message: str, kind: str, *, value: Any) -> InvalidInput:
    return InvalidInput.at("body", field, message=message, type_=kind, value=value)
