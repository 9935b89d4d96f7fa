"""The extractor that works by rules alone: no model, no network, the same answer every time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from shared.extraction.fingerprint import fingerprint
from shared.extraction.port import Extraction, Learnt
from shared.extraction.rules.cleaning import spoken
from shared.extraction.rules.compounds import parted
from shared.extraction.rules.forgetting import THAT, parted_from_wish
from shared.extraction.rules.kinds import categories_of, type_of
from shared.extraction.rules.questions import told_before
from shared.extraction.rules.sentences import sentences
from shared.extraction.rules.small_talk import trimmed
from shared.extraction.rules.statements import is_statement, is_told
from shared.extraction.rules.subject import name_of, named
from shared.extraction.rules.summaries import CHARACTERS, joined, most_telling
from shared.extraction.rules.times import time_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shared.extraction.port import Conversation, Turn

MOST_FACTS = 200
"""No conversation teaches more than so many; of more, the most telling are kept."""

MOST_SAID = 2_000
"""Of a conversation, the first so many statements are considered; more than a human says in a day."""

MOST_SENTENCES = 5_000
"""Of one turn, the first so many sentences are read."""

_CONFIRMED = re.compile(
    r"(?!if\b|you\b)(?=.*(?:\b(?:decided|agreed|confirmed|(?:we|i)(?:'ll| will) (?:use|keep|add|store|retry|go with"
    r"|limit|set)|at most"
    r"|at least|switched|replaced|chose|root cause)\b|决定|确认|采用|改用|必须|最多|至少|选择))",
    re.IGNORECASE | re.DOTALL,
)

_LIKED_BESIDE = re.compile(
    r",? (?:and|but) (?:I|we) (?:\w+ )?(?:love|like|enjoy|hate|adore) (?:it|them|that|this)(?: \w+){0,2}(?=[.!]*$)"
)


@dataclass(frozen=True)
class _Said:
    """A sentence that is worth keeping: as it is kept and as it was said, its turn, and who said it.

    `at` is when it was said (ms; None: not told), `seen` the moment that its words of time are counted from.
    """

    text: str
    words: str
    position: int
    at: int | None
    seen: int
    by_user: bool
    forget: bool = False


class RuleExtractor:
    """Keeps the user's own sentences (`Extractor`): whole, in their language, with their subject."""

    def extract(self, conversation: Conversation) -> Extraction:
        """Return the summary, the facts and the wishes to forget of a conversation."""
        said = list(islice(chain.from_iterable(_of_turn(turn, conversation) for turn in conversation.turns), MOST_SAID))
        worth = [each for each in said if not each.forget]
        facts = _bounded(_distinct([each for each in said if each.by_user]))
        return Extraction(
            _summary(worth, code=conversation.code) if any(each.by_user for each in worth) else None,
            tuple(_learnt(each, positions, code=conversation.code) for each, positions in facts),
        )

    def summarise(self, summaries: Sequence[str], conversation: Conversation) -> Learnt:
        """Return the most telling sentences of the parts' summaries, in order."""
        told = (sentence for summary in summaries for sentence in sentences(summary.split("\n")))
        parts = [sentence for sentence in told if len(sentence) <= CHARACTERS]
        places = most_telling(parts, [categories_of(each) for each in parts], code=conversation.code)
        text = joined([parts[place] for place in places]) or "\n".join(summaries)[:CHARACTERS]
        positions = tuple(turn.position for turn in conversation.turns)
        whole = _Said(text, text, 0, None, conversation.at, by_user=True)
        return replace(_learnt(whole, positions, code=conversation.code), event_at=_first_time(conversation))


def _first_time(conversation: Conversation) -> int | None:
    return next((turn.at for turn in conversation.turns if turn.at is not None), None)


def _of_turn(turn: Turn, conversation: Conversation) -> list[_Said]:
    seen = conversation.at if turn.at is None else turn.at
    by_user = turn.role == "user"
    name = name_of(turn.speaker)
    if not by_user and not conversation.code:
        return []
    said: list[_Said] = []
    since = 0  # where the parts of the last sentence begin
    for sentence in islice(sentences(spoken(turn.text)), MOST_SENTENCES):
        unwanted, rest = parted_from_wish(sentence) if by_user else (None, sentence)
        if unwanted is not None:
            where = _Said("", "", turn.position, turn.at, seen, by_user, forget=True)
            said[since:] = _forgotten(unwanted, said[since:], name, where=where)
        told = len(said)
        said += (
            _Said(named(text, name), text, turn.position, turn.at, seen, by_user)
            for text in _statements(rest, code=conversation.code)
            if by_user or _CONFIRMED.match(text)
        )
        since = told if len(said) > told else since
    return said


def _statements(sentence: str, *, code: bool) -> Iterator[str]:
    """Yield the sentence without its courtesies, or what it tells before it asks, where that is a statement."""
    bare, remembered = trimmed(sentence)

    def is_kept(text: str) -> bool:
        return is_statement(text, code=code) or (remembered and is_told(text))

    for text in (bare, told_before(bare)):
        if text and (is_kept(text) or (_LIKED_BESIDE.search(text) and is_kept(_LIKED_BESIDE.sub("", text)))):
            yield from parted(text, is_kept)
            return


def _forgotten(unwanted: str, last: list[_Said], name: str | None, *, where: _Said) -> list[_Said]:
    """Return the last sentence's parts and the wishes; a wish that only points back takes these parts along."""
    if unwanted != THAT:
        return [*last, *(replace(where, text=named(part, name)) for part in parted(unwanted, is_statement))]
    if not last or last[-1].forget:
        return last
    return [replace(where, text=each.text) for each in last]


def _learnt(said: _Said, positions: tuple[int, ...], *, code: bool) -> Learnt:
    if said.forget:
        return Learnt(said.text, event_at=said.at, positions=positions, forget=True)
    categories = categories_of(said.words)
    when = time_in(said.words, said.seen)
    return Learnt(
        text=said.text,
        memory_type=type_of(said.words, categories, code=code),
        categories=categories,
        event_at=said.at if when is None else when,
        positions=positions,
    )


def _distinct(said: list[_Said]) -> list[tuple[_Said, tuple[int, ...]]]:
    """Let what was said twice be one fact, of both turns."""
    kept: dict[tuple[str, bool], tuple[_Said, set[int]]] = {}
    for each in said:
        _, positions = kept.setdefault((fingerprint(each.text), each.forget), (each, set()))
        positions.add(each.position)
    return [(first, tuple(sorted(positions))) for first, positions in kept.values()]


def _bounded(facts: list[tuple[_Said, tuple[int, ...]]]) -> list[tuple[_Said, tuple[int, ...]]]:
    if len(facts) <= MOST_FACTS:
        return facts
    texts = [fact.words for fact, _ in facts]
    places = most_telling(texts, [categories_of(text) for text in texts], most=MOST_FACTS, longest=10**9)
    return [facts[place] for place in places]


def _summary(worth: list[_Said], *, code: bool) -> Learnt:
    categories = [categories_of(each.words) for each in worth]
    places = most_telling([each.text for each in worth], categories, code=code)
    chosen = [worth[place] for place in places]
    types = [type_of(worth[place].words, categories[place], code=code) for place in places]
    return Learnt(
        text=joined([each.text for each in chosen]),
        memory_type=max(dict.fromkeys(types), key=types.count),
        categories=tuple(dict.fromkeys(label for place in places for label in categories[place])),
        event_at=chosen[-1].at,
        positions=tuple(sorted({each.position for each in chosen})),
    )
