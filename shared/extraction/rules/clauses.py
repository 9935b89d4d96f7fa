"""Clauses of a sentence that each say something whole: with a subject of their own, or one that is carried over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.claims import claims_of
from shared.extraction.rules.times import time_in
from shared.extraction.rules.verbs import COORDINATED, MODALS

if TYPE_CHECKING:
    from collections.abc import Callable

    Kept = Callable[[str], bool]

_MOST = 6
_ANY_DAY = 1_800_000_000_000
_DONE = r"(?!(?:need|seed|speed|red|bed|kid|shed|weed|friend|blood|food|wood|mixed|used)\b)[a-z]{2,}(?<!e)ed"
_PAST = (
    r"was|had|did|went|saw|made|took|came|got|gave|found|felt|left|kept|met|bought|brought|taught|sold|sent|spent"
    r"|built|lost|won|ran|began|drank|ate|drove|wrote|flew|grew|knew|wore|spoke|broke|chose|became|slept|held|paid"
    r"|led|fell|sang|swam"
)
_VERB = (
    rf"(?:is|has|does|isn't|hasn't|doesn't|wasn't|didn't|can|can't|will|won't|works|lives|likes|loves|plays|wants|needs"
    r"|studies|teaches|runs|writes|reads|uses|prefers|hates|plans|speaks|cooks|paints|sings|dances|drives|owns|eats"
    rf"|drinks|goes|comes|enjoys|collects|trains|turns|starts|moves|visits|hopes|suffers|helps|sells|makes"
    rf"|{_PAST}|{_DONE})\b"
)
_NEVER_VERB = (
    r"(?:and|or|but|in|on|at|of|to|for|with|from|by|as|the|a|an|my|our|his|her|their|not|both|who|which|that)\b"
)
_ADVERBS = r"(?:(?:also|still|now|often|usually|always|never|currently|already|recently|just|really|[a-z]+ly) )*"
_SUBJECT = (
    rf"(?:(?:I|[Ww]e)(?:['\u2019](?:m|ve|re|ll|d))? {_ADVERBS}(?!{_NEVER_VERB})[a-z]+"
    rf"|(?:I|[Ww]e)['\u2019](?:m|ve|re|ll) "
    rf"|(?:[Mm]y|[Oo]ur) (?:[\w-]+ ){{1,4}}?{_ADVERBS}(?:{_VERB}|(?:are|have|were)\b)"
    rf"|[A-Z](?!['\u2019 ])[\w-]+ (?:[A-Z][\w-]+ )?{_ADVERBS}{_VERB})"
)
_FIRST = re.compile(
    r"(?:(?:Well|Yes|So|Now|Today|Currently|Recently|Actually|Also),? |(?:In|On|At|Last|This|For) [\w ]{1,30}, )?"
    rf"{_SUBJECT}"
)
_HAPPENED = re.compile(rf"(?:I|[Ww]e|[Mm]y [\w ]+?|[A-Z]\w+) {_ADVERBS}(?:{_PAST}|were|{_DONE})\b")
_JOINT = re.compile(rf"(,?\s+(?:and|but)\s+|[;,]\s+(?:(?:and|but)\s+)?)(?={_SUBJECT})")
_OWN = re.compile(r"(?:I|We|My|Our)\b")
_NOT_SAID_ALONE = re.compile(
    r"\b(?:if|unless|whether|hopes?|hoping|wish\w*|afraid|worr\w+|dream\w*|imagine\w*|pretend\w*|think|thinks|thought"
    r"|believes?|guess|suppose\w*|said|says|tells?|told|when|whenever|because|since|while|although|though|until|before"
    r"|after|that|as soon as|either|neither|both|would|could|might|may|want|wants|wanted|let)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:he|she|they|it|its|it's|him|them|there|those|these|then|too|neither|so do|does|do so|each|both|one|ones)\b"
    r"|\b(?:this|that)\b(?! [a-z])",
    re.IGNORECASE,
)
_BASE = "|".join((*COORDINATED, *sorted(MODALS)))
_AND_VERB = re.compile(
    rf",?\s+(?:and|but)\s+(?P<rest>{_ADVERBS}(?:{_BASE}|don't|speak|grow|drink|suffer|own|keep|raise|breed|build)\s)"
)
_I_DO = re.compile(
    r"(?P<subject>I|We|we) (?!.*\b(?:to|can|could|will|would|should|must|may|might|let|[a-z]+n't|not)\b)"
)
_COMMA_ZH = re.compile("([，,；;]\\s*)")
_LINK_ZH = re.compile("^(?:而且|并且|同时|另外|但是?|不过|还有)(?=[^\\s，])")
_ADVERBS_ZH = "(?:也|还|都|很|最|非常|特别|十分|平时|平常|一直|经常|常常|现在|目前|如今|每天|每周|周末|业余时间?|从小)*"
_CARRIED_ZH = re.compile(
    f"{_ADVERBS_ZH}(?:(?:不太?)?(?:喜欢|爱(?=[吃喝看听玩打做画写跑爬骑游旅读唱跳好运学])|热爱)|讨厌|爱好|不(?:吃|喝)|吃素|住在|居住在"
    "|在.{1,16}(?:工作|上班|任职|就职|读书|上学|学习|读研|当.{1,8}|做.{1,8})$"
    "|对.{1,10}过敏|从事|(?:正在|在)学|学习|打算|准备|计划|想(?=[去学要当做买])|会(?:说|弹|做|写|开|画|唱|打|拉|游泳)"
    "|养(?:着|了)?[一二两三四五六七八九十几\\d]|(?:有|没有)[一二两三四五六七八九十几\\d]?.{0,3}"
    "(?:孩子|儿子|女儿|哥哥|弟弟|姐姐|妹妹|猫|狗|宠物|男朋友|女朋友|驾照|学位|经验)"
    "|是.{0,12}(?:工程师|设计师|老师|教师|教授|医生|护士|律师|程序员|经理|会计|学生|博士生?|司机|厨师|作家|记者|画家"
    "|歌手|演员|翻译|销售|顾问|分析师|科学家|摄影师|素食者|单身|人|迷|粉丝)$|单身|已婚|结婚|今年.{1,4}岁)"
)
_OWN_ZH = re.compile(
    "我(?!们|的|爱人|妈|爸|妹|弟|哥|姐|家人|老|朋友|同事)(?:现在|目前|今年|一直|刚|最近|平时|从小|上个?月|去年|已经|也|很|就|不太?"
    "|正在?|最|特别|非常)*"
    "(?:住|居住|在|是|叫|姓|来自|从|搬|会|对|用|不?吃|不?喝|毕业|喜欢|热爱|爱(?=[吃喝看听玩打做画写跑爬骑游旅读唱跳运])|讨厌"
    "|单身|已婚|\\d+岁|[二三四五六七八九]?十[一二三四五六七八九]?岁|学|做|当|打算|准备|养(?:着|了)?[一二两三四五六七八九十几\\d]"
    "|有[一二两三四五六七八九十几\\d])"
)
_OPENS_ZH = re.compile("^(?:最近|现在|目前|今年|其实|另外)[，,]?")
_OTHER_SUBJECT_ZH = re.compile(
    "(?:有|养|遇到|认识|见到?|买|收养|领养|和.{1,6}(?:聊|见|说)|(?:喜欢|爱)(?:一[个位只]|.{0,6}(?:女孩|男孩|同学|的人)))"
)
_POINTS_BACK_ZH = re.compile("[这那它他她]")
_NOT_ALONE_ZH = re.compile("如果|要是|假如|只要|虽然|因为|由于|为了|(?:时|时候|以来|之?前|之?后|的话)$|[吗呢？?]")


def clauses(sentence: str, is_kept: Kept) -> list[str]:
    """Part an English sentence before clauses with a subject and a verb of their own that stand alone."""
    first, *others = _JOINT.split(sentence, maxsplit=_MOST)
    parts = [first]
    for joint, piece in zip(others[::2], others[1::2], strict=True):
        if (joint.strip() != "," or _OWN.match(parts[-1])) and _stand_alone(parts[-1], piece, is_kept):
            parts.append(piece)
        else:
            parts[-1] += joint + piece
    return [part for clause in parts for part in _predicates(clause, is_kept)]


def _stand_alone(left: str, right: str, is_kept: Kept) -> bool:
    if not _FIRST.match(left) or _NOT_SAID_ALONE.search(left) or _POINTS_BACK.search(right):
        return False
    if _is_one_episode(left, right):
        return False
    return is_kept(left) and is_kept(right[:1].upper() + right[1:])


def _is_one_episode(left: str, right: str) -> bool:
    """Tell whether the time of what happened is told once for both, and neither is a state that may change."""
    dated = [time_in(part, _ANY_DAY) is not None for part in (left, right)]
    return dated == [True, False] and bool(_HAPPENED.match(right)) and not claims_of(left)


def _predicates(clause: str, is_kept: Kept) -> list[str]:
    """Part a clause that may change before another verb of its subject: I live in Berlin and love sushi."""
    subject, joint = _I_DO.match(clause), _AND_VERB.search(clause)
    if not subject or not joint or _NOT_SAID_ALONE.search(clause) or _POINTS_BACK.search(clause, joint.end()):
        return [clause]
    left, right = clause[: joint.start()], f"{subject['subject']} {clause[joint.start('rest') :]}"
    return [left, right] if claims_of(left) and is_kept(left) and is_kept(right) else [clause]


def carried_zh(sentence: str, is_kept: Kept) -> list[str]:
    """Part a Chinese sentence before clauses whose predicate carries 我 over, and put it before them."""
    first, *others = _COMMA_ZH.split(sentence, maxsplit=_MOST)
    parts = [first]
    for mark, piece in zip(others[::2], others[1::2], strict=True):
        own = _with_subject(_LINK_ZH.sub("", piece, count=1))
        if own and _may_follow(parts[-1], own) and is_kept(own):
            parts.append(own)
        else:
            parts[-1] += mark + piece
    return parts if all(map(is_kept, parts)) else [sentence]


def _with_subject(piece: str) -> str:
    """Return a clause of the speaker with its subject; empty: it is none."""
    if _OWN_ZH.match(piece):
        return piece
    return f"我{piece}" if _CARRIED_ZH.match(piece.rstrip("。！!.；")) else ""


def _may_follow(left: str, right: str) -> bool:
    bare = _OPENS_ZH.sub("", left)
    if not _OWN_ZH.match(bare) or _NOT_ALONE_ZH.search(left) or _POINTS_BACK_ZH.search(right):
        return False
    here, there = ({claim.attribute for claim in claims_of(part)} for part in (left, right))
    if _OTHER_SUBJECT_ZH.search(left) and not there & {"home", "employer"}:
        return False
    return not here & there
