from collections.abc import Iterator

import pytest

from shared.models.use import UseEmbedder
from tests.models.bedrock import FakeBedrock, Hangs


@pytest.fixture(scope="session")
def bedrock_server() -> Iterator[FakeBedrock]:
    UseEmbedder().of_query("loaded before anybody waits for it")
    fake = FakeBedrock()
    yield fake
    fake.stop()


@pytest.fixture
def fake(bedrock_server: FakeBedrock, monkeypatch: pytest.MonkeyPatch) -> FakeBedrock:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    bedrock_server.forget()
    return bedrock_server


@pytest.fixture
def silent(fake: FakeBedrock) -> Iterator[FakeBedrock]:
    """One that never answers, of the test's own: requests that nobody waits for may come after the test."""
    made = FakeBedrock()
    made.will(*[Hangs()] * 20)
    yield made
    made.stop()
