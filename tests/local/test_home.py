"""The folder of a local run is one server's at a time, and its secrets are its owner's."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from typing import TYPE_CHECKING

import pytest

from infra.local import __main__ as local_run
from infra.local import home as home_module
from infra.local import reindex
from infra.local.home import Home, HomeInUse, HomeUnusable, JsonLines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def test_a_second_holder_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    first = Home(tmp_path)
    with pytest.raises(HomeInUse, match="LODESTORE_HOME"):
        Home(tmp_path)
    first.release()
    Home(tmp_path).release()


@pytest.mark.parametrize("main", [local_run.main, reindex.main])
@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_home_that_can_not_be_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, main: Callable[[Mapping[str, str]], int]
) -> None:
    (tmp_path / "file").touch()
    assert main({"LODESTORE_HOME": str(tmp_path / place), "PORT": "0"}) > 0
    told = capsys.readouterr().err
    assert f"{tmp_path / place} can't be used: " in told
    assert "set LODESTORE_HOME" in told


@pytest.mark.parametrize("name", ["credentials.json", "server.log", "state", "search"])
def test_what_another_users_run_has_left_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / name).touch()
    monkeypatch.setattr(os, "access", lambda *_: False)  # as for who is not root
    with pytest.raises(HomeUnusable, match=f"{name} can't be used: Permission denied.*LODESTORE_HOME"):
        Home(tmp_path)


def test_credentials_are_written_whole_and_for_the_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "deep" / "er")
    assert home.folder.stat().st_mode & 0o777 == 0o700
    assert home.read_credentials() == {}
    home.credentials.write_text("{")
    assert home.read_credentials() == {}
    home.credentials.write_text("[]")
    assert home.read_credentials() == {}
    for _ in range(2):
        home.write_credentials({"api_key": "k"})
        assert home.credentials.stat().st_mode & 0o777 == 0o600
        assert home.read_credentials() == {"api_key": "k"}
    home.release()


def test_the_log_is_json_and_begins_anew_when_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_module, "LOG_BYTES", 10)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    home = Home(tmp_path)
    home.log.write_text("x" * 11)
    console = home.take_over_output()
    try:
        print("a function's line")
        console.write("to the user")
        assert home.log.read_text() == "a function's line\n"
        assert (tmp_path / "server.log.1").read_text() == "x" * 11
    finally:
        sys.stdout.close()
        root = logging.getLogger("infra.local")
        for handler in list(root.handlers):
            root.removeHandler(handler)
    home.release()


def test_a_record_is_one_line_of_json() -> None:
    try:
        int("inner")
    except ValueError:
        record = logging.LogRecord("n", logging.ERROR, __file__, 1, "it %s", ("broke",), sys.exc_info())
    record.function = "Sweeper"
    line = json.loads(JsonLines().format(record))
    assert (line["level"], line["message"], line["function"]) == ("ERROR", "it broke", "Sweeper")
    assert "ValueError: invalid literal" in line["exception"]
