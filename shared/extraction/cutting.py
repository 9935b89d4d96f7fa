"""Cutting out of texts what they are to say no more: whole sentences, and nothing else of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.extraction.claims.comparing import Reading, Relation, relation
from shared.extraction.fingerprint import normalised
from shared.extraction.forgotten import covers
from shared.extraction.rules.forgetting import wish
from shared.extraction.rules.sentences import sentences
from shared.extraction.rules.subject import name_of, named
from shared.extraction.rules.summaries import joined
from shared.extraction.script import is_chinese

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_SAME = (Relation.SAME, Relation.LESS, Relation.MORE)


@dataclass(frozen=True)
class Cut:
    """What is left of a text, and whether anything was cut out of it."""

    text: str
    found: bool


def without(
    text: str, unwanted: Iterable[str], *, wishes: Iterable[str] = (), kept: Iterable[str] = (), speaker: str = ""
) -> Cut:
    """Return a text without the sentences that say one of the unwanted facts, or that a wish to forget covers.

    A sentence that is one of the facts that are `kept` stays; first person is read as the `speaker` too.
    """
    facts, wished = [Reading.of(each) for each in unwanted], [Reading.of(each) for each in wishes]
    plain = {normalised(each) for each in kept}
    name = name_of(speaker)

    def is_cut(sentence: str) -> bool:
        if normalised(sentence) in plain:
            return False
        forms = [Reading.of(each) for each in dict.fromkeys((sentence, named(sentence, name)))]
        return any(_says(form, fact) for form in forms for fact in facts) or any(
            covers(each, form) for form in forms for each in wished
        )

    return _cut(text, is_cut)


def without_wishes(text: str, wished: Sequence[str], speaker: str = "") -> Cut:
    """Return a text without the sentences that wish something to be forgotten, and those that say just that.

    `wished` is what was understood; where no sentence has the form of a wish, those go that hold its words.
    """
    if not wished:
        return Cut(text, found=False)
    name, plain = name_of(speaker), {normalised(each) for each in wished}
    plainly = any(wish(each) is not None for each in sentences(text.split("\n")))

    def is_cut(sentence: str) -> bool:
        forms = {normalised(sentence), normalised(named(sentence, name))}
        return wish(sentence) is not None or bool(forms & plain) or (not plainly and any(_holds_any(forms, plain)))

    return _cut(text, is_cut)


def holds_any(text: str, facts: Iterable[str]) -> bool:
    """Tell whether a text has one of the facts in it, word for word."""
    plain = normalised(text)
    return any(_holds(plain, normalised(fact)) for fact in facts)


def told(facts: Sequence[str]) -> str:
    """Return facts as one text."""
    return joined([fact.strip() for fact in facts if fact.strip()])


def _cut(text: str, is_cut: Callable[[str], bool]) -> Cut:
    lines = [_line(line, is_cut) for line in text.split("\n")]
    left = "\n".join(line for line in lines if line is not None).strip()
    found = any(cut != line for cut, line in zip(lines, text.split("\n"), strict=True))
    wrapped = list(sentences(left.split("\n")))
    kept = [each for each in wrapped if not is_cut(each)]
    if len(kept) < len(wrapped):  # sentences that go over several lines
        return Cut(_joined(kept), found=True)
    return Cut(left if found else text, found)


def _line(line: str, is_cut: Callable[[str], bool]) -> str | None:
    """Return what is left of a line: itself, where nothing of it goes; None, where all of it goes."""
    said = list(sentences([line]))
    kept = [each for each in said if not is_cut(each)]
    if len(kept) == len(said):
        return line
    return _joined(kept) or None


def _joined(said: Sequence[str]) -> str:
    return ("" if said and is_chinese(said[0]) else " ").join(said)


def _says(sentence: Reading, fact: Reading) -> bool:
    if _holds(sentence.plain, fact.plain) or _is_enough(sentence.plain, fact.plain):
        return True
    return relation(sentence, fact) in _SAME


def _is_enough(sentence: str, fact: str) -> bool:
    """Tell whether a sentence is the most of a fact that has it word for word."""
    return 5 * len(sentence) >= 4 * len(fact) and _holds(fact, sentence)


def _holds(text: str, words: str) -> bool:
    """Tell whether a normalised text has words in it, as whole words; Chinese has no such."""
    if not words or words not in text:
        return False
    return is_chinese(words) or f" {words} " in f" {text} "


def _holds_any(texts: Iterable[str], words: Iterable[str]) -> Iterable[bool]:
    return (_holds(text, each) for text in texts for each in words)
