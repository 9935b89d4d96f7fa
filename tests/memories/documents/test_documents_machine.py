"""A state machine: whatever is added, read, filed, killed and deleted, what is found is what a simple model has."""

from __future__ import annotations

import logging
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from shared.memories.files.rows import ENDED
from tests.emulator.faults import Killed, kill_at
from tests.memories.documents.desk import desk_world, file

if TYPE_CHECKING:
    from tests.memories.documents.desk import Desk

EXAMPLES, STEPS = 12, 25
NAMES = ["a.txt", "b.md"]
CONTENTS = ["Cedar one.", "Cedar two.\n\nCedar three.", "Cedar four.\n\nCedar five.\n\nCedar six."]


@dataclass
class Added:
    """An add of the model: which content, its task, the id of its file."""

    content: str
    task: str
    file: str


@dataclass
class Model:
    """For each filename the adds that may still be what its document says, in order of their acceptance."""

    adds: dict[str, list[Added]] = field(default_factory=lambda: {name: [] for name in NAMES})

    def texts(self) -> list[str]:
        """Return what is found when all is done: of each name what was added last."""
        last = (adds[-1].content for adds in self.adds.values() if adds)
        return sorted(part for content in last for part in content.split("\n\n"))


class DocumentMachine(RuleBasedStateMachine):
    """One user a run; all runs are in one world."""

    world: ClassVar[Desk]
    runs: ClassVar[count[int]] = count()

    @initialize()
    def begin(self) -> None:
        self.desk = replace(self.world, user=f"user {next(self.runs)}", held=[])
        self.model = Model()

    @rule(name=st.sampled_from(NAMES), content=st.sampled_from(CONTENTS))
    def add(self, name: str, content: str) -> None:
        self.desk.shelf.clock.move(ms=2)
        task = self.desk.add(file(content, name))
        self.model.adds[name].append(Added(content, task, self.desk.job(task)["file"]))

    @rule(steps=st.integers(1, 4))
    def work(self, steps: int) -> None:
        for _ in range(steps):
            self.desk.step()

    @rule(call=st.integers(1, 14), applied=st.booleans())
    def die(self, call: int, *, applied: bool) -> None:
        with suppress(Killed), kill_at(call, applied=applied):
            self.desk.step()
        self.desk.shelf.clock.move(ms=65_000)
        self.desk.show_hidden()

    @rule(name=st.sampled_from(NAMES), place=st.integers(0, 3))
    def delete(self, name: str, place: int) -> None:
        adds = self.model.adds[name]
        if not adds:
            return
        gone = adds[place % len(adds)].file
        document = self.desk.document(self.desk.job(adds[0].task)["document"])
        is_shown = document is not None and document["file"] == gone
        ended = {one.task for one in adds if self.desk.job(one.task)["status"] in ENDED}
        assert self.desk.reader.delete(f"/v1/files/{gone}").status == 202
        # What was read before and had to give way does not come back; what is still to be read does.
        self.model.adds[name] = [one for one in adds if one.file != gone and not (is_shown and one.task in ended)]

    @rule()
    def forget(self) -> None:
        self.desk.reader.forget_all(self.desk.user)
        self.model = Model()

    @rule()
    def settle(self) -> None:
        self.desk.work()
        assert sorted(self.desk.found("cedar", min_semantic_similarity=0)) == self.model.texts()
        listed = self.desk.reader.listed(self.desk.user, kind="chunk")
        assert sorted(one["memory"] for one in listed) == self.model.texts()

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self.settle()
            for adds in self.model.adds.values():
                for one in adds:
                    assert self.desk.status(one.task)["status"] == "success"


def test_documents_are_those_of_a_simple_model() -> None:
    with ExitStack() as stack:
        logging.getLogger("hypothesis").setLevel(logging.ERROR)
        DocumentMachine.world = stack.enter_context(desk_world())
        run_state_machine_as_test(
            DocumentMachine,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            ),
        )
        DocumentMachine.world.check_nothing_is_left_over()
