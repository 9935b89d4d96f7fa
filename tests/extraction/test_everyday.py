"""Everyday talk: introductions, what only sounds like a kind of fact, leading connectives, and talk about the talk."""

from __future__ import annotations

import pytest

from tests.extraction.conversations import facts, learnt

INTRODUCED = [
    ("Hi, my name is Linda and I'm glad to meet you.", "My name is Linda."),
    ("Hello, I'm Linda, nice to meet you.", "I'm Linda."),
    ("Hey there! I am Tom Baker, it's great to meet you!", "I am Tom Baker!"),
    ("Hi, my name's Omar and it's a pleasure to meet you.", "My name's Omar."),
    ("Hello. I'm Zoe and I'm very happy to talk to you.", "I'm Zoe."),
    ("Just call me Bob.", "Just call me Bob."),
    ("Everyone calls me Lizzie.", "Everyone calls me Lizzie."),
    ("你好，我叫李雪很高兴认识你。", "我叫李雪。"),
    ("你好，我叫曹志强，很高兴见到你。", "我叫曹志强。"),
    ("嗨，我是姚国栋，很高兴能认识你！", "我是姚国栋！"),
    ("大家都叫我小王。", "大家都叫我小王。"),
    ("我姓陈。", "我姓陈。"),
]
NOT_WHO = [
    "I'm a bit tired these days.",
    "I'm a little sad about my exam.",
    "It's my birthday and I baked a cake.",
    "现在我要去享受我的生日了。",
    "今天是我朋友的生日。",
    "我叫了一份外卖。",
    "我是昨天去的故宫。",
    "今天上班很累，我想早点睡。",
    "岁月让我成长了很多。",
]
PREFERRED = [
    "I've always loved Spanish culture, music, and cuisine.",
    "I've always enjoyed reading, but I can't focus lately.",
    "My sister has always hated olives.",
    "I have long been passionate about jazz.",
    "The thing that I love most is hiking.",
    "My parents love opera.",
    "I like to read at night.",
    "What I like most is the sea.",
    "I love stories that tackle hard questions.",
    "I've always had a love for horses.",
    "Being a coach for my team is something I enjoy.",
    "我一直很喜欢阅读。",
    "我最感兴趣的是古代文化。",
    "我自己最喜欢的电影是《活着》。",
]
NOT_PREFERRED = [
    'I\'m currently reading a novel about love called "Silent Separation".',
    "I listened to a love song by Adele yesterday.",
    "I'm hoping to find a career and job that I like.",
    "I want to spend more time on things I enjoy.",
    "I would also like to attend concerts by Jacky Cheung.",
    "My novel tells a story of love between two sailors.",
    "我会把时间留给自己喜欢的活动。",
    "我总觉得我的作品不会被人喜欢。",
]
NOT_PLANNED = [
    "I'm afraid I'll say something wrong on stage.",
    "I'm really worried that I will lose my job.",
    "Sometimes I'll read an article and forget its point.",
    "I don't want to make everything worse because of my mistakes.",
    "I think these skills will make me more comfortable with my camera.",
    "Whenever it rains, I'll get a headache.",
    "我担心明天考试考不好。",
    "我怕自己将来跟不上课程。",
]
PLANNED = [
    "I'll visit Rome in spring.",
    "I'm planning a trip to New Zealand.",
    "I will move to Oslo with Ana.",
    "I don't want to stay, so I will look for a flat in Bonn.",
    "I'm afraid of flying, but I'm going to Rome next month.",
    "I would also like to attend concerts by Jacky Cheung.",
    "When I get tired, I hope to taste local food in Oaxaca.",
    "我打算明年去日本。",
    "我也在考虑去旅游放松一下。",
    "我想去西班牙旅行。",
]
NOT_SKILLED = [
    "I encountered a problem with my bike and I don't know how to solve it.",
    'Today I found a novel called "Emma" while studying at the library.',
    "I'm not good at chess.",
    "I don't speak French.",
    "I never learned how to swim.",
    "I need to speak with my landlord about the rent.",
    "我不会说法语。",
    "我会做一些自我放松练习。",
    "我弟弟在学校住。",
    "我不熟悉这座城市。",
]
SKILLED = [
    "I know how to sail.",
    "I'm studying French at the library.",
    "I'm good at chess.",
    "I've been learning about how to brew tea.",
    "My sister speaks Polish.",
    "我会说法语。",
    "我会做川菜。",
    "我最近在学做菜。",
    "我最近也在练习弹吉他。",
]
NOT_BINDING = [
    "Intellectual novels always give me a lot of inspiration.",
    "Mountains always make my mood better.",
    "Jazz never bores my wife.",
    "I cannot focus on my thesis.",
    "Don't feel like I'm making much of an impact here.",
    "Meal times with my family are always fun.",
    "I must say my trip to Rome was lovely.",
    "克里斯在失去工作后始终保持着积极的心态，让我很感动。",
    "我经常感觉自己不能够胜任自己的职位。",
    "因为疫情我不能和家人一起庆祝。",
]
BINDING = [
    "Never use emojis in my documents.",
    "You should always call me Dr. Chen.",
    "Only use metric units in my recipes.",
    "Please always answer my questions in French.",
    "I cannot eat gluten.",
    "Passwords must have at least 12 characters.",
    "Use Postgres instead of MySQL for my projects.",
    "以后请用英文回答我。",
    "我不能吃海鲜。",
    "总是用中文回答我。",
]
JOINED = [
    ("For example, I was preparing my gear last night.", "I was preparing my gear last night."),
    ("But because I'm lazy, it's hard for me to keep a diary.", "Because I'm lazy, it's hard for me to keep a diary."),
    ("The fact is, I have been thinking about my job.", "I have been thinking about my job."),
    ("And in Rome I love the markets.", "In Rome I love the markets."),
    ("So today I cleaned my flat.", "Today I cleaned my flat."),
    ("But sometimes I also practice yoga at home.", "Sometimes I also practice yoga at home."),
    ("In fact, my sister moved to Oslo.", "My sister moved to Oslo."),
    ("但是我对花生过敏。", "我对花生过敏。"),
    ("所以我搬到了上海。", "我搬到了上海。"),
    ("而且我喜欢爬山。", "我喜欢爬山。"),
    ("其实我最近在练习弹吉他。", "我最近在练习弹吉他。"),
    ("实际上，我的老板给了我一项重要的任务。", "我的老板给了我一项重要的任务。"),
    ("例如，我昨晚准备了攀岩装备。", "我昨晚准备了攀岩装备。"),
]
KEPT_WHOLE = [
    "So far I have visited nine countries.",
    "But for my sister I know nobody in Oslo.",
    "Andy is my brother.",
    "Sophie is my sister.",
    "另外一个朋友叫王芳，她是我同学。",
]
ABOUT_TALK = [
    "Thanks for the advice, I'll think about it.",
    "Thank you, I will think about what you said.",
    "I'll talk to you tomorrow.",
    "Talk to you tomorrow!",
    "Today I want to talk about my writing.",
    "I'd like to talk about my recent reading.",
    "I have another question",
    "Yesterday's conversation really helped me a lot.",
    "Our last chat gave me some ideas.",
    "I will refer to these methods to improve my work.",
    "I will definitely apply your methods at work.",
    "I will do my best to put it into practice.",
    "I'll work hard.",
    "Don't forget to stay positive and motivate others.",
    "Don't get discouraged, just keep going.",
    "I also think so.",
    "I will consider learning from you!",
    "我会参考这些方法来优化我的职场表现。",
    "我会遵照你的指导。",
    "我会去阅读这本书的。",
    "我会继续努力练习的。",
    "我会好好考虑并努力寻找方向。",
    "昨天的对话真的帮了我很多。",
    "今天我想谈论一下我的写作。",
    "其实我想谈一谈最近的阅读。",
    "我也这么认为。",
    "I love this style.",
    "我很喜欢这种气质。",
    "我会去搜索一些相关资料。",
    "同时也让我更加珍视文化遗产。",
]
ABOUT_LIFE = [
    "I want to talk to my boss about a raise.",
    "I need to talk about the budget with Ana tomorrow.",
    "Yesterday's conversation with my boss went well.",
    "I will think about the offer from Google.",
    "I'll apply for a visa next week.",
    "I work hard at the bakery.",
    "I'm going to make it for my family this weekend.",
    "Since our last chat, I've been looking into counseling.",
    "I will make it to Rome in May.",
    "I'll take that job at Google.",
    "I'll keep trying to get a visa.",
    "I will do my best to finish my thesis.",
    "I can keep my dog in this flat.",
    "I will be in Rome for the summer.",
    "Today's talk at my university was about whales.",
    "I told my sister that I think so.",
    "我会继续学习德语。",
    "我会在这个周末搬家。",
    "我想和老板谈谈加薪。",
    "昨天的谈话中老板同意给我加薪。",
]


