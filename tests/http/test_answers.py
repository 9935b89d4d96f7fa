from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from functions.memories.add_routes import EVENTS_BYTES
from functions.memories.limits import Limits
from shared.http.answers import json_answer, text_answer
from shared.kernel.strict_json import compact
from shared.memories import pages as memories
from shared.projects import tasks
from shared.projects.models import SUMMARY_BYTES
from shared.stores import pages as stores

LAMBDA_BYTES = 6 * 1024 * 1024
DIGEST_BYTES = 4 << 20


def _carried(answer: Any) -> int:
    """Return the bytes of an answer as Lambda's runtime carries it."""
    return len(json.dumps(answer.body, ensure_ascii=False).encode())


@pytest.mark.parametrize("character", ["x", '"', "\\", "\n", "é", "中", "\U0001f600", "\u2028", "\x01", "\x7f"])
def test_the_longest_digest_fits_into_lambdas_answer_whatever_it_holds(character: str) -> None:
    text = character * (DIGEST_BYTES // len(character.encode()))
    answer = text_answer(text, "text/markdown")
    assert _carried(answer) < LAMBDA_BYTES
    body = base64.b64decode(answer.body).decode() if answer.base64_encoded else answer.body
    assert body == text


@pytest.mark.parametrize("character", ["x", '"', "\\", "\n", "é", "中", "\u2028"])
def test_the_longest_summary_fits_into_lambdas_answer(character: str) -> None:
    summary = character * (SUMMARY_BYTES // len(character.encode()))
    assert _carried(json_answer({"summary_md": summary})) < LAMBDA_BYTES


CUTS = {
    "events": EVENTS_BYTES,
    "hits": Limits().answer_bytes,
    "memories": memories.PAGE_BYTES,
    "stores": stores.ANSWER_BYTES,
    "turns": tasks.ANSWER_BYTES,
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("character", ["x", '"', "\\", "\n", "é", "\u2028", "\x01"])
def test_where_answers_are_cut_they_fit_into_lambdas_whatever_they_hold(cut: int, character: str) -> None:
    entries = character * (cut // len(compact(character).encode()[1:-1]))
    assert _carried(json_answer({"data": entries, "around": "x" * 50_000})) < LAMBDA_BYTES


def test_control_characters_go_out_as_they_came_in() -> None:
    # A megabyte of them is over six as JSON: it can neither come in nor go out; what comes in goes out.
    summary = "\x01" * 850_000
    assert _carried(json_answer({"summary_md": summary})) < LAMBDA_BYTES
