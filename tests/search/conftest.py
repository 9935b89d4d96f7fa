from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

import pytest

from shared.search.embedded.index import EmbeddedIndex
from tests.search.passages import DIMENSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shared.search.port import SearchIndex


@pytest.fixture(params=["embedded", "opensearch"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SearchIndex]:
    """Each promise of the port is tested on both indexes; each test has an empty one."""
    if request.param == "embedded":
        made = EmbeddedIndex(tmp_path / "search", "test", DIMENSION)
        made.ensure()
        yield made
        made.close()
        return
    if importlib.util.find_spec("tests.search.nodes") is None:
        pytest.skip("no OpenSearch node: tests/search/nodes.py is not there")
    nodes = importlib.import_module("tests.search.nodes")
    with nodes.opensearch_index(dimension=DIMENSION, name="test") as made:
        yield made
