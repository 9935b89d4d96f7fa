"""Which script a text is in, and the words that tell nothing by themselves, in English and Chinese."""

from __future__ import annotations

import re

from shared.extraction.fingerprint import HAN

_HAN_CHARACTER = re.compile(f"[{HAN}]")
_LETTER = re.compile(r"[^\W\d_]")
_SAMPLE = 2_000

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|\d+(?:[.:,/-]\d+)*%?")


def words(text: str) -> list[str]:
    """Return the words and numbers, as they are written."""
    return _WORD.findall(text)


FUNCTION = frozenset(
    words(
        "a an the and or but nor so yet if then than as at by for from in into of off on onto out over per to "
        "up upon with within without about above across after again against along also although among around "
        "because been before behind being below beside between beyond both down during each either else ever "
        "every few he her here hers herself him himself his i it its itself just me mine more most much my "
        "myself neither no not now once only other our ours ourselves own same she should since some such "
        "that their theirs them themselves there these they this those through too under until very was we "
        "were what when where whether which while who whom whose why will would you your yours yourself am is "
        "are be do does did doing done has have had having can could may might must shall ought let's im ive "
        "id ill youre dont doesnt didnt cant isnt wasnt wont s t m re ve ll d don doesn didn isn aren wasn "
        "won couldn wouldn shouldn hasn haven hadn any all many lot lots bit one ones"
    )
)
"""English words that build sentences and name nothing."""

VAGUE = frozenset(
    words(
        "super get got getting gets go goes going gone give gives given gave make makes made making take takes "
        "taken took taking try tries trying tried check checking look looks looking see seeing seen saw know "
        "knows knew think thinks thought thinking feel feels felt say says said saying tell told want wants "
        "wanted need needs like likes love loves keep keeps kept find found come came coming put follow "
        "following listen remember mean means meant seem seems agree understand believe guess suppose hope "
        "hoping wish appreciate sound sounds really quite pretty rather actually definitely certainly "
        "absolutely probably maybe perhaps indeed exactly sure course okay ok right yes yeah yep no nope well "
        "oh wow hey hi hello thanks thank please sorry welcome good great nice fine cool awesome amazing "
        "wonderful excellent perfect lovely fantastic interesting helpful useful true possible important glad "
        "happy pleased better best thing things something anything everything nothing someone anyone everyone "
        "way ways time times day today tomorrow lately recently still always never often sometimes usually "
        "already soon later next last first kind sort idea ideas advice suggestion suggestions recommendation "
        "recommendations question questions answer answers help chat chatting chats talk talking talked "
        "conversation companion assistant ai mind point fact case bye goodbye morning evening afternoon night "
        "meet met meeting lot even though however different such new wait let share sharing learn learned "
        "forgot ask asking asked excited thrilled stoked grateful thankful lucky amazed impressed hooked "
        "obsessed totally bet pushing gonna together haha hmm lol um uh mm best-of"
    )
)
"""English words that carry no statement of their own: the talk about talking."""

_VAGUE_ZH = re.compile(
    "谢谢|感谢|不客气|没关系|没问题|好的|好吧|好啊|好呀|是的|对的|当然|可以|其实|真的|觉得|认为|感觉|知道|明白|了解|"
    "同意|同感|一定|试试|试一试|看看|去看|听听|聊聊|聊天|建议|推荐|方法|办法|主意|意见|分享|帮助|帮忙|问题|有道理|"
    "非常|特别|确实|很多|一些|一下|这个|那个|这些|那些|这样|那样|它们|他们|她们|我们|咱们|你们|自己|什么|怎么|时候|"
    "再想|想想|想法|有用|有趣|有意思|不错|很好|很棒|开心|高兴|愉快|幸运|好好|认真|努力|尝试|考虑|希望|需要|应该|会的|是啊|"
    "今天|明天|现在|最近|之前|以后|再见|晚安|早安|早上好|晚上好|下午好|你好|您好|嗨|哈哈|伴侣|朋友|"
    "[的了着过吗呢吧啊呀哦嗯嘛哈我你您他她它们这那是在有和与跟就也都还又很太最更不没会能要想说去来到把被让给对为从而且但"
    "因所以如果虽然或者并与及等个些次件里上下中看听做好]"
)


def is_chinese(text: str) -> bool:
    """Tell whether at least three of ten letters are Chinese characters."""
    if text.isascii():
        return False
    sample = text[:_SAMPLE]
    return 10 * len(_HAN_CHARACTER.findall(sample)) >= 3 * max(1, len(_LETTER.findall(sample)))


def content(text: str) -> list[str]:
    """Return what names something: English content words and numbers in lower case, or Chinese characters."""
    if is_chinese(text):
        return re.findall(rf"[{HAN}]|[a-z0-9]+", _VAGUE_ZH.sub("", text.lower()))
    lowered = (word.lower().replace("\u2019", "'") for word in words(text))
    return [word for word in lowered if word.split("'")[0] not in FUNCTION and word not in VAGUE]