def categories(said: str) -> tuple[str, ...]:
    (fact,) = learnt(said).facts
    return fact.categories


@pytest.mark.parametrize(("said", "fact"), INTRODUCED)
def test_who_introduces_himself_is_known_by_name(said: str, fact: str) -> None:
    (kept,) = learnt(said).facts
    assert (kept.text, kept.memory_type) == (fact, "core")
    assert "identity" in kept.categories


@pytest.mark.parametrize("said", NOT_WHO)
def test_a_mood_or_an_occasion_is_not_who_somebody_is(said: str) -> None:
    assert not any("identity" in fact.categories for fact in learnt(said).facts)


@pytest.mark.parametrize(
    ("said", "category"),
    [
        *((said, "preference") for said in PREFERRED),
        *((said, "plan") for said in PLANNED),
        *((said, "skill") for said in SKILLED),
        *((said, "constraint") for said in BINDING),
    ],
)
def test_a_fact_has_the_category_of_what_it_tells(said: str, category: str) -> None:
    assert any(category in fact.categories for fact in learnt(said).facts)


@pytest.mark.parametrize(
    ("said", "category"),
    [
        *((said, "preference") for said in NOT_PREFERRED),
        *((said, "plan") for said in NOT_PLANNED),
        *((said, "skill") for said in NOT_SKILLED),
        *((said, "constraint") for said in NOT_BINDING),
    ],
)
def test_a_word_alone_makes_no_category(said: str, category: str) -> None:
    assert not any(category in fact.categories for fact in learnt(said).facts)


