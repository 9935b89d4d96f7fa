"""What a request's own summary and messages say of it, once its facts are decided.

What it wishes forgotten is in neither, and a summary that tells nothing new is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from shared.extraction.cutting import holds_any, told, without, without_wishes
from shared.extraction.fingerprint import fingerprint
from shared.memories.plan import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.extraction.port import Extraction, Learnt
    from shared.memories.correcting import Correcting, Unwanted
    from shared.memories.drafting import Draft, Entry
    from shared.memories.judging import Judge
    from shared.memories.models import Message

NOTHING_NEW = "All of it was known already."
SAME_SUMMARY = "Another summary says the same already, in the same words."
NOTHING_LEFT = "All of it was to be forgotten."


@dataclass(frozen=True)
class Telling:
    """One request's summary and messages."""

    draft: Draft
    extraction: Extraction

    @property
    def wishes(self) -> dict[int, str]:
        """What the request wishes forgotten, by the number of the fact."""
        return {n: fact.text for n, fact in enumerate(self.extraction.facts) if fact.forget}

    @cached_property
    def mark(self) -> str | None:
        """The fingerprint that keeps the summary from being there twice; None for a part, which its group needs."""
        summary = self.extraction.summary
        if summary is None or self.draft.add.chunk is not None:
            return None
        return f"s{fingerprint(without_wishes(summary.text, list(self.wishes.values())).text)}"

    def after(self, correcting: Correcting, judge: Judge) -> Callable[[Entry, int], Change]:
        """Return what makes the changes of the summary and the messages, for their places in the plan."""
        within = correcting.within()
        draft = self._without([u for u in within if u.forgets], correcting.kept)
        messages = {e.number: e for e in draft.entries(None)}

        def change(entry: Entry, place: int) -> Change:
            if entry.kind == "summary":
                return self._summary(entry, draft.dated(place), correcting, judge=judge)
            left = messages.get(entry.number)
            if left is None:
                return Change("NONE", NOTHING_LEFT, task=draft.task["task"], positions=tuple(entry.learnt.positions))
            return draft.dated(place).addition(left.learnt, "raw", left.number, reason=left.reason)

        return change

    def _without(self, unwanted: Sequence[Unwanted], kept: Sequence[str]) -> Draft:
        """Return the draft with its messages as they are to be kept."""
        if not self.wishes:
            return self.draft
        add = self.draft.add
        messages = tuple(self._cut(n, message, unwanted, kept=kept) for n, message in enumerate(add.messages))
        return replace(self.draft, add=replace(add, messages=messages))

    def _cut(self, position: int, message: Message, unwanted: Sequence[Unwanted], *, kept: Sequence[str]) -> Message:
        wished = [f.text for f in self.extraction.facts if f.forget and position in f.positions]
        speaker = message.sender_id or ""
        own = without_wishes(message.text, wished, speaker)
        cut = without(own.text, [u.text for u in unwanted], kept=kept, speaker=speaker)
        if not (own.found or cut.found):
            return message
        others = tuple(part for part in message.parts if part["type"] != "text")
        return replace(message, parts=({"type": "text", "text": cut.text}, *others))

    def _summary(self, entry: Entry, draft: Draft, correcting: Correcting, *, judge: Judge) -> Change:
        nothing = Change("NONE", NOTHING_NEW, task=draft.task["task"], positions=tuple(entry.learnt.positions))
        if self.draft.add.chunk is None and self._is_known(correcting):
            return nothing if self.mark is None else replace(nothing, old=judge.standing(self.mark)[0])
        text = self._text(entry.learnt, correcting)
        if not text.strip():
            return replace(nothing, reason=NOTHING_LEFT)
        mark = None if self.mark is None else f"s{fingerprint(text)}"
        if mark is None or mark != self.mark:
            return draft.addition(replace(entry.learnt, text=text), entry.kind, entry.number, reason=entry.reason)
        same, stale = judge.standing(mark)
        if same is not None:
            return replace(nothing, reason=SAME_SUMMARY, old=same)
        made = draft.addition(replace(entry.learnt, text=text), entry.kind, entry.number, reason=entry.reason)
        return replace(made, row={**(made.row or {}), "fingerprint": mark}, stale=stale)

    def _is_known(self, correcting: Correcting) -> bool:
        """Tell whether the conversation taught facts, and each of them was known."""
        taught = [c.event for c in correcting.decided if c.fact not in self.wishes]
        return bool(taught) and all(event == "NONE" for event in taught)

    def _text(self, summary: Learnt, correcting: Correcting) -> str:
        """Return the summary without what was wished forgotten or is not so any more by the conversation's end.

        One that has its own words of a wish is made of the facts.
        """
        within, wished = correcting.within(), list(self.wishes.values())
        own = without_wishes(summary.text, wished)
        cut = without(own.text, [u.text for u in within], kept=correcting.kept)
        if not wished or own.found or cut.found or holds_any(cut.text, correcting.kept):
            return cut.text
        return told(correcting.kept)
