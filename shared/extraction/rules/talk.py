"""Talk about the talk: reactions, encouragement, and what only speaks of the conversation itself."""

from __future__ import annotations

import re

from shared.extraction.script import content

_ABOUT_HERE = re.compile(
    r"^(?:thanks|thank you|thx|cheers)\b|\bwe (?:all )?(?:can|could|should) (?:definitely |really |always "
    r"|totally )?(?:do|make|achieve|get through|keep)"
    r" (?:it|this|that|anything|great|a difference|things)\b|\b(?:this (?:chat|conversation)|our (?:chat"
    r"|conversation|first (?:chat|conversation))|today's (?:chat"
    r"|conversation)|as an ai"
    r"|ai (?:companion|assistant|language model)|chat(?:ting)? again|back to chat|talk (?:again|later|soon)"
    r"|let's (?:talk|chat)"
    r"|can (?:talk|chat) (?:about|more)|stay in touch|(?:take|have) a look|noted?\b of (?:that|it|this)|check (?:it"
    r"|them|that|this) out|(?:give|try) (?:it|them|that|this)|keep (?:it|them|that|this|these) in mind"
    r"|topics? to (?:talk|discuss|chat)|talk about next|(?:have|got|need) to (?:go|leave) now|chat (?:later"
    r"|tomorrow|soon)|(?:i'll|i will"
    r"|going to) (?:definitely |certainly |try to "
    r"|do my best to )?(?:go )?(?:check|try|look|remember|consider|follow|keep)\b[^.]{0,20}"
    r"\b(?:it|them|that|this|these|those|suggestions?|advice|recommendations?|words|out)\b)"
    r"|这次聊天|今天的聊天|聊天啦|来和你|作为(?:一个)?AI|试试看|去看看|会注意|会考虑|会试|会去(?:试|看|找)|记下来"
    r"|必须离开|先走了|该走了|去吃饭了|明天再聊|再聊|聊聊|可以聊|会(?:去)?(?:看看|试试|找来)|大概理解|换个话题"
    r"|查一下|好主意|好建议|我也同感|学到了很多",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"\b(?:talk|speak|chat|write) to you\b"
    r"|\b(?:want(?:ed)?|like|love|need|going|hop(?:e|ing)|here) to (?:talk|chat|speak|discuss)(?: a (?:bit|little))?"
    r"(?: more)? (?:about\b|with you\b)(?![^.!?]{0,120}\bwith (?!you\b))"
    r"|^(?:(?:yester|to)day's|our last|last time's|the last|our previous) (?:conversation|chat)\b"
    r"(?! (?:with|between|among) (?!you\b))"
    r"|\bi (?:still |also |just )?have (?:a|an|another|one more|some|a few|two) (?:\w+ )?questions?[.!]*$"
    r"|^i (?:\w+ )?(?:think|believe|feel) so(?: too)?[.!]*$"
    r"|昨天的(?:对话|聊天)|(?:上次|刚才)的(?:对话|聊天|谈话)|我?想(?:要)?(?:谈谈|谈一谈|谈论|聊一聊|说一说|说说)"
    r"|也(?:是)?(?:这么|这样)(?:认为|觉得|想)|(?:我们|咱们)下次(?:聊天|再聊)",
    re.IGNORECASE,
)
_POINTED = r"(?:it|them|that|this|these|those|your?|you)\b"
_PROMISED = re.compile(
    r"(?:(?:yes|sure|ok|okay|then|so|and|maybe|perhaps),? )?(?:i'll|i will|i'm going to|i am going to|i shall|let me"
    r"|i'd like to|i can)(?: also| definitely| certainly| surely| really| carefully| seriously| try to| do my best to"
    r"| and)*(?: go)? (?:"
    r"(?:try|consider|refer|follow|adopt|apply|practi[cs]e|use|implement|take|put|think|look|give|keep|learn|listen"
    r"|read"
    r"|watch|check|search|remember|make|do)\b"
    r"(?: (?:a|to|at|on|into|out|up|about|from|more|of|some|all|each|one|both|over|try|look|care|advantage|adopting"
    rf"|following|applying|using|learning|reading|watching|trying|practi[cs]ing)){{0,4}} {_POINTED}"
    r"(?! (?:weekend|week|month|year|summer|winter|spring|autumn|fall|morning|afternoon|evening|semester|time)\b)"
    r"|do my best[.!]*$|(?:study|work|try|practi[cs]e) (?:very |really )?hard(?:er)?[.!]*$"
    r"|(?:pay (?:more )?attention|be (?:more )?careful)\b"
    r"|keep (?:trying|practi[cs]ing|going|working hard|at it)[.!]*$)"
    r"|(?:那|好的?|嗯)?我?(?:一定|肯定|以后)?(?:也|就|再)?(?:会|将|要)(?:去|再|多|好好|认真|努力|继续|尝试|试着|尽力|尽量|坚持|仔细"
    r"|参考|遵照|按照|采纳|听取|牢记|阅读|观看|使用|采用|践行|看|读|用|学习|一下|着|地|和|并|，){1,6}"
    r"(?:(?:这[些个种本部首]|那[些个本部])(?!周|月|星期|学期|季|夏|冬|春|秋|假|年)|[你您]的)"
    r"|(?:那)?我(?:一定|肯定)?(?:会|将)(?:继续|好好|认真|坚持|加倍|更加|多多?)?(?:努力|加油|练习|学习|坚持|考虑|思考){1,2}"
    r"(?:下去)?(?:的|并|[。！!]|$)"
    r"|(?:那)?我(?:一定|肯定)?(?:会|将)(?:好好|认真|仔细|再|注意)(?:考虑|想想|思考|安全)"
    r"|我看看(?:这|那)[些个本部]|我(?:一定|也)?会去?(?:搜索|查找|查一下|查查|搜一下|找找)",
    re.IGNORECASE,
)
_PRECISE = re.compile(
    r"(?<=[a-z,] )(?!I\b)[A-Z]\w|\d|\bnext \w|\btomorrow\b|\btonight\b|\bsoon\b"
    r"|\bthis (?:weekend|week|month|year|summer|winter|spring|autumn|fall)\b|\b(?:for|with) (?:my|our)\b"
    r"|明天|下周|下个?月"
)
"""Who names a day, a number or a name plans something of his own."""
_OF_IT = re.compile(
    r"(?:i|we) (?:\w+ )?(?:found|find|thought|think|loved?|liked?|enjoy(?:ed)?|agree with|tried|try) (?:it"
    r"|them)\b(?! (?:is|was|are)\b)|my (?:\w+ )?friends?[.!]*$"
    r"|(?:i|we) (?:(?:really|also|just|absolutely|do|truly) ){0,2}(?:like|love|enjoy|prefer) (?:this|that|these"
    r"|those) \w+[.!]*$"
    r"|我[也很非常真的都就]{0,4}(?:喜欢|享受|喜爱|爱)(?:这|那)[种个些份]\w{1,4}[。！!]*$",
    re.IGNORECASE,
)
_VAGUE_END = re.compile(r"\b(?:it|that|this|them|these|those|one)(?: feeling| too| as well| all)?[.!]*$", re.IGNORECASE)
_REACTION = re.compile(
    r"(?:no worries|long time|totally|agreed?|glad|congrat\w*|woo\w*|yay|nice|great|awesome|amazing|wow|way to go"
    r"|good|keep|take care"
    r"|you bet|bet|sounds?|looks?|looking|so|such|that's|welcome|sorry|same|exactly|absolutely|definitely"
    r"|can't wait|true|right|happy"
    r"|proud|love (?:it|that|this)|hope|best of luck|cool|sweet|perfect|well done|go for it|haha\w*|lol|aw+|hey|hi"
    r"|hello|just)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?<=[a-z0-9]), (?:[A-Z][a-z]{1,20}|buddy|man|dude|mate|guys|my friend)(?=[.!?~ ]*$)")


def is_about_here(sentence: str) -> bool:
    """Tell whether the sentence speaks of the conversation, or of nothing but "it" and "that"."""
    if _ABOUT_HERE.search(sentence) or _OF_IT.match(sentence):
        return True
    if _TALK.search(sentence) or (_PROMISED.match(sentence) and not _PRECISE.search(sentence)):
        return True
    return bool(_VAGUE_END.search(sentence[-24:])) and len(content(sentence)) < 3


def is_reaction(sentence: str) -> bool:
    """Tell whether a sentence without first person only answers what was said ("Nice reminder, Gina!")."""
    return bool(_REACTION.match(sentence))


def without_address(sentence: str) -> str:
    """Return the sentence without the name that it is called out to ("I get it, Jon")."""
    address = _ADDRESS.search(sentence, max(0, len(sentence) - 40))
    return sentence[: address.start()] if address else sentence
