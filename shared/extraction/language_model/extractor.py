"""The extractor that asks a language model."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from shared.extraction.fingerprint import fingerprint
from shared.extraction.language_model import framing
from shared.extraction.language_model.loose_json import values_in
from shared.extraction.language_model.parts import CHARACTERS, PARTS, grouped, parts_of
from shared.extraction.language_model.reply import Unusable, extraction_of, summary_of
from shared.extraction.port import Extraction, ExtractionFailed
from shared.models.converse import Budget, Said, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.extraction.port import Conversation, Learnt
    from shared.models.converse import Converse, Form, Reply

T = TypeVar("T")
A = TypeVar("A")
SECONDS = 75.0  # what gets no further for longer is taken for hung, since it holds up its user
TOKENS = 3_000
AT_ONCE = 8
NOTHING = Extraction(None)
KEPT = 4_000  # characters of a reply that can't be used, for the task's record


@dataclass(frozen=True)
class Question(Generic[T]):
    """What is asked: the rules, what they are about, the answer's form, and what makes a value of the answer."""

    rules: str
    text: str
    form: Form
    value_of: Callable[[Any], T]


class LanguageModelExtractor:
    """Learns by asking a language model.

    One question for 32,000 characters, at most 16 for a whole conversation, each repaired once at most; and one
    more where several parts need a summary of the whole. `Extraction.usage` counts them.
    """

    def __init__(self, model: Converse, *, seconds: float = SECONDS) -> None:
        self._model = model
        self._seconds = seconds

    def extract(self, conversation: Conversation) -> Extraction:
        """Return what is to be kept.

        Raises:
            ExtractionFailed: the model's answers can't be used; `details["reply"]` is what it said.
            Unavailable: the model can't be asked now, or is too slow.
        """
        until = time.monotonic() + self._seconds
        parts = parts_of(conversation.turns)
        found = _each(lambda turns: self._learn(replace(conversation, turns=turns), until), parts)
        told = [part.summary for part in found if part.summary]
        usage = sum((part.usage for part in found), Usage())
        summary = told[0] if told else None
        if len(told) > 1:
            summary, used = self._summed([part.text for part in told], conversation, until)
            usage += used
        if summary:
            summary = replace(summary, positions=tuple(sorted({turn.position for turn in conversation.turns})))
        facts: dict[tuple[str, bool], Learnt] = {}
        for fact in (fact for part in found for fact in part.facts):
            facts.setdefault((fingerprint(fact.text), fact.forget), fact)
        return Extraction(summary, tuple(facts.values()), usage)

    def summarise(self, summaries: Sequence[str], conversation: Conversation) -> Learnt:
        """Return one summary of several, in order; errors as `extract`.

        Many are summed up in groups first: 16 questions at most, and one more. Of more than they can hold, each
        summary gives the same number of characters.
        """
        return self._summed(summaries, conversation, time.monotonic() + self._seconds)[0]

    def _learn(self, part: Conversation, until: float) -> Extraction:
        positions = {turn.position for turn in part.turns}
        rules, text = framing.rules_of(part), framing.conversation_text(part)
        question = Question(rules, text, framing.NOTES, lambda value: extraction_of(value, positions))
        extraction, usage = self._answer(question, until)
        return replace(extraction, usage=usage)

    def _summed(self, summaries: Sequence[str], conversation: Conversation, until: float) -> tuple[Learnt, Usage]:
        share = max(1, PARTS // 2 * CHARACTERS // max(1, len(summaries)))
        groups = grouped([text[:share] for text in summaries], len, CHARACTERS)

        def asked(texts: Sequence[str]) -> tuple[Learnt, Usage]:
            rules, text = framing.summary_rules_of(conversation), framing.summaries_text(texts)
            return self._answer(Question(rules, text, framing.SUMMARY, summary_of), until)

        if len(groups) < 2:
            return asked(groups[0] if groups else ())
        found = _each(asked, groups)
        summary, used = asked([part.text for part, _ in found])
        return summary, sum((usage for _, usage in found), used)

    def _answer(self, question: Question[T], until: float) -> tuple[T, Usage]:
        """Ask, and once more where the answer can't be used or was cut off."""
        said = [Said("user", question.text)]
        reply = self._ask(question, said, until)
        first = _read(question, reply)
        if not first.problem:
            return first.values[0], reply.usage
        said += [Said("assistant", reply.text), Said("user", framing.repair_text(first.problem))]
        again = self._ask(question, said, until)
        second = _read(question, again)
        for value in sorted((*second.values, *first.values), key=lambda value: value == NOTHING):
            return value, reply.usage + again.usage
        message = f"The model {self._model.model} gave no answer that can be used, nor when asked again"
        raise ExtractionFailed(f"{message}: {second.problem}.", reply=reply.text[:KEPT], repaired=again.text[:KEPT])

    def _ask(self, question: Question[Any], said: Sequence[Said], until: float) -> Reply:
        return self._model.ask(question.rules, said, question.form, budget=Budget(TOKENS, until))


@dataclass(frozen=True)
class Reading(Generic[T]):
    """What could be made of a reply (one value, or none), and what is wrong with it; "": nothing is."""

    values: tuple[T, ...]
    problem: str


def _read(question: Question[T], reply: Reply) -> Reading[T]:
    problem = "it holds no JSON"
    for answer, cut in values_in(reply.text):
        try:
            value = question.value_of(answer)
        except Unusable as refused:
            problem = str(refused)
            continue
        if not cut and not reply.cut:
            return Reading((value,), "")
        # Where it was cut off, having found nothing says nothing.
        return Reading(() if value == NOTHING else (value,), "it was cut off, being too long")
    return Reading((), problem)


def _each(function: Callable[[A], T], arguments: Sequence[A]) -> list[T]:
    if len(arguments) < 2:
        return [function(argument) for argument in arguments]
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="extraction") as threads:
        return list(threads.map(function, arguments))
