"""What of a message its speaker said: no code, no recalled memories, no system text, no data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_TAG = re.compile(
    r"<(/?)([a-z_:-]{0,30}(?:memor(?:y|ies)|recall(?:ed)?|retrieved|system|context|instructions?|documents?"
    r"|tool|function|search|results?|thinking|reminder)[a-z_:-]{0,30})(?:\s[^<>]{0,200})?>",
    re.IGNORECASE,
)
_LED = (
    r"(?:(?:here|these|this|below|are|is|the|your|some|user(?:'s)?|relevant|related|retrieved|recalled"
    r"|past|previous|prior|following|stored|saved|known|long-term|top|found|similar|what|all|of|from)\s+){0,6}"
)
_FACTS = r"facts? (?:about (?!(?:me|my|myself|us|our|ourselves)\b)|i know)"
_NAMED = rf"memor(?:y|ies)|{_FACTS}|(?:i|we) (?:remember|recall)|recalled|retrieved|known about you"
_HEADER = re.compile(
    rf"\s{{0,8}}[#*\-\[(\s]{{0,6}}{_LED}(?:{_NAMED})[^:\n]{{0,60}}[:\])]"
    # A title needs no colon, but it may be one of the speaker's own notes: his memories, or a service's memory.
    rf"|\s{{0,3}}(?:#{{1,6}}\s|\*\*|==)[\s=]{{0,4}}{_LED}(?:memories|{_FACTS})(?!.*\b(?:my|our)\b)[^:\n]{{0,60}}$"
    r"|\s{0,3}(?:#{1,6}\s|\*\*|==)[\s=]{0,4}.{0,4}相关(?:的)?(?:记忆|回忆)[^：:\n]{0,20}$"
    r"|\s{0,8}[#*【\[]{0,4}(?:以下(?:是|为)|这是)?.{0,8}(?:记忆|回忆)[^：:\n]{0,20}[：:\]】]"
    r"|\s{0,8}\[?(?:system|assistant|ai|bot|tool|系统|助手)(?: (?:prompt|message|note))?\]?\s{0,2}[:：]",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\s{0,8}(?:user|human|me|用户)\s{0,2}[:：]\s{0,4}", re.IGNORECASE)
_ITEM = re.compile(r"\s{0,12}(?:[-*+\u2022\u00b7\u25cf]|\(?\d{1,3}[.)、])\s{0,4}(?=\S)")
_DATA = re.compile(r'\s*(?:[{}\]]|\[\s*(?:[{\["\]]|$)|"[^"\n]{0,80}"\s*:|\|)')
_QUOTED = re.compile(r"\s{0,12}>")
_INLINE_DATA = re.compile(r"[{\[]\s*[{\"]")
_CODE = re.compile(
    r"\s*(?:(?:import|package|using) [\w.*]+;?$|from [\w.]+ import |(?:async )?def \w+\(|class \w+\s*[:({]"
    r"|(?:export |public |private |static )*(?:const|let|var|function|final|int|void) \w+\s*[=(:]"
    r"|#include|return\b.*;$|(?:SELECT|INSERT|UPDATE|DELETE|CREATE) .*(?:FROM|INTO|SET|TABLE)\b|\$ |>>> |Traceback"
    r"|File \"|at [\w.$]+\(|//|/\*|</?\w+|@\w+$|#{1,6} |[-=_*#~]{3,}$)"
)
_STATEMENT_END = re.compile(r"[;{}]\s*$")
_LETTER = re.compile(r"[^\W\d_]")
_WORDLIKE = re.compile(r"[^\W_]")


def spoken(text: str) -> list[str]:
    """Return the lines that are the speaker's own words; what is quoted, recalled, generated or code is left out."""
    return [line for line in _own(_outside(text).split("\n")) if line.strip()]


def _outside(text: str) -> str:
    """Leave out what stands between tags of recalled or system text; an unclosed one reaches to the next blank line."""
    kept: list[str] = []
    at = 0
    closers = {match[2].lower(): match.start() for match in _TAG.finditer(text) if match[1]}  # the last of each name
    for match in _TAG.finditer(text):
        if match.start() < at:
            continue
        kept += (text[at : match.start()], "\n")
        at = match.end() if match[1] else _end_of(text, match, closers)
    return "".join([*kept, text[at:]])


def _end_of(text: str, opening: re.Match[str], closers: dict[str, int]) -> int:
    name = opening[2].lower()
    if closers.get(name, -1) > opening.start():
        closing = re.compile(rf"</{re.escape(name)}\s*>", re.IGNORECASE).search(text, opening.end())
        if closing:
            return closing.end()
    blank = text.find("\n\n", opening.end())
    return len(text) if blank < 0 else blank


def _own(lines: list[str]) -> Iterator[str]:
    fenced = False
    listed = False  # in a block that a header of recalled or system text opened
    opened = False  # nothing but blank lines since a header that stood alone: its list is still to come
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            head = line[:200]
            header = _HEADER.match(head)
            goes_on = listed or (opened and bool(_ITEM.match(head)))
            listed = bool(header) or (goes_on and bool(line.strip()) and not _ROLE.match(head))
            opened = not head[header.end() :].strip(" *_") if header else opened and not line.strip()
            if not listed and not _foreign(line, head):
                yield _bare(line)


def _foreign(line: str, head: str) -> bool:
    if _QUOTED.match(head) or _DATA.match(head) or _CODE.match(head):
        return True
    if _STATEMENT_END.search(line[-8:]) and re.search(r"[=(){}]", head):
        return True
    if not _LETTER.search(head):
        return True
    return len(head) > 12 and 2 * len(_WORDLIKE.findall(head)) < len(head.replace(" ", ""))


def _bare(line: str) -> str:
    """Take the list mark, the role and data off a line."""
    role = _ROLE.match(line)
    item = _ITEM.match(line, role.end() if role else 0)
    start = item.end() if item else role.end() if role else 0
    data = _INLINE_DATA.search(line, start)
    return line[start : data.start() if data else len(line)]
