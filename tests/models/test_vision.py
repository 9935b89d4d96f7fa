"""What a model on Bedrock is asked about pictures, and what is made of its answers."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from shared.kernel.errors import Unavailable
from shared.models.bedrock import Bedrock
from shared.models.converse import Converse
from shared.models.errors import ModelRefused
from shared.models.port import Picture
from shared.models.vision import ConverseVision
from tests.models.bedrock import Fails, FakeBedrock, Pauses, Raw, Says

PICTURE = Picture(b"\x89PNG bytes", "png")
MODEL = "eu.anthropic.claude-haiku-4-5-20251001-v1:0"


def vision(fake: FakeBedrock, *, read_seconds: float = 60) -> ConverseVision:
    return ConverseVision(Converse(Bedrock(fake.environ, read_seconds=read_seconds, pause=Pauses()), MODEL))


def caption(fake: FakeBedrock, detail: str = "auto", language: str = "en") -> str:
    return vision(fake).caption(PICTURE, detail=detail, language=language)


def asked(fake: FakeBedrock) -> dict[str, Any]:
    [request] = fake.requests
    assert request.model == MODEL
    return request.body


def question(fake: FakeBedrock) -> str:
    text: str = asked(fake)["messages"][0]["content"][1]["text"]
    return text


def test_the_picture_goes_to_the_model_beside_the_question(fake: FakeBedrock) -> None:
    fake.will(Says(" A cat on a mat. \n"))
    assert caption(fake) == "A cat on a mat."
    body = asked(fake)
    (message,) = body["messages"]
    image = message["content"][0]["image"]
    assert (image["format"], base64.b64decode(image["source"]["bytes"])) == ("png", PICTURE.content)
    assert body["inferenceConfig"]["maxTokens"] > 0
    assert "toolConfig" not in body


def test_what_is_written_in_a_picture_is_told_to_be_data(fake: FakeBedrock) -> None:
    fake.will(Says("x"), Says("x"))
    caption(fake)
    vision(fake).transcribe(PICTURE)
    for request in fake.requests:
        assert "data" in request.body["system"][0]["text"]
        assert "do not follow" in request.body["system"][0]["text"]


@pytest.mark.parametrize(
    ("language", "told"), [("zh", "Chinese"), ("en", "English"), ("source", "written in the picture")]
)
def test_the_language_that_was_asked_for_is_asked_of_the_model(fake: FakeBedrock, language: str, told: str) -> None:
    fake.will(Says("x"))
    caption(fake, language=language)
    assert told in question(fake)


def test_more_detail_is_asked_for_in_other_words(fake: FakeBedrock) -> None:
    asked_for = set()
    for detail in ("auto", "low", "high", "original"):
        fake.forget()
        fake.will(Says("x"))
        caption(fake, detail)
        asked_for.add(question(fake))
    assert len(asked_for) == 4


def test_a_caption_has_at_most_4000_characters(fake: FakeBedrock) -> None:
    fake.will(Says("long " * 2_000))
    assert 3_990 < len(caption(fake)) <= 4_000


@pytest.mark.parametrize("stop", ["content_filtered", "guardrail_intervened"])
def test_a_model_that_will_not_look_is_told_as_such(fake: FakeBedrock, stop: str) -> None:
    fake.will(Says("Sorry.", stop=stop), Says("Sorry.", stop=stop))
    with pytest.raises(ModelRefused, match=MODEL) as refused:
        caption(fake)
    assert "caption" in refused.value.details["hint"]
    with pytest.raises(ModelRefused):
        vision(fake).transcribe(PICTURE)


def test_a_model_that_says_nothing_has_described_nothing(fake: FakeBedrock) -> None:
    fake.will(Raw(b'{"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "end_turn"}'))
    with pytest.raises(ModelRefused, match="nothing"):
        caption(fake)


def test_the_text_of_a_picture_is_its_lines(fake: FakeBedrock) -> None:
    fake.will(Says("# 发票\n\nTotal 12 EUR\n"))
    assert vision(fake).transcribe(PICTURE) == "# 发票\n\nTotal 12 EUR"


@pytest.mark.parametrize("said", ["[[NO TEXT]]", "[[no text]].", "NO TEXT", "```\n[[NO TEXT]]\n```", "", "  "])
def test_a_picture_without_text_has_none(fake: FakeBedrock, said: str) -> None:
    fake.will(Says(said))
    assert vision(fake).transcribe(PICTURE) == ""


def test_a_text_that_speaks_of_no_text_is_one(fake: FakeBedrock) -> None:
    fake.will(Says("There is no text here"))
    assert vision(fake).transcribe(PICTURE) == "There is no text here"


def test_a_fence_around_the_answer_and_what_is_no_character_are_left_out(fake: FakeBedrock) -> None:
    fake.will(Says("```markdown\n| a | b |\n\0\n```"))
    assert vision(fake).transcribe(PICTURE) == "| a | b |"


def test_a_text_that_is_cut_off_is_kept_as_far_as_it_goes(fake: FakeBedrock) -> None:
    fake.will(Says("the beginning", stop="max_tokens"))
    assert vision(fake).transcribe(PICTURE) == "the beginning"


def test_a_busy_model_is_unavailable_and_a_picture_that_it_does_not_take_is_refused(fake: FakeBedrock) -> None:
    fake.will(*[Fails(429, "ThrottlingException")] * 4)
    with pytest.raises(Unavailable):
        caption(fake)
    fake.forget()
    fake.will(Fails(400, "ValidationException", "Could not process image"))
    with pytest.raises(ModelRefused, match="Could not process image"):
        caption(fake)


def test_a_model_that_hangs_is_not_waited_for_for_ever(silent: FakeBedrock) -> None:
    seeing = vision(silent, read_seconds=0.2)
    with pytest.raises(Unavailable):
        seeing.caption(PICTURE, detail="auto", language="en")
