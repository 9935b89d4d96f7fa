"""Which sentences are statements worth keeping: of the speaker, or of something named."""

from __future__ import annotations

import re

from shared.extraction.fingerprint import HAN
from shared.extraction.rules.questions import is_question, is_request
from shared.extraction.rules.sentences import LONGEST
from shared.extraction.rules.talk import is_about_here, is_reaction, without_address
from shared.extraction.script import content, is_chinese, words

_FIRST = re.compile(
    r"\b(?:I|i|[Ii]'(?:m|ve|d|ll)|[Ii](?:m|ve)|[Mm]y|[Mm]ine|[Mm]e|[Mm]yself|[Ww]e|[Ww]e'(?:re|ve|d|ll))\b(?![/.-])"
    r"|^[Oo]ur\b"
)
_FIRST_ZH = re.compile(r"我(?!们)|俺|本人|^.{0,6}(?:我们|咱)")
_SECOND = re.compile(r"\byou(?:rs?|rself|'\w+)?\b", re.IGNORECASE)
_SECOND_OPENS = re.compile(
    r"(?:(?:if|when|whenever) you|you|your|yours|you're|you've|let)\b|[你您]|(?:如果|要是|当|假如)[你您]|AI伴侣",
    re.IGNORECASE,
)
_UNSAID = re.compile(
    r"(?:(?:just|recently|currently|still|also)\s+)?(?:loved?|hated?|prefers?|uses|used to|went|moved|got back"
    r"|bought|started|finished"
    r"|been|never (?:been|had|seen|tried)|working|living|switched|decided|wants|likes|writes|reads|deploys"
    r"|evaluating|replaced|previously)\b",
    re.IGNORECASE,
)
_UNSAID_ZH = re.compile(
    "(?:最近|这几天|昨[天晚]|前天|上周|上个月|刚刚|目前|平时|从小|喜欢|爱|住在|打算|准备)(?!天气|有什么)"
)
_POINTING = re.compile(
    r"(?:it|it's|its|this|that|that's|these|those|they|they're|he|he's|she|she's|him|her|there|there's|such|both"
    r"|same|here)\b"
    r"|[这那它他她]|[让使]我",
    re.IGNORECASE,
)
_POINTING_OWN = re.compile(
    r"(?:it's|it is|it was|this is|that's|that is|there (?:is|are|was|were)|those are|these are|they are)\s+(?:also )?"
    r"(?:(?:my|our)(?! (?:favou?rite|thing|jam|pleasure)(?:s|\b)(?! \w+ (?:is|was))(?:[.!,]| and))|\w+ \w+ in (?:my"
    r"|our))\b|这(?:是|就是)我(?:的|家|妈|爸|[^们])",
    re.IGNORECASE,
)
_META = re.compile(
    r"\b(?:thank\w*|tell|told|ask\w*|talk\w*|chat\w*|hear|recommend\w*|suggest\w*|advice|advis\w+|help\w*|agree"
    r"|appreciate"
    r"|hope|wish|glad|sorry|sure|share|sharing|meet|understand|mean|think you|believe you|support|proud|cheer"
    r"|respect|root for|thankful|with you|see you|bother"
    r"|fill you in|let you know|show you)\b",
    re.IGNORECASE,
)
_META_ZH = re.compile(
    r"分享|谢|感谢|告诉|请教|咨询|聊|推荐|建议|帮|同意|希望|祝|认识|说得|听你|陪|再见|交流|相信你|和你|跟你|与你"
    r"|向你|问你"
)
_LIMIT = re.compile(
    r"\b(?:at (?:most|least)|must(?:n't)?(?! (?:have|feel|be (?:so|such|very|hard|tough|great|nice|fun)))|never"
    r"|always|no (?:more|less|fewer) than|up to|only|not (?:exceed"
    r"|allowed)|cannot"
    r"|maximum|minimum|limit(?:ed|s)?|require[sd]?|should(?:n't)?|shall|forbid\w*|avoid|from now on|make sure|ensure"
    r"|do(?:n't| not) (?!you\b|worry|think|know|forget to|feel|get discouraged)|prefer|call me|instead of|rather than"
    r"|deadline|due|in all"
    r"|by default|every time)\b"
    r"|必须|不得|不能|禁止|最多|至多|至少|不超过|不允许|只能|务必|一律|始终|总是|从现在开始|以后(?:都|请|用|要)"
    r"|不要|应当|上限"
    r"|限制|截止|叫我",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:recommend|give|show|help|explain|write|create|generate|make|list|suggest|translate|summari[sz]e|describe"
    r"|find|fix"
    r"|check|look|see|try|add|run|update|refactor|implement|continue|stop|wait|go|imagine|consider|think|feel|take"
    r"|keep|send"
    r"|provide|enjoy|have|read|open|use|change|rename|delete|remove|move|test|debug|build|draft|come|say|talk|play"
    r"|watch|turn"
    r"|set|put|get|retry|return|start|ignore|pretend|act|answer|reply|respond|please)\b(?!ing)",
    re.IGNORECASE,
)
_ORDER_ZH = re.compile(r"(?:请|帮|给|把|推荐|介绍|写|翻译|总结|解释|列出|告诉|看看|试试|继续|生成|创建|修复|检查)")
_CHOICE = re.compile(r"(?:use|keep|store|retry|set|add|return|run|put|move)\b", re.IGNORECASE)
_NAMED = re.compile(
    r"(?<=[\w,] )[A-Z][\w.+#-]*[\w+#]|\b[A-Z]{2,}\w*|\b[A-Z][a-z]+[A-Z]\w*|\b\w+_\w+|\b\w+\.\w{1,5}\b"
    r"|[\"“《「『`][^\"”》」』`]{1,80}"
    r"|\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred|monday|tuesday|wednesday"
    r"|thursday|friday"
    r"|saturday|sunday)\b|[一二两三四五六七八九十百千万]+(?:[个次天年月日号点岁元块小周条位只台章])|周[一二三四五六日]"
)
_OPENS_NAMED = re.compile(
    r"(?!\w+ing\b)[A-Z][\w'-]*\s+(?:is|was|has|had|lives|lived|works|worked|likes|loves|prefers|moved|wants|uses|plays"
    r"|studies|got|went|runs)\b"
)
_STANDING = re.compile(
    r"(?:please )?(?:always|never (?!been|had|seen|done|tried|heard|knew|thought)|(?:don't|do not) (?!worry|know|let"
    r"|give|stop|forget|feel|lose|hesitate|think"
    r"|get (?:discouraged|me wrong|down)|be (?:afraid|shy|sad|scared|so hard|too hard|discouraged))|avoid|only"
    r"|from now on|call me)\b|(?:请)?(?:叫我|总是"
    r"|始终|以后(?:都|请|用|要)|从现在开始|不要|别)",
    re.IGNORECASE,
)
_TOLD_HOW = re.compile(
    r"you (?:should|must|may|can) (?:always |never |only )?(?:call|address|answer|speak|write|reply|use)\b"
    r"|你(?:可以|要|应该)(?:叫我|用)",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"let's (?:use|go with|keep|store|switch|stick|make|set|cap|limit|adopt|drop"
    r"|avoid)\b",
    re.IGNORECASE,
)
_WEATHER = re.compile(r"\b(?:weather|sunny|raining|beautiful day)\b|天气", re.IGNORECASE)
_LINK = re.compile(r"\b(?:https?|ftp)://\S+|\bwww\.\S+|<\|[^|<>]{1,40}\|>")
_LETTERS = re.compile(r"[^\W\d_]")


