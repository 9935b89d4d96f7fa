"""Learning by a language model: what is made of good, bad and hostile answers, and what it costs."""

import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from shared.extraction.language_model import LanguageModelExtractor
from shared.extraction.language_model.parts import PARTS
from shared.extraction.port import Conversation, ExtractionFailed, Learnt, Turn
from shared.kernel.errors import Unavailable
from shared.models.bedrock import Bedrock
from shared.models.converse import Converse, Usage
from shared.models.errors import ModelRefused
from tests.models.bedrock import Closes, Fails, FakeBedrock, Fills, Pauses, Raw, Says

AT = 1_764_500_000_000
TEA = {"text": "Ana likes tea", "memory_type": "semantic", "categories": ["preference"], "positions": [0]}
NOTES = {"summary": {"text": "Ana told of tea."}, "facts": [TEA]}


def talk(*texts: str, **more: Any) -> Conversation:
    turns = tuple(Turn(n, "user", text, speaker="Ana", at=AT + n) for n, text in enumerate(texts))
    return Conversation(turns, AT, **more)


@cache
def bedrock(read_seconds: float, **environ: str) -> Bedrock:
    return Bedrock(environ, read_seconds=read_seconds, pause=Pauses())


def extractor(fake: FakeBedrock, *, seconds: float = 90, read_seconds: float = 60) -> LanguageModelExtractor:
    return LanguageModelExtractor(Converse(bedrock(read_seconds, **fake.environ), "anthropic.x"), seconds=seconds)


def ms(moment: str) -> int:
    return int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() * 1000)


def test_a_good_answer_becomes_a_summary_and_facts(fake: FakeBedrock) -> None:
    told = {
        "text": "Ana flies to Porto.",
        "memory_type": "episodic",
        "categories": ["plan", "event"],
        "event_date": "2026-12-04",
        "positions": [1, 0],
        "forget": False,
    }
    fake.will(Fills({"summary": {"text": "Ana told of a journey.", "memory_type": "episodic"}, "facts": [TEA, told]}))
    learnt = extractor(fake).extract(talk("I like tea", "I fly to Porto on Friday"))
    assert learnt.summary == Learnt("Ana told of a journey.", "episodic", positions=(0, 1))
    assert learnt.facts == (
        Learnt("Ana likes tea", "semantic", ("preference",), None, (0,)),
        Learnt("Ana flies to Porto.", "episodic", ("plan", "event"), ms("2026-12-04"), (0, 1)),
    )
    assert learnt.usage == Usage(1, 100, 10)


@pytest.mark.parametrize(
    "said",
    [
        "```json\n" + json.dumps(NOTES) + "\n```",
        "Sure! " + json.dumps(NOTES) + "\nLet me know if you need more.",
        json.dumps(NOTES)[:-1] + ",}",
        json.dumps(NOTES).replace("Ana told", "Ana \\told"),
        json.dumps([NOTES]),
        json.dumps({"summary": "Ana told of tea.", "facts": TEA}),
        json.dumps({**NOTES, "facts": [*NOTES["facts"], {"text": None}, 5, {"text": "  "}]}),
    ],
)
def test_an_answer_with_odd_edges_costs_no_second_question(fake: FakeBedrock, said: str) -> None:
    fake.will(Says(said))
    learnt = extractor(fake).extract(talk("I like tea"))
    assert [fact.text for fact in learnt.facts] == ["Ana likes tea"]
    assert learnt.summary
    assert learnt.usage.calls == len(fake.requests) == 1


@pytest.mark.parametrize("said", [json.dumps(TEA), json.dumps([TEA]), json.dumps({"facts": ["Ana likes tea"]})])
def test_facts_without_a_summary_are_facts(fake: FakeBedrock, said: str) -> None:
    fake.will(Says(said))
    learnt = extractor(fake).extract(talk("I like tea"))
    assert ([fact.text for fact in learnt.facts], learnt.summary) == (["Ana likes tea"], None)


BAD = [
    "",
    "I'm sorry, I can't help with that.",
    "{}",
    "[]",
    "null",
    "{garbage}",
    '{"facts": [{"text": 5}]}',
    '{"facts": [{"te',
    '{"notes": []}',
    "[",
]


