"""Commands that work on a deployed stack say what is wrong with a shell's AWS set-up, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from functions.memories import redrive, reindex
from functions.platform import first_key, restore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TABLE = ("--table", "no-table-of-mine")
COMMANDS = [
    (first_key.main, TABLE),
    (redrive.main, (*TABLE, "--queue", "q", "--documents", "d", "--dead", "l")),
    (reindex.main, (*TABLE, "--bucket", "b", "--endpoint", "https://search.invalid", "--embedder", "local")),
    (restore.main, (*TABLE, "--bucket", "b", "--old", "old", "--at", "2026-11-30T10:00:00Z")),
]


@pytest.mark.parametrize(("main", "arguments"), COMMANDS)
def test_a_profile_that_is_not_there_is_named_with_what_to_do(
    main: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "of-another-job")
    assert main(arguments) == 1
    assert "(of-another-job) could not be found. Set AWS_PROFILE" in capsys.readouterr().err


@pytest.mark.parametrize(("main", "arguments"), [COMMANDS[0], COMMANDS[1], COMMANDS[3]])
def test_a_region_that_is_missing_is_asked_for(
    main: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert main(arguments) == 1
    assert "--region" in capsys.readouterr().err


@pytest.mark.parametrize(("main", "arguments"), [COMMANDS[0], COMMANDS[1], COMMANDS[3]])
def test_credentials_that_are_missing_are_asked_for(
    main: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    assert main(arguments) == 1
    assert "There are no AWS credentials" in capsys.readouterr().err
