from collections.abc import Iterator

import pytest

from tests.node import search_node


@pytest.fixture(scope="session")
def opensearch_endpoint() -> Iterator[str]:
    """The address of a real search node, one for the whole session."""
    with search_node() as endpoint:
        yield endpoint
