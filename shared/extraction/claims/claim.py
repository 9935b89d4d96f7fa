"""A claim: one attribute of one subject, its value, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass

GROUP = frozenset(
    {
        "",
        "i",
        "we",
        "our",
        "us",
        "our team",
        "the team",
        "our project",
        "the project",
        "我",
        "我们",
        "咱们",
        "团队",
        "项目",
    }
)
"""Subjects that may speak for one another of what is used: a team's choice is told by any of it."""


@dataclass(frozen=True)
class Claim:
    """What a sentence says of an attribute that has one value at a time.

    `subject` and `value` are in normalised words. `holds` is False where it is said to be over or untrue; `current`
    where it is not told of a time gone by; `instead_of` is the value that it explicitly replaces; `changed` tells that
    the words themselves speak of a change ("now", "moved to"). Values of `weak` attributes replace each other only
    with such words.
    """

    subject: str
    attribute: str
    value: tuple[str, ...]
    holds: bool = True
    current: bool = True
    changed: bool = False
    weak: bool = False
    instead_of: tuple[str, ...] = ()

    def same_place(self, other: Claim) -> bool:
        """Tell whether both speak of the same attribute of the same subject."""
        if self.attribute != other.attribute:
            return False
        if self.subject == other.subject:
            return True
        return self.attribute.startswith("use") and self.subject in GROUP and other.subject in GROUP
