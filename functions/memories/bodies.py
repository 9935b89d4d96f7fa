"""The body of an Add, read against the seed's and the contract's rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from functions.memories.combinations import Combination
from functions.memories.fields import ID_CHARACTERS, NUL, Fields
from functions.memories.messages import messages_of
from functions.memories.references import References
from shared.kernel.errors import InvalidInput
from shared.kernel.strict_json import compact
from shared.memories.context import trimmed
from shared.memories.models import Add, ChunkPlace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from functions.memories.abilities import Abilities
    from functions.memories.limits import Limits
    from shared.memories.files.rows import Attachment

MODES = ("default", "raw", "pre_summarized")
CONTENT_TYPES = ("code", "work", "auto", "document", "dialogue")
LANGUAGES = ("zh", "en")
INSTRUCTIONS_CHARACTERS = 12_000
GROUP_CHARACTERS = 512
GROUP_PARTS = 10_000
IDEMPOTENCY_CHARACTERS = 255
LONGEST_WAIT_SECONDS = 20


@dataclass(frozen=True)
class AddBody:
    """What an Add asks for, and how its caller wants to be answered."""

    add: Add
    in_background: bool
    wait: int
    idempotency_key: str | None
    attachments: tuple[Attachment, ...]
    references: References


@dataclass(frozen=True)
class Deployed:
    """What a deployment allows and is able to, and the language that it writes where none is asked for."""

    limits: Limits
    abilities: Abilities
    language: str


def add_body(body: Any, headers: Mapping[str, str], deployed: Deployed) -> AddBody:
    """Return a checked Add.

    Raises:
        InvalidInput: names each field and its rule.
        TooLarge: over a limit.
    """
    limits, abilities = deployed.limits, deployed.abilities
    fields = Fields.of_body(body)
    messages = messages_of(fields, limits)
    add = replace(_add_of(fields, limits, deployed.language), messages=tuple(given.message for given in messages))
    in_background = fields.flag("async_mode", default=True)
    wait = fields.integer("wait", 0, LONGEST_WAIT_SECONDS, default=0)
    key = _idempotency_key(fields, headers, add.metadata)
    Combination(fields, messages, add, in_background).check(limits, abilities)
    attached = [each for given in messages for each in given.parts.attached]
    named = {each.attachment.n: each for each in attached if each.attachment.file_id}
    attachments = tuple(each.attachment for each in attached)
    return AddBody(add, in_background, wait or 0, key, attachments, References(named, limits, abilities))


def _add_of(fields: Fields, limits: Limits, language: str) -> Add:
    content_type = fields.choice("content_type", CONTENT_TYPES, "auto")
    return Add(
        user_id=fields.identifier("user_id", required=True) or "",
        messages=(),
        mode=cast("Any", fields.choice("mode", MODES, "default")),
        content_type=cast("Any", "auto" if content_type == "dialogue" else content_type),
        language=fields.choice("memory_output_language", LANGUAGES, language) or language,
        agent_id=_source_id(fields, "agent_id"),
        app_id=_source_id(fields, "app_id"),
        session_id=_source_id(fields, "session_id"),
        metadata=metadata_in(fields, limits) or {},
        at=fields.moment("timestamp"),
        add_only=fields.flag("add_only", default=False, nullable=True),
        instructions=_instructions_of(fields),
        chunk=_chunk_of(fields),
        context=context_of(fields),
    )


def _source_id(fields: Fields, name: str) -> str | None:
    """Return the id of an agent, application or session as it was written; a blank one is none."""
    if fields.identifier(name) is None:
        return None
    written: str = fields.given[name]
    if len(written) > ID_CHARACTERS:  # a row keeps it with its spaces, and filters compare it with them
        fields.refuse(name, f"String should have at most {ID_CHARACTERS} characters", "string_too_long")
    return written


def metadata_in(fields: Fields, limits: Limits) -> dict[str, Any] | None:
    """Return the metadata of a body, or None where it has none.

    Raises:
        TooLarge: over the limit.
    """
    given = fields.object("metadata", nullable=True)
    if given is None:
        return None
    metadata: dict[str, Any] = _without_nul(given.given)
    if len(compact(metadata).encode()) > limits.metadata_bytes:
        fields.too_large("metadata", f"At most {limits.metadata_bytes} bytes of JSON")
    return metadata


def _instructions_of(fields: Fields) -> str | None:
    text = fields.text("code_extraction_instructions", most=INSTRUCTIONS_CHARACTERS, nullable=True)
    return text if text and text.strip() else None


def _chunk_of(fields: Fields) -> ChunkPlace | None:
    chunk = fields.object("chunk", nullable=True)
    if chunk is None:
        return None
    group = chunk.identifier("group_id", most=GROUP_CHARACTERS, required=True)
    count = chunk.integer("count", 2, GROUP_PARTS)
    index = chunk.integer("index", 0, GROUP_PARTS - 1)
    if count is not None and index is not None and index >= count:
        chunk.refuse("index", "index should be less than count", "combination", value=index)
    return None if group is None or count is None or index is None else ChunkPlace(group, index, count)


def context_of(fields: Fields) -> tuple[dict[str, Any], ...]:
    """Return what of `window_context` is kept."""
    items = fields.items("window_context") or []
    return trimmed([_without_nul(entry.given) for entry in fields.objects("window_context", items)])


def _idempotency_key(fields: Fields, headers: Mapping[str, str], metadata: dict[str, Any]) -> str | None:
    told = metadata.get("idempotency_key")
    sent = headers.get("idempotency-key", "").strip() or None
    if told is not None and (type(told) is not str or not 0 < len(told.strip()) <= IDEMPOTENCY_CHARACTERS):
        rule = f"metadata.idempotency_key should be a string of 1 to {IDEMPOTENCY_CHARACTERS} characters"
        fields.refuse("metadata", rule, "string_type", value=told)
        return None
    told = told.strip() if told else None
    if sent is not None and len(sent) > IDEMPOTENCY_CHARACTERS:
        raise InvalidInput.at("header", "Idempotency-Key", message=f"1 to {IDEMPOTENCY_CHARACTERS} characters")
    if told and sent and told != sent:
        message = "The Idempotency-Key header and metadata.idempotency_key differ; send one, or the same twice"
        fields.refuse("metadata", message, "combination")
    return sent or told


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(NUL, "")
    if isinstance(value, list):
        return [_without_nul(item) for item in value]
    if isinstance(value, dict):
        return {_without_nul(name): _without_nul(item) for name, item in value.items()}
    return value
