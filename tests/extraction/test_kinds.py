"""Facts are typed by what they tell: who somebody is, what happened, what is so, how things are to be done."""

from __future__ import annotations

import pytest

from shared.extraction.port import CATEGORIES
from tests.extraction.conversations import learnt

KINDS = [
    ("My name is Emily.", "core", {"identity"}),
    ("I live in Berlin.", "core", {"identity"}),
    ("I'm a software engineer.", "core", {"identity"}),
    ("I'm allergic to peanuts.", "core", {"identity", "constraint"}),
    ("My sister Ana has a PhD.", "core", {"identity", "relationship", "skill"}),
    ("I like hiking.", "semantic", {"preference"}),
    ("I prefer dark mode.", "semantic", {"preference"}),
    ("My favourite colour is blue.", "semantic", {"preference"}),
    ("I can speak Polish.", "semantic", {"skill"}),
    ("I went to a concert yesterday.", "episodic", {"event"}),
    ("I visited Rome in May.", "episodic", {"event"}),
    ("We watched a film last night.", "episodic", {"event"}),
    ("I'm going to Rome next month.", "episodic", {"plan"}),
    ("I want to learn Polish.", "episodic", {"plan"}),
    ("We decided to use Postgres.", "semantic", {"decision"}),
    ("Cedar callbacks allow at most three retries.", "procedural", {"constraint"}),
    ("Always answer me in French.", "procedural", {"constraint"}),
    ("The API must never return null.", "procedural", {"constraint"}),
    ("My wife is called Eva.", "semantic", {"relationship"}),
    ("我叫李雪。", "core", {"identity"}),
    ("我住在北京。", "core", {"identity"}),
    ("我对花生过敏。", "core", {"identity", "constraint"}),
    ("我喜欢川菜和粤菜。", "semantic", {"preference"}),
    ("我最近去了厦门。", "episodic", {"event"}),
    ("昨天我和王芳去了故宫。", "episodic", {"event"}),
    ("我打算明年去日本。", "episodic", {"plan"}),
    ("我会说法语。", "semantic", {"skill"}),
    ("我妈妈很喜欢花。", "semantic", {"relationship", "preference"}),
    ("回调最多重试3次。", "procedural", {"constraint"}),
    ("我们决定用Postgres存订单。", "semantic", {"decision"}),
]


@pytest.mark.parametrize(("said", "memory_type", "categories"), KINDS)
def test_a_fact_has_its_type_and_categories(said: str, memory_type: str, categories: set[str]) -> None:
    (fact,) = learnt(said).facts
    assert (fact.memory_type, set(fact.categories)) == (memory_type, categories)
    assert set(fact.categories) <= set(CATEGORIES)


def test_what_is_like_something_is_no_preference() -> None:
    (fact,) = learnt("I feel like the museum looks like a castle.").facts
    assert "preference" not in fact.categories


def test_what_a_title_says_is_not_what_the_fact_says() -> None:
    (fact,) = learnt("我昨天听了《听妈妈的话》。").facts
    assert "relationship" not in fact.categories
