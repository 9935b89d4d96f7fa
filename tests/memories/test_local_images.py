"""Images in the local run, as a user has it, with a model that sees at another address."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.local.running import Running
from tests.memories.attached import image
from tests.memories.front import ADD, body, message
from tests.memories.test_local_run import call, found
from tests.models.bedrock import FakeBedrock, Says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODEL = "amazon.nova-lite-v1:0"


@pytest.fixture
def model() -> Iterator[FakeBedrock]:
    fake = FakeBedrock()
    yield fake
    fake.stop()


@pytest.fixture
def server(tmp_path: Path, model: FakeBedrock) -> Iterator[Running]:
    keys = {"AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "test"}
    address = {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": model.environ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"]}
    running = Running(tmp_path / "home", VISION=f"bedrock:{MODEL}", **address, **keys)
    yield running
    running.end(signal.SIGTERM)


def added(server: Running, *parts: Any) -> Any:
    """Add an image, and return the status of it once it has ended."""
    asked = body(message(list(parts)), content_type="work", wait=20, memory_output_language="en")
    answer = call(server, "POST", ADD, asked)
    assert answer.status_code == 200, answer.text
    return call(server, "GET", f"{ADD}/status/{answer.json()['data']['task_id']}").json()


def test_an_image_without_a_caption_is_described_and_found(server: Running, model: FakeBedrock) -> None:
    model.will(Says("A red bicycle leans on a church."))
    (seen,) = added(server, image(caption=None, detail="high"))["images"]
    assert (seen["status"], seen["error"], seen["revision"]) == ("success", None, 1)
    assert [(request.model, request.key) for request in model.requests] == [(MODEL, "own")]
    assert "In detail" in str(model.requests[0].body)
    for mode in ("summary", "facts", "raw"):
        assert found(server, "ann", "bicycle", mode) == ["A red bicycle leans on a church."]


def test_an_image_that_the_model_will_not_describe_fails_alone(server: Running, model: FakeBedrock) -> None:
    model.will(Says("Sorry.", stop="content_filtered"))
    told = added(server, {"type": "text", "text": "I moved to Rome."}, image(caption=None))
    (refused,) = told["images"]
    assert (told["status"], refused["status"], refused["error"]["code"]) == ("success", "failed", "model_refused")
    assert found(server, "ann", "Rome") == ["I moved to Rome."]


def test_an_image_with_a_caption_can_be_waited_for_in_the_request(server: Running, model: FakeBedrock) -> None:
    asked = body(message([image(caption="A blue boat.")]), content_type="work", async_mode=False)
    answer = call(server, "POST", ADD, asked)
    assert (answer.status_code, answer.json()["data"]["status"]) == (200, "completed")
    assert [event["data"]["memory"] for event in answer.json()["data"]["data"]] == ["A blue boat."]
    assert found(server, "ann", "boat") == ["A blue boat."]
    assert model.requests == []
