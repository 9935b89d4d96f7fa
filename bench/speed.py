"""How fast memories are: accepting, learning, and searching, over HTTP on the local run.

The texts are made here, of words that mean nothing together: they are as long as those that people write.
"""

from __future__ import annotations

import random
import shutil
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.client import Memories

MANY = 10_000
OTHERS = 100
BATCH = 200
USERS, ADDS = 50, 200
FIRST = 1_767_225_600_000
_WORDS = """river garden meeting coffee Lisbon Maria deadline server budget violin morning train passport recipe window
doctor football library contract summer mountain keyboard invoice weather market sister language holiday bicycle
kitchen database engine birthday painting concert hospital winter teacher airport dinner project station"""
_TALK = (
    "I live in Lisbon and work as a nurse at Santa Maria hospital.",
    "That sounds busy. Do you like it?",
    "I do. My sister Ana has a PhD in physics and lives in Porto.",
    "Impressive!",
    "We decided to visit her next Friday by train.",
    "Have a good trip.",
    "I prefer tea to coffee, and I never eat meat.",
    "Noted.",
    "My manager wants the report by the third of March.",
    "I will remember that.",
)


@dataclass(frozen=True)
class Speed:
    """One figure: what, how many it is of, its median and 95th percentile (ms)."""

    name: str
    times: list[float]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.times)

    def row(self) -> str:
        """Return its row in a table."""
        slow = sorted(self.times)[int(len(self.times) * 0.95)]
        return f"| {self.name} | {len(self.times)} | {self.median:.0f} | {slow:.0f} |"


def measure(api: Memories, *, quick: bool) -> Iterator[Speed]:
    """Yield the figures."""
    rounds = 10 if quick else 100
    users = [f"quick{n}" for n in range(rounds)]
    yield Speed("accept one message (202)", [_timed(partial(_add, api, user, 1)) for user in users])
    for user in users:  # what is measured next is not to wait for these
        api.finished(_add(api, user, 1, 1))
    yield Speed("ten messages, until they are found", [_timed(partial(_learn, api, n)) for n in range(rounds // 5)])
    yield Speed(f"{ADDS} adds of {USERS} users at the same time, until each is found", _beside(api))
    many = MANY // 10 if quick else MANY
    _fill(api, "heavy", many)
    yield Speed(f"search, {many:,} memories of the user", _searches(api, rounds))
    _seed_others(api, OTHERS // 10 if quick else OTHERS)
    yield Speed(f"search, beside {OTHERS} other users with as many", _searches(api, rounds))


def _timed(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def _sentence(seed: int) -> str:
    return " ".join(random.Random(seed).choices(_WORDS.split(), k=18)) + "."


def _add(api: Memories, user: str, count: int, first: int = 0) -> str:
    said = range(first, first + count)
    messages = [{"role": "user", "content": _sentence(n), "timestamp": FIRST + n * 60_000} for n in said]
    return api.add(user, messages, mode="raw")


def _learn(api: Memories, number: int) -> None:
    roles = ("user", "assistant")
    messages = [
        {"role": roles[n % 2], "content": text, "timestamp": FIRST + n * 60_000} for n, text in enumerate(_TALK)
    ]
    api.finished(api.add(f"talk{number}", messages, memory_output_language="en"))


def _beside(api: Memories) -> list[float]:
    with ThreadPoolExecutor(USERS) as threads:
        return list(threads.map(lambda n: _timed(partial(_found, api, n)), range(ADDS)))


def _found(api: Memories, number: int) -> None:
    api.finished(_add(api, f"beside{number % USERS}", 2, number))


def _fill(api: Memories, user: str, count: int) -> None:
    for task in [_add(api, user, BATCH, first) for first in range(0, count, BATCH)]:
        api.finished(task)


def _searches(api: Memories, rounds: int) -> list[float]:
    asked = [" ".join(_sentence(n + 1).split()[:6]) for n in range(rounds + 5)]
    return [_timed(partial(api.search, "heavy", text, output_mode="raw")) for text in asked][5:]


def _seed_others(api: Memories, count: int) -> None:
    """Give other users files like the heavy one's: the embedded index has a file a user, and no user's name in it."""
    folder = api.home / "search"
    largest = max(folder.rglob("*.sqlite"), key=lambda file: file.stat().st_size)
    for number in range(count):
        name = sha256(f"other {number}".encode()).hexdigest()
        (folder / name[:2]).mkdir(exist_ok=True)
        shutil.copyfile(largest, folder / name[:2] / largest.with_stem(name).name)
