"""What looks for what is left of what is gone finds it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.whole import Whole, whole
from tests.hostile.holdings import MEMORIES, PROJECTS, Party
from tests.soak.actors import LONG, Actor
from tests.soak.history import History
from tests.soak.remains import hold_index, hold_payloads, hold_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Deleting(Actor):
    """One who has deleted all that was ever said."""

    def gone(self) -> set[str]:
        return self.sent


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Whole]:
    with whole(tmp_path / "index") as made:
        yield made


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    made = History(tmp_path / "history.jsonl")
    yield made
    made.close()


@pytest.mark.parametrize("size", [10, LONG])
def test_a_word_that_should_be_gone_is_found_in_a_row_or_an_object(stack: Whole, history: History, size: int) -> None:
    nobody: Any = None
    actor = Deleting("ann", nobody, history, random.Random(1), 1)
    hold_words(stack, [actor], history)
    text = f"{'x' * size} {actor.word()}"
    Party(stack, stack.key()).ask("PUT", f"{PROJECTS}/tasks/t/turns/1", json_body={"summary_md": text})
    hold_words(stack, [actor], history)
    (violation,) = history.violations
    assert ("T#" in violation, "r30/" in violation) == (size < LONG, size >= LONG)


def _added(stack: Whole) -> None:
    said = [{"role": "user", "content": "I keep bees.", "timestamp": -1}]
    body = {"user_id": "ann", "mode": "raw", "messages": said}
    Party(stack, stack.key()).call("POST", f"{MEMORIES}/add", status=202, json_body=body)
    stack.work()


def _rewritten(stack: Whole, begins: str, **values: dict[str, str]) -> None:
    (row,) = [item for item in stack.items() if item["sk"]["S"].startswith(begins)]
    name = str(stack.stack.outputs["TableName"])
    stack.aws.dynamodb.put_item(TableName=name, Item={**row, **values})


def test_a_passage_is_found_whose_record_is_gone_or_says_something_else(stack: Whole, history: History) -> None:
    _added(stack)
    hold_index(stack, stack.folder, history)
    assert not history.violations
    _rewritten(stack, "m#", revision={"N": "2"})
    hold_index(stack, stack.folder, history)
    assert len(history.violations) == 1


def test_an_add_is_found_that_has_succeeded_and_keeps_what_it_was_told(stack: Whole, history: History) -> None:
    _added(stack)
    hold_payloads(stack, history)
    assert not history.violations
    _rewritten(stack, "task", object={"S": "r30/20261130/acme/default/payload"})
    hold_payloads(stack, history)
    assert len(history.violations) == 1
