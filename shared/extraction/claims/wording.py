"""The words of a sentence as they are compared: stems, numbers, times, negation, and who is spoken of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shared.extraction.fingerprint import HAN, normalised
from shared.extraction.script import is_chinese, words

LONGEST = 600
"""Texts beyond this (characters) are compared by their beginning only where they are not equal."""

_PERSONS = {
    "me": "i",
    "my": "i",
    "mine": "i",
    "myself": "i",
    "us": "we",
    "our": "we",
    "ours": "we",
    "him": "he",
    "his": "he",
}
_PERSONS |= {"her": "she", "hers": "she", "them": "they", "their": "they"}
_FILLER = frozenset(
    words(
        "a an the am is are be been being do does did have has had will would just really actually currently "
        "now still also already already very quite so too then that of in at on to for with and as well these "
        "days nowadays moment right please basically definitely always indeed again"
    )
)
_NEGATORS = frozenset(
    words("not no never without nobody nothing none neither nor hardly cannot stopped quit dislike hate hates")
)
_ENDING = re.compile(
    r"(?<!not )(?<!never )\b(?:no longer|any ?more|any longer|stopped|quit|gave up|given up|used to)\b"
    r"|不再|戒掉?了?|再也"
)
_NUMBERS = {
    name: str(number)
    for number, name in enumerate(words("zero one two three four five six seven eight nine ten eleven twelve"))
}
_NUMBERS_ZH = {
    "零": "0",
    "一": "1",
    "二": "2",
    "两": "2",
    "三": "3",
    "四": "4",
    "五": "5",
    "六": "6",
    "七": "7",
    "八": "8",
    "九": "9",
    "十": "10",
}
_TIMES = frozenset(
    words(
        "yesterday today tomorrow tonight monday tuesday wednesday thursday friday saturday sunday january "
        "february march april may june july august september october november december last next ago week "
        "month year weekend morning evening afternoon noon midnight spring summer autumn fall winter"
    )
)
_IRREGULAR = {
    "went": "go", "gone": "go", "goes": "go", "bought": "buy", "saw": "see", "seen": "see", "ate": "eat",
    "eaten": "eat", "drank": "drink", "got": "get", "made": "make", "took": "take", "met": "meet", "left": "leave",
    "ran": "run", "began": "begin", "wrote": "write", "spoke": "speak", "lost": "lose", "kept": "keep", "has": "have",
    "had": "have", "was": "be", "were": "be", "children": "child", "kids": "child", "kid": "child",
    "favorite": "favourite", "color": "colour", "postgresql": "postgres", "based": "base",
}  # fmt: skip
_TOKEN = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+(?:['_.@/+#-]+[\w+#]+)*[+#]*|\d+(?:[.:,/-]\d+)*(?:am|pm|%)?|\d+|[$€£¥%]")
_SIGNS = frozenset("$€£¥%")
_FILLER_ZH = re.compile(
    "现在|目前|如今|已经|一直|刚刚|最近|其实|真的|非常|特别|十分|比较|总是|自己|一个|一只|一名|一位"
    "|[了的也还就都很又才在]"
)
_NEGATION_ZH = re.compile("不再|再也不|不太|不|没有?|别|无|戒掉?|讨厌")
_DISLIKE_ZH = re.compile("讨厌|厌恶|受不了")
_DIGITS_ZH = re.compile(
    "[零一二两三四五六七八九]?十[一二三四五六七八九]?"
    "|[零一二两三四五六七八九](?=[个次天年月日号点岁元块小周条位只台章分秒])"
)


@dataclass(frozen=True)
class Wording:
    """What of a text is compared. `stems` are in order, without fillers, numbers, times and negation."""

    text: str
    stems: tuple[str, ...]
    numbers: tuple[str, ...]
    times: frozenset[str]
    negated: bool
    ended: bool
    names: frozenset[str]

    def agrees_in_detail(self, other: Wording) -> bool:
        """Tell whether numbers, times, names and negation are the same."""
        return (self.numbers, self.times, self.negated, self.names) == (
            other.numbers,
            other.times,
            other.negated,
            other.names,
        )


def wording(text: str) -> Wording:
    """Return the words of a text as they are compared."""
    bounded = text[:LONGEST]
    plain = normalised(bounded)
    chinese = is_chinese(bounded)
    tokens = _chinese(plain) if chinese else [_PERSONS.get(token, token) for token in _TOKEN.findall(plain)]
    numbers = [number for token in tokens if (number := number_of(token))]
    negated = sum(1 for token in tokens if token in _NEGATORS) if not chinese else len(_NEGATION_ZH.findall(plain))
    rest = [token for token in tokens if not number_of(token) and token not in _NEGATORS]
    return Wording(
        text=plain,
        stems=tuple(stem(token) for token in rest if token not in _FILLER and token not in _TIMES),
        numbers=tuple(numbers),
        times=frozenset(token for token in rest if token in _TIMES),
        negated=negated % 2 == 1,
        ended=bool(_ENDING.search(plain)),
        names=_names(bounded),
    )


def stem(word: str) -> str:
    """Return the stem of an English word, so that lives, lived and living are one."""
    base = _IRREGULAR.get(word, word).removesuffix("'s")
    if len(base) <= 3 or not base.isascii() or not base.isalpha():
        return base
    for suffix in ("ing", "ed"):
        if base.endswith(suffix) and len(base) > len(suffix) + 2:
            base = base.removesuffix(suffix)
            if len(base) > 2 and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            break
    else:  # what an ending was taken from is no plural: teasing is not about teas
        if base.endswith("s") and not base.endswith(("ss", "us")):
            base = base[:-1]
    base = base.removesuffix("e")
    return f"{base[:-1]}i" if base.endswith("y") else base


def stems(text: str) -> tuple[str, ...]:
    """Return the stems of a normalised piece of text, without fillers."""
    return tuple(stem(token) for token in _TOKEN.findall(text) if token not in _FILLER)


def number_of(word: str) -> str:
    """Return the digits of a number word, a number or a currency sign as it is, or an empty text."""
    if word in _NUMBERS:
        return _NUMBERS[word]
    return word if word[0].isdigit() or word in _SIGNS else ""


def _chinese(plain: str) -> list[str]:
    bare = _DISLIKE_ZH.sub("不喜欢", plain)
    bare = _DIGITS_ZH.sub(lambda match: f" {_value(match[0])} ", bare)
    return _TOKEN.findall(_FILLER_ZH.sub("", _NEGATION_ZH.sub("", bare)))


def _value(said: str) -> str:
    if "十" not in said:
        return _NUMBERS_ZH[said]
    tens, _, ones = said.partition("十")
    return str(10 * int(_NUMBERS_ZH.get(tens, "1")) + int(_NUMBERS_ZH.get(ones, "0")))


def _names(text: str) -> frozenset[str]:
    """Return what is written as a name or an identifier, but for a sentence's first word."""
    found = re.findall(r"(?<=[\w,'\u2019] )[A-Z][\w'-]*|\b\w*[a-z0-9][A-Z_]\w*|\b[A-Z]{2,}\w*", text)
    return frozenset(
        name.removesuffix("'s").lower() for name in found if name not in ("I", "I'm", "I've", "I'll", "I'd")
    )
