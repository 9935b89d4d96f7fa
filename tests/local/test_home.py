"""The folder of a local run is one server's at a time, and its secrets are its owner's."""

from __future__ import annotations

import io
import json
import logging
import sys
from typing import TYPE_CHECKING

import pytest

from infra.local import home as home_module
from infra.local.home import Home, HomeInUse, JsonLines

if TYPE_CHECKING:
    from pathlib import Path


def test_a_second_holder_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    first = Home(tmp_path)
    with pytest.raises(HomeInUse, match="LODESTORE_HOME"):
        Home(tmp_path)
    first.release()
    Home(tmp_path).release()


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
