"""Questions and requests: they teach nothing of who asks, but what was told before the question is kept."""

from __future__ import annotations

import re

from shared.extraction.script import is_chinese

_WH = r"(?:what|who|whom|whose|which|where|when|why|how)"
_AUX = (
    r"(?:do|does|did|can|could|would|will|are|is|am|was|were|have|has|had|should|may|might|shall|isn't|aren't|don't"
    r"|doesn't"
    r"|didn't|can't|couldn't|wouldn't|won't|haven't|hasn't)"
)
_ASKED = re.compile(
    rf"(?:and |but |so |or |then )?(?:{_WH}(?:'s|'re)?\s+(?!(?:i|we) (?:really |also )?(?:like|love|enjoy|hate|want"
    rf"|need)\b)(?:(?:\w+\s+){{0,3}}?{_AUX}\b|about\b|to\b|if\b|a\b|an\b"
    rf"|else\b|many\b|much\b)"
    rf"|{_AUX}\s+(?:you|i|we|it|he|she|they|there|this|that|these|those|the|my|your|anyone|someone|somebody|anybody)\b"
    r"|any (?:other |more |good )?(?:ideas?|advice|suggestions?|recommendations?|tips|thoughts|chance|idea)\b)",
    re.IGNORECASE,
)
_ASKED_ZH = re.compile(
    r"(?:你|您)?(?:觉得|认为)?.{0,40}(?:什么|怎么|怎样|如何|哪[些个里儿种位]|为何|谁|多少|几[个点岁号]|是否|能不能"
    r"|可不可以|有没有|要不要|好不好|是不是|会不会|行不行)"
    r"|请问|能否|.{0,60}(?:吗|呢|么)\s*[。！!~～]*$"
)
_REQUEST = re.compile(
    r"(?:i(?:'m| am|'ve| have|'d| would|'ll| will| was)?|we(?:'re| are)?)\s+(?:just |also |really |been |still )*"
    r"(?:want|need|like|love|hop(?:e|ing)|look(?:ing)?|wonder(?:ing|ed)?|trying|would like|curious|not sure|unsure"
    r"|don't know"
    r"|ask(?:ing)?|have (?:a|another|one more|some) questions?|(?:a|another|one more) questions?)\b"
    r"(?:[^.!?]{0,80}\b(?:you|your|advice|suggestions?|recommend(?:ations?)?|opinions?|tips|(?:some|any|your|more) help"
    r"|help (?:with|me)|know (?:how|what|why|if|whether|more|about)|ask|(?:find|get|hear) (?:some|out|a good"
    r"|the best))\b"
    r"|\s+(?:how|what|why|if|whether|which|where|when|about)\b)"
    r"|(?:(?:but|and|sometimes|so) ){0,2}i (?:still |really |just |even |also )*(?:don't|do not|didn't) (?:even "
    r"|really )?(?:know|understand) (?:how|what|where|which|why|if|whether)\b"
    r"|(?:i )?(?:wonder|was wondering)\b|tell me\b|let me know\b|let's\b|let me\b|let us\b",
    re.IGNORECASE,
)
_REQUEST_ZH = re.compile(
    r"我?(?:有些?|有点)?(?:想|希望|需要|打算)?(?:请|向|跟|和|听|问|找)?[你您].{0,30}(?:建议|推荐|帮|请教|问|告诉"
    r"|分享|聊|意见|看法)"
    r"|(?:今天|其实|现在|另外)?我?(?:想|需要|希望)(?:要)?(?:知道|问|请教|了解一下|听听|找一些|找些|找一部|找一本)"
    r"|不知道(?:该|有没有|你|您"
    r"|怎么|如何|能不能|是不是)|给我|帮我|告诉我|(?:请|麻烦)[^，。]{0,10}我"
)
_CLAUSE = re.compile(r"\s*(?:[,;]\s+|\s[-\u2013\u2014]\s|[，；]\s*)(?:(?:and|but|so|or)\s+)?")
_SUBORDINATE = re.compile(
    r"(?:since|because|as|given that|considering that|seeing that|now that)\s+(?=(?:i|i'm|i've|my|we)\b)", re.IGNORECASE
)
_SUBORDINATE_ZH = re.compile("因为|由于|既然")
_CONDITIONAL = re.compile(
    r"(?:if|when|whenever|unless|while|after|before|though|although|like|for example)\b|如果|要是|假如|当|除了",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(r"[你您]|第一次聊天|\b(?:thank|tell|with) you\b", re.IGNORECASE)
_CLAUSES = 12


def is_question(sentence: str) -> bool:
    """Tell whether something is asked, with or without its mark."""
    if sentence.rstrip("\"'\u201d\u2019」』）) ~～!！").endswith(("?", "？")):
        return True
    return bool(_ASKED_ZH.match(sentence) if is_chinese(sentence) else _ASKED.match(sentence))


def is_request(sentence: str) -> bool:
    """Tell whether the sentence asks the listener for something."""
    return bool(_REQUEST_ZH.match(sentence) if is_chinese(sentence) else _REQUEST.match(sentence))


def told_before(sentence: str) -> str:
    """Return what is told before something is asked ("I love hiking, where should I go?"), or an empty text."""
    clauses = [clause for clause in _CLAUSE.split(sentence, maxsplit=_CLAUSES) if clause]
    kept = len(clauses) - 1
    if kept < 1 or not (is_question(sentence) or _asks(clauses[-1]) or is_request(sentence)):
        return ""
    while kept and _asks(clauses[kept - 1]):
        kept -= 1
    if not kept:
        return ""
    told = sentence[: sentence.index(clauses[kept - 1]) + len(clauses[kept - 1])].rstrip()
    reason = _SUBORDINATE.match(told) or _SUBORDINATE_ZH.match(told)
    told = told[reason.end() :] if reason else told
    return "" if _CONDITIONAL.match(told) else told[:1].upper() + told[1:]


def _asks(clause: str) -> bool:
    return is_question(clause) or is_request(clause) or bool(_ADDRESSED.search(clause))
