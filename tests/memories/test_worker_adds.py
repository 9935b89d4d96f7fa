"""What an add becomes, when nothing goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.memories.works import ANA, answered, said, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memories.works import Works


@pytest.fixture
def world() -> Iterator[Works]:
    with works() as made:
        yield made


def test_a_conversation_becomes_a_summary_its_facts_and_its_messages(world: Works) -> None:
    task = world.add(said("I live in Oslo. I have a cat."), answered("Nice."))
    assert task["status"] == "success"
    assert task["phase"] == "done"
    assert task["tries"] == 1
    assert world.texts("summary") == ["I live in Oslo. I have a cat. Nice."]
    assert world.facts() == ["I live in Oslo.", "I have a cat."]
    assert world.texts("raw") == ["I live in Oslo. I have a cat.", "Nice."]
    assert task["memory"] == {"total": 5}
    assert [e["event"] for e in task["events"]] == ["ADD"] * 5
    assert set(world.found("Oslo")) >= {"I live in Oslo."}


def test_nothing_but_the_task_and_the_memories_is_left(world: Works) -> None:
    world.add("I live in Oslo.")
    assert world.cloud.object_keys() == []
    names = sorted(item["sk"]["S"].split("#")[0] for item in world.cloud.items())
    assert names == ["f", "m", "m", "m", "task"]
    assert world.rows(ANA)
