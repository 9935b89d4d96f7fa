"""Where tests get a real search node: the one that is named, else one of their own, else a reason why there is none."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from infra.opensearch.assembly import NotAssembled, assembled
from infra.opensearch.node import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def search_node() -> Iterator[str]:
    """Yield a node's address; skip where there can be none, or fail where REQUIRE_OPENSEARCH is set."""
    given = os.environ.get("OPENSEARCH_ENDPOINT")
    if given:
        yield given
        return
    with running(_home()) as endpoint:
        yield endpoint


def _home() -> Path:
    try:
        return assembled()
    except NotAssembled as reason:
        refuse = pytest.fail if os.environ.get("REQUIRE_OPENSEARCH") else pytest.skip
        return refuse(f"OPENSEARCH_ENDPOINT is not set, and {reason}")
