"""Conversations with questions whose answers' messages are known, read from a folder of data sets.

LoCoMo (CC BY-NC 4.0) and MemoryBank (MIT) are not part of this repository: `DATA` names the folder that holds them.
No weight of the product is fitted on either.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LABELS = Path(__file__).parent / "labels" / "memorybank_zh.json"
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_ADVERSARIAL = 5
_MINUTE_MS = 60_000


@dataclass(frozen=True)
class Said:
    """One message: its name in the data set, its role, who speaks, what, and when (ms)."""

    name: str
    role: str
    speaker: str
    text: str
    at: int


@dataclass(frozen=True)
class Question:
    """A question, and the names of the messages that answer it."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Talk:
    """All that one user said, by session, and what is asked about it."""

    user: str
    sessions: list[list[Said]]
    questions: list[Question] = field(default_factory=list)


@dataclass(frozen=True)
class Corpus:
    """A data set."""

    name: str
    talks: list[Talk]

    @property
    def size(self) -> tuple[int, int]:
        """How many messages and questions there are."""
        messages = sum(len(session) for talk in self.talks for session in talk.sessions)
        return messages, sum(len(talk.questions) for talk in self.talks)


def corpora(folder: Path) -> Iterator[Corpus]:
    """Yield the data sets that `folder` has."""
    english, chinese = folder / "locomo" / "locomo_dev.json", folder / "memorybank"
    if english.exists():
        yield Corpus("LoCoMo", [_locomo(entry) for entry in json.loads(english.read_text("utf-8"))])
    if chinese.is_dir():
        yield Corpus("MemoryBank (Chinese)", list(_memorybank(chinese)))


def _locomo(entry: dict[str, Any]) -> Talk:
    talk = entry["conversation"]
    numbers = [n for n in range(1, 100) if isinstance(talk.get(f"session_{n}"), list)]
    sessions = [_session(talk, n) for n in numbers]
    names = {said.name for session in sessions for said in session}
    asked = [q for q in entry["qa"] if q["category"] != _ADVERSARIAL]
    questions = [Question(str(q["question"]), _evidence(q.get("evidence", ())) & names) for q in asked]
    return Talk(entry["sample_id"], sessions, [q for q in questions if q.evidence])


def _session(talk: dict[str, Any], number: int) -> list[Said]:
    began = datetime.strptime(talk[f"session_{number}_date_time"].title(), "%I:%M %p On %d %B, %Y").replace(tzinfo=UTC)
    at = int(began.timestamp() * 1000)
    return [
        Said(
            turn["dia_id"], "user" if turn["speaker"] == talk["speaker_a"] else "assistant", turn["speaker"], text, when
        )
        for place, turn in enumerate(talk[f"session_{number}"])
        if (text := _with_picture(turn)) and (when := at + place * _MINUTE_MS)
    ]


def _with_picture(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares {caption}]" if caption else str(turn["text"])


def _evidence(names: list[str] | tuple[()]) -> frozenset[str]:
    # Some of the data set's names are malformed ("D8:6; D9:17", "D:11:26", "D30:05").
    found = (match for name in names for match in _EVIDENCE.finditer(name))
    return frozenset(f"D{int(match[1])}:{int(match[2])}" for match in found)


def _memorybank(folder: Path) -> Iterator[Talk]:
    users = json.loads((folder / "memory_bank_cn.json").read_text("utf-8"))
    asked: dict[str, list[str]] = {}
    for line in (folder / "probing_questions_cn.jsonl").read_text("utf-8").splitlines():
        asked |= json.loads(line)
    for user, answers in json.loads(LABELS.read_text("utf-8"))["answers"].items():
        sessions = [_day(day, exchanges) for day, exchanges in users[user]["history"].items()]
        yield Talk(user, sessions, [Question(asked[user][int(n)], frozenset(names)) for n, names in answers.items()])


def _day(day: str, exchanges: list[dict[str, str]]) -> list[Said]:
    morning = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(hours=9)
    said = []
    for number, exchange in enumerate(exchanges):
        at = int(morning.timestamp() * 1000) + number * 2 * _MINUTE_MS
        name = f"{day[5:]}.{number}"
        said += [
            Said(f"{name}u", "user", "user", exchange["query"], at),
            Said(f"{name}a", "assistant", "assistant", exchange["response"], at + _MINUTE_MS),
        ]
    return said
