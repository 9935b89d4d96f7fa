"""What a sentence tells beside where somebody lives or works, which stays true when that changes."""

from __future__ import annotations

import re

from shared.extraction.claims import claims_of

_WHO = r"(?P<who>(?:I|We|we|My [\w-]+|[A-Z][\w-]+)(?:['\u2019](?:m|re|ve|s))?"
_STILL = r"(?: (?:am|is|are|have|has|currently|now|still|also|already))*"
_LIVE = rf"{_WHO}{_STILL} (?:live|lives|lived|living|reside|resides|residing))"
_WORK = rf"{_WHO}{_STILL} (?:work|works|working))"
_PLACE = r"(?P<one>(?:in|at|near) (?:(?!\bwith\b|,).)+?)"
_COMPANY = (
    r"(?:my|our|his|her|their|[A-Z]|an? (?:\w+ )?(?:friend|room-?mate|flat-?mate|partner|cat|dog|colleague)\b"
    r"|(?:one|two|three|four|five|six|\d+) (?!(?:\w+ )?(?:bed|bath|room|floor|window|balcon|garden)))"
)
_WITH = rf"(?P<more>(?:together )?with {_COMPANY}.*?)"
_EMPLOYER = r"(?P<one>(?:at|for) (?:(?!\bas\b|,).)+?)"
_POST = r"(?P<more>as (?:an?|the) .+?)"
_END = r"(?P<end>[.!]*)$"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_LIVE} {_PLACE} {_WITH}{_END}",
        rf"{_LIVE} (?P<more>(?:together )?with (?:my|our) (?:(?! in | at ).)+) (?P<one>in [A-Z][^,]*?){_END}",
        rf"{_WORK} {_EMPLOYER} {_POST}{_END}",
        rf"{_WORK} (?P<more>as (?:an?|the) (?:(?! at | for ).)+) (?P<one>(?:at|for) [A-Z][^,]*?){_END}",
    )
)
_FORM_ZH = re.compile(
    "我(?P<more>[和跟与同].{1,20}?(?:一起|一块儿?|共同)?)(?P<one>(?:居住|住|生活)在)(?P<place>[^，,。！]{1,20})(?P<end>[。！]?)$"
)


def apart(clause: str) -> list[str]:
    """Return the home or employer and what is told beside it as two clauses, both in the words of the one."""
    for form in _FORMS:
        match = form.match(clause)
        if match:
            first = f"{match['who']} {match['one']}"
            return [first, f"{match['who']} {match['more']}{match['end']}"] if claims_of(first) else [clause]
    return [clause]


def apart_zh(clause: str) -> list[str]:
    """Return where the speaker lives and with whom as two clauses."""
    match = _FORM_ZH.match(clause)
    if match is None:
        return [clause]
    verb = match["one"].removesuffix("在")
    return [f"我{match['one']}{match['place']}", f"我{match['more']}{verb}{match['end']}"]
