"""Wordings that have a category's words and not its meaning: they are looked past before a category is read."""

from __future__ import annotations

import re

_SOME_WORDS = (
    r"(?:\w+ly |really |also |always |actually |most |very |so |quite |even |still |just |a bit |too |both ){0,3}"
)
_LIKING = r"(?:like|love|enjoy|prefer)(?:d|ed|s)?"
_REST = r"(?:(?! but )[^.;!?,]){0,120}"
_NOUN_LOVE = (
    r"(?:(?:about|of|in|for|with|from|true|first|romantic|unrequited|is|was|find|finding|found|call it) love|the love"
    r"|(?:a|this) love(?! (?:for|of)))\b"
    r"|(?<!\bi )(?<!\bwe )(?<!\b[ty]o )(?<!they )(?<!also )(?<!really )(?<!and )(?<!do )\blove (?:story|stories"
    r"|songs?|letters?|films?|movies?|novels?|poems?|life|lives|languages?|affairs?|interest"
    r"|triangles?|at first sight|between|itself)"
)
_DOING = r"(?:speak|play|cook|code|swim|drive|dance|sing|write|read|practi[cs]e)"
_NOT = r"(?:don't|do not|doesn't|does not|didn't|did not|can't|cannot|can not|couldn't|never|not|no longer)"

_SEEMING: dict[str, re.Pattern[str]] = {
    "preference": re.compile(
        rf"\b(?:{_NOUN_LOVE})\b"
        rf"|(?<!is )(?<!are )(?<!'s )(?<!was )\b(?:that|which|what|who|whom|something|things?|anything|everything"
        rf"|ones?|people|places?) (?:i|we)"
        rf" {_SOME_WORDS}{_LIKING}(?=\s*(?:$|[.,;!?]|(?:and|or|but|to do|doing)\b))"
        rf"|\bwould {_SOME_WORDS}(?:like|love|prefer) to\b|(?<=\w)'d {_SOME_WORDS}(?:like|love) to\b"
        r"|\bfeels? {0,2}like\b|\blooks? like\b"
        "|(?:自己|真正|所|我)(?:很|真正|非常|最)?(?:喜欢|热爱|感兴趣)(?:[和与]\\w{1,4})?的(?!.{0,16}[是有叫])"
        "|被\\w{0,4}?(?:喜欢|热爱)|兴趣(?:小组|班)|分享我的兴趣",
        re.IGNORECASE,
    ),
    "plan": re.compile(
        rf"(?:\b(?:am|is|are|was|were|feel|feeling)|'(?:m|s|re)) {_SOME_WORDS}(?:afraid|worried|scared|anxious"
        rf"|terrified|nervous|frightened|concerned)\b{_REST}"
        rf"|\b(?:i|we) {_SOME_WORDS}(?:fear|worry|doubt)\b{_REST}"
        rf"|\b{_NOT} {_SOME_WORDS}(?:want|wish|hope|plan|intend|going) to\b"
        r"|^(?:sometimes|often|usually|occasionally|every time|each time|whenever)\b[^.;!?]{0,200}"
        r"|\b(?:it|this|that|these|those|which|there|things) {0,2}(?:'ll|will)\b"
        r"|\bwill (?:make|help|let|allow|improve|affect|bring|cause)\b"
        "|(?:担心|害怕|恐怕|怕|生怕)[^，。；！？]{0,80}"
        "|(?:按照?|的|学习|训练|旅行|工作)计划(?!去|在|是)|准备(?:工作|好了)",
        re.IGNORECASE,
    ),
    "skill": re.compile(
        r"\b(?:don't|do not|doesn't|does not|didn't|did not|not|never|no idea|unsure|not sure|can't|cannot|couldn't"
        rf"|hard to) {_SOME_WORDS}(?:know|understand|learn(?:ed|t)?|learning|figure out)\b[^.;,]{{0,12}}"
        rf"\b(?:how|to)\b|\bwants? to know how to\b"
        rf"|\b{_NOT} {_SOME_WORDS}(?:good at|skilled|fluent|proficient|an expert|{_DOING})\b"
        r"|\bspeaks? (?:to|with|up|about|at|in|for)\b"
        r"|\bstudying (?:at|in|with|for|on|by|hard|late|from|alone|together|and)\b"
        r"|\blearning (?:from|about(?! how\b)|resources?|methods?|process|experience|efficiency|difficult\w*)\b"
        "|不(?:太|怎么|是很)?(?:会(?:说|弹|做|写|开|画|唱|游)|擅长|精通|熟悉)|没有?学会"
        "|会(?:说[明服话]|做(?:一|些|个|点|好|完|到|出)|写(?:一|些|下|信|完)|开(?:始|心|会)|画(?:一|些|下)|唱(?:一|些))"
        "|机会(?:说|弹|做|写|开|画|唱|游)|在学[校期术生]|这些技能",
        re.IGNORECASE,
    ),
    "event": re.compile("(?:喜欢|热爱|喜爱|爱好|不敢|感兴趣|方式)[^。]{0,30}?(?:旅游|旅行|参加|考试|比赛)"),
    "identity": re.compile(
        r"\b(?:am|'m) an? (?:(?:little |tiny )?bit|little|lot|few|couple|mess|(?:big |huge |real )?fan|firm believer"
        r"|week|day|month|year)\b"
        "|(?:过|享受|庆祝)(?:我|自己)的?生日|(?<!我的)(?<!是我)生日(?!是|在|为|[:：])"
        "|我叫(?=[了他她它你您过上不醒车人]|外卖|朋友|同事)|叫我(?=[去来回起帮做吃别不要给把])"
        "|我是(?=很|非常|真|从|因为|为了|被|第|去|来|昨|今|前|上|怎|如何|谁|要|会|不|有|没|喜欢|爱|这|用|跟|和|按|通过|先|刚|才"
        "|把|对|挺|特别|比较|在)"
        "|(?<![一二三四五六七八九十百两\\d几])岁|岁月|(?<![在去到])上班",
        re.IGNORECASE,
    ),
}


def meant(fact: str, category: str) -> str:
    """Return what of a fact may tell of a category."""
    seeming = _SEEMING.get(category)
    return fact if seeming is None else seeming.sub(" ", fact)