@pytest.mark.parametrize("said", BAD)
def test_an_answer_that_can_not_be_used_is_repaired_once(fake: FakeBedrock, said: str) -> None:
    fake.will(Says(said), Fills(NOTES))
    learnt = extractor(fake).extract(talk("I like tea"))
    assert [fact.text for fact in learnt.facts] == ["Ana likes tea"]
    assert learnt.usage == Usage(2, 200, 20)
    again = fake.requests[1].body["messages"]
    assert [message["role"] for message in again] == ["user", "assistant", "user"]
    assert "can't be used" in again[2]["content"][0]["text"]


@pytest.mark.parametrize("said", BAD)
def test_an_answer_that_can_not_be_used_twice_is_a_failure_that_keeps_it_and_never_an_empty_success(
    fake: FakeBedrock, said: str
) -> None:
    fake.will(Says(said), Says(said), Fills(NOTES))
    with pytest.raises(ExtractionFailed) as failed:
        extractor(fake).extract(talk("I like tea"))
    assert failed.value.details == {"reply": said, "repaired": said}
    assert len(fake.requests) == 2


def test_a_conversation_that_teaches_nothing_is_no_failure(fake: FakeBedrock) -> None:
    fake.will(Fills({"summary": {"text": "They greeted each other."}, "facts": []}))
    learnt = extractor(fake).extract(talk("hi"))
    assert learnt.facts == ()
    assert learnt.usage.calls == 1


def test_of_an_answer_that_is_cut_off_twice_the_whole_facts_stay(fake: FakeBedrock) -> None:
    cut = json.dumps({"summary": {"text": "s"}, "facts": [TEA, {"text": "Ana likes cof"}]})[:-6]
    fake.will(Says(cut, stop="max_tokens"), Says(cut[:-30], stop="max_tokens"))
    learnt = extractor(fake).extract(talk("I like tea"))
    assert [fact.text for fact in learnt.facts] == ["Ana likes tea"]
    assert "cut off" in fake.requests[1].body["messages"][2]["content"][0]["text"]


def test_an_answer_that_is_cut_off_before_its_first_fact_is_no_answer(fake: FakeBedrock) -> None:
    fake.will(*[Says('{"facts": [{"text": "Ana li', stop="max_tokens")] * 2)
    with pytest.raises(ExtractionFailed):
        extractor(fake).extract(talk("I like tea"))


def test_what_is_wrong_with_a_fact_is_left_out_of_it(fake: FakeBedrock) -> None:
    odd = {
        "text": " x\0y\ud800 " + "z" * 5_000,
        "memory_type": "PROCEDURAL",
        "categories": ["Skill", "magic", None, 5],
        "event_date": "last Friday",
        "positions": [0, 0, 7, -1, True, "1", 10**30],
        "forget": "no",
    }
    fake.will(Says(json.dumps({"summary": None, "facts": [odd, {**TEA, "memory_type": "fact", "categories": "plan"}]})))
    learnt = extractor(fake).extract(talk("I like tea"))
    first, second = learnt.facts
    assert first.text.startswith("x y")
    assert len(first.text) == 2_000
    assert (first.memory_type, first.categories, first.positions) == ("procedural", ("skill",), (0,))
    assert (first.event_at, first.forget) == (None, False)
    assert (second.memory_type, second.categories) == ("semantic", ("plan",))


