from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.search.embedded.index import EmbeddedIndex
from tests.search.nodes import opensearch_index
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
    endpoint = request.getfixturevalue("opensearch_endpoint")
    with opensearch_index(endpoint, dimension=DIMENSION, name="test") as made:
        yield made
