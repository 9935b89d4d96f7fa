"""What becomes of facts beside what is known: kept, superseded, forgotten, or nothing; also when others write too."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from shared.aws.items import key_of
from shared.aws.writes import Delete, Update
from shared.extraction.port import Decision
from shared.kernel.errors import Unavailable
from shared.kernel.preconditions import Preconditions
from shared.memories.changing import ChangeWish, Changing
from shared.memories.erasing import Erasing
from shared.memories.forgetting import Forgetting
from shared.memories.history import Histories, HistoryWish
from shared.memories.models import ChunkPlace
from shared.memories.outcome import State
from shared.memories.records import INLINE_BYTES, UserAddress, task_key
from shared.memories.rows import memory_id_of, next_revision
from shared.retention.erasures import ErasureLog
from tests.emulator.faults import intercepted
from tests.memories.fakes import Failing
from tests.memories.works import ANA, SCOPE, works

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.aws.items import Item
    from tests.emulator.faults import Call
    from tests.memories.works import Works


@pytest.fixture
def world() -> Iterator[Works]:
    with works() as made:
        yield made


def fact(world: Works, text: str, address: UserAddress = ANA) -> Item:
    return next(row for row in world.rows(address, "fact") if row["text"] == text)


def before(what: str, behind: Any, call: Callable[[], object], times: int = 1) -> Failing:
    """Return what stands in front of a port and lets something else happen before its method is called."""
    left = [times]

    def rule(name: str) -> None:
        if name == what and left[0]:
            left[0] -= 1
            call()

    return Failing(behind, rule)


def test_what_is_said_again_adds_nothing(world: Works) -> None:
    world.add("I like tea.")
    again = world.add("I like TEA")
    assert world.facts() == ["I like tea."]
    assert again["status"] == "success"
    assert [event["event"] for event in again["events"]] == ["ADD"]  # its message
    assert [(p["event"], p["task"]) for p in world.all_past()] == [("NONE", again["task"])] * 2  # fact and summary


def test_a_changed_fact_takes_the_place_of_the_old_one_which_is_its_past(world: Works) -> None:
    world.add("city: Berlin.", metadata={"source": "chat", "weight": 0.1})
    old = fact(world, "city: Berlin.")
    task = world.add("city: Madrid.", metadata={"weight": 2})
    new = fact(world, "city: Madrid.")
    assert memory_id_of(new) == memory_id_of(old)
    assert new["created_at"] == old["created_at"] < new["updated_at"]
    assert new["metadata"] == '{"source":"chat","weight":2}'
    assert (new["event"], new["reason"], new["task"]) == ("UPDATE", "about city", task["task"])
    (past,) = world.past(memory_id_of(new))
    assert (past["event"], past["text"], past["task"]) == ("ADD", "city: Berlin.", old["task"])


def test_an_old_state_is_taken_out_of_the_index(world: Works) -> None:
    world.add("city: Berlin.")
    old = fact(world, "city: Berlin.")
    world.add("city: Madrid.")
    states = {(memory_id_of(old), old["revision"])}
    assert world.index.present(ANA.owner, states) == set()


def test_what_is_to_be_forgotten_is_gone_and_its_past_says_only_that(world: Works) -> None:
    world.add("city: Berlin.")
    world.add("city: Madrid.")
    memory = memory_id_of(fact(world, "city: Madrid."))
    world.add("Forget: city: Madrid.")
    assert world.facts() == []
    assert [(p["event"], p["text"]) for p in world.past(memory)] == [("ADD", None), ("UPDATE", None), ("DELETE", None)]
    assert not [i for i in world.cloud.items() if i["sk"]["S"].startswith("f#")]
    erased = [each for each in ErasureLog(world.objects).replay(0) if memory in each.ids["memories"]]
    assert [each.kind for each in erased] == ["past_of_memories"]
    assert erased[0].ids["memories"][memory] > world.past(memory)[-1]["at"]


def test_what_was_forgotten_can_be_said_again(world: Works) -> None:
    world.add("city: Berlin.")
    world.add("Forget: city: Berlin.")
    world.add("city: Berlin.")
    assert world.facts() == ["city: Berlin."]


def test_a_wish_to_forget_what_is_not_known_changes_nothing(world: Works) -> None:
    task = world.add("Forget: my shoe size.")
    assert (task["status"], world.facts()) == ("success", [])


def test_a_fact_that_came_back_is_no_restatement_of_what_it_had_replaced(world: Works) -> None:
    world.add("city: Berlin. city: Madrid. city: Berlin.")
    assert world.facts() == ["city: Berlin."]
    assert [p["text"] for p in world.all_past()] == ["city: Berlin.", "city: Madrid."]


def test_facts_of_one_conversation_are_decided_beside_each_other(world: Works) -> None:
    task = world.add("pet: cat. Pet: Cat. pet: dog.")
    assert world.facts() == ["pet: dog."]
    assert [event["event"] for event in task["events"]] == ["ADD", "ADD", "UPDATE", "ADD"]


def test_adds_of_one_fact_are_one_memory_though_many_work_on_them_at_once(world: Works) -> None:
    tasks = [world.task("I like tea.") for _ in range(6)]
    world.finish_together(tasks)
    assert {world.row(task)["status"] for task in tasks} == {"success"}
    assert world.facts() == ["I like tea."]


def test_an_index_that_is_blind_lets_no_fact_in_twice(world: Works) -> None:
    class Blind:
        def __getattr__(self, name: str) -> Any:
            return getattr(world.index, name)

        def search(self, asks: Any) -> Any:
            return world.index.search([]) or [type(c)() for c in world.index.search(asks)]

    world.add("I like tea.")
    world.deliver(world.task("I like tea!"), index=Blind())
    assert world.facts() == ["I like tea."]


def test_users_do_not_see_each_other_s_facts(world: Works) -> None:
    ben = UserAddress(SCOPE, "ben")
    world.add("city: Rome.", address=ben)
    world.add("city: Oslo.")
    assert (world.facts(), world.facts(ben)) == (["city: Oslo."], ["city: Rome."])


def test_an_immutable_memory_is_left_alone(world: Works) -> None:
    class Stubborn:
        def decide(self, _: Any, known: Any) -> Decision:
            return Decision("UPDATE", "always", known[0].memory_id) if known else Decision("ADD", "first")

    world.decider = Stubborn()
    world.add("city: Berlin.")
    world.table.write(Update(key_of(fact(world, "city: Berlin.")), {"immutable": True}))
    world.add("city: Madrid.")
    assert world.facts() == ["city: Berlin.", "city: Madrid."]


def changed(world: Works, text: str) -> Callable[[], object]:
    """Return what changes a fact as its user's PATCH does."""

    def change() -> None:
        row = fact(world, text)
        put = {"text": "city: Paris.", "revision": next_revision(row), "event": "UPDATE", "task": None}
        world.table.write(Update(key_of(row), put))

    return change


