import os
from collections.abc import Iterator

import pytest

from tests.node import search_node, shared_node


@pytest.fixture(scope="session")
def opensearch_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real search node, one for the whole session, whatever processes it has."""
    together = "PYTEST_XDIST_WORKER" in os.environ
    with shared_node(tmp_path_factory.getbasetemp().parent) if together else search_node() as endpoint:
        yield endpoint
