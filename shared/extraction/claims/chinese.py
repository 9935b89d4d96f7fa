"""Claims of Chinese sentences, in normalised text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.extraction.claims.claim import Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Reader = Callable[["_Said"], Iterator[Claim]]

_CHANGE = re.compile("现在|目前|如今|不再|改|换|搬|刚|最近|今后|已经|变成|推迟|提前|了$")
_FILLER = re.compile(
    "现在|目前|如今|已经|一直|刚刚?|最近|其实|终于|后来|今后|从现在开始|这几年|平时|通常|一般|真的|非常|特别|十分|挺"
    "|(?:去年|今年|上个?月|上周|昨天|前天|前年|上星期|这个?月|这周)(?:春天|夏天|秋天|冬天|[一二三四五六日天])?"
    "|(?:19|20)\\d\\d年(?:\\d{1,2}月)?(?:\\d{1,2}[日号])?"
    "|\\d{1,2}月(?:\\d{1,2}[日号])?(?=我)"
)
_S = "(?P<s>[^ ]{0,10}?)"
_V = "(?P<v>.+)"
_CUT = re.compile("(?: |因为|所以|但是?|不过|而且|并且|，|,|和我|跟我|与我|已经|做|当).*$")
_TAIL = re.compile("(?:了|吧|的|啊|呢|这边|那边|这里|那里)+$")
_HEADS = (
    "名字|电话(?:号码)?|手机号?码?|号码|邮箱|地址|生日|年龄|工资|薪水|密码|职位|职务|截止(?:日期|时间)?|期限|预算"
    "|上限|下限|目标|母语|专业|学校|公司|老板|领导"
    "|体重|身高|血型|会议时间|时区|语言|数据库|编辑器|版本|超时时间?|最喜欢的[^是]{1,12}|最爱的[^是]{1,12}"
)
_TRADE = (
    "工程师|设计师|老师|教师|教授|医生|护士|律师|程序员|开发者?|经理|总监|主管|会计|学生|研究生|博士生?|警察"
    "|司机|厨师|作家|记者|编辑|画家|歌手|演员|翻译|销售|顾问|分析师|科学家|研究员|摄影师|农民|老板|店长|实习生"
    "|公务员|教练|架构师|产品经理"
)
_REPLACED = 4
_NUMBER = "[一二两三四五六七八九十]|\\d+"


def read(plain: str) -> Iterator[Claim]:
    """Yield what the normalised sentence claims."""
    changed = bool(_CHANGE.search(plain))
    bare = _FILLER.sub("", plain).strip()
    for pattern, reader in _READERS:
        match = pattern.match(bare)
        if match:
            yield from reader(_Said(match, changed))


@dataclass(frozen=True)
class _Said:
    """A sentence that one of the forms fits, and whether it speaks of a change."""

    match: re.Match[str]
    changed: bool

    @property
    def subject(self) -> str:
        """Who is spoken of: 我 where nobody is named."""
        said = (self.match.groupdict().get("s") or "").strip("也都还就又才 ").removesuffix("的") or "我"
        return "我" if re.match("我[和跟与]|用户$", said) else said


def _value(said: str) -> tuple[str, ...]:
    bare = _TAIL.sub("", _CUT.sub("", said.strip()))
    return (bare,) if bare else ()


def _plain(attribute: str, *, holds: bool = True, current: bool = True, weak: bool = False) -> Reader:
    def reader(said: _Said) -> Iterator[Claim]:
        value = _value(said.match["v"])
        if value:
            yield Claim(said.subject, attribute, value, holds=holds, current=current, changed=said.changed, weak=weak)

    return reader


def _owned(said: _Said) -> Iterator[Claim]:
    value = _value(said.match["v"])
    if value and not ("名字" in said.match["a"] and said.subject != "我"):
        moved = said.changed or said.match["is"] not in ("是", "为")
        yield Claim(said.subject, said.match["a"].removesuffix("号码").removesuffix("号"), value, changed=moved)


def _named(said: _Said) -> Iterator[Claim]:
    if said.subject == "我":
        yield Claim("我", "名字", _value(said.match["v"]), changed=said.changed)


def _liked(*, holds: bool) -> Reader:
    def reader(said: _Said) -> Iterator[Claim]:
        for value in _value(said.match["v"]):
            yield Claim(said.subject, f"like {value}", ("yes",), holds=holds, changed=said.changed)

    return reader


def _preferred(said: _Said) -> Iterator[Claim]:
    other = said.match.groupdict().get("w")
    yield Claim(
        said.subject, "prefer", _value(said.match["v"]), changed=said.changed, instead_of=_value(other) if other else ()
    )


def _replaced(said: _Said) -> Iterator[Claim]:
    new = _value(said.match["v"])
    for each in re.split("[和与、]|以及", said.match["w"])[:_REPLACED]:
        old = _value(each)
        if old and new:
            yield Claim(said.subject, "use", new, changed=True, weak=True, instead_of=old)


def _counted(said: _Said) -> Iterator[Claim]:
    yield Claim(said.subject, f"count {said.match['n']}", (said.match["v"].replace("两", "二"),), changed=said.changed)


def _left(said: _Said) -> Iterator[Claim]:
    value = _value(said.match["v"] or said.match["v2"])
    if value:
        yield Claim(said.subject, "employer", value, holds=False, changed=said.changed)


_READERS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (f"{_S}(?:曾经?|以前|之前|过去|原来|小时候)(?:住在|居住在){_V}", _plain("home", current=False)),
        (f"{_S}(?:不再?|没有?)(?:居住|住)在?{_V}", _plain("home", holds=False)),
        (f"(?P<s>我|[^ ]{{1,6}}?)的?家(?:住)?在{_V}", _plain("home")),
        (
            (
                f"(?!.*(?:曾经?|以前|之前|过去|原来|小时候)住){_S}(?<!不)(?<!不再)(?:住在|居住在|居住于|定居在?"
                f"|定居于){_V}"
            ),
            _plain("home"),
        ),
        (f"{_S}从.{{1,12}}搬(?:家)?(?:到|去|至|来)了?{_V}", _plain("home")),
        (f"{_S}(?:要|准备|打算)?(?:搬(?:家)?(?:到|去|至|来)|移居到?|搬进)了?{_V}", _plain("home")),
        (f"{_S}(?<!不)(?<!不再)在(?P<v>.+?)(?:工作|上班|任职|就职|当.*|做.*师)(?:了)?$", _plain("employer")),
        (f"{_S}(?:入职|加入|跳槽到|跳槽去|换到)了?{_V}", _plain("employer")),
        (f"{_S}(?:不再?在(?P<v>.+?)(?:工作|上班|任职)了?|从(?P<v2>.+?)(?:离职|辞职)了?)$", _left),
        (f"{_S}(?:是|当|做|成为|成了|当上)了?(?:一?[名个位])?(?P<v>[^ ]{{0,8}}(?:{_TRADE}))了?$", _plain("job")),
        (f"{_S}的?职业是{_V}", _plain("job")),
        (f"{_S}(?:今年)?(?P<v>(?:{_NUMBER}){{1,3}})岁了?$", _plain("age")),
        (f"{_S}(?:名叫|叫|名字是|名字叫){_V}", _named),
        (
            (
                f"{_S}的?(?:新的?)?(?P<a>{_HEADS})(?P<is>改成|改为|改到|变成|换成|推迟到|提前到|延长到|提高到|降到|定在|是"
                f"|为)了?{_V}"
            ),
            _owned,
        ),
        (f"{_S}把(?P<a>{_HEADS})(?P<is>改成|改为|改到|换成|推迟到|提前到|设为|设成)了?{_V}", _owned),
        (f"{_S}(?:不喜欢|不爱|讨厌|不再喜欢|不太喜欢|厌恶|不再爱){_V}", _liked(holds=False)),
        (f"{_S}(?<![不更最较])很?(?:喜欢|热爱|喜爱|爱)(?!.+胜过){_V}", _liked(holds=True)),
        (
            f"{_S}(?:更喜欢|更爱|偏好|比较喜欢|偏爱|宁愿)(?P<v>.+?)(?:而不是|胜过|多过|，不)(?P<w>.+)",
            _preferred,
        ),
        (f"(?:比起|相比|和)(?P<w>.+?)(?:，|,| |相比)?(?P<s>我)(?:更喜欢|更爱|偏爱){_V}", _preferred),
        (f"{_S}喜欢(?P<v>.+?)胜过(?P<w>.+)", _preferred),
        (f"{_S}(?:更喜欢|更爱|偏好|比较喜欢|偏爱)(?!.+(?:而不是|胜过|多过)){_V}", _preferred),
        (f"{_S}从(?P<w>.+?)(?:换成|换到|改为|改成|切换到|迁移到|迁到|转到|转向|换|改用)了?{_V}", _replaced),
        (f"{_S}把(?P<w>.+?)(?:换成|改成|替换为|替换成|迁移到|换为)了?{_V}", _replaced),
        (f"{_S}(?:不再?用|放弃)(?P<w>.+?)了?[ ，,]*(?:改用|改成|换成|用)了?{_V}", _replaced),
        (f"{_S}用(?P<v>.+?)(?:代替|替代|取代|替换)了?(?P<w>.+)", _replaced),
        (f"{_S}(?:改用|换用|使用|采用|在用|换成|选择了?|选用|用)了?{_V}", _plain("use", weak=True)),
        (f"{_S}(?P<v>单身|已婚|离婚|订婚)了?$", _plain("marital status")),
        (
            f"{_S}结婚(?P<v>了)$",
            lambda said: iter((Claim(said.subject, "marital status", ("已婚",), changed=said.changed),)),
        ),
        (f"{_S}(?:有|养了?)(?P<v>{_NUMBER})(?:个|只|条|位|台|辆)(?P<n>[^ ]{{1,6}})$", _counted),
    )
)
