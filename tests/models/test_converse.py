"""How a language model on Bedrock is asked, and what is read of its answers."""

import time

import pytest

from shared.kernel.errors import Unavailable
from shared.models.bedrock import Bedrock
from shared.models.converse import Budget, Converse, Form, Reply, Said, Usage
from tests.models.bedrock import Closes, Fails, FakeBedrock, Fills, Pauses, Raw, Says

FORM = Form("note", "Write a note.", {"type": "object", "properties": {"text": {"type": "string"}}})


def asked(
    fake: FakeBedrock, model: str = "eu.anthropic.claude-haiku-4-5-20251001-v1:0", *, seconds: float = 60
) -> Reply:
    converse = Converse(Bedrock(fake.environ, read_seconds=60, pause=Pauses()), model)
    return converse.ask("Be brief.", [Said("user", "Hello")], FORM, budget=Budget(300, time.monotonic() + seconds))


def test_a_model_that_takes_tools_is_made_to_answer_through_one(fake: FakeBedrock) -> None:
    fake.will(Fills({"text": "好"}))
    assert asked(fake) == Reply('{"text": "好"}', cut=False, usage=Usage(1, 100, 10))
    [request] = fake.requests
    assert request.model == "eu.anthropic.claude-haiku-4-5-20251001-v1:0"
    assert request.body["toolConfig"]["toolChoice"] == {"tool": {"name": "note"}}
    assert request.body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"] == FORM.schema


def test_another_model_is_asked_in_words(fake: FakeBedrock) -> None:
    fake.will(Says("Sure!"))
    assert asked(fake, "meta.llama3-1-8b-instruct-v1:0").text == "Sure!"
    assert "toolConfig" not in fake.requests[0].body


def test_the_answer_is_as_long_as_it_may_be_and_as_sober_as_it_can(fake: FakeBedrock) -> None:
    asked(fake)
    assert fake.requests[0].body["inferenceConfig"] == {"maxTokens": 300, "temperature": 0}
    assert fake.requests[0].body["system"] == [{"text": "Be brief."}]


def test_a_model_that_answers_in_words_all_the_same_is_heard(fake: FakeBedrock) -> None:
    fake.will(Says("I can't."))
    assert asked(fake).text == "I can't."


def test_an_answer_that_ran_out_of_tokens_is_known_as_cut(fake: FakeBedrock) -> None:
    fake.will(Says('{"text": "half', stop="max_tokens"))
    assert asked(fake).cut


def test_an_answer_without_content_is_an_empty_one(fake: FakeBedrock) -> None:
    fake.will(Raw(b'{"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "content_filtered"}'))
    assert asked(fake) == Reply("", cut=False, usage=Usage(1, 0, 0))


def test_nothing_is_asked_when_the_time_is_over(fake: FakeBedrock) -> None:
    with pytest.raises(Unavailable, match="too little"):
        asked(fake, seconds=-1)
    assert fake.requests == []


@pytest.mark.parametrize(
    "failure",
    [Fails(429, "ThrottlingException"), Closes(), Raw(b"{garbage"), Raw(b"", 503), Raw(b"{", 200, length=99)],
    ids=str,
)
def test_a_busy_or_broken_service_is_unavailable(fake: FakeBedrock, failure: Fails | Closes | Raw) -> None:
    fake.will(*[failure] * 10)
    with pytest.raises(Unavailable):
        asked(fake)
    fake.forget()
    fake.will(failure, Says("now"))
    assert asked(fake).text == "now"
