"""When something happened, by the words of the sentence, seen from the message; expectations are a calendar's."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.extraction.rules import RuleExtractor
from shared.extraction.rules.times import time_in
from tests.extraction.conversations import NOW, conversation, day, learnt

DAYS = [
    ("I met Ana last Friday", "2026-11-20"),
    ("I met Ana last Wednesday", "2026-11-18"),
    ("I ran 5 km yesterday", "2026-11-24"),
    ("I saw her the day before yesterday", "2026-11-23"),
    ("I flew home last night", "2026-11-24"),
    ("I fly tomorrow", "2026-11-26"),
    ("I fly the day after tomorrow", "2026-11-27"),
    ("I moved here in 2019", "2019-01-01"),
    ("I have lived here since 2019", "2019-01-01"),
    ("We married on 7 May 2023", "2023-05-07"),
    ("We married on May 7th, 2023", "2023-05-07"),
    ("We married on the 7th of May 2023", "2023-05-07"),
    ("We married on 2023-05-07", "2023-05-07"),
    ("We married in May 2023", "2023-05-01"),
    ("We married on May 7", "2026-05-07"),
    ("I was born on 29 February", "2024-02-29"),
    ("We will marry on May 7", "2027-05-07"),
    ("I will start next month", "2026-12-01"),
    ("I started last month", "2026-10-01"),
    ("I started last year", "2025-01-01"),
    ("I will start next week", "2026-11-30"),
    ("I started last week", "2026-11-16"),
    ("I was ill three weeks ago", "2026-11-04"),
    ("I was ill 3 days ago", "2026-11-22"),
    ("I was ill a couple of days ago", "2026-11-23"),
    ("I adopted a dog two months ago", "2026-09-25"),
    ("I moved a year ago", "2025-11-25"),
    ("I moved about ten years ago", "2016-11-25"),
    ("I fly in two weeks", "2026-12-09"),
    ("I fly two days from now", "2026-11-27"),
    ("I have a meeting on Friday", "2026-11-27"),
    ("I went there on Friday", "2026-11-20"),
    ("I fly next Friday", "2026-11-27"),
    ("I sleep in on Sundays, and last Friday I was ill", "2026-11-20"),
    ("I saw Sunday's game", "2026-11-22"),
    ("I hiked last weekend", "2026-11-21"),
    ("I will hike this weekend", "2026-11-28"),
    ("I was in Rome last summer", "2026-06-01"),
    ("I was in Rome last winter", "2025-12-01"),
    ("I was in Rome in the summer of 2018", "2018-06-01"),
    ("I was in Rome last October", "2026-10-01"),
    ("I was in Rome in March", "2026-03-01"),
    ("昨天我去跑步了", "2026-11-24"),
    ("前天我见了王芳", "2026-11-23"),
    ("上周五我见了王芳", "2026-11-20"),
    ("上个星期天我在家", "2026-11-22"),
    ("下周一我要开会", "2026-11-30"),
    ("我每周二游泳，上周五没去", "2026-11-20"),
    ("去年夏天我去了罗马", "2025-06-01"),
    ("去年5月我去了罗马", "2025-05-01"),
    ("三天前我病了", "2026-11-22"),
    ("3天前我病了", "2026-11-22"),
    ("三个星期前我病了", "2026-11-04"),
    ("两个月前我养了一只狗", "2026-09-25"),
    ("半年前我搬家了", "2026-05-25"),
    ("我2023年5月7日结婚", "2023-05-07"),
    ("我二〇二三年结婚", "2023-01-01"),
    ("5月7号我们结婚了", "2026-05-07"),
    ("我十二月二十五日要去罗马", "2026-12-25"),
    ("下个月我要去罗马", "2026-12-01"),
    ("上个月15号我去了罗马", "2026-10-15"),
    ("前年我毕业了", "2024-01-01"),
    ("明天我要去医院", "2026-11-26"),
    ("后天我要去医院", "2026-11-27"),
    ("两年后我要回国", "2028-11-25"),
    ("上周末我去爬山了", "2026-11-21"),
]
TIMELESS = [
    "I live in Berlin", "I may go", "March on!", "My room is 2019", "I have 3 days",
    "May I come in", "On 31 June I rest", "我住在北京", "我有三天假",
    "Our office is closed on Fridays", "We deploy every Monday and Thursday", "I swim each Sunday",
    "我每周二和周四有会议", "每个星期天我去教堂", "I am 30 years old", "Version 20.19.1", "最后天黑了", "I read 1984",
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), DAYS)
def test_words_of_time_name_a_day(text: str, expected: str) -> None:
    assert day(time_in(text, NOW)) == expected
    assert time_in(text, NOW) == round(datetime.fromisoformat(f"{expected}T00:00:00Z").timestamp() * 1000)


@pytest.mark.parametrize("text", TIMELESS)
def test_other_words_name_no_time(text: str) -> None:
    assert time_in(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "minutes"), [("I ate half an hour ago", 30), ("I ate two hours ago", 120), ("我一个半小时前吃了", 90)]
)
def test_minutes_and_hours_are_exact(text: str, minutes: int) -> None:
    assert time_in(text, NOW) == NOW - minutes * 60_000


@pytest.mark.parametrize("text", ["I am ill today", "I ate fish this morning", "今天我病了", "我今晚要看电影"])
def test_today_is_the_moment_of_speaking(text: str) -> None:
    assert time_in(text, NOW) == NOW


def test_a_fact_without_words_of_time_is_dated_by_its_message() -> None:
    assert learnt("I live in Berlin.").facts[0].event_at == NOW
    assert day(learnt("I moved to Berlin in 2019.").facts[0].event_at) == "2019-01-01"


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("I live in Berlin.", None),
        ("I met Ana last Friday.", "2026-11-20"),
        ("我住在北京。", None),
        ("上周五我见了王芳。", "2026-11-20"),
    ],
)
def test_without_a_time_of_telling_only_words_of_time_date_a_fact(said: str, dated: str | None) -> None:
    taught = RuleExtractor().extract(conversation(said, timed=False))
    (fact,) = taught.facts
    assert (day(fact.event_at) if dated else fact.event_at) == dated
    assert taught.summary is not None
    assert taught.summary.event_at is None


def test_without_a_time_of_telling_a_wish_and_the_whole_of_parts_have_none() -> None:
    untimed = conversation("Forget that I live in Berlin.", timed=False)
    assert [fact.event_at for fact in RuleExtractor().extract(untimed).facts] == [None]
    assert RuleExtractor().summarise(["I live in Berlin."], untimed).event_at is None
    timed = conversation("I live in Berlin.")
    assert RuleExtractor().summarise(["I live in Berlin."], timed).event_at == NOW


@settings(deadline=None)
@given(st.sampled_from([text for text, _ in DAYS]), st.integers(-(2**70), 2**70))
def test_any_moment_may_be_that_of_the_message(text: str, at: int) -> None:
    found = time_in(text, at)
    if found is not None:
        assert -62_135_596_800_000 <= found <= 253_402_300_799_999
        assert 1 <= datetime.fromtimestamp(found / 1000, UTC).year <= 9999


@settings(deadline=None)
@given(st.text(alphabet="0123456789年月日号天周前后上下个半lastnexgomkydfri -/.:", max_size=60))
def test_any_digits_and_words_of_time_are_read(text: str) -> None:
    assert time_in(text, NOW) is None or isinstance(time_in(text, NOW), int)
