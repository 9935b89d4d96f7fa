"""Models of Bedrock are asked for real, with the user's own AWS set-up, while everything else is emulated."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.httpsession import URLLib3Session

from infra.local.settings import BadSetting, settings_of
from shared.kernel.errors import Unavailable
from shared.models.bedrock import Bedrock
from tests.emulator.cloud import emulated_cloud


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A shell that says nothing of AWS."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_DEFAULT_REGION",
        "AWS_PROFILE",
    ):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("setting", ["EMBEDDER", "EXTRACTOR", "VISION"])
def test_models_of_bedrock_are_asked_with_the_users_own_credentials(shell: pytest.MonkeyPatch, setting: str) -> None:
    own = {"AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "t"}
    for name, value in own.items():
        shell.setenv(name, value)
    shell.setenv("AWS_DEFAULT_REGION", "eu-west-3")
    asked = {setting: "bedrock:some.model"}
    assert settings_of(asked).functions.items() >= {**own, "BEDROCK_REGION": "eu-west-3"}.items()
    assert settings_of(asked | {"BEDROCK_REGION": "eu-west-1"}).functions["BEDROCK_REGION"] == "eu-west-1"
    assert not settings_of({setting: "local"}).functions.keys() & own.keys()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "EXTRACTOR is bedrock:m.1, and there are no AWS credentials; see `aws configure`"),
        ({"AWS_PROFILE": "of-another-job"}, "EXTRACTOR is bedrock:m.1: .*Set AWS_PROFILE"),
        ({"AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "secret"}, "no region is named; set BEDROCK_REGION"),
    ],
)
def test_models_of_bedrock_that_can_not_be_asked_are_refused(
    shell: pytest.MonkeyPatch, given: dict[str, str], told: str
) -> None:
    for name, value in given.items():
        shell.setenv(name, value)
    with pytest.raises(BadSetting, match=told):
        settings_of({"EXTRACTOR": "bedrock:m.1"})


def test_the_emulated_account_answers_for_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []

    def send(_: Any, request: Any) -> None:
        sent.append(request)
        raise EndpointConnectionError(endpoint_url=request.url)

    monkeypatch.setattr(URLLib3Session, "send", send)
    environ = {"AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "secret", "BEDROCK_REGION": "eu-west-3"}
    with emulated_cloud(), pytest.raises(Unavailable):
        Bedrock(environ, read_seconds=60, pause=lambda _: None).invoke("some.model", {}, 60)
    assert sent[0].url == "https://bedrock-runtime.eu-west-3.amazonaws.com/model/some.model/invoke"
    assert "Credential=own/" in sent[0].headers["Authorization"].decode()
