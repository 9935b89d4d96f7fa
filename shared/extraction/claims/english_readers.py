"""What is read off a match: the claim of one kind of English sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.extraction.claims.attributes import HEADS, STATUSES, is_occupation
from shared.extraction.claims.claim import Claim
from shared.extraction.claims.wording import number_of, stem, stems
from shared.extraction.script import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Reader = Callable[["Said"], Iterator[Claim]]

_CUT = re.compile(
    r" (?:because|since|which|where|when|while|but|so|after|before|although|though|if|until|and (?:i|my|we|our|it"
    r"|he|she|they|love"
    r"|have|am|work|live|like|moved|want|enjoy|plan)\b|with|for|from|last|next|this|in (?:19|20)\d\d|in (?:january"
    r"|february|march"
    r"|april|may|june|july|august|september|october|november|december)|on (?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|\d+ \w+ ago"
    r"|an? \w+ ago|yesterday|today|tomorrow|as well|too|together|to (?:be|work|study|live|start|join)|thanks"
    r"|please)\b.*$"
)
_PASSING = frozenset(
    map(stem, words("minutes hours days weeks months meetings exams questions appointments interviews ideas"))
)
"""What somebody has several of without keeping them."""
_REPLACED = 4
_SELF = dict.fromkeys(("me", "my", "user", "the user"), "i")


@dataclass(frozen=True)
class Said:
    """A sentence that one of the forms fits: the match, the text as it was written, whether it speaks of a change."""

    match: re.Match[str]
    text: str
    changed: bool

    def __getitem__(self, group: str) -> str:
        return self.match[group] or ""

    def get(self, group: str) -> str:
        """Return a group that not every form has."""
        return self.match.groupdict().get(group) or ""

    @property
    def subject(self) -> str:
        """Who is spoken of."""
        said = " ".join(word for word in self.get("s").split() if word not in ("and", "but", "so", "that"))
        return _SELF.get(said, "i" if said.endswith(" and i") else said)


def _cut(value: str) -> tuple[str, ...]:
    return stems(_CUT.sub("", f" {value}").strip())[:8]


def plain(attribute: str, *, holds: bool = True, current: bool = True, moved: bool = False) -> Reader:
    """Return the reader of an attribute whose value is all that follows."""

    def reader(said: Said) -> Iterator[Claim]:
        value = _cut(said["v"])
        if value:
            yield Claim(said.subject, attribute, value, holds=holds, current=current, changed=said.changed or moved)

    return reader


def employer(said: Said) -> Iterator[Claim]:
    """Read where somebody works; what is joined must be written as a name (no gym)."""
    value = _cut(re.sub(r" as .*$", "", said["v"]))
    first = (said["v"].split() or [""])[0]
    if (
        value
        and re.search(rf"\b{re.escape(first)}", said.text, re.IGNORECASE)
        and not re.search(rf"\b{re.escape(first)}", said.text)
    ):
        yield Claim(said.subject, "employer", value, holds=not said.get("no"), changed=said.changed)


def job(said: Said) -> Iterator[Claim]:
    """Read a trade or post."""
    trade = re.sub(r" (?:at|for|in|with|and|who|on|from|by) .*$", "", said["v"])
    if is_occupation(trade):
        yield Claim(said.subject, "job", stems(trade), holds=not said.get("no"), changed=said.changed)


def status(said: Said) -> Iterator[Claim]:
    """Read a state that excludes others of its kind."""
    word = said["v"].split()[0] if said["v"].split() else ""
    if word in STATUSES:
        yield Claim(said.subject, STATUSES[word], (word,), holds=not said["no"], changed=said.changed)


def age(said: Said) -> Iterator[Claim]:
    """Read an age."""
    yield Claim(said.subject, "age", (said["v"],), changed=said.changed)


def owned(said: Said) -> Iterator[Claim]:
    """Read an attribute with a name of its own: my phone number is ..., the deadline for Cedar is ..."""
    named = [
        word
        for word in said["a"].split()
        if word not in ("new", "current", "latest", "updated", "own", "the", "of", "for", "in")
    ]
    if not HEADS.intersection(map(stem, named)):
        return
    owner = said["o"]
    about = stems(" ".join(named))
    if "name" in about and len(about) > 1 and not said.changed:
        return  # two dogs may have two names
    value = _cut(said["v"])
    if value:
        subject = {"my": "i", "our": "we"}.get(owner, owner)
        yield Claim(subject, " ".join(sorted(about)), value, changed=said.changed or bool(said.get("to")))


def liked(*, holds: bool) -> Reader:
    """Return the reader of what is liked, or no longer."""

    def reader(said: Said) -> Iterator[Claim]:
        value = _cut(said["v"])
        if value and not said["v"].startswith(("to ", "that ", "how ")):
            yield Claim(said.subject, "like " + " ".join(value), ("yes",), holds=holds, changed=said.changed)

    return reader


def preferred(said: Said) -> Iterator[Claim]:
    """Read a preference, and over what."""
    other = said.get("w")
    value = _cut(said["v"])
    if value:
        yield Claim(said.subject, "prefer", value, changed=said.changed, instead_of=_cut(other) if other else ())


def used(said: Said) -> Iterator[Claim]:
    """Read what is used, and for what."""
    value, _, purpose = said["v"].partition(" for ")
    tool = _cut(value)
    if tool:
        yield Claim(said.subject, "use", tool, changed=said.changed, weak=True)
        if purpose:
            yield Claim(said.subject, "use for " + " ".join(_cut(purpose)), tool, changed=said.changed, weak=True)


def replaced(said: Said) -> Iterator[Claim]:
    """Read what took the place of what."""
    new = _cut(said["v"])
    for each in re.split(r" and | as well as | plus ", said["w"])[:_REPLACED]:
        old = _cut(each)
        if old and new:
            yield Claim(said.subject, "use", new, changed=True, weak=True, instead_of=old)


def hosted(said: Said) -> Iterator[Claim]:
    """Read what something runs on, is hosted on or was moved to: of one thing that is one at a time."""
    purpose, tool = _cut(said.get("x") or said.subject), _cut(said["v"])
    old = _cut(said.get("w"))
    if purpose and tool:
        moved = said.changed or bool(old)
        subject = said.subject if said.get("x") else ""
        yield Claim(subject, "use for " + " ".join(purpose), tool, changed=moved, weak=True, instead_of=old)


def decided(said: Said) -> Iterator[Claim]:
    """Read a decision: a later one for something else of the kind takes its place."""
    value, _, purpose = said["v"].partition(" for ")
    tool = _cut(value)
    if tool and not purpose:
        yield Claim(said.subject, "use by decision", tool, changed=True, weak=True)


def when(said: Said) -> Iterator[Claim]:
    """Read the time of something that is named with "the", "my", "our" or "this"."""
    subject = said.subject
    if subject.split(" ")[0] in ("the", "my", "our", "this"):
        moved = bool(said.get("to")) or said.changed
        yield Claim(subject, "when", stems(said["v"])[:8], changed=moved, weak=not said.get("due"))


def appointed(said: Said) -> Iterator[Claim]:
    """Read an appointment as the time of what is "the" later: I have a meeting on ..., the meeting was moved to ..."""
    yield Claim(f"the {said.subject}", "when", stems(said["v"])[:8], changed=said.changed, weak=True)


def counted(said: Said) -> Iterator[Claim]:
    """Read how many somebody has."""
    noun = stem(said["n"])
    if noun not in _PASSING:
        yield Claim(said.subject, f"count {noun}", (number_of(said["v"]),), changed=said.changed)
