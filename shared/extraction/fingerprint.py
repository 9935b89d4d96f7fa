"""A fact's fingerprint: equal for texts that say the same in the same words, however they are typed."""

from __future__ import annotations

import hashlib
import re
import unicodedata

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Chinese characters, as the inside of a character class."""

_CJK = f"{HAN}\u3000-\u3004\u3040-\u30ff\uac00-\ud7af"
_LETTER = rf"[^\W{_CJK}]"  # a letter or digit of a script that puts spaces between its words
_QUOTES = {ord(c): "'" for c in "\u2018\u2019\u02bc`\u00b4"} | {ord(c): '"' for c in "\u201c\u201d\u00ab\u00bb"}
# Sentence marks count only inside a word, number or address: 3.5, 5:00, a-b, don't, x@y.org, -5, .NET.
_MARK = r"[.,:;!?'\"()\[\]{}\-]"
_LOOSE = re.compile(rf"(?<!{_LETTER}){_MARK}(?!(?<![^\s][.\-]){_LETTER})|{_MARK}(?!{_LETTER})")
_CJK_MARK = re.compile("[\u3001-\u3003\u3008-\u3011\u3014-\u301f\u2010-\u2015\u2026\u00b7\u30fb\uff5e]+")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SPACES = re.compile(r"\s+")
_CJK_SPACE = re.compile(rf"(?<=[{_CJK}]) | (?=[{_CJK}])")
_CONTRACTED = (
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
)
_LEAD_IN = re.compile(
    r"(?:(?:well|so|oh|ah|hey|yes|yeah|no|ok|okay|actually|anyway|also|btw|by the way|you know|to be honest)\s*,\s*)+"
    r"|(?:(?:嗯|哦|啊|好的|对了|其实|另外|是的|对)\s*[,、]\s*)+"
)
_PARTICLES = "啊呀呢哦嘛哈哟喔呗噢耶呐"


def normalised(text: str) -> str:
    """Return what was said without how it was typed.

    Case, width, spaces, sentence marks, English contractions, opening interjections and closing Chinese particles go;
    digits, negation, names and what stands inside a word stay.
    """
    folded = unicodedata.normalize("NFKC", text.translate(_QUOTES)).casefold().translate(_QUOTES).strip()
    lead = _LEAD_IN.match(folded)
    bare = folded[lead.end() :] if lead else folded
    bare = _CJK_MARK.sub(" ", _GROUPED.sub("", bare))
    for pattern, full in _CONTRACTED:
        bare = pattern.sub(full, bare)
    bare = _SPACES.sub(" ", _LOOSE.sub(" ", bare)).strip()
    bare = _CJK_SPACE.sub("", bare).rstrip(_PARTICLES)
    if bare.endswith("啦"):
        bare = bare[:-1] + "了"
    return bare or folded


def fingerprint(text: str) -> str:
    """Return 32 hexadecimal digits that are equal for restatements in the same words."""
    return hashlib.blake2b(normalised(text).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