def test_a_memory_that_its_user_changes_meanwhile_is_decided_about_anew(world: Works) -> None:
    world.add("city: Berlin.")
    index = before("put", world.index, changed(world, "city: Berlin."))
    task = world.task("city: Madrid.")
    world.deliver(task, index=index)
    assert world.row(task)["status"] == "success"
    assert sorted(world.facts()) in (["city: Madrid.", "city: Paris."], ["city: Madrid."])
    assert "city: Berlin." not in world.facts()


def test_a_memory_that_its_user_deletes_meanwhile_does_not_come_back(world: Works) -> None:
    world.add("city: Berlin.")
    row = fact(world, "city: Berlin.")

    def delete() -> None:
        world.table.transact(Delete(key_of(row)), Delete(ANA.fingerprint_key(row["fingerprint"])))

    task = world.task("city: Madrid.")
    world.deliver(task, index=before("put", world.index, delete))
    assert world.row(task)["status"] == "success"
    assert world.facts() == ["city: Madrid."]
    assert memory_id_of(fact(world, "city: Madrid.")) != memory_id_of(row)


def test_a_memory_deleted_while_it_was_said_again_is_added_anew(world: Works) -> None:
    world.add("city: Berlin.")
    row = fact(world, "city: Berlin.")

    def delete() -> None:
        world.table.transact(Delete(key_of(row)), Delete(ANA.fingerprint_key(row["fingerprint"])))

    world.deliver(world.task("city: Berlin."), index=before("put", world.index, delete))
    assert world.facts() == ["city: Berlin."]
    assert world.past(memory_id_of(row)) == []


