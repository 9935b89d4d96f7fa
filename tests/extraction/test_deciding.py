"""What becomes of a fact beside what is known: restated, changed, over, forgotten, or simply another fact."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.extraction.deciding import RuleDecider
from shared.extraction.port import Decision, Event, Known, Learnt

DAY = 86_400_000
NOW = 1_780_000_000_000
DECIDER = RuleDecider()


def decided(known: str | list[str], fact: str, **more: bool | int) -> Decision:
    texts = [known] if isinstance(known, str) else known
    memories = [
        Known(f"m{n}", 1, text, 0.9 - n / 10, event_at=NOW - DAY, immutable=bool(more.get("immutable")))
        for n, text in enumerate(texts)
    ]
    at = more.get("at", NOW)
    return DECIDER.decide(Learnt(fact, event_at=at, forget=bool(more.get("forget"))), memories)


RESTATED = [
    ("I live in Berlin", "I live in Berlin."),
    ("I live in Berlin.", "I'm living in Berlin"),
    ("I live in Berlin", "I currently live in Berlin"),
    ("I live in Berlin", "I now live in Berlin"),
    ("I live in Berlin", "I reside in Berlin"),
    ("I live in Berlin", "My home is in Berlin"),
    ("I live in Berlin", "Berlin is where I live"),
    ("I live in Berlin", "I'm based in Berlin"),
    ("I live in Berlin with my wife", "I live in Berlin"),
    ("I moved to Madrid", "I live in Madrid"),
    ("I like tea", "I really like tea!"),
    ("I like tea", "I love tea"),
    ("I like tea", "I enjoy tea"),
    ("I'm allergic to peanuts", "I am allergic to peanuts."),
    ("My sister lives in Berlin", "My sister is living in Berlin."),
    ("Cedar callbacks allow at most three retries.", "Cedar callbacks allow at most 3 retries"),
    ("I work at Google", "I'm working at Google"),
    ("I work for Google", "I work at Google now."),
    ("My favorite color is blue", "My favourite colour is blue"),
    ("My favourite colour is blue", "Blue is my favourite colour"),
    ("I don't like tea", "I do not like tea"),
    ("I visited Rome in May", "In May I visited Rome"),
    ("Caroline lives in Berlin", "Caroline lives in Berlin!"),
    ("I have two dogs", "I have 2 dogs"),
    ("I prefer tea over coffee", "I prefer tea over coffee."),
    ("我住在北京", "我住在北京。"),
    ("我住在北京", "我现在住在北京"),
    ("我住在北京", "我目前居住在北京"),
    ("我喜欢喝茶", "我很喜欢喝茶"),
    ("我叫李雪", "我的名字是李雪"),
    ("我讨厌香菜", "我不喜欢香菜"),
    ("我搬到上海了", "我住在上海"),
    ("最多重试3次", "最多重试三次"),
]

CHANGED = [
    ("I live in Paris", "I live in Rome, not Paris."),
    ("I live in Paris", "I'm living in Rome and not in Paris"),
    ("I work at Acme", "I work at Globex, not Acme."),
    ("I work at Acme", "I quit my job at Acme"),
    ("I am a nurse", "I'm a doctor, not a nurse."),
    ("My birthday is 3 May", "My birthday is 4 May, not 3 May."),
    ("I prefer tea", "I prefer coffee, not tea"),
    ("We use MySQL", "We use Postgres, not MySQL."),
    ("我的电话是12345678", "我的新电话是87654321"),
    ("I live in Berlin", "I moved to Madrid"),
    ("I live in Berlin", "I now live in Madrid"),
    ("I live in Berlin.", "I've just moved to Madrid for work."),
    ("I live in Paris", "I moved to Rome"),
    ("I moved to Madrid last year", "I moved to Rome"),
    ("We live in Berlin", "We moved to a new apartment in Madrid"),
    ("Caroline lives in Berlin.", "Caroline moved to Madrid."),
    ("My sister lives in Berlin", "My sister moved to Hamburg"),
    ("I live in Berlin", "I don't live in Berlin any more"),
    ("I live in Berlin", "I no longer live in Berlin"),
    ("I live in Berlin", "I used to live in Berlin"),
    ("I work at Google", "I joined Microsoft"),
    ("I work at Google as a data engineer", "I left Google"),
    ("I work for Acme", "I'm now working for Siemens"),
    ("I work as a nurse", "I work as a teacher now"),
    ("I'm a software engineer", "I got promoted to senior software engineer"),
    ("I'm a nurse", "I became a teacher"),
    ("I'm 30 years old", "I turned 31"),
    ("I am 30", "I'm 31 years old"),
    ("My phone number is 555-1234", "My phone number is 555-9999"),
    ("My phone number is 555-1234", "My new phone number is 555-9999"),
    ("My email is a@example.org", "My email is b@example.org"),
    ("My favourite colour is blue", "My favorite color is green"),
    ("My favourite food is pizza", "Sushi is my favourite food"),
    ("I like tea", "I don't like tea any more"),
    ("I like tea", "I hate tea"),
    ("I love coffee", "I no longer like coffee"),
    ("I don't like olives", "I like olives now"),
    ("I drink coffee", "I stopped drinking coffee"),
    ("I drink coffee every morning", "I no longer drink coffee"),
    ("I eat meat", "I don't eat meat"),
    ("I prefer tea over coffee", "I prefer coffee over tea"),
    ("I prefer tea", "I prefer coffee over tea"),
    ("I prefer dark mode", "I prefer light mode"),
    ("I prefer window seats", "I prefer aisle seats"),
    ("I prefer tea", "I prefer coffee"),
    ("We use MySQL", "We switched from MySQL to Postgres"),
    ("We use MySQL for the orders service", "We switched from MySQL to Postgres"),
    ("We use MySQL", "We migrated from MySQL to Postgres last week"),
    ("We use MySQL for orders", "We now use Postgres for orders"),
    ("The project uses MySQL", "We replaced MySQL with Postgres"),
    ("I use Vim", "I switched from Vim to VS Code"),
    ("I use Vim", "I now use Emacs"),
    ("Uses ESLint for linting", "Switched from ESLint to Biome"),
    ("I use Jest for testing", "I use Vitest instead of Jest"),
    ("Cedar callbacks allow at most 3 retries", "Cedar callbacks allow at most 5 retries"),
    ("Cedar callbacks allow at most three retries.", "Cedar callbacks now allow at most 5 retries."),
    ("Retry a failed callback at most 3 times.", "Retry a failed callback at most 5 times."),
    ("Passwords must have at least 8 characters", "Passwords must have at least 12 characters"),
    ("The request timeout is 30 seconds", "The request timeout is 60 seconds"),
    ("The deadline is Friday", "The deadline is Monday"),
    ("The deadline for Cedar is 1 May", "The deadline for Cedar was moved to 9 May"),
    ("The report is due on Friday", "The report is due on Monday"),
    ("The meeting is on Monday", "The meeting was moved to Tuesday"),
    ("The meeting with Ana is on Monday", "The meeting with Ana has been rescheduled to Tuesday"),
    ("I'm single", "I got married"),
    ("I'm vegetarian", "I'm vegan now"),
    ("I have two dogs", "I have three dogs"),
    ("I run 5 km every morning", "I run 10 km every morning"),
    ("I live in Berlin", "I live in Kreuzberg in Berlin"),
    ("I live in Berlin", "I live in Berlin with my wife and two kids"),
    ("我住在北京", "我搬到上海了"),
    ("我住在北京", "我现在住在上海"),
    ("我住在北京", "我上个月搬到了上海"),
    ("我住在北京。", "我从北京搬到了上海。"),
    ("我妹妹住在北京", "我妹妹搬到广州了"),
    ("我住在北京", "我不再住在北京"),
    ("我在谷歌工作", "我跳槽到微软了"),
    ("我在谷歌工作", "我从谷歌离职了"),
    ("我是老师", "我现在是一名律师"),
    ("我今年30岁", "我31岁了"),
    ("我喜欢喝茶", "我不喜欢喝茶了"),
    ("我喜欢喝茶", "我讨厌喝茶"),
    ("我的电话是123456", "我的电话换成654321了"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色"),
    ("我们用MySQL", "我们从MySQL换成了Postgres"),
    ("我们使用MySQL", "我们把MySQL换成Postgres了"),
    ("回调最多重试3次", "回调最多重试5次"),
    ("我在腾讯工作", "我上个月从腾讯离职了，现在在字节跳动工作"),
    ("I live in Berlin", "The user moved to Madrid"),
    ("User works at Google", "User joined Microsoft"),
    ("I use VS Code", "I switched to Neovim"),
    ("I have a meeting with Ana on Monday", "The meeting with Ana has been moved to Tuesday"),
    ("I'm engaged to Tom", "I married Tom"),
    ("I wake up at 6 every day", "I wake up at 7 every day"),
    ("My boss is Tom", "My new boss is Eva"),
    ("We deploy on Fridays", "We no longer deploy on Fridays"),
    ("My salary is 50k", "My salary went up to 60k"),
    ("We use SQLAlchemy with Postgres.", "We switched from SQLAlchemy and Postgres to MongoDB with the raw driver."),
    ("We use Postgres", "We switched from SQLAlchemy and Postgres to MongoDB"),
    ("We host the auth service on Fly.io.", "We moved the auth service from Fly.io to EKS."),
    ("The auth service runs on Fly.io", "We moved the auth service from Fly.io to EKS"),
    ("We deploy the auth service to Fly.io", "We now deploy the auth service to EKS"),
    ("The auth service is hosted on Fly.io", "The auth service was moved from Fly.io to EKS"),
    ("I write the novel in a first-person narrator voice.", "I no longer write the novel in first person"),
    ("We decided on Postgres with SQLAlchemy.", "We decided on MongoDB after evaluating Postgres."),
    ("We chose Jest", "We settled on Vitest"),
    ("We use MySQL for orders", "We migrated our database from MySQL to Postgres"),
    ("我们用微信", "我们从微信和支付宝换成了银行卡"),
    ("我住在北京", "我不住北京了"),
    ("我住在北京", "我家在上海"),
    ("我用微信支付", "我改用支付宝了"),
    ("我每天6点起床", "我每天7点起床"),
    ("我老板是李总", "我的老板换成王总了"),
    ("截止日期是周五", "截止日期改到下周一了"),
    ("我更喜欢茶而不是咖啡", "我更喜欢咖啡而不是茶"),
]

OTHER = [
    ("We use MySQL", "We use Postgres, not Oracle."),
    ("I live in Paris", "My sister lives in Rome, not Paris."),
    ("My sister lives in Berlin", "My brother lives in Berlin"),
    ("I live in Berlin", "My sister lives in Berlin"),
    ("I live in Berlin", "My sister moved to Madrid"),
    ("Caroline lives in Berlin", "Melanie lives in Madrid"),
    ("Flight at 3pm Monday", "Flight at 5pm Tuesday"),
    ("I have a dog named Rex", "I have a dog named Bella"),
    ("My dog is called Rex", "My dog is called Bella"),
    ("My dog's name is Rex", "My cat's name is Tom"),
    ("I visited Rome in May", "I visited Rome in June"),
    ("I visited Rome", "I visited Paris"),
    ("I went hiking yesterday", "I went hiking last week"),
    ("I like tea", "I like coffee"),
    ("I like green tea", "I don't like black tea"),
    ("I like tea", "My wife doesn't like tea"),
    ("I live in Berlin", "I lived in Paris as a child"),
    ("I lived in Paris", "I live in Berlin"),
    ("I live in Berlin", "I work in Berlin"),
    ("We use Redis for caching", "We use Postgres for orders"),
    ("We use Redis", "We use Postgres"),
    ("I use Python for scripts", "I use Bash for scripts"),
    ("Ana loves Bob", "Bob loves Ana"),
    ("I prefer window seats", "I prefer vegetarian meals"),
    ("My sister is a doctor", "My sister is tall"),
    ("My meeting is on Monday", "My meeting is on Tuesday"),
    ("Cedar callbacks allow at most 3 retries", "Cedar callbacks allow at least 3 retries"),
    ("Cedar callbacks allow at most 3 retries", "Birch callbacks allow at most 5 retries"),
    ("The Cedar module permits at most 3 attempts", "The Cedar module permits at most 5 seconds"),
    ("I bought a bike", "I sold a bike"),
    ("I ran 5 km yesterday", "I ran 10 km yesterday"),
    ("The deadline for Cedar is Friday", "The deadline for Birch is Monday"),
    ("My sister's birthday is in May", "My brother's birthday is in June"),
    ("I moved the deadline", "I moved to Madrid"),
    ("We moved to the new API", "We moved to Madrid"),
    ("I have two dogs", "I have three cats"),
    ("I paid $50 for shoes", "I paid $70 for shoes"),
    ("I met Ana in Berlin", "I met Eva in Berlin"),
    ("I like Ana", "I like Eva"),
    ("我妹妹住在北京", "我弟弟住在北京"),
    ("我住在北京", "我在北京工作"),
    ("我喜欢绿茶", "我不喜欢红茶"),
    ("我喜欢绿茶", "我喜欢红茶"),
    ("我五月去了罗马", "我六月去了罗马"),
    ("我有一只狗叫旺财", "我有一只狗叫来福"),
    ("我的狗叫旺财", "我的猫叫咪咪"),
    ("我住在北京", "我妈妈搬到上海了"),
    ("我小时候住在武汉", "我住在北京"),
    ("周一下午3点的航班", "周二下午5点的航班"),
    ("我住在北京", "I like tea"),
    ("I have a meeting with Ana on Monday", "I have a meeting with Ana on Tuesday"),
    ("My favourite book is Dune", "My favourite film is Dune"),
    ("I speak Spanish", "I speak French"),
    ("We use Postgres for orders", "We now use MongoDB for logs"),
    ("We decided on Postgres for orders", "We decided on MongoDB for logs"),
    ("We use Vue", "I chose React for the shop"),
    ("We host the auth service on Fly.io", "We moved the billing service from Fly.io to EKS"),
    ("We host the auth service on Fly.io", "We host the billing service on EKS"),
    ("We use Acme", "We switched from the Acme billing API to Adyen"),
    ("I'm Linda", "I'm German"),
    ("I like tea", "I like teasing"),
    ("We deploy the API to staging", "We just deployed the API to production"),
    ("I moved my desk from the kitchen to the attic", "I moved my bed from the attic to the kitchen"),
    ("We decided on Postgres", "We decided on Redis"),
    ("We chose Jest", "My sister chose Vitest"),
    ("The server runs on Linux", "The laptop runs on Windows"),
    ("My name is Robert", "Call me Bob"),
    ("I go to the gym every Monday", "I go to the gym every Tuesday"),
    ("我妈妈60岁", "我爸爸60岁"),
    ("我叫李雪", "我在看一部电影，叫泰坦尼克号"),
]


@pytest.mark.parametrize(("known", "fact"), RESTATED)
def test_what_is_restated_adds_nothing(known: str, fact: str) -> None:
    decision = decided(known, fact)
    assert (decision.event, decision.target) == ("NONE", "m0"), decision.reason


@pytest.mark.parametrize(("known", "fact"), CHANGED)
def test_a_changed_value_takes_the_place_of_the_one_before(known: str, fact: str) -> None:
    decision = decided(known, fact)
    assert (decision.event, decision.target) == ("UPDATE", "m0"), decision.reason


@pytest.mark.parametrize(("known", "fact"), OTHER)
def test_facts_that_only_look_alike_both_stay(known: str, fact: str) -> None:
    decision = decided(known, fact)
    assert (decision.event, decision.target) == ("ADD", None), decision.reason
    again = decided(fact, known)
    assert again.event == "ADD", again.reason


FORGOTTEN = [
    ("I live in Berlin", "I live in Berlin"),
    ("I live in Berlin with my wife", "I live in Berlin"),
    ("Caroline lives in Berlin", "Caroline lives in Berlin"),
    ("I live in Berlin", "Where I live"),
    ("I live at 5 Elm Street", "My address"),
    ("My phone number is 555-1234", "My phone number"),
    ("You can reach me at 030 1234567, my mobile", "My phone number"),
    ("I work at Google", "Where I work"),
    ("I'm a nurse", "My job"),
    ("I'm 30 years old", "My age"),
    ("My ex-girlfriend is called Eva", "My ex-girlfriend"),
    ("I'm allergic to peanuts", "I'm allergic to peanuts"),
    ("I met Ana in Rome", "Ana"),
    (
        "We are debating URL-path versioning vs header-based versioning for the public API.",
        "We were debating API versioning",
    ),
    ("我住在北京", "我住在北京"),
    ("我和父母住在北京", "我住在北京"),
    ("我的电话号码是123456", "我的电话号码"),
    ("我住在北京", "我的地址"),
    ("我喜欢喝茶", "我喜欢喝茶"),
]
KEPT = [
    ("My sister lives in Berlin", "I live in Berlin"),
    ("I live in Madrid", "I live in Berlin"),
    ("I don't like tea", "I like tea"),
    ("I like tea", "My phone number"),
    ("We are debating header-based versioning for the public API", "We were debating API authentication"),
    ("My sister's birthday is in May", "My birthday is in May"),
    ("我妹妹住在北京", "我住在北京"),
    ("我不喜欢喝茶", "我喜欢喝茶"),
    ("我喜欢咖啡", "我的电话号码"),
]


@pytest.mark.parametrize(("known", "wish"), FORGOTTEN)
def test_what_is_to_be_forgotten_is_deleted(known: str, wish: str) -> None:
    decision = decided(["I like hiking", known], wish, forget=True)
    assert (decision.event, decision.target) == ("DELETE", "m1"), decision.reason


@pytest.mark.parametrize(("known", "wish"), KEPT)
def test_nothing_else_is_forgotten(known: str, wish: str) -> None:
    decision = decided(known, wish, forget=True)
    assert (decision.event, decision.target) == ("NONE", None), decision.reason


def test_a_wish_to_forget_what_nobody_told_changes_nothing() -> None:
    decision = decided([], "I live in Berlin", forget=True)
    assert decision == Decision("NONE", "Nothing that is known says what was asked to be forgotten.")


def test_the_nearest_memory_that_says_it_is_forgotten() -> None:
    decision = decided(["I like tea", "I live in Berlin", "I live in Berlin with Ana"], "I live in Berlin", forget=True)
    assert decision.target == "m1"


@pytest.mark.parametrize("fact", ["I live in Berlin", "I moved to Berlin", "我住在柏林"])
def test_what_was_told_before_does_not_replace_what_was_told_later(fact: str) -> None:
    known = "我住在马德里" if fact[0] == "我" else "I live in Madrid"
    decision = decided(known, fact, at=NOW - 30 * DAY)
    assert (decision.event, decision.target) == ("NONE", "m0")
    assert "later" in decision.reason


def test_a_move_told_now_counts_although_it_happened_before_the_last_word() -> None:
    assert decided("I live in Berlin", "I moved to Madrid last month", at=NOW - 31 * DAY).event == "UPDATE"


@pytest.mark.parametrize(
    ("known", "fact"),
    [
        ("I'm married.", "I got divorced last year."),
        ("I live in Paris.", "I moved to Rome last year."),
        ("我住在北京", "我去年搬到上海了"),
    ],
)
def test_what_happened_in_the_year_before_is_not_lost_beside_what_was_said_last(known: str, fact: str) -> None:
    """A year is told as its first day: on the last day of the next one that is nearly two years ago."""
    now = 1_798_700_000_000  # 31 December 2026
    first = 1_735_689_600_000  # 1 January 2025
    memory = Known("m", 1, known, 0.9, told_at=now - 60_000)
    assert DECIDER.decide(Learnt(fact, event_at=first), [memory]).event == "UPDATE"


def test_an_old_home_is_no_change_of_the_present_one() -> None:
    assert decided("I live in Berlin", "In 2019 I lived in Paris", at=NOW - 2600 * DAY).event == "ADD"


@pytest.mark.parametrize("fact", ["I moved to Madrid", "I don't live in Berlin any more"])
def test_an_immutable_memory_is_never_replaced(fact: str) -> None:
    decision = decided("I live in Berlin", fact, immutable=True)
    assert (decision.event, decision.target) == ("ADD", None)
    assert "may not be changed" in decision.reason


def test_an_immutable_memory_is_never_forgotten() -> None:
    assert decided("I live in Berlin", "I live in Berlin", forget=True, immutable=True).event == "NONE"


def test_an_immutable_memory_says_it_already() -> None:
    assert decided("I live in Berlin", "I live in Berlin", immutable=True) == decided(
        "I live in Berlin", "I live in Berlin"
    )


def test_of_two_values_the_nearest_is_replaced() -> None:
    assert decided(["I live in Berlin", "I live in Paris"], "I moved to Madrid").target == "m0"


def test_a_restatement_counts_before_a_change() -> None:
    decision = decided(["I live in Berlin", "I live in Madrid"], "I live in Madrid")
    assert (decision.event, decision.target) == ("NONE", "m1")


def test_every_reason_is_one_sentence_that_quotes_the_memory() -> None:
    decision = decided("I live in Berlin", "I moved to Madrid")
    assert (
        decision.reason
        == "This gives the same thing another value, and is the later word: \u201cI live in Berlin\u201d."
    )
    assert len(decided("I live in Berlin " + "x" * 5000, "I live in Berlin " + "x" * 5000).reason) < 200


@pytest.mark.parametrize("scale", [0.999, 0.4, 0.05, -0.2])
def test_no_scale_of_similarity_decides(scale: float) -> None:
    known = [Known("m", 1, "I live in Berlin", scale)]
    assert DECIDER.decide(Learnt("I moved to Madrid"), known).event == "UPDATE"
    assert DECIDER.decide(Learnt("I like tea"), known).event == "ADD"
    assert DECIDER.decide(Learnt("I live in Berlin"), known).event == "NONE"


TEXTS = st.sampled_from([text for table in (RESTATED, CHANGED, OTHER, FORGOTTEN) for pair in table for text in pair])


@settings(deadline=None)
@given(fact=TEXTS, known=st.lists(TEXTS, max_size=4), forget=st.booleans())
def test_a_decision_is_always_the_same_and_its_target_one_of_the_known(
    *, fact: str, known: list[str], forget: bool
) -> None:
    decision = decided(known, fact, forget=forget)
    assert decision == decided(known, fact, forget=forget)
    assert decision.target in {None, *(f"m{n}" for n in range(len(known)))}
    allowed: dict[bool, set[Event]] = {True: {"DELETE", "NONE"}, False: {"ADD", "UPDATE", "NONE"}}
    assert decision.event in allowed[forget]
    assert (decision.target is None) == (decision.event == "ADD") or decision.event == "NONE"


@settings(deadline=None)
@given(TEXTS)
def test_what_is_said_twice_is_known(fact: str) -> None:
    assert decided(fact, fact).event == "NONE"
    assert decided(fact, f"  {fact.upper() if fact.isascii() else fact}  ").event == "NONE"


@settings(deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_are_decided(fact: str, known: str) -> None:
    assert decided(known, fact).event in ("ADD", "NONE", "UPDATE")


def test_hostile_texts_are_decided_in_bounded_work() -> None:
    for part in ("i live in ", "a b ", "my a is ", "from to ", "我住在", "3 ", "at most 3 ", "-'", "the the ", "not "):
        hostile = part * (32_768 // len(part))
        short = (part * 300)[:299]
        for fact, known in ((hostile, hostile + "x"), (short, short[1:]), (short, hostile)):
            assert decided(known, fact).event in ("ADD", "NONE", "UPDATE")


def test_a_plan_does_not_hold_off_what_is_told_after_it() -> None:
    known = [Known("m0", 1, "I am moving to Madrid next month", 0.9, event_at=NOW + 20 * DAY)]
    assert DECIDER.decide(Learnt("I moved to Rome", event_at=NOW), known).event == "UPDATE"
