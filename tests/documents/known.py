"""What is written in each sample, in each language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A document of two pages, sheets or slides: `first` under `title`, then `second` under `section`, then a table."""

    title: str
    first: str
    section: str
    second: str
    sheets: tuple[str, str]
    rows: tuple[tuple[str, ...], ...]


KNOWN = {
    "en": Known(
        "Harbour report",
        "The harbour of Lindavar was rebuilt in 1987.",
        "Evening counts",
        "The lighthouse keeper counts eleven ships every evening.",
        ("Cargo", "Notes"),
        (("Ship", "Load", "Tons"), ("Aurora", "timber", "420"), ("Borealis", "salt", "75")),
    ),
    "zh": Known(
        "港口报告",
        "林达瓦港于一九八七年重建。",
        "晚间统计",
        "灯塔看守人每天晚上数出十一艘船。",
        ("货物", "备注"),
        (("船名", "货物", "吨位"), ("极光号", "木材", "420"), ("北风号", "食盐", "75")),
    ),
}
