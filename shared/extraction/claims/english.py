"""Claims of English sentences, in normalised words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.claims.english_readers import (
    Said,
    age,
    appointed,
    counted,
    decided,
    employer,
    hosted,
    job,
    liked,
    owned,
    plain,
    preferred,
    replaced,
    status,
    used,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.extraction.claims.claim import Claim
    from shared.extraction.claims.english_readers import Reader

_S = r"(?P<s>(?:[\w'.-]+ ){0,5}?)"
_V = r"(?P<v>.+)"
_PLACE = r"(?:in|at|near|on|outside)"
_ENDED = r"(?:used to|no longer|do not|does not|am not|is not|not|stopped|quit)"
_TO = (
    r"(?!the (?!us|uk|usa|netherlands|united|city|suburbs|countryside|coast|bay|philippines|north|south|east"
    r"|west)|an? |using |my |another )"
)
_HAVE = r"(?:have |has )?"
_CHANGE = re.compile(
    r"\b(?:now|currently|no longer|any ?more|instead|from now on|as of|these days|new|recently|just|switched"
    r"|changed|became|become"
    r"|moved|relocated|postponed|rescheduled|updated|started|joined|actually)\b"
)
_FORMER = re.compile(r"\b(?:later replaced|since replaced|previously|formerly|back then|at the time|in the past)\b")
_FILLER = re.compile(
    r"\b(?:now|currently|just|really|actually|still|also|already|recently|these days|nowadays|at the moment"
    r"|right now|as of \w+"
    r"|finally|basically|mostly|usually|generally|always|definitely|absolutely|officially|personally|from now on"
    r"|anymore|any more"
    r"|any longer|very much|a lot|so much|again|both|ever|lately|temporarily|permanently|happily)\b ?"
)
_LEADING = re.compile(
    r"(?:since|in|on|last|this|today|yesterday|as of|from|for|after|two|three|a|an|some"
    r"|earlier)\b[\w ]{0,40}?\b(?=(?:i|we|my|our) )"
)
_N = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"


def read(sentence: str, text: str) -> Iterator[Claim]:
    """Yield what the normalised sentence claims; `text` is as it was written."""
    if _FORMER.search(sentence):
        return
    changed = bool(_CHANGE.search(sentence))
    bare = _FILLER.sub("", sentence).strip()
    leading = _LEADING.match(bare)
    bare = bare[leading.end() :] if leading else bare
    for pattern, reader in _READERS:
        match = pattern.match(bare)
        if match:
            yield from reader(Said(match, text, changed))


_READERS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (
            (
                rf"{_S}(?:am |is |are |have been |has been )?(?:live|lives|living|reside|resides|residing|based"
                rf"|staying) {_PLACE} {_V}"
            ),
            plain("home"),
        ),
        (
            (
                rf"{_S}{_HAVE}(?:am |is |are )?(?:moved|relocated|moving|relocating|move|settled)(?: back| over| house"
                rf"| away| down)? (?:to|into|in) {_TO}{_V}"
            ),
            plain("home", moved=True),
        ),
        (
            rf"{_S}{_HAVE}(?:am |is |are )?(?:moved|relocated|moving|relocating) from (?P<w>.+?) to {_TO}{_V}",
            plain("home", moved=True),
        ),
        (
            (
                rf"{_S}{_HAVE}(?:moved|moving) (?:in)?to (?:an?|the|my|our) (?:\w+ ){{0,3}}(?:house|apartment|flat"
                rf"|place|home|city|town) in {_V}"
            ),
            plain("home", moved=True),
        ),
        (rf"{_S}{_ENDED} (?:live|living|lives|reside|stay) {_PLACE} {_V}", plain("home", holds=False)),
        (rf"{_S}lived {_PLACE} {_V}", plain("home", current=False)),
        (r"(?P<v>.+) is where (?P<s>i|we|(?:\w+ ){1,3}?)\s?(?:live|lives|am based)$", plain("home")),
        (rf"(?P<s>my|our|[\w'-]+'s) (?:\w+ )?(?:home|house|apartment|flat) is {_PLACE} {_V}", plain("home")),
        (rf"{_S}(?:am |is |are |have been |has been )?(?:work|works|working|employed) (?:at|for|by) {_V}", employer),
        (
            (
                rf"{_S}{_HAVE}(?:joined|joining|started (?:working )?at|start (?:working )?at|got a job at"
                rf"|got hired (?:by|at)) {_V}"
            ),
            employer,
        ),
        (
            (
                rf"{_S}(?P<no>(?:{_ENDED}) (?:work|works|working) (?:at|for)"
                rf"|(?:left|quit)(?: my (?:job|position|role) (?:at|with))?|resigned from|got fired from) {_V}"
            ),
            employer,
        ),
        (rf"{_S}(?:am |is |are )?(?:work|works|working)(?: \w+){{0,4}}? as (?:an? |the )?{_V}", job),
        (rf"{_S}(?:am|is|became|have become|has become|turned into) (?:an? |the ){_V}", job),
        (rf"{_S}(?P<no>{_ENDED}) (?:work as )?(?:an? ){_V}", job),
        (rf"{_S}(?:got |was |am |is |have been |has been )promoted to {_V}", job),
        (rf"{_S}(?:am|is|are|got|became|have become|went)(?P<no> not| no longer)? (?:an? )?{_V}", status),
        (rf"{_S}(?:am|is|turned|have turned|will be) (?P<v>\d{{1,3}})(?: years old)?$", age),
        (
            (
                rf"(?P<o>my|our|the|[\w'-]+'s) (?P<a>(?:[\w'-]+ ){{1,6}}?)(?:is|are|has|will be|was"
                rf"|were)(?P<to> (?:changed|moved|set|updated|postponed|extended|raised|lowered|increased"
                rf"|reduced)(?: to)?)? (?:at |on |by |to |in |due |for )?{_V}"
            ),
            owned,
        ),
        (
            (
                rf"(?P<o>my|our|the|[\w'-]+'s) (?P<a>(?:[\w'-]+ ){{1,6}}?)(?P<to>changed|moved|went up|went down"
                rf"|increased|rose|dropped) (?:from .+? )?to {_V}"
            ),
            owned,
        ),
        (
            (
                rf"(?:i|we) (?:have )?(?P<to>changed|updated|set|moved|switched) (?P<o>my|our"
                rf"|the) (?P<a>(?:[\w'-]+ ){{1,5}}?)(?:from .+? )?to {_V}"
            ),
            owned,
        ),
        (r"(?P<v>.+?) (?:is|are) (?P<o>my|our|[\w'-]+'s) (?P<a>favou?rite \w+(?: \w+)?)$", owned),
        (
            (
                rf"{_S}(?:do not|does not|did not|no longer|not|can not stand|dislike|dislikes|hate|hates|am tired of"
                rf"|am sick of|am not (?:a fan of|fond of|into)|stopped liking)(?: (?:like|likes|love|loves|enjoy"
                rf"|enjoys|care for))? {_V}"
            ),
            liked(holds=False),
        ),
        (
            (
                rf"{_S}(?:like|likes|love|loves|enjoy|enjoys|adore|adores|am fond of|am into|am keen on|am a (?:big "
                rf"|huge )?fan of|is fond of|is into|is a fan of) {_V}"
            ),
            liked(holds=True),
        ),
        (
            (
                rf"{_S}(?:prefer|prefers|would rather have|favou?r) (?P<v>.+?) (?:over|to|rather than|instead of"
                rf"|more than) (?P<w>.+)"
            ),
            preferred,
        ),
        (rf"{_S}(?:like|likes|love|loves|enjoy) (?P<v>.+?) (?:more|better) than (?P<w>.+)", preferred),
        (rf"{_S}(?:prefer|prefers) (?!.+ (?:over|to|rather than|instead of|more than) ){_V}", preferred),
        (
            (
                rf"{_S}{_HAVE}(?:are |is |am )?(?:switched|switching|migrated|migrating|moved|moving|changed|changing"
                rf"|upgraded|transitioned|went"
                rf"|converted)(?: over)?(?: \w+){{0,4}}? from (?P<w>.+?) to (?P<v>.+)"
            ),
            replaced,
        ),
        (
            (
                rf"{_S}{_HAVE}(?:replaced|swapped|dropped|abandoned)(?: out)? (?P<w>.+?) (?:with|by|for"
                rf"|in favou?r of) (?P<v>.+)"
            ),
            replaced,
        ),
        (
            (
                rf"{_S}(?:use|uses|using|are using|is using|am using|chose|went with|picked) (?P<v>.+?) (?:instead of"
                rf"|rather than|in place of) (?P<w>.+)"
            ),
            replaced,
        ),
        (
            (
                rf"{_S}{_HAVE}(?:switched|migrated|changed|moved)(?: over)? to (?P<v>.+?) (?:from"
                rf"|instead of) (?P<w>.+)"
            ),
            replaced,
        ),
        (
            (
                rf"{_S}{_HAVE}(?:are |is |am )?(?:use|uses|using|run on|runs on|decided on|chose|picked|went with"
                rf"|adopted|switched to|migrated to|settled on) {_V}"
            ),
            used,
        ),
        (rf"{_S}{_HAVE}(?:decided on|chose|settled on|went with|opted for) {_V}", decided),
        (
            (
                rf"(?P<s>we|i|our team|the team) {_HAVE}(?:are |am )?(?:host|hosting|run|running|deploy"
                rf"|deploying) (?P<x>(?:[\w'.-]+ ){{1,5}}?)(?:on|to|at|in) {_V}"
            ),
            hosted,
        ),
        (
            (
                rf"(?P<s>we|i|our team|the team) {_HAVE}(?:are |am )?(?:moved|moving|migrated|migrating)"
                rf" (?P<x>(?!(?:\w+ )?(?:database|data|code|project|stack|system|team|everything|over) from)"
                rf"(?:the|our|my|all) (?:[\w'.-]+ ){{1,5}}?)from (?P<w>.+?) to {_V}"
            ),
            hosted,
        ),
        (
            (
                rf"(?P<s>(?:the|our|my) (?:[\w'.-]+ ){{1,4}}?)(?:runs on|run on|(?:is|are|was|were) (?:hosted|deployed"
                rf"|running) (?:on|to|at)) {_V}"
            ),
            hosted,
        ),
        (
            (
                rf"(?P<s>(?:the|our|my) (?:[\w'.-]+ ){{1,4}}?)(?:was|were|has been|have been|is|got) (?:moved"
                rf"|migrated|switched) from (?P<w>.+?) to {_V}"
            ),
            hosted,
        ),
        (
            rf"(?:i|we) (?:have|got) (?:an?|the|my|our) (?P<s>(?:[\w'-]+ ){{1,5}}?)(?:on|at|scheduled for) {_V}",
            appointed,
        ),
        (rf"{_S}(?P<no>)(?P<v>married) (?:\w+ ?){{1,3}}$", status),
        (rf"{_S}(?:is|are)(?P<due> due| scheduled| planned)(?: for| on| by| at)? {_V}", when),
        (rf"{_S}(?:is|are|starts|start|begins|takes place|happens)(?: on| at) {_V}", when),
        (
            (
                rf"{_S}(?:was|were|has been|have been|is|got) (?P<to>moved|postponed|rescheduled|pushed(?: back)?"
                rf"|brought forward|delayed|changed)(?: from .+?)? to {_V}"
            ),
            when,
        ),
        (rf"{_S}(?:have|has|own|owns) (?P<v>{_N}) (?P<n>[a-z]+)\b", counted),
    )
)