@pytest.mark.parametrize(
    ("told", "moment"),
    [
        ("2026-12-04", ms("2026-12-04")),
        ("2026-12-04T10:30:00Z", ms("2026-12-04T10:30:00")),
        ("2026-12-04T10:30:00+08:00", ms("2026-12-04T02:30:00")),
        ("2026-12-04T10:30", ms("2026-12-04T10:30:00")),
        ("2026-12", ms("2026-12-01")),
        (" 2026 ", ms("2026-01-01")),
        ("2026-13", None),
        ("0001-01-01", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("", None),
        (2026, None),
        (None, None),
    ],
)
def test_a_date_is_read_as_utc_and_an_unreadable_one_is_none(fake: FakeBedrock, told: Any, moment: int | None) -> None:
    fake.will(Fills({"summary": None, "facts": [{**TEA, "event_date": told}]}))
    assert extractor(fake).extract(talk("I like tea")).facts[0].event_at == moment


def test_a_wish_to_forget_is_told_as_one(fake: FakeBedrock) -> None:
    fake.will(Fills({"summary": None, "facts": [{**TEA, "forget": True}, TEA]}))
    facts = extractor(fake).extract(talk("Forget that I like tea")).facts
    assert [fact.forget for fact in facts] == [True, False]


def test_a_fact_said_twice_is_one(fake: FakeBedrock) -> None:
    fake.will(Fills({"summary": None, "facts": [TEA, {**TEA, "text": "Ana likes tea!"}, TEA]}))
    assert len(extractor(fake).extract(talk("I like tea")).facts) == 1


@pytest.mark.parametrize("size", [10_000, 32_000])
def test_ten_thousand_characters_are_one_question(fake: FakeBedrock, size: int) -> None:
    fake.will(Fills(NOTES))
    turns = ["I like tea. " * 40] * (size // 600)
    assert extractor(fake).extract(talk(*turns)).usage.calls == len(fake.requests) == 1


def test_a_long_conversation_is_a_bounded_number_of_questions_and_one_for_the_whole(fake: FakeBedrock) -> None:
    fake.will(*[Fills({**NOTES, "facts": [{**TEA, "text": f"fact {n}"}]}) for n in range(40)])
    learnt = extractor(fake).extract(talk(*["I like tea. " * 900] * 200))
    assert learnt.usage.calls == len(fake.requests) <= PARTS + 1
    assert len(learnt.facts) == learnt.usage.calls - 1
    assert learnt.summary is not None
    assert learnt.summary.positions == tuple(range(200))
    sent = [request.body["messages"][0]["content"][0]["text"] for request in fake.requests]
    assert sum(text.count("I like tea. ") for text in sent) == 900 * 200


def test_one_endless_message_is_divided_and_keeps_its_position(fake: FakeBedrock) -> None:
    fake.will(*[Fills({"summary": None, "facts": [{**TEA, "text": f"fact {n}", "positions": [0]}]}) for n in range(9)])
    learnt = extractor(fake).extract(talk("密" * 120_000))
    assert 4 <= learnt.usage.calls <= 9
    assert {fact.positions for fact in learnt.facts} == {(0,)}


def test_one_bad_part_of_a_long_conversation_fails_it_all(fake: FakeBedrock) -> None:
    fake.will(*[Says("no")] * 8)
    with pytest.raises(ExtractionFailed):
        extractor(fake).extract(talk("密" * 100_000))


@pytest.mark.parametrize(
    "failure",
    [Fails(429, "ThrottlingException"), Fails(503, "ServiceUnavailableException"), Closes(), Raw(b"{"), Raw(b"", 500)],
    ids=str,
)
def test_a_service_that_is_busy_or_broken_is_unavailable_and_teaches_nothing(fake: FakeBedrock, failure: Any) -> None:
    fake.will(*[failure] * 20)
    with pytest.raises(Unavailable):
        extractor(fake).extract(talk("I like tea"))


def test_a_model_that_never_answers_is_unavailable_when_the_time_is_over(silent: FakeBedrock) -> None:
    with pytest.raises(Unavailable):
        extractor(silent, seconds=0.3, read_seconds=0.2).extract(talk("I like tea"))


def test_a_refused_model_says_what_to_do(fake: FakeBedrock) -> None:
    fake.will(Fails(403, "AccessDeniedException"))
    with pytest.raises(ModelRefused) as refused:
        extractor(fake).extract(talk("I like tea"))
    assert "bedrock:InvokeModel" in refused.value.details["hint"]


def test_several_summaries_become_one(fake: FakeBedrock) -> None:
    fake.will(Says('{"summary": {"text": "All of it.", "memory_type": "episodic"}}'))
    summary = extractor(fake).summarise(["one", "two"], talk(language="en"))
    assert summary == Learnt("All of it.", "episodic")
    asked = fake.requests[0].body["messages"][0]["content"][0]["text"]
    assert asked.index("one") < asked.index("two")
    assert "English" in fake.requests[0].body["system"][0]["text"]


def test_ten_thousand_summaries_are_a_bounded_number_of_questions(fake: FakeBedrock) -> None:
    fake.will(*[Says('{"summary": "All of it."}')] * 40)
    assert extractor(fake).summarise(["They spoke of tea. " * 50] * 10_000, talk()).text == "All of it."
    assert len(fake.requests) <= PARTS + 1


def test_a_summary_that_can_not_be_used_is_a_failure(fake: FakeBedrock) -> None:
    fake.will(*[Says("{}")] * 2)
    with pytest.raises(ExtractionFailed):
        extractor(fake).summarise(["one", "two"], talk())
