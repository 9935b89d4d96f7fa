"""Bedrock that throttles, fails, hangs, or answers garbage: asked again a little, and never taken for an answer."""

import json
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from shared.kernel.errors import Unavailable
from shared.models import cohere, titan
from shared.models.bedrock import ATTEMPTS, LONGEST_PAUSE, Bedrock
from shared.models.cohere import CohereEmbedder
from shared.models.errors import ModelRefused
from shared.models.titan import TitanEmbedder
from tests.models.bedrock import Closes, Embeds, Fails, FakeBedrock, Pauses, Raw

BUSY = [
    Fails(429, "ThrottlingException"),
    Fails(503, "ServiceUnavailableException"),
    Fails(500, "InternalServerException"),
    Fails(408, "ModelTimeoutException"),
    Fails(424, "ModelErrorException"),
    Fails(429, "ModelNotReadyException"),
    Fails(400, "ServiceQuotaExceededException"),
    Fails(502, "Unheard"),
    Raw(b"<html>bad gateway</html>", 502),
    Closes(),
    Raw(b'{"embedding": [0.1, 0', 200),
    Raw(b'{"embedding": [0.1', 200, length=5_000),
    Raw(b"\xff\xfe not JSON", 200),
    Raw(b"", 200),
]


@cache
def shared(**environ: str) -> Bedrock:
    """Return one whose client is built once."""
    return Bedrock(environ, read_seconds=60)


