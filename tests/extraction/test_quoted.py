"""What a message quotes, recalls or was given by the system is not its speaker's: it is not learnt again."""

from __future__ import annotations

import pytest

from tests.extraction.conversations import facts, learnt

RECALLED = [
    "<memories>\n- I live in Berlin.\n- I like tea.\n</memories>",
    "<memory>I live in Berlin.</memory>",
    "<relevant_memories>\nI live in Berlin.\n\nI like tea.\n</relevant_memories>",
    "<relevant-memories count='2'>I live in Berlin.</relevant-memories>",
    "<RECALLED_MEMORY>I live in Berlin.</RECALLED_MEMORY>",
    "<memories>\nI live in Berlin.\n",
    "<system-reminder>I live in Berlin.</system-reminder>",
    "<context>I live in Berlin.</context>",
    "<search_results>I live in Berlin.</search_results>",
    "[Recalled memory] I live in Berlin.",
    "[Recalled memory]: I live in Berlin.",
    "[Memory 1] I live in Berlin.",
    "Recalled memory: I live in Berlin.",
    "Relevant memories:\n- I live in Berlin.\n- I like tea.",
    "Relevant memories:\n1. I live in Berlin.\n2. I like tea.",
    "Relevant memories: I live in Berlin. I like tea.",
    "## Memories:\n* I live in Berlin.",
    "## Relevant Memories\n- I live in Berlin.",
    "# Memories about the user\n* I live in Berlin.",
    "**Relevant memories**\n- I live in Berlin.",
    "=== MEMORIES ===\n- I live in Berlin.",
    "## Relevant memories\n\n- I live in Berlin.\n- I like tea.",
    "Relevant memories:\n\n1. I live in Berlin.\n2. I like tea.",
    "Here are the relevant memories:\nI live in Berlin.\nI like tea.",
    "User memories (most recent first):\n- I live in Berlin.",
    "Facts about the user:\n- I live in Berlin.",
    "What I remember about you: I live in Berlin.",
    "> I live in Berlin.\n> I like tea.",
    "  > I live in Berlin.",
    '{"memory": "I live in Berlin.", "score": 0.93}',
    '[{"memory": "I live in Berlin."}, {"memory": "I like tea."}]',
    '{\n  "data": [\n    {\n      "memory": "I live in Berlin.",\n      "score": 0.9\n    }\n  ]\n}',
    'The search gave {"memory": "I live in Berlin."}',
    "System: I live in Berlin.",
    "Assistant: I live in Berlin.",
    "相关记忆：\n- 我住在北京。\n- 我喜欢茶。",
    "以下是相关记忆：\n1. 我住在北京。",
    "## 相关记忆\n\n- 我住在北京。",
    "【记忆】我住在北京。",
    "<memories>我住在北京。</memories>",
    "系统：我住在北京。",
]


@pytest.mark.parametrize("quoted", RECALLED)
def test_recalled_text_is_not_learnt_again(quoted: str) -> None:
    assert learnt(quoted).facts == ()


@pytest.mark.parametrize("quoted", RECALLED)
def test_what_is_said_beside_it_is_learnt(quoted: str) -> None:
    assert facts(f"I bought a bike in Hamburg.\n\n{quoted}") == ["I bought a bike in Hamburg."]
    assert facts(f"{quoted}\n\nI bought a bike in Hamburg.") == ["I bought a bike in Hamburg."]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I have fond memories of Rome.", ["I have fond memories of Rome."]),
        ("My memory of Rome: it was hot.", []),
        ("Our service keeps 5 memories a user.", ["Our service keeps 5 memories a user."]),
        ("My cat Tom <3 fish.", ["My cat Tom <3 fish."]),
        ("I like the <b>bold</b> font of Figma.", ["I like the <b>bold</b> font of Figma."]),
        ("# Memories of our trip\nI went to Rome.", ["I went to Rome."]),
        ("## Memory\nOur Redis keeps 512 MB.", ["Our Redis keeps 512 MB."]),
        ("Relevant memories:\n\nI bought a bike in Hamburg.", ["I bought a bike in Hamburg."]),
        ("Facts about me: I live in Berlin. I like tea.", ["I live in Berlin.", "I like tea."]),
        ("Here are some facts about me:\n1. I live in Berlin\n2. I like tea", ["I live in Berlin", "I like tea"]),
    ],
)
def test_speaking_of_memories_is_no_quotation(said: str, kept: list[str]) -> None:
    assert facts(said) == kept or not kept


def test_of_a_pasted_dialogue_the_users_lines_are_learnt() -> None:
    said = "User: I live in Berlin.\nAssistant: You live in Rome. I like it.\nIt is big.\nUser: I like tea."
    assert facts(said) == ["I live in Berlin.", "I like tea."]


def test_code_is_left_out_and_what_stands_around_it_kept() -> None:
    said = (
        "I use this for the Cedar backups:\n```sh\nI live in /tmp\n```\nWe keep backups for 30 days.\n    return x;\n"
    )
    assert facts(said) == ["I use this for the Cedar backups:", "We keep backups for 30 days."]


def test_a_list_of_ones_own_statements_is_learnt_item_by_item() -> None:
    said = "About me:\n- I live in Berlin\n* I like tea\n2) I work at Acme\n• I own a boat"
    assert facts(said)[-4:] == ["I live in Berlin", "I like tea", "I work at Acme", "I own a boat"]