def is_statement(sentence: str, *, code: bool = False) -> bool:
    """Tell whether a sentence states something that is worth keeping (by itself, without what surrounds it)."""
    sentence = without_address(sentence.replace("\u2019", "'"))
    if not 3 <= len(sentence) <= LONGEST or not _LETTERS.search(sentence):
        return False
    if code and _TOGETHER.match(sentence):
        return True
    if _is_talk(sentence) or not _addresses_nobody(sentence):
        return False
    if _POINTING.match(sentence) and not _POINTING_OWN.match(sentence):
        return code and bool(_LIMIT.search(sentence)) and len(content(sentence)) >= 3
    return not _is_order(sentence, code=code) and (_is_own(sentence) or _is_named(sentence, code=code))


def _is_talk(sentence: str) -> bool:
    """Tell whether the sentence asks, reacts, or speaks of the conversation itself."""
    if is_question(sentence) or (is_request(sentence) and not _LIMIT.search(sentence)):
        return True
    return is_about_here(sentence)


def is_told(sentence: str) -> bool:
    """Tell whether a sentence that is to be remembered says anything."""
    return len(sentence) <= LONGEST and not is_question(sentence) and bool(content(sentence))


def has_limit(sentence: str) -> bool:
    """Tell whether a rule or limit is stated."""
    return bool(_LIMIT.search(sentence))


def _addresses_nobody(sentence: str) -> bool:
    if _SECOND_OPENS.match(sentence):
        return bool(_TOLD_HOW.match(sentence))
    if is_chinese(sentence):
        return not re.search("[你您]", sentence) or (bool(_FIRST_ZH.match(sentence)) and not _META_ZH.search(sentence))
    if not _SECOND.search(sentence):
        return True
    return bool(_FIRST.match(sentence) or _LIMIT.search(sentence)) and not _META.search(sentence)


def _is_order(sentence: str, *, code: bool) -> bool:
    if has_limit(sentence):
        return False
    if is_chinese(sentence):
        return bool(_ORDER_ZH.match(sentence)) and not _FIRST_ZH.match(sentence)
    if code and _CHOICE.match(sentence):
        return False
    return bool(_ORDER.match(sentence)) and not re.match(r"\w+ing\b", sentence)


def _is_own(sentence: str) -> bool:
    """Tell whether the speaker speaks of himself, his people or his things, and says something of them."""
    told = len(content(sentence))
    if is_chinese(sentence):
        return told >= (1 if _FIRST_ZH.match(sentence) else 2) and bool(
            _FIRST_ZH.search(sentence) or _UNSAID_ZH.match(sentence)
        )
    return told >= (2 if _UNSAID.match(sentence) else 1) and bool(
        _UNSAID.match(sentence) or (_FIRST.search(sentence) and len(words(sentence)) >= 2)
    )


def _is_named(sentence: str, *, code: bool) -> bool:
    """Tell whether a sentence about the world names what it speaks of, precisely enough to stand alone."""
    if _WEATHER.search(sentence) or is_reaction(sentence):
        return False
    told = len(content(_LINK.sub("", sentence)))
    if _STANDING.match(sentence) and told:
        return True
    named = bool(_NAMED.search(sentence) or _OPENS_NAMED.match(sentence))
    if is_chinese(sentence):
        least = 2 if has_limit(sentence) else 4 if code or not re.search(f"[{HAN}]{{2}}", sentence) else 6
        return told >= least and (code or named or has_limit(sentence))
    if len(words(sentence)) < 3:
        return False
    return told >= (2 if named or has_limit(sentence) else 3 if code else 1_000)
