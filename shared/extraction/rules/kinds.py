"""What kind of memory a fact is: its type and its finer categories, by its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.extraction.port import CATEGORIES
from shared.extraction.rules.seeming import meant

if TYPE_CHECKING:
    from shared.extraction.port import MemoryType

_KIN = (
    r"wife|husband|partner|girlfriend|boyfriend|fianc\w+|spouse|mother|father|mom|mum|dad|parents?|son|daughter"
    r"|kids?|child(?:ren)?"
    r"|brothers?|sisters?|siblings?|uncle|aunt|cousins?|grand\w+|niece|nephew|friends?|boss|manager|colleagues?"
    r"|co-?workers?"
    r"|neighbou?rs?|roommates?|flatmates?|team ?mates?|dog|cat|pet|puppy|kitten"
)
_CATEGORIES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "preference",
        re.compile(
            r"\b(?:prefer\w*|favou?rite|(?:i|we|they|really|also|do(?:n't| not)|doesn't|not|still) like|likes"
            r"|like most|loves?|enjoys?|hates?|dislikes?|adores?|can't stand|fond of|keen on|rather than|fan of"
            r"|(?:have|has|'ve|'s) (?:(?:always|long|really|also|never|ever|both) ){0,3}(?:loved|enjoyed|liked|adored"
            r"|hated|disliked|preferred|been (?:fond|interested|passionate|into|crazy about|keen))"
            r"|(?:am|is|are|'m) into|interested in|passionate about|hobb(?:y|ies))\b"
            r"|喜欢|喜爱|热爱|最爱|讨厌|偏好|偏爱|更爱|爱[吃喝看听玩好]|感兴趣|兴趣|爱好",
            re.IGNORECASE,
        ),
    ),
    (
        "decision",
        re.compile(
            r"\b(?:decided|decision|chose|chosen|agreed (?:to|on|that)|settled on|went with|go(?:ing)? with"
            r"|switched|migrated|replaced"
            r"|we(?:'ll| will| are going to) use|opted|confirmed|approved)\b|决定|选择了|选定|改用|换成|迁移|采用"
            r"|确定(?:用|了)|敲定|切换到",
            re.IGNORECASE,
        ),
    ),
    (
        "plan",
        re.compile(
            r"\b(?:will|'ll|going to|gonna|plan(?:s|ning|ned)? (?:to|on|for)|planning (?:an?|the|my|our|some)"
            r"|intend\w*|hop(?:e|es|ing) to"
            r"|want(?:s)? to|(?:would|'d) (?:(?:also|really|still) )?(?:like|love) to"
            r"|(?:'m|am|is|are) (?:thinking of|considering)|looking forward|next (?:week|month|year|summer|\w+day)"
            r"|tomorrow|goal is"
            r"|upcoming|by the end of|deadline|due)\b|打算|计划|准备|想要?(?:去|学|买|做|看|参加|尝试)|将要?|下周"
            r"|下个?月|明天|后天|明年|目标是|在考虑(?:去|学|换|买|搬|找|做)",
            re.IGNORECASE,
        ),
    ),
    (
        "relationship",
        re.compile(
            rf"\b(?:(?:my|our|his|her|'s)\s+(?:\w+\s+){{0,2}}?(?:{_KIN})|married|engaged|divorced|dating"
            rf"|friends? with)\b"
            r"|妻子|老婆|丈夫|老公|妈妈?|爸爸?|父母|母亲|父亲|儿子|女儿|孩子|哥哥?|姐姐?|弟弟?|妹妹?|爷爷|奶奶|外公"
            r"|外婆|女朋友|男朋友|朋友|同事|老板"
            r"|领导|邻居|室友|结婚|离婚|订婚|我家的?[狗猫]",
            re.IGNORECASE,
        ),
    ),
    (
        "skill",
        re.compile(
            r"\b(?:can (?:speak|play|cook|code|swim|drive|dance|sing|write|read)|speaks?|fluent|good at|skilled"
            r"|experienced? (?:in|with)"
            r"|expert|expertise|certified|degree in|phd|know how to|years? of experience|proficient|native speaker"
            r"|learned (?:to|how)"
            r"|learning (?:to|how|\w+)|studying \w+|practi[cs]ing)\b|会(?:说|弹|做|写|开|画|唱|游)|擅长|精通|熟悉"
            r"|学会|在学|练习(?:弹|打|画|唱|写|跳|拉)|证书|学位|流利",
            re.IGNORECASE,
        ),
    ),
)
_IDENTITY = re.compile(
    r"\b(?:my name's|my (?:\w+ )?(?:name|birthday|age|job|address|phone|number|email|occupation|nationality|hometown"
    r"|blood type|title|pronouns)(?: \w+)? (?:is|are|was|has|will)"
    r"|name is|calls? me|years old|was born|born (?:in|on)|i(?:'m| am) (?:from|an?|based|allergic|vegetarian|vegan"
    r"|married|single|divorced"
    r"|diabetic|left-handed|retired|jewish|muslim|christian|\d+)|(?:is|'m|am) (?:a|an) (?:\w+ )?(?:engineer"
    r"|developer|designer|teacher|doctor|nurse"
    r"|student|lawyer|writer|artist|manager|scientist|consultant|chef|accountant|architect|researcher|musician"
    r"|photographer)"
    r"|lives? (?:in|at|near|with|alone)|(?<!got )(?<!was )(?<!been )(?<!is )moved to (?!mon|tues|wednes|thurs|fri"
    r"|satur|sun|\d)|relocated|works? (?:at|for|as|in)|grew up|allerg\w+|has? (?:a"
    r"|an) (?:phd|degree)|employed|native language)\b"
    r"|我(?:叫|姓|是(?!想|说|在|觉得|不是))|叫我|名字(?:是|叫)|(?:^|我|妹|姐|哥|弟|妈|爸|现在|目前|一直|都|家)(?:住在"
    r"|居住|来自)|搬到|搬家|定居|岁|生日|出生|老家|籍贯"
    r"|(?:我的|职业)工作?是|职业是|任职|就职|上班|入职"
    r"|电话|手机号|邮箱|地址|过敏|血型|属[鼠牛虎兔龙蛇马羊猴鸡狗猪]|星座|信仰",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:was|were|did|had|went|saw|met|came|got|bought|made|took|ate|visited|watched|attended|finished|started"
    r"|joined|won(?!')|lost|ran"
    r"|gave|found|read a|cooked|travel+ed|adopted|graduated|celebrated|broke|fell|flew|drove|wrote|built|born"
    r"|(?<!is )(?<!are )(?<!am )(?<!'m )(?<!be )(?!indeed|need|feed|speed)[a-z]{3,}ed)\b"
    r"|yesterday|last (?:night|week|month|year)|\bago\b|了|过|昨|上周|上个月|去年|刚刚?|前天",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:meeting|appointment|party|wedding|concert|flight|trip|conference|exam|interview|birthday party|visit\w*"
    r"|attended|went (?:to|on)"
    r"|travel+ed|graduated|met|watched|bought|celebrated|happened|moved|joined|won(?!')|lost|adopted|started|yesterday"
    r"|ago)\b"
    r"|会议|约会|聚会|婚礼|演唱会|航班|旅行|旅游|考试|面试|参加|去了|看了|买了|见了|做了|去过|毕业|比赛|昨天|上周",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"\b(?:always|never|must|make sure|please|in all|from now on|whenever|step|first,|steps|how to|use \w+ (?:to"
    r"|for|instead)|run"
    r"|deploy\w*|in order to"
    r"|workflow|process|procedure|recipe|convention|rule|at most|at least|retr(?:y|ies)|do not|don't use|should)\b"
    r"|必须|步骤|先.{1,30}(?:然后|再)|流程|规则|规范|每次|务必|一律|不得|最多|至少|做法|以后(?:都|请|用|要)",
    re.IGNORECASE,
)


_RULE = re.compile(
    r"\b(?:must(?:n't| not)?(?! (?:say|admit|confess|have|feel|be (?:so|very|nice|hard|fun|great|tough)))|at most"
    r"|no (?:more|less|fewer) than|up to \d|not exceed|maximum|minimum|limit(?:ed)? (?:is|to|of)|not allowed"
    r"|constraint|requirement|in all (?:replies|answers|documents|messages)|please (?:always|use|write|answer|reply)"
    r"|forbid\w*|(?:cannot|can't) (?:eat|have|use|drink|tolerate|digest|take|touch)|allerg\w*|deadline|is due)\b"
    r"|必须|不得|不能再?(?:吃|喝|用|碰|抽|超过|接触|食用)|禁止|最多|至多|不超过|不允许|务必|一律|上限|限制|截止|过敏",
    re.IGNORECASE,
)
_THING_RULE = re.compile(
    r"\b(?:should(?:n't)?|at least|required?|from now on|make sure|ensure|cannot)\b"
    r"|至少|只能|应当|不能(?!够)|以后(?:都|请|用|要)|从现在开始",
    re.IGNORECASE,
)
"""What is a rule of a thing; of a person it is a habit, a wish or a mood."""
_ORDERED = re.compile(
    r"\b(?:always|never|only|should(?:n't)?|avoid|at least|from now on|make sure|ensure|do not|don't|instead of"
    r"|rather than)\b|总是|始终|不要|别|至少|只能|以后(?:都|请|用|要)|从现在开始",
    re.IGNORECASE,
)
"""What is a rule where it is ordered: what always inspires somebody is none."""
_ORDER = re.compile(
    r"(?:please|you (?:should|must|may|can|need to)|always (?!\w+ed\b|been|had)|never (?!been|had|seen|done|tried|heard"
    r"|knew|thought|\w+ed\b)|only (?!i\b|my\b|one\b|the\b|when\b)|avoid|(?:don't|do not) (?!feel|worry|know|think"
    r"|want|like|have|really|get|forget|be (?:afraid|shy|sad))"
    r"|make sure|ensure|from now on|use"
    r"|keep|answer|reply|respond|write|speak|address|store|set|return|put|run|retry|add)\b"
    r"|请|麻烦|总是|始终|不要|别|以后|从现在开始|[你您](?:要|应该|必须|可以)",
    re.IGNORECASE,
)
_OWN_HABIT = re.compile(r"(?:[\w',-]+ ){0,9}?(?:i|i'm|i've|my|we)\b|.{0,6}我", re.IGNORECASE)
_INTRODUCED = re.compile(
    r"(?:I'm|I\u2019m|I am) (?!(?:So|Not|OK|Okay|Very|Also)\b)[A-Z][\w'-]{1,20}(?: [A-Z][\w'-]{0,20}\.?){0,2}"
    r"(?=\s*(?:[.,!]|$|and\b))"
)
"""Somebody's name, or what people he is of: "I'm Linda", "I am German"."""
_TITLE = re.compile('《[^》]{0,60}》|["\u201c][^"\u201d]{0,60}["\u201d]')


