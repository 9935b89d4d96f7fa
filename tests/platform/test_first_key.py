from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from functions.platform.first_key import main
from tests.clients.events import Client
from tests.platform.world import KEYS, World, made

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_the_first_key_is_an_operators_and_its_secret_is_all_of_the_output(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, ["--table", world.cloud.table_name])
    assert status == 0
    secret = out.strip()
    assert secret.startswith("lsk_")
    assert secret not in err
    operator = Client(world.anyone().handler, secret)
    assert made(operator, role="tenant_admin", tenant_id="acme").status == 200
    assert operator.get(KEYS).json["data"][0]["name"] == "first operator"


def test_a_second_first_key_needs_force(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--table", world.cloud.table_name]
    run(capsys, arguments)
    status, out, err = run(capsys, arguments)
    assert (status, out) == (1, "")
    assert "--force" in err
    assert run(capsys, [*arguments, "--force"])[0] == 0


def test_a_table_that_is_not_there_is_named(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, ["--table", "no-such-table", "--region", "eu-central-1"])
    assert (status, out) == (1, "")
    assert err == "first_key: There is no table no-such-table in eu-central-1. The stack's output TableName names it.\n"


def test_without_credentials_it_says_so(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    status, _, err = run(capsys, ["--table", world.cloud.table_name])
    assert status == 1
    assert "no AWS credentials" in err


def test_without_a_region_it_says_so(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    status, _, err = run(capsys, ["--table", world.cloud.table_name])
    assert status == 1
    assert "--region" in err


def test_without_a_table_it_says_how_to_name_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TABLE_NAME", raising=False)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "--table" in capsys.readouterr().err
