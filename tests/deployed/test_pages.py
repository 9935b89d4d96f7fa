"""What the pages tell a reader to type, against the deployed stack."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.server.test_readme import (
    test_its_curl_session_shows_what_the_next_agent_reads,
    test_its_python_session_loses_nothing,
    test_what_it_says_of_memories_finds_what_was_learnt,
)
from tests.stores.sdk.test_docs import (
    test_the_curl_example_works,
    test_the_python_example_prints_what_it_says,
    test_the_typescript_example_prints_what_it_says,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.deployed.conftest import Deployed

__all__ = [
    "test_its_curl_session_shows_what_the_next_agent_reads",
    "test_its_python_session_loses_nothing",
    "test_the_curl_example_works",
    "test_the_python_example_prints_what_it_says",
    "test_the_typescript_example_prints_what_it_says",
    "test_what_it_says_of_memories_finds_what_was_learnt",
]


@pytest.fixture(scope="module")
def folder(server: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks as if `make run` were running in it."""
    made = tmp_path_factory.mktemp("session")
    (made / ".lodestore").mkdir()
    (made / ".lodestore/credentials.json").write_text(json.dumps({"base_url": server.base_url, **server.credentials}))
    return made
