"""Words: what a text is found by, and what of a question is worth looking for. Both indexes use the same.

A Latin word is found by its stem, Chinese, Japanese and Korean by pairs of characters, and a name out of a program
(`event_id`, `max-retries`, `v1.2.3`, `camelCase`) by itself, as it is written, and by its parts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from shared.search.asking import FUNCTION_CHARACTERS, QUESTION_CHARACTERS, QUESTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

ANALYSED_CHARACTERS: Final = 32 * 1024
"""Of a field, what is looked at; a passage is far shorter."""

EXACT: Final = "="
"""What a term begins with that stands for a name as it is written."""

_STEMMED_FROM: Final = 3
_STEMMED_TO: Final = 24
_SHORTEST_STEM: Final = 2
_VOWELS: Final = "aeiou"
_LONGEST_TERM: Final = 128
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CJK: Final = (
    f"{_HAN}"
    "\u3041-\u3096\u30a1-\u30fa\u30fc\u31f0-\u31ff"  # kana
    "\uac00-\ud7af"  # Hangul
)
_LATIN: Final = rf"[^\W_{_CJK}]+"
_RUNS: Final = re.compile(rf"[{_CJK}]+|{_LATIN}(?:['._\-/:@+#]+{_LATIN})*(?:\+\+|#)?")
_PARTS: Final = re.compile(r"[^\W_]+")
_HUMPS: Final = re.compile(r"[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LETTERS: Final = re.compile(r"[^\W\d_]")
_HAN_LETTERS: Final = re.compile(f"[{_HAN}]")
_CJK_START: Final = re.compile(f"[{_CJK}]")
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")
_MARKS: Final = str.maketrans({"\u2019": "'", "\u2010": "-", "\u2011": "-"})
_STEMMING: Final = Lock()


def terms(text: str) -> list[str]:
    """Return what a text is found by, in order, as often as it is there."""
    return list(_terms(_normal(text)))


def query_terms(text: str) -> list[str]:
    """Return what of a question is worth looking for, each once.

    Words that only make it a question (what, when, did, 什么, 吗) are left out, unless nothing else is there.
    """
    normal = _normal(text)
    asked = _words(QUESTION_CHARACTERS.sub(" ", normal))
    kept = (term for word in asked if not _only_asks(word) for term in _terms_of(word) if not _says_nothing(term))
    return list(dict.fromkeys(kept)) or list(dict.fromkeys(_terms(normal)))


def chinese_share(text: str) -> float:
    """Return how much of a text's letters is Chinese, from 0 to 1."""
    beginning = text[:ANALYSED_CHARACTERS]
    letters = len(_LETTERS.findall(beginning))
    return len(_HAN_LETTERS.findall(beginning)) / letters if letters else 0.0


def is_chinese(text: str) -> bool:
    """Tell whether a text is Chinese; names and terms in Latin letters do not make it English."""
    return chinese_share(text) >= 0.3


def _normal(text: str) -> str:
    """Bring width, ligatures, accents and apostrophes to one form."""
    # Some characters become many: what they became is cut again.
    apart = unicodedata.normalize("NFKD", text[:ANALYSED_CHARACTERS])[:ANALYSED_CHARACTERS]
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart)).translate(_MARKS)


def _only_asks(word: str) -> bool:
    shouted = len(word) > 1 and word.isupper()
    return not shouted and word.lower().removesuffix("'s").replace("'", "") in QUESTION_WORDS


def _says_nothing(term: str) -> bool:
    return FUNCTION_CHARACTERS.issuperset(term)


def _terms(normal: str) -> Iterator[str]:
    for word in _words(normal):
        yield from _terms_of(word)


def _words(normal: str) -> Iterator[str]:
    return (found.group() for found in _RUNS.finditer(normal))


def _terms_of(word: str) -> list[str]:
    return _pairs(word) if _CJK_START.match(word) else _latin(word)


def _pairs(run: str) -> list[str]:
    """Return the pairs of neighbouring characters; a lone one is itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _latin(name: str) -> list[str]:
    """Return the stem of a word, or a name as it is written with the stems of its parts."""
    plain = name.removesuffix("'s").removesuffix("'S").replace("'", "")
    parts = [term for part in _PARTS.findall(plain) for term in _part(part)]
    return parts if plain.isalnum() else [EXACT + plain.lower()[:_LONGEST_TERM], *parts]


def _part(part: str) -> list[str]:
    """Return a word's stem; of `camelCase`, those of its humps too."""
    humps = _HUMPS.findall(part) if part.isascii() else []
    inner = [_stem(hump.lower()) for hump in humps] if len(humps) > 1 else []
    return [_stem(part.lower()), *inner]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if not (_STEMMED_FROM <= len(word) <= _STEMMED_TO and word.isascii() and word.isalpha()):
        return word[:_LONGEST_TERM]
    with _STEMMING:
        stem: str = _stemmer().stemWord(word)
    return f"{stem}e" if len(stem) == _SHORTEST_STEM and _lost_e(word) else stem


def _lost_e(word: str) -> bool:
    """Tell whether a short word was cut to another one: `one` to `on`, `uses` and `using` to `us`."""
    return word[2] == "e" or (word[2] == "i" and word[1] not in _VOWELS)


@cache
def _stemmer() -> Any:
    import snowballstemmer  # noqa: PLC0415 - functions that analyse nothing do without it

    return snowballstemmer.stemmer("porter")
