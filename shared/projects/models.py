"""The shapes that project memory takes in, as its seed document gives them; types are strict."""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr, ValidationError
from pydantic_core import PydanticCustomError

from shared.kernel.errors import InvalidInput, TooLarge, Violation
from shared.kernel.strict_json import compact

M = TypeVar("M", bound=BaseModel)

SUMMARY_BYTES = 1 << 20
META_BYTES = 256 << 10
ARTIFACT_BYTES = 50 << 20
ARTIFACTS_A_TURN = 1000
CONTENT_TYPE_CHARACTERS = 255

_NAMES = {str: "a string", int: "an integer", float: "a number", dict: "an object", type(None): "null"}


def _one_of(*kinds: type) -> BeforeValidator:
    """Accept values of exactly these JSON types: `true` is no number, `"1"` no integer, `1.5` neither."""
    wanted = " or ".join(_NAMES[kind] for kind in kinds)

    def check(value: Any) -> Any:
        if type(value) in kinds or (type(value) is int and float in kinds):
            return value
        raise PydanticCustomError("type_error", "Input should be {wanted}", {"wanted": wanted})

    return BeforeValidator(check)


_Text = Annotated[Any, _one_of(str, type(None))]
_Moment = Annotated[Any, _one_of(str, float, type(None))]


class TurnMeta(BaseModel):
    """Run metadata for one turn. Every field is optional; unknown keys are kept."""

    model_config = ConfigDict(extra="allow")

    agent_id: _Text = None
    model: _Text = None
    job_id: _Text = None
    sandbox_id: _Text = None
    commit: _Text = None
    exit_code: Annotated[Any, _one_of(int, type(None))] = None
    started_at: _Moment = None
    ended_at: _Moment = None
    tokens: Annotated[Any, _one_of(int, dict, type(None))] = None
    cost: Annotated[Any, _one_of(float, dict, type(None))] = None
    claude_session_id: _Text = None


class PutTurnRequest(BaseModel):
    """What a PUT replaces; what a PATCH gives is in `model_fields_set`."""

    meta: TurnMeta = Field(default_factory=TurnMeta)
    summary_md: StrictStr = ""


class UploadRequest(BaseModel):
    """The artifact that a presigned upload will bring: bytes, content type, SHA-256 in lower-case hex."""

    size: StrictInt = Field(ge=0, le=ARTIFACT_BYTES)
    content_type: StrictStr | None = Field(default=None, pattern=r"^[\x20-\x7e]{1,255}$")
    sha256: StrictStr | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")


class CompleteRequest(BaseModel):
    """The upload to make visible."""

    upload_id: StrictStr = Field(max_length=64)


def validated(model: type[M], body: Any) -> M:
    """Return `body` as a model.

    Raises:
        InvalidInput: lists each field with its rule, `loc` starting at `body`.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        raise InvalidInput(*[Violation(("body", *e["loc"]), e["msg"], e["type"], e["input"]) for e in found]) from None


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
    """Return a Content-Type header's value, verbatim, or raise InvalidInput at `header.content-type`."""
    if len(text) <= CONTENT_TYPE_CHARACTERS and text.isprintable():
        return text
    rule = f"String should have at most {CONTENT_TYPE_CHARACTERS} printable characters"
    raise InvalidInput.at("header", "content-type", message=rule, type_="string_too_long", value=text[:200])


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


def integer_of(query: dict[str, str], name: str, *, low: int, high: int, default: int) -> int:
    """Return an integer query parameter, or raise InvalidInput at `query.<name>`."""
    text = query.get(name)
    if text is None:
        return default
    if len(text) <= 12 and re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII) and low <= int(text) <= high:
        return int(text)
    raise InvalidInput.at(
        "query", name, message=f"Input should be an integer from {low} to {high}", type_="int_parsing", value=text[:200]
    )


def _matching(pattern: re.Pattern[str], name: str, text: str) -> str:
    if pattern.fullmatch(text):
        return text
    raise _mismatch(name, pattern.pattern, text)


def _mismatch(name: str, rule: str, text: str) -> InvalidInput:
    message = f"String should match pattern '{rule}'"
    return InvalidInput.at("path", name, message=message, type_="string_pattern_mismatch", value=text[:200])
