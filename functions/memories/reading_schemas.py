"""The shapes of searching, reading, changing and forgetting (seed, Search; contract, "Beyond the document")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from functions.memories.add_schemas import (
    CONTEXT,
    COUNT,
    TEXT,
    TEXT_OR_NULL,
    TIME,
    TIME_OR_NULL,
    USER_ID,
    UUID,
    envelope,
)
from functions.memories.change_body import CATEGORIES, CATEGORY_CHARACTERS
from functions.memories.search_body import ACCEPTED_K, DEFAULT_K, DOCUMENTS, OUTPUT_MODES, QUERY_CHARACTERS
from shared.http.openapi import array, record, ref, typed
from shared.memories.filters import BOUNDS, CONDITIONS, IDENTITIES, MOMENTS, VALUE_CHARACTERS
from shared.memories.models import KINDS
from shared.memories.rows import SOURCES

if TYPE_CHECKING:
    from shared.http.openapi import Json


def _list_or_null(items: Json, **rules: Any) -> Json:
    return {**array(items, **rules), "type": ["array", "null"]}


SCORE = typed("number", minimum=0, maximum=1)
CURSOR = typed("string", "null", description="Where the next page begins; null at the end")
RANKS = ("semantic_similarity", "sparse_score", "channel_rrf", "query_rrf")

_WORD = typed("string", minLength=1, maxLength=VALUE_CHARACTERS)
_K = typed("integer", "null", minimum=0, maximum=ACCEPTED_K, description="Works to 50; `top_k` where it is left out")
_MOMENT = {
    "description": "ISO dates, each its UTC day, or date-times with an offset",
    **typed("object", "null", minProperties=1, additionalProperties=False),
    "properties": dict.fromkeys(BOUNDS, TEXT_OR_NULL),
}
_TYPE = {
    "description": "Exactly one of both: a memory type or a category",
    **typed("object", "null", minProperties=1, additionalProperties=False),
    "properties": {
        "eq": {**_WORD, "type": ["string", "null"]},
        "in": _list_or_null(_WORD, minItems=1, maxItems=CONDITIONS),
    },
}
_FIELDS: dict[str, Json] = {
    **{name: {"anyOf": [record({"eq": _WORD}, additionalProperties=False), {"type": "null"}]} for name in IDENTITIES},
    "mem_type": _TYPE,
    **dict.fromkeys(MOMENTS, _MOMENT),
}
_CONDITIONS = {
    "anyOf": [array(ref("MemoryCondition"), maxItems=CONDITIONS), {"type": "null"}],
}
_OWN: dict[str, Json] = {
    "id": UUID,
    "memory": TEXT,
    "user_id": TEXT,
    "agent_id": TEXT_OR_NULL,
    "app_id": TEXT_OR_NULL,
    "session_id": TEXT_OR_NULL,
    "project_id": TEXT,
    "api_key_uuid": TEXT_OR_NULL,
    "content_type": typed("string", enum=["dialogue", "document", "code", "webpage"]),
    "created_at": TIME,
    "updated_at": TIME,
    "metadata": record(
        {"memory_type": TEXT, "event_created_at": TIME_OR_NULL},
        {"raw_text_missing": typed("boolean")},
        additionalProperties=True,
        description="The caller's own, and what is known of the memory",
    ),
    "categories": array(TEXT),
    "immutable": typed("boolean"),
}

SCHEMAS: dict[str, Json] = {
    "MemoryCondition": typed("object", properties=_FIELDS, minProperties=1, additionalProperties=False),
    "MemoryFilters": typed(
        "object",
        "null",
        properties={"and": _CONDITIONS, "or": _CONDITIONS, **_FIELDS},
        additionalProperties=False,
        description="A field outside of `and` and `or` is one of `and`",
    ),
    "SearchRequest": record(
        {"user_id": USER_ID, "query": typed("string", minLength=1, maxLength=QUERY_CHARACTERS)},
        {
            "mode": typed("string", const="fast", default="fast"),
            "output_mode": typed(
                "string", enum=list(OUTPUT_MODES), description="summary; facts for a search of documents alone"
            ),
            "return_raw_text": typed("boolean", default=False, description="For summaries: what was really said"),
            "sources": {
                **array(typed("string", enum=list(SOURCES)), minItems=1, maxItems=2),
                "type": ["array", "null"],
            },
            "document_ids": {
                **array(_WORD, minItems=1, maxItems=DOCUMENTS),
                "type": ["array", "null"],
                "description": 'Only with `sources` `["document"]`',
            },
            "filters": ref("MemoryFilters"),
            "top_k": typed("integer", minimum=1, maximum=ACCEPTED_K, default=DEFAULT_K),
            "k_dense": _K,
            "k_sparse": _K,
            "min_semantic_similarity": typed("number", "null", minimum=0, maximum=1),
            "window_context": CONTEXT,
        },
    ),
    "ScoreDetails": record(
        {"rank_method": typed("string", enum=list(RANKS)), "rank_score": SCORE}, dict.fromkeys(RANKS, SCORE)
    ),
    "MemoryHit": record({**_OWN, "score": SCORE, "score_details": ref("ScoreDetails")}),
    "SearchAnswer": envelope(
        record(
            {
                "task_id": UUID,
                "status": typed("string", const="completed"),
                "data": array(ref("MemoryHit")),
                "balances": array(ref("Balance")),
                "buckets": {"type": "null"},
                "meta_info": record(
                    {
                        "mode": typed("string", const="fast"),
                        "pipeline_status": typed("string", enum=["fast_search", "query_rewrite_search"]),
                        "recall_decision": {"type": "null"},
                    }
                ),
            }
        )
    ),
    "LearntMemory": record({**_OWN, "kind": typed("string", enum=list(KINDS))}),
    "LearntMemoryAnswer": envelope(ref("LearntMemory")),
    "LearntMemoryPage": envelope(record({"data": array(ref("LearntMemory")), "next_cursor": CURSOR})),
    "LearntMemoryChange": typed(
        "object",
        properties={
            "memory": typed("string", "null", minLength=1),
            "metadata": typed(
                "object", "null", additionalProperties=True, description="In the place of the caller's own"
            ),
            "categories": {
                **array(typed("string", minLength=1, maxLength=CATEGORY_CHARACTERS), maxItems=CATEGORIES),
                "type": ["array", "null"],
            },
            "immutable": typed("boolean", "null"),
        },
        minProperties=1,
    ),
    "LearntMemoryState": record(
        {
            "event": typed("string", enum=["ADD", "UPDATE", "DELETE", "NONE"]),
            "memory": TEXT_OR_NULL,
            "reason": TEXT,
            "at": TIME,
            "task_id": TEXT_OR_NULL,
            "metadata": record({"memory_type": TEXT, "event_created_at": TIME_OR_NULL}),
            "categories": array(TEXT),
        }
    ),
    "LearntMemoryHistory": envelope(record({"data": array(ref("LearntMemoryState")), "next_cursor": CURSOR})),
    "LearntMemoryForgotten": envelope(
        record({"id": UUID, "deleted": array(UUID, minItems=1)}, {"erasures": array(UUID, minItems=1)})
    ),
    "ErasureAccepted": envelope(record({"task_id": UUID, "status": typed("string", const="accepted")})),
    "ErasureReceipt": envelope(
        record(
            {
                "task_id": UUID,
                "status": typed("string", enum=["accepted", "success"]),
                "removed": record({"objects": COUNT, "records": COUNT, "index": COUNT}),
                "created_at": TIME,
                "completed_at": TIME_OR_NULL,
            }
        )
    ),
}
