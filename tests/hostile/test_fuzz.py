"""Whatever is sent, no answer is a 5xx, every error has its surface's shape, and what is refused changes nothing."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.hostile.courses import COURSE, Finding, ground, run_courses
from tests.hostile.document import operations
from tests.hostile.drafts import drafts_of, plain_drafts
from tests.hostile.fuzz import rows_of
from tests.hostile.minimising import FOUND, drafts_in, kept, minimised
from tests.proving import table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.hostile.courses import Ground

SEED = int(os.environ.get("FUZZ_SEED", "20261130"))
REQUESTS = 5_000


def test_thousands_of_hostile_requests_are_answered_as_they_should(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    told = run_courses(tmp_path, SEED, range(REQUESTS // COURSE))
    with capsys.disabled():
        print(table("Hostile requests, in process", rows_of(told, SEED, time.monotonic() - started)))
    found = [f"{f.seed}: {f.kind} {f.faults} {f.drafts[-1]}"[:2_000] for f in told.findings]
    assert not found, "\n".join(found)
    assert operations().keys() <= told.operations.keys() | {"openapi_json"}


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("index")) as made:
        yield made


def test_what_was_found_once_is_not_found_again(again: Ground) -> None:
    for path in sorted(FOUND.glob("*.json")):
        found = again.replay(path.stem, drafts_in(path))
        assert not found, (path.name, found[-1].faults)


def test_a_seed_says_what_is_sent() -> None:
    assert drafts_of("1/2", 50) == drafts_of("1/2", 50) != drafts_of("1/3", 50)


def test_a_finding_is_made_small_and_kept(again: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = plain_drafts()
    drafts = [*drafts_of("5/5", 4), plain["put_turn"][2], *drafts_of("5/6", 3), plain["read_digest"][0]]

    def wrong(request: object, answer: object, _: object, *, served: bool) -> list[str]:
        """Find fault with every digest in which there is the new task."""
        return ["it is there"] if served and b"## new-" in vars(answer)["body"] else []

    monkeypatch.setattr("tests.hostile.courses.faults_of", wrong)
    found = again.replay("made/up", drafts)
    small = minimised(again, found[-1])
    assert len(small.drafts) == 2
    assert small.drafts[0] == plain["put_turn"][2]
    assert len(small.drafts[1].headers) <= 2  # the key, and the project
    assert drafts_in(kept(small, tmp_path)) == small.drafts
    assert Finding("", small.drafts, ["it is there"]).kind == small.kind
