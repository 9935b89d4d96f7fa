"""What memories got wrong elsewhere, in what is extracted and decided; each docstring says what it guards."""

from __future__ import annotations

from tests.extraction.conversations import facts, learnt
from tests.extraction.remembering import Remembering


def test_telling_the_same_twice_keeps_one_memory() -> None:
    """B23: a second telling once deleted the memory that it restated."""
    user = Remembering()
    user.tell("I like tea")
    user.tell("I like tea")
    assert user.current == ["I like tea"]
    assert [decision.event for decision in user.log] == ["ADD", "NONE"]


def test_a_loop_of_recalling_and_storing_does_not_grow() -> None:
    """B25: recalled memories were stored as new ones, again and again, until nearly all was copies of one."""
    user = Remembering()
    user.tell("I live in Berlin.")
    for n in range(50):
        recalled = "\n".join(f"- {text}" for text in user.current)
        user.tell(
            f"Relevant memories:\n{recalled}\n\nWhat should I do on day {n}?", ("assistant", f"You said: {recalled}")
        )
    assert user.current == ["I live in Berlin."]


def test_recalled_blocks_of_any_form_do_not_double_what_is_known() -> None:
    """B26: the block of recalled memories inside a message was retained with it, and the store doubled each time."""
    user = Remembering()
    user.tell("I live in Berlin. I like tea.")
    for form in (
        "<memories>\n{}\n</memories>",
        "[Recalled memory] {}",
        "> {}",
        '[{{"memory": "{}"}}]',
        "Memories: {}",
        "{}",
    ):
        user.tell(form.format(" ".join(user.current)))
    assert user.current == ["I live in Berlin.", "I like tea."]


def test_a_move_keeps_the_new_home_and_the_old_one_in_its_past() -> None:
    """B28: a contradiction removed the old fact, and the new one was dropped as well."""
    user = Remembering()
    user.tell("I live in Paris.")
    user.tell("I moved to Rome.")
    assert user.current == ["I moved to Rome."]
    assert [text for _, text in user.past] == ["I live in Paris."]
    assert "I live in Paris." in user.log[-1].reason


def test_of_two_homes_only_the_later_is_current() -> None:
    """B29: where facts were only ever added, both homes stayed and the stale one was found."""
    user = Remembering()
    for said in ("I live in Paris.", "I like tea.", "I've moved to Rome last week.", "I now live in Oslo."):
        user.tell(said)
    assert user.current == ["I now live in Oslo.", "I like tea."]
    chinese = Remembering()
    for said in ("我住在北京。", "我喜欢喝茶。", "我搬到上海了。"):
        chinese.tell(said)
    assert chinese.current == ["我搬到上海了。", "我喜欢喝茶。"]


def test_the_new_value_of_a_fact_is_no_duplicate_of_the_old() -> None:
    """B31: removing duplicates took an updated fact for the one before, and the new value was lost."""
    for old, new in (
        ("My phone number is 555-1234.", "My phone number is 555-1235."),
        ("Cedar callbacks allow at most 3 retries.", "Cedar callbacks allow at most 5 retries."),
        ("My flight to Rome leaves at 3pm.", "My flight to Rome leaves at 5pm."),
        ("我的电话是12345678。", "我的电话是12345679。"),
    ):
        user = Remembering()
        user.tell(old)
        user.tell(new)
        assert new in user.current


def test_ten_paraphrases_are_one_memory() -> None:
    """B32: one fact told in ten ways filled the first ten hits of a search with itself."""
    user = Remembering()
    for said in (
        "I live in Berlin.", "I'm living in Berlin.", "I currently live in Berlin", "Berlin is where I live.",
        "My home is in Berlin.", "I'm based in Berlin!", "i live in berlin", "By the way, I live in Berlin.",
        "I reside in Berlin.", "I still live in Berlin.",
    ):  # fmt: skip
        user.tell(said)
    assert user.current == ["I live in Berlin."]


def test_chinese_stays_chinese_and_says_what_was_said() -> None:
    """B35: a Chinese sentence came back as an English memory that nobody had told."""
    taught = learnt("我妹妹小红在上海当护士，她养了两只猫。")
    assert [fact.text for fact in taught.facts] == ["我妹妹小红在上海当护士，她养了两只猫。"]
    assert taught.summary is not None
    assert taught.summary.text == "我妹妹小红在上海当护士，她养了两只猫。"


def test_a_control_token_of_a_model_is_plain_text() -> None:
    """G107: a text with a tokenizer's special token broke the service."""
    assert facts("My band is called <|endoftext|>.") == ["My band is called <|endoftext|>."]
    assert facts("<|im_start|>system") == []


def test_names_and_keys_beside_chinese_stay_as_they_are() -> None:
    """G109: a name in another script was lost, and what stands beside Chinese characters was misread."""
    assert facts("密钥sk-abc123是生产环境的密钥。") == ["密钥sk-abc123是生产环境的密钥。"]
    assert facts("My friend Łukasz lives in Kraków.") == ["My friend Łukasz lives in Kraków."]
    assert facts("我的朋友José在São Paulo工作。") == ["我的朋友José在São Paulo工作。"]


def test_the_code_points_of_a_text_stay_what_they_are() -> None:
    """G110: texts came back with escapes in place of characters."""
    said = "I love ramen 🍜 and 北京烤鸭 — c'est “bon” 👩‍👩‍👧!"
    assert facts(said) == [said]


def test_a_wish_to_forget_removes_what_it_names_and_nothing_else() -> None:
    """A forget that answers well and forgets nothing, or too much."""
    user = Remembering()
    user.tell("I live in Berlin. My sister lives in Berlin. I like tea.")
    user.tell("Please forget that I live in Berlin.")
    assert user.current == ["My sister lives in Berlin.", "I like tea."]
    user.tell("Forget that I own a boat.")
    assert user.current == ["My sister lives in Berlin.", "I like tea."]
    assert user.log[-1].event == "NONE"


def test_a_life_in_sentences() -> None:
    """States replace each other, events and different things gather, and nothing is told twice."""
    user = Remembering()
    for said in (
        "Hi! I'm Ana, I live in Berlin and I work at Siemens.",
        "I visited Rome in May. I visited Rome in June.",
        "We use MySQL for orders.",
        "I moved to Madrid! I left Siemens.",
        "We switched from MySQL to Postgres.",
        "I have a dog named Rex. I have a dog named Bella.",
        "I like tea.",
        "I don't like tea any more.",
        "Thanks! Bye.",
    ):
        user.tell(said)
    assert "We use MySQL for orders." not in user.current
    assert "I like tea." not in user.current
    assert "I don't like tea any more." in user.current
    assert {"I visited Rome in May.", "I visited Rome in June."} <= set(user.current)
    assert {"I have a dog named Rex.", "I have a dog named Bella."} <= set(user.current)
    assert "We switched from MySQL to Postgres." in user.current
    assert "I moved to Madrid!" in user.current
    assert not any("Siemens" in text and "left" not in text for text in user.current)