LONG = "x" * (INLINE_BYTES + 1)


def _delete(world: Works, memory_id: str) -> None:
    Forgetting(world.backing, world.index).forget(SCOPE, memory_id)


def _change(world: Works, memory_id: str) -> None:
    changing = Changing(world.backing, world.index, world.embedder)
    changing.change(SCOPE, memory_id, ChangeWish(memory=f"city: Berlin. {LONG}y"), conditions=Preconditions())


@contextmanager
def _just_before_it_is_read(row: Item, happen: Callable[[], None]) -> Iterator[None]:
    """Let something happen once, right before the text of a row is asked for; it has to be."""
    left = [happen]

    def around(call: Call, request: Any, apply: Callable[[], Any]) -> Any:
        if call.operation == "GetObject" and row["object"] in request.url and left:
            left.pop()()
        return apply()

    with intercepted(around):
        yield
    assert not left


@pytest.mark.parametrize("happen", [_delete, _change])
def test_a_long_message_that_goes_while_it_is_looked_through_has_the_task_come_again(
    world: Works, happen: Callable[[Works, str], None]
) -> None:
    world.add(f"city: Berlin. {LONG}")
    (said,) = world.rows(kind="raw")
    task = world.task("Forget: city: Berlin.")
    with _just_before_it_is_read(said, partial(happen, world, memory_id_of(said))):
        assert world.deliver(task).state is State.LATER
    assert world.row(task)["status"] == "processing"
    world.clock.move(ms=3000)
    world.deliver(task)
    assert world.row(task)["status"] == "success"
    assert not [text for text in world.texts() if "Berlin" in text]


def test_a_part_s_long_summary_that_goes_while_all_are_summed_up_has_the_task_come_again(world: Works) -> None:
    parts = [{"mode": "pre_summarized", "chunk": ChunkPlace("session", n, 2)} for n in range(2)]
    world.add(f"city: Berlin. {LONG}", **parts[0])
    (first,) = world.rows(kind="summary")
    task = world.task("city: Madrid.", **parts[1])
    with _just_before_it_is_read(first, partial(_delete, world, memory_id_of(first))):
        assert world.deliver(task).state is State.LATER
    world.clock.move(ms=3000)
    world.deliver(task)
    assert world.row(task)["status"] == "success"


def test_a_task_whose_payload_is_gone_fails_for_good(world: Works) -> None:
    task = world.task("city: Madrid.")
    world.objects.delete(world.row(task)["object"])
    world.deliver(task)
    assert world.row(task)["error"]["code"] == "payload_missing"


def test_changes_that_never_end_put_the_task_off_and_not_round_and_round(world: Works) -> None:
    world.add("city: Berlin.")

    def change() -> None:
        row = world.rows(ANA, "fact")[0]
        world.table.write(Update(key_of(row), {"revision": row["revision"] + 1}))

    class Restless(Failing):
        pass

    task = world.task("city: Berlin. ")
    index = Restless(world.index, lambda name: change() if name == "put" else None)
    outcome = world.deliver(task, index=index)
    assert outcome.state is State.LATER
    assert world.row(task)["status"] == "processing"
    world.clock.move(ms=3000)
    world.deliver(task)
    assert world.row(task)["status"] == "success"


def test_what_is_deleted_as_a_whole_meanwhile_is_not_added_after_all(world: Works) -> None:
    world.add("city: Berlin.")
    erase = Erasing(world.backing)
    task = world.task("city: Madrid.")
    world.deliver(task, index=before("put", world.index, lambda: erase.erase(ANA, "c")))
    row = world.row(task)
    assert (row["status"], row["error"]["code"]) == ("failed", "erased")
    assert "letter" not in row
    assert world.texts() == []
    assert world.index.clear(ANA.owner, 1) == 3  # those of the first add; its own it has taken back
    after = world.add("city: Madrid.")
    assert (after["status"], world.facts()) == ("success", ["city: Madrid."])