@pytest.mark.parametrize("said", ["我喜欢唱歌跳舞，健身，旅游，摄影。", "我不敢随便去参加社交活动。"])
def test_what_is_liked_has_not_happened(said: str) -> None:
    assert "event" not in categories(said)


@pytest.mark.parametrize(("said", "fact"), JOINED)
def test_what_joined_a_sentence_to_the_one_before_is_cut_off(said: str, fact: str) -> None:
    assert facts(said) == [fact]


@pytest.mark.parametrize("said", KEPT_WHOLE)
def test_a_word_that_only_begins_like_a_connective_stays(said: str) -> None:
    assert facts(said) == [said]


@pytest.mark.parametrize("said", ABOUT_TALK)
def test_talk_about_the_talk_is_no_fact(said: str) -> None:
    assert facts(said) == []


@pytest.mark.parametrize("said", ABOUT_LIFE)
def test_talk_with_others_is_a_fact(said: str) -> None:
    assert facts(said) == [said]


@pytest.mark.parametrize(("said", "fact"), [*INTRODUCED, *JOINED])
def test_what_is_kept_was_said(said: str, fact: str) -> None:
    assert fact.rstrip(".!。！").lower() in said.lower()


def test_long_repetitions_are_read_in_bounded_work() -> None:
    for part in (
        "I'm afraid ", "really ", "I'll do my best to ", "that I like ", "don't want to know how ", "but and so ",
        "want to talk about ", "I will also and also and ", "love ", "同时", "我会去再多", "喜欢旅游", "担心",
        "很高兴认识你",
    ):  # fmt: skip
        said = (part * 400)[:599]
        assert len(facts(f"{said}. " * 100)) <= 1