def categories_of(fact: str) -> tuple[str, ...]:
    """Return the categories whose words the fact has, in the order of `CATEGORIES`."""
    bare = _TITLE.sub(" ", fact)
    found = {name for name, pattern in _CATEGORIES if pattern.search(meant(bare, name))}
    if _is_rule(bare):
        found.add("constraint")
    if _IDENTITY.search(meant(bare, "identity")) or _INTRODUCED.match(bare):
        found.add("identity")
    if _EVENT.search(meant(bare, "event")):
        found.add("event")
    return tuple(name for name in CATEGORIES if name in found)


def _is_rule(fact: str) -> bool:
    if _RULE.search(fact) or (_ORDER.match(fact) and _ORDERED.search(fact)):
        return True
    return bool(_THING_RULE.search(fact)) and not _OWN_HABIT.match(fact)


def type_of(fact: str, categories: tuple[str, ...], *, code: bool = False) -> MemoryType:
    """Return the memory type: who somebody is, what happened, how things are to be done, or what is so."""
    how = bool(_HOW.search(fact))
    if "identity" in categories:
        return "core"
    if "constraint" in categories and (code or how):
        return "procedural"
    if _is_episode(fact, categories, code=code):
        return "episodic"
    settled = {"preference", "decision"}.intersection(categories)
    return "procedural" if code and how and not settled else "semantic"


def _is_episode(fact: str, categories: tuple[str, ...], *, code: bool) -> bool:
    happened = bool(_HAPPENED.search(fact))
    if "decision" in categories:
        return False
    if "event" in categories and happened:
        return True
    return not code and "preference" not in categories and ("plan" in categories or happened)