@pytest.fixture(autouse=True)
def a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give calls the time that a busy machine takes for what a test expects of them."""
    monkeypatch.setattr(titan, "SECONDS", 90)
    monkeypatch.setattr(cohere, "SECONDS", 90)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def bedrock(fake: FakeBedrock, pauses: Pauses) -> Bedrock:
    built = shared(**fake.environ)
    built._pause = pauses
    return built


@pytest.mark.parametrize("failure", BUSY, ids=str)
def test_what_passes_is_asked_again_after_a_pause(
    fake: FakeBedrock, bedrock: Bedrock, pauses: Pauses, failure: Any
) -> None:
    fake.will(failure)
    assert len(TitanEmbedder(bedrock).of_query("hello")) == 512
    assert len(fake.requests) == 2
    assert len(pauses.seconds) == 1


@pytest.mark.parametrize("failure", BUSY, ids=str)
def test_what_does_not_pass_is_unavailable_after_four_attempts(
    fake: FakeBedrock, bedrock: Bedrock, pauses: Pauses, failure: Any
) -> None:
    fake.will(*[failure] * 10)
    with pytest.raises(Unavailable) as refused:
        TitanEmbedder(bedrock).of_query("hello")
    assert not isinstance(refused.value, ModelRefused)
    assert "amazon.titan" in refused.value.message
    assert len(fake.requests) == ATTEMPTS
    assert pauses.seconds == sorted(pauses.seconds)
    assert max(pauses.seconds) <= LONGEST_PAUSE


def test_no_attempt_begins_when_the_time_is_nearly_over(
    fake: FakeBedrock, pauses: Pauses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.models.bedrock.time", SimpleNamespace(monotonic=lambda: 0.0))
    fake.will(*[Fails(429, "ThrottlingException")] * 10)
    bedrock = Bedrock(fake.environ, read_seconds=20, pause=pauses)
    for seconds, attempts in ((10.1, 1), (9.9, 0)):
        fake.requests.clear()
        with pytest.raises(Unavailable):
            bedrock.invoke("amazon.titan-embed-text-v2:0", {"inputText": "a", "dimensions": 512}, seconds)
        assert len(fake.requests) == attempts
    assert pauses.seconds == []


def test_an_answer_that_never_comes_is_unavailable(silent: FakeBedrock, pauses: Pauses) -> None:
    with pytest.raises(Unavailable, match="reached"):
        TitanEmbedder(Bedrock(silent.environ, read_seconds=0.05, pause=pauses)).of_query("hello")
    assert silent.until(ATTEMPTS) == ATTEMPTS


def test_nobody_at_the_address_is_unavailable(fake: FakeBedrock, pauses: Pauses) -> None:
    environ = fake.environ | {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://127.0.0.1:1"}
    with pytest.raises(Unavailable, match="reached"):
        TitanEmbedder(Bedrock(environ, read_seconds=1, pause=pauses)).of_query("hello")


@pytest.mark.parametrize(
    ("failure", "remedy"),
    [
        (Fails(403, "AccessDeniedException"), "enable access"),
        (Fails(404, "ResourceNotFoundException"), "inference profile"),
        (Fails(400, "ValidationException"), "offers it on demand"),
        (Fails(403, "UnrecognizedClientException"), "credentials"),
        (Fails(403, "ExpiredTokenException"), "credentials"),
    ],
    ids=str,
)
def test_a_refusal_is_not_asked_again_and_says_what_to_do(
    fake: FakeBedrock, bedrock: Bedrock, failure: Fails, remedy: str
) -> None:
    fake.will(failure)
    with pytest.raises(ModelRefused, match=failure.code) as refused:
        TitanEmbedder(bedrock).of_query("hello")
    assert remedy in refused.value.details["hint"]
    assert refused.value.retry_after == 60
    assert len(fake.requests) == 1


def test_a_refusal_tells_what_was_said_but_no_account_and_no_role(fake: FakeBedrock, bedrock: Bedrock) -> None:
    role = "arn:aws:sts::123456789012:assumed-role/lodestore-worker/x"
    fake.will(
        Fails(403, "AccessDeniedException", f"User: {role} of 123456789012 may not bedrock:InvokeModel on {role}")
    )
    with pytest.raises(ModelRefused, match="may not bedrock:InvokeModel on …") as refused:
        TitanEmbedder(bedrock).of_query("hello")
    assert "1234" not in str(refused.value) + str(refused.value.details)


@pytest.mark.parametrize("missing", ["credentials", "region"])
def test_missing_settings_are_a_refusal_that_says_so(
    fake: FakeBedrock, pauses: Pauses, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    environ = fake.environ if missing == "credentials" else {}
    with pytest.raises(ModelRefused, match=missing):
        TitanEmbedder(Bedrock(environ, read_seconds=1, pause=pauses)).of_query("hello")


@pytest.mark.parametrize(
    "vector",
    [
        [0.5] * 1024,
        [0.5] * 511,
        [],
        None,
        ["a"] * 512,
        [0.0] * 512,
        [float("nan")] * 512,
        [float("inf")] * 512,
        "vector",
    ],
    ids=lambda vector: str(vector)[:12],
)
def test_a_vector_of_another_dimension_or_without_direction_is_refused(
    fake: FakeBedrock, bedrock: Bedrock, vector: Any
) -> None:
    fake.will(Raw(json.dumps({"embedding": vector}).encode()))
    with pytest.raises(ModelRefused, match="titan-embed-text-v2-512"):
        TitanEmbedder(bedrock).of_query("hello")


@pytest.mark.parametrize("answer", [[], {}, None, {"embedding": {}}, "text", 5])
def test_an_answer_of_another_form_is_refused(fake: FakeBedrock, bedrock: Bedrock, answer: Any) -> None:
    for embedder in (TitanEmbedder(bedrock), CohereEmbedder(bedrock)):
        fake.will(Raw(json.dumps(answer).encode()))
        with pytest.raises(ModelRefused):
            embedder.of_query("hello")


def test_fewer_vectors_than_texts_are_refused(fake: FakeBedrock, bedrock: Bedrock) -> None:
    fake.will(Embeds([[0.1] * 1024]))
    with pytest.raises(ModelRefused, match="each of 2 texts"):
        CohereEmbedder(bedrock).of_texts(["a", "b"])


def test_titan_is_asked_one_text_a_call_and_cohere_96(fake: FakeBedrock, bedrock: Bedrock) -> None:
    texts = [f"text {n}" for n in range(200)]
    TitanEmbedder(bedrock).of_texts(texts[:20])
    assert sorted(request.body["inputText"] for request in fake.requests) == sorted(texts[:20])
    fake.forget()
    CohereEmbedder(bedrock).of_texts(texts)
    assert sorted(len(request.body["texts"]) for request in fake.requests) == [8, 96, 96]


def test_cohere_is_told_what_is_a_query(fake: FakeBedrock, bedrock: Bedrock) -> None:
    CohereEmbedder(bedrock).of_query("where?")
    CohereEmbedder(bedrock).of_texts(["here."])
    assert [request.body["input_type"] for request in fake.requests] == ["search_query", "search_document"]


def test_one_failing_text_of_many_fails_them_all(fake: FakeBedrock, bedrock: Bedrock) -> None:
    fake.will(Embeds([[1.0] * 512]), Fails(403, "AccessDeniedException"))
    with pytest.raises(ModelRefused):
        TitanEmbedder(bedrock).of_texts(["a", "b", "c"])
