"""The words that only make a question of what is asked about, English and Chinese.

They are left out of questions alone: a text may be found by all of its words, and a question of nothing but such
words is looked for as it stands.
"""

from __future__ import annotations

import re
from typing import Final

_ARTICLES = "a an the this that these those there here such any some each every other another own same"
_PRONOUNS = (
    "i me my mine myself you your yours yourself he him his himself she her hers herself it its itself "
    "we us our ours ourselves they them their theirs themselves"
)
_VERBS = (
    "am is are was were be been being do does did doing done have has had having "
    "can could will would shall should must might dont doesnt didnt isnt arent wasnt werent im ive id youre youve"
)
_JOINTS = (
    "and or but nor if so as than then of at by for with about to from in into on onto off up out over "
    "no not only too very just also yet still ever"
)
_QUESTIONS = "what whats when whens where wheres who whos whom whose which why how hows"
_ASKING = "tell know remember recall please"

QUESTION_WORDS: Final = frozenset(f"{_ARTICLES} {_PRONOUNS} {_VERBS} {_JOINTS} {_QUESTIONS} {_ASKING}".split())
"""Without "may" (a month). In capitals they are names (US, IT, WHO) and stay."""

_CHINESE_QUESTIONS = (
    "请问 请告诉我 告诉我 你还记得 还记得 你记得 你知道 什么时候 什么时间 什么地方 什么样 为什么 为何 什么 "
    "怎么样 怎样 怎么 如何 哪一个 哪里 哪儿 哪个 哪些 哪位 哪天 哪年 哪 多少 是不是 有没有 能不能 会不会 是否 "
    "啥时候 啥地方 啥 几点 几个 谁的 是谁 谁 吗 呢 吧 啊 呀 嘛"
)

QUESTION_CHARACTERS: Final = re.compile("|".join(sorted(_CHINESE_QUESTIONS.split(), key=len, reverse=True)))
"""Chinese is not divided into words: these are cut out of it wherever they stand."""

FUNCTION_CHARACTERS: Final = frozenset(
    "的地得了着过是在我你您他她它们这那有和与及或就都也还很不没被把给对从到向为因所以而且但"
)
"""Characters that mean nothing by themselves; a pair of two of them is not worth looking for."""

_QUESTION_MARKS: Final = ("?", "？")
_QUESTION_ENDS: Final = re.compile(r"(?:[?？]|[吗呢][。.!！~～]?)[\s\"'”’」』)）]*$")  # noqa: RUF001 - as people type them
_SHORT: Final = 80


def is_question(text: str) -> bool:
    """Tell whether a text asks rather than tells: it ends with a question, or is short and has one."""
    tail = text[-_SHORT:]
    short = len(text) <= _SHORT and any(mark in text for mark in _QUESTION_MARKS)
    return short or _QUESTION_ENDS.search(tail) is not None
