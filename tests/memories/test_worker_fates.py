"""Any course of adds, deaths, outages and forgetting comes to an end, and what it leaves is whole."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.platform import sweeper
from shared.kernel.errors import Unavailable
from shared.memories.erasing import Erasing
from shared.memories.indexing import passages_of
from shared.memories.records import UserAddress
from shared.memories.texts import text_of
from tests.emulator.faults import Killed, kill_at
from tests.memories.fakes import Failing
from tests.memories.line import Line, line
from tests.memories.works import SCOPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

USERS = [UserAddress(SCOPE, "ana"), UserAddress(SCOPE, "ben")]
TEXTS = ["city: Oslo.", "city: Rome. pet: cat.", "Forget: city: Oslo.", "pet: dog. tea: green."]
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 600_000)

users = st.sampled_from(range(len(USERS)))
steps = st.one_of(
    st.tuples(st.just("add"), users, st.sampled_from(TEXTS)),
    st.tuples(st.just("add"), users, st.sampled_from(TEXTS)),
    st.tuples(st.just("lose"), users, st.sampled_from(TEXTS)),
    st.tuples(st.just("work"), st.just(0), st.just("")),
    st.tuples(st.just("die"), st.integers(1, 24), st.booleans()),
    st.tuples(st.just("down"), st.integers(1, 6), st.sampled_from(["index", "embedder", "extractor"])),
    st.tuples(st.just("wait"), st.integers(1, 400), st.just("")),
    st.tuples(st.just("sweep"), st.just(0), st.just("")),
    st.tuples(st.just("erase"), users, st.just("")),
)


def sentences(texts: Iterable[str]) -> set[str]:
    return {f"{sentence.strip()}." for text in texts for sentence in text.split(".") if sentence.strip()}


class Course:
    """A queue, and what was asked of it: the messages of each user since they were last forgotten."""

    def __init__(self, queue: Line) -> None:
        self.queue = queue
        self.tasks: dict[str, tuple[int, str]] = {}
        self.erasures: list[str] = []

    def take(self, step: tuple[str, Any, Any]) -> None:
        name, first, second = step
        getattr(self, name)(first, second)

    def add(self, user: int, text: str) -> None:
        self.tasks[self.queue.add(text, address=USERS[user])] = (user, text)

    def lose(self, user: int, text: str) -> None:
        """Accept an add whose message is never sent."""
        self.tasks[self.queue.world.task(text, address=USERS[user])] = (user, text)

    def work(self, *_: Any) -> None:
        if messages := self.queue.receive():
            self.queue.work(messages)

    def die(self, step: int, applied: bool) -> None:  # noqa: FBT001 - drawn
        with kill_at(step, applied=applied), suppress(Killed):
            self.work()

    def down(self, times: int, what: str) -> None:
        left = [times]

        def rule(_: str) -> Unavailable | None:
            left[0] -= 1
            return Unavailable() if left[0] >= 0 else None

        self.queue.means[what] = Failing(getattr(self.queue.world, what), rule)
        self.work()

    def wait(self, seconds: int, _: Any = None) -> None:
        self.queue.world.clock.move(ms=1000 * seconds)

    def sweep(self, *_: Any) -> None:
        environ = self.queue.world.cloud.environment("SweeperFunction")
        told = sweeper.build(environ, self.queue.world.cloud.aws, self.queue.world.clock)({"job": "sweep"}, CONTEXT)
        assert told["errors"] == 0

    def erase(self, user: int, _: Any) -> None:
        self.erasures.append(Erasing(self.queue.world.backing).erase(USERS[user], "corr")["task_id"])
        self.tasks = {task: told for task, told in self.tasks.items() if told[0] != user}

    def end(self) -> None:
        """Let everything come to its end: nothing is down any more, and the sweeper does its rounds."""
        self.queue.means.clear()
        for _ in range(4):
            self.queue.run(900)
            self.wait(400)
            self.sweep()
        self.queue.run(900)

    def check(self) -> None:
        world = self.queue.world
        assert self.queue.is_empty()
        states = {task: world.row(task)["status"] for task in self.tasks}
        assert set(states.values()) <= {"success", "failed"}
        for n, user in enumerate(USERS):
            told = Counter(
                text for task, (whose, text) in self.tasks.items() if whose == n and states[task] == "success"
            )
            facts = world.facts(user)
            # What was wished to be forgotten was taken out of both, and summaries say what is so now.
            assert len(world.texts("raw", user)) <= told.total()
            assert sentences(world.texts("raw", user)) <= sentences(told)
            assert sentences(world.texts("summary", user)) <= set(facts)
            assert len(facts) == len({fact.partition(":")[0] for fact in facts})
            rows = world.rows(user)
            kept = passages_of([(row, text_of(world.objects, row)) for row in rows], world.embedder)
            assert {(p.memory_id, p.revision) for p in kept} == world.index.present(
                user.owner, {(p.memory_id, p.revision) for p in kept}
            )
        for name in self.erasures:
            assert Erasing(world.backing).receipt(SCOPE, name)["status"] == "success"


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(steps, min_size=4, max_size=14))
def test_every_course_ends_whole(course: Sequence[tuple[str, Any, Any]]) -> None:
    with line() as queue:
        taken = Course(queue)
        for step in course:
            taken.take(step)
        taken.end()
        taken.check()
