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
_OF_IT = re.compile(
    r"(?:i|we) (?:\w+ )?(?:found|find|thought|think|loved?|liked?|enjoy(?:ed)?|agree with|tried|try) (?:it"
    r"|them)\b(?! (?:is|was|are)\b)|my (?:\w+ )?friends?[.!]*$",
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
    return bool(_VAGUE_END.search(sentence[-24:])) and len(content(sentence)) < 3


def is_reaction(sentence: str) -> bool:
    """Tell whether a sentence without first person only answers what was said ("Nice reminder, Gina!")."""
    return bool(_REACTION.match(sentence))


def without_address(sentence: str) -> str:
    """Return the sentence without the name that it is called out to ("I get it, Jon")."""
    address = _ADDRESS.search(sentence, max(0, len(sentence) - 40))
    return sentence[: address.start()] if address else sentence
