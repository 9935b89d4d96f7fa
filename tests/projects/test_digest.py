from __future__ import annotations

from typing import TYPE_CHECKING

from tests.projects.world import ROOT, artifact_path, turn_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.clients.events import Answer, Client
    from tests.projects.world import World

DIGEST = f"{ROOT}/project.md"


def text(client: Client) -> str:
    return client.get(DIGEST).content.decode()


def unchanged(client: Client, etag: str) -> bool:
    return client.get(DIGEST, headers={"If-None-Match": etag}).status == 304


def test_an_empty_project_says_so(client: Client) -> None:
    answer = client.get(DIGEST)
    assert answer.content == b"# Project memory: default\n\nNo tasks yet.\n"
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert unchanged(client, answer.etag)


def test_an_etag_with_digits_that_are_no_number_holds_no_more(client: Client) -> None:
    state = client.get(DIGEST).etag.partition("-")[0]
    assert not unchanged(client, f'{state}-²"')


def test_sections_come_newest_first_with_the_newest_summary(client: Client) -> None:
    client.put(turn_path(task="a", turn=1), json_body={"summary_md": "# Début\n\nfirst"})
    client.put(turn_path(task="b", turn=4), json_body={"summary_md": "bee"})
    client.put(turn_path(task="a", turn=2), json_body={"summary_md": "second"})
    client.put(turn_path(task="a", turn=9), json_body={})
    shown = text(client)
    assert shown.index("\n## a\n") < shown.index("\n## b\n")
    section = shown[shown.index("## a\n") : shown.index("## b\n")]
    assert section.startswith("## a\n\nLatest turn 9, 3 turns, updated 2026-")
    assert section.endswith("Z\n\nsecond\n\n")
    assert "first" not in shown


def test_headings_of_a_summary_stay_inside_its_section(client: Client) -> None:
    client.put(turn_path(), json_body={"summary_md": "# One\n\nUnder\n---\n\n```\n# code\n"})
    shown = text(client)
    assert "\n### One\n" in shown
    assert "\n#### Under\n" in shown
    assert "\n# code\n" in shown


def test_a_summary_taken_back_shows_the_one_before(client: Client) -> None:
    for turn in (1, 2, 3):
        client.put(turn_path(turn=turn), json_body={"summary_md": f"summary {turn}"})
    client.put(turn_path(turn=3), json_body={})
    assert "summary 2" in text(client)
    client.put(turn_path(turn=2), json_body={})
    client.put(turn_path(turn=1), json_body={})
    assert "summary" not in text(client)
    client.put(turn_path(turn=2), json_body={"summary_md": "again"})
    assert "again" in text(client)


def test_its_etag_changes_with_every_write_and_only_then(client: Client) -> None:
    client.put(turn_path(), json_body={"summary_md": "one"})
    etag = client.get(DIGEST).etag
    assert unchanged(client, etag)
    assert unchanged(client, f'"other", {etag}')
    writes: list[Callable[[], Answer]] = [
        lambda: client.put(turn_path(turn=2), json_body={}),
        lambda: client.put(turn_path(turn=2), json_body={}),
        lambda: client.put(artifact_path(), body=b"x"),
        lambda: client.patch(turn_path(), json_body={"meta": {"a": 1}}),
        lambda: client.put(turn_path(task="t2"), json_body={}),
        lambda: client.delete(f"{ROOT}/tasks/t2"),
    ]
    for write in writes:
        assert write().status in (200, 204)
        assert not unchanged(client, etag)
        etag = client.get(DIGEST).etag
        assert unchanged(client, etag)


def test_its_etag_ends_when_a_task_reaches_its_end(client: Client, world: World) -> None:
    client.put(turn_path(task="old"), json_body={"summary_md": "old"})
    world.clock.move(days=20)
    client.put(turn_path(task="new"), json_body={"summary_md": "new"})
    etag = client.get(DIGEST).etag
    world.clock.move(days=9)
    assert unchanged(client, etag)
    world.clock.move(days=2)
    assert not unchanged(client, etag)
    assert "old" not in text(client)


def test_a_write_by_a_machine_whose_clock_is_behind_still_changes_the_etag(client: Client, world: World) -> None:
    for n in range(3):
        client.put(turn_path(task=f"t{n}"), json_body={"summary_md": "x"})
    client.put(turn_path(task="late"), json_body={"summary_md": "x"})
    etag = client.get(DIGEST).etag
    world.clock.move(ms=-5_000)
    client.put(turn_path(task="late"), json_body={"summary_md": "y"})
    world.clock.move(ms=5_000)
    assert not unchanged(client, etag)


def test_the_newest_tasks_that_fit_are_shown_and_the_rest_is_counted(client: Client) -> None:
    for n in range(6):
        client.put(turn_path(task=f"t{n}"), json_body={"summary_md": f"{n}" * (1 << 20)})
    answer = client.get(DIGEST)
    assert len(answer.content) <= 4 << 20
    shown = [line for line in answer.content.decode().splitlines() if line.startswith("## ")]
    assert shown == ["## t5", "## t4", "## t3"]
    assert answer.content.decode().endswith(
        "3 more tasks are not shown; list them with GET /sandbox/memory/v1/tasks.\n"
    )


def test_hundreds_of_tasks_are_all_shown(client: Client) -> None:
    for n in range(230):
        client.put(turn_path(task=f"t{n}"), json_body={"summary_md": f"summary of {n}."})
    shown = text(client)
    assert all(f"summary of {n}." in shown for n in range(230))
    assert "not shown" not in shown