def test_an_add_accepted_before_a_delete_of_everything_is_dropped_after_it(world: Works) -> None:
    task = world.task("city: Madrid.")
    Erasing(world.backing).erase(ANA, "c")
    world.deliver(task)
    assert world.row(task)["error"]["code"] == "erased"
    assert world.texts() == []
    assert [key for key in world.cloud.object_keys() if not key.startswith("keep/erasures")] == []


def test_a_worker_that_was_taken_for_dead_changes_nothing_when_it_wakes(world: Works) -> None:
    task = world.task("city: Oslo. pet: dog.")

    def overtaken() -> None:
        world.clock.move(ms=31_000)
        assert world.deliver(task).state is State.DONE

    for moment in ("put", "search"):
        task = world.task(f"city: {moment}. pet: dog.")
        outcome = world.deliver(task, index=before(moment, world.index, overtaken))
        assert outcome.state is State.LEAVE
        assert world.row(task)["status"] == "success"
        assert world.row(task)["tries"] == 2
        assert world.facts() == [f"city: {moment}.", "pet: dog."]


def test_a_worker_of_another_task_does_not_decide_beside_one_that_is_at_it(world: Works) -> None:
    other = world.task("city: Rome.")
    seen: list[Any] = []
    task = world.task("city: Oslo.")
    world.deliver(task, index=before("put", world.index, lambda: seen.append(world.deliver(other))))
    assert [outcome.state for outcome in seen] == [State.LATER]
    assert world.row(other)["tries"] == 0
    world.deliver(other)
    assert world.facts() == ["city: Rome."]


def test_a_lease_that_ran_out_and_was_taken_fences_the_one_before(world: Works) -> None:
    other, task = world.task("city: Rome."), world.task("city: Oslo.")

    def stall() -> None:
        world.clock.move(ms=61_000)
        world.deliver(other)

    outcome = world.deliver(task, index=before("put", world.index, stall))
    assert outcome.state is State.LEAVE
    assert world.row(task)["status"] == "processing"
    assert world.facts() == ["city: Rome."]
    world.deliver(task)
    assert world.facts() == ["city: Oslo."]


def test_a_request_in_the_foreground_does_the_same_and_ends_at_the_first_failure(world: Works) -> None:
    task, failing = world.task("city: Oslo."), world.task("city: Rome.")
    world.worker().run(task_key(SCOPE, task))
    assert (world.row(task)["status"], world.facts()) == ("success", ["city: Oslo."])
    down = Failing(world.index, lambda _: Unavailable())
    world.worker(index=down).run(task_key(SCOPE, failing))
    assert world.row(failing)["error"]["code"] == "dependency_unavailable"
    assert world.facts() == ["city: Oslo."]
    assert world.add("city: Bonn.")["status"] == "success"


def test_a_history_is_in_the_order_of_its_decisions_though_clocks_differ(world: Works) -> None:
    world.add("city: Berlin.")
    memory_id = memory_id_of(fact(world, "city: Berlin."))
    changing, history = Changing(world.backing, world.index, world.embedder), Histories(world.backing)
    world.clock.move(ms=5_000)
    changing.change(SCOPE, memory_id, ChangeWish(memory="city: Paris."), conditions=Preconditions())
    world.clock.move(ms=-5_000)
    world.add("city: Madrid.")
    told = history.page(SCOPE, HistoryWish(memory_id, 10))["data"]
    assert [state["memory"] for state in told] == ["city: Madrid.", "city: Paris.", "city: Berlin."]
    world.add("Forget: city: Madrid.")
    told = history.page(SCOPE, HistoryWish(memory_id, 10))["data"]
    assert [state["event"] for state in told] == ["DELETE", "UPDATE", "UPDATE", "ADD"]
