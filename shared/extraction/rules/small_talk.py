"""Greetings, thanks and agreement: taken off a sentence's ends, so that what was said in between stays whole."""

from __future__ import annotations

import re

from shared.extraction.script import is_chinese

_OPENER = re.compile(
    r"(?:(?:hi|hello|hey|hiya|greetings|good (?:morning|afternoon|evening|day)|thanks|thank you|thx|ok|okay|sure"
    r"|yes|yeah"
    r"|yep|yup|no|nope|nah|well|oh|ah|wow|great|cool|nice|awesome|perfect|haha\w*|lol|hmm+|um+|uh|so|anyway"
    r"|(?:and |so |but )?(?:by the way|btw)"
    r"|of course|no problem|definitely|absolutely|certainly|exactly|right|alright|got it|sounds good|good idea|i see"
    r"|sorry|please|also|actually|however|besides|but|and|plus|speaking of which|speaking of that|to be honest"
    r"|you know|fyi|just so you know"
    r"|for your information|friend|correction|wrong|oops|my mistake|i mean|wait(?=[,!])|to clarify(?=[,:])"
    r"|that(?:['\u2019]s| is) (?:wrong|incorrect|not (?:right|true|correct))|you(?:['\u2019]re| are) wrong"
    r"|you got (?:that|it) wrong|let me correct (?:that|you|myself))"
    r"(?: (?:there|again|everyone|all|so much|very much|a lot|for that|for asking|(?-i:[A-Z][a-z]{1,20}(?=[,!]))"
    r"|ai companion|my friend|friend"
    r"|assistant"
    r"|claude))*"
    r"\s*(?:[,!:]|\s[-\u2013\u2014]|\.{2,3}|\u2026|(?=\s(?:i|i'm|i've|my|we)\b))\s*){1,6}",
    re.IGNORECASE,
)
_IT = r"(?: (?:this|these|the following)(?: (?:facts?|things?|information))?)"
_REMEMBER = re.compile(
    r"(?:(?:please|can you|could you|i(?: want| need|(?:'d| would) like) you to)\s+)?"
    r"(?:(?:(?:also )?(?:remember|memori[sz]e|note|keep in mind|be aware|bear in mind|don't forget"
    r"|do not forget|make (?:a )?note|save|for the record)|note to self"
    rf"|(?:save|store|add|put){_IT}? (?:in|into|to) (?:your |the )?memory)(?:,? that|:|,)"
    rf"|(?:(?:remember|memori[sz]e|note|save|don't forget|do not forget){_IT}(?: about me)?"
    r"|(?:(?:here are|these are) )?(?:some |a few |the |more )?facts about me):)\s*(?=\S)",
    re.IGNORECASE,
)
_OPENER_ZH = re.compile(
    r"(?:(?:你好啊?|您好|嗨|哈喽)(?:\s*(?:AI|ai)\s*(?:伴侣|助手))?|早上好|下午好|晚上好|早安|晚安|大家好|好的|好吧"
    r"|好呀|好啊|嗯+|恩+|对呀|朋友|哦|啊|哈+|确实(?:如此)?|(?:非常|很|真)?(?:有趣|有道理|有意思|棒)|话说回来|不过"
    r"|但是|是的|是啊|对的?|对了|当然(?:了|可以|会)?"
    r"|没错|没问题(?:呀|啊)?|没关系|谢谢(?:你|您)?[^，。！？,]{0,12}|感谢(?:你|您)?[^，。！？,]{0,12}|不客气|不用谢"
    r"|其实|说起来|顺便说一下|另外|还有"
    r"|更正|纠正|修正|不对|不是的|(?:[我你您]?(?:说|记)?)?错了|准确(?:地|来)?说|(?:我的)?AI(?:伴侣|助手)|真的(?:吗)?|太好了|很好|不错|哇塞?|不是|不|没有(?:了)?|请|麻烦"
    r"|听起来[^，。！？,]{0,12})\s*[，,！!。：:、~～]\s*",
    re.IGNORECASE,
)
_REMEMBER_ZH = re.compile(
    r"(?:请|麻烦|你要?|帮我)?(?:记住|记下|记一下|记得|别忘了|不要忘记|备注)(?:一下)?"
    r"(?:(?:这(?:一点|件事|些|个)|(?:以下|下面)(?:几点|内容|信息)?)(?=[：:]))?\s*[，,：:]?\s*(?=\S)"
)
_CLOSER_ZH = re.compile(
    r"\s*[，,]?\s*(?:我?也?(?:很|非常|十分|真)?高兴(?:能够?|可以)?(?:认识|见到|遇见|遇到)(?:你|您)[^，。！？,]{0,4}"
    r"|(?<=[，,])(?:谢谢(?:你|您)?[^，。！？,]{0,10}|感谢(?:你"
    r"|您)?[^，。！？,]{0,10}"
    r"|很想和(?:你|您)分享|好想和(?:你|您)分享|和(?:你|您)明天再见|明天见|再见|对吧|是吧|你(?:呢|觉得呢)"
    r"|哈哈+|幸会))\s*[。！？!?~～]*$"
)
_CLOSER = re.compile(
    r"(?:\s*[,;\u2013\u2014-]\s*(?:and\s+)?|\s+and\s+)(?:(?:i['\u2019]m|i am|it['\u2019]s|it is) )?"
    r"(?:(?:so|very|really|also|truly) )?(?:glad|happy|pleased|delighted|excited|nice|great|good|lovely|a pleasure)"
    r" to (?:finally )?(?:meet|know|see|talk (?:to|with)|chat with) you(?: too| all| here)?\s*[.!?]*$"
    r"|\s*[,;\u2013\u2014-]\s*(?:thanks(?: a lot| so much)?"
    r"|thank you(?: so much)?|bye"
    r"|see you(?: \w+){0,2}|please|haha|lol|you know|right|and you|how about you|what about you)\s*[.!?]*$",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"(?=[^\u2013\u2014]{0,70}\b(?:topics?|thing|things|question|context|note"
    r"|unrelated)\b)[^\u2013\u2014.]{0,70}\s[\u2013\u2014-]\s(?=\S)",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(
    r"(?:(?:but|and) (?!for\b|so\b)|so (?=(?:today|yesterday|now|sometimes|because|when|the|last|next|every)\b)"
    r"|(?:and|but|so|yet|for example|for instance|in fact|in addition|as a matter of fact|in short|in other words"
    r"|to tell the truth|to be (?:fair|frank)|that said|having said that|moreover|furthermore|therefore|thus|hence"
    r"|because of that|as a result|on the other hand|apart from that|nevertheless|honestly|frankly)[,:]\s*"
    r"|the (?:fact|truth|thing|point) is(?:[,:]| that\b)\s*|(?:it )?turns out(?:[,:]| that\b|(?= (?:i|i'm|my|we)\b)))"
    r"\s*(?=\S)",
    re.IGNORECASE,
)
_CONNECTIVE_ZH = re.compile(
    r"(?:但是?(?![凡愿书])|可是|不过(?!如此|是|就)|所以(?!然)|因此|因而|而且|并且|况且|然而|其实|事实上|实际上|总之|此外"
    r"|除此之外|另外(?![一两几的那])|当然(?!是)啦?|例如|比如说?|也就是说|于是|同时也?(?=[让使])|还有一个问题(?=[，,])|而(?=在|我))\s*[，,：:]?\s*(?=\S)"
)
_TOLD = re.compile(
    r"(?:as|like) i (?:said|mentioned|told you)(?: before| earlier| already)?,?\s+"
    r"|i(?:'ve)? (?:already |just )?(?:told you|mentioned|said)(?: before| earlier)?(?: that)?\s+(?=(?:i|i'm|i've"
    r"|my|we|our)\b)",
    re.IGNORECASE,
)
_ROUNDS = 4


def trimmed(sentence: str) -> tuple[str, bool]:
    """Return the sentence without greeting, connective and closing courtesy, and whether it asks to be remembered."""
    chinese = is_chinese(sentence)
    remember = _REMEMBER_ZH if chinese else _REMEMBER
    openers = (_OPENER_ZH, _CONNECTIVE_ZH) if chinese else (_OPENER, _TOPIC, _TOLD, _CONNECTIVE)
    closer = _CLOSER_ZH if chinese else _CLOSER
    bare, remembered = sentence, False
    for _ in range(_ROUNDS):
        before = bare
        for opener in (*openers, remember):
            match = opener.match(bare)
            remembered = remembered or (match is not None and opener is remember)
            bare = bare[match.end() :] if match else bare
        end = closer.search(bare, max(0, len(bare) - 60))
        bare = bare[: end.start()] if end else bare
        if bare == before:
            break
    return _as_written(bare, sentence), remembered


def _as_written(bare: str, sentence: str) -> str:
    """Give what is left a capital, and the end that the sentence had."""
    if not bare or bare == sentence:
        return bare
    mark = sentence[-1] if sentence[-1] in ".!。！" and bare[-1] not in ".!?。！？" else ""
    return bare[0].upper() + bare[1:] + mark
