"""Where tests get a real search node: the one that is named, else one of their own, else a reason why there is none."""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack, contextmanager
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


@contextmanager
def shared_node(folder: Path) -> Iterator[str]:
    """Yield the address of one node for all processes that name the same folder; its starter stops it after the last.

    Raises what `search_node` raises.
    """
    address, gate = folder / "node.address", folder / "node.gate"
    with (folder / "node.users").open("w") as users, ExitStack() as own:
        with _locked(gate):
            if not address.exists():
                address.write_text(own.enter_context(search_node()))
                own.callback(fcntl.flock, users, fcntl.LOCK_EX)
                own.callback(_close, address, gate)
            endpoint = address.read_text()
            fcntl.flock(users, fcntl.LOCK_SH)
        own.callback(fcntl.flock, users, fcntl.LOCK_UN)
        yield endpoint


def _close(address: Path, gate: Path) -> None:
    with _locked(gate):
        address.unlink()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _home() -> Path:
    try:
        return assembled()
    except NotAssembled as reason:
        refuse = pytest.fail if os.environ.get("REQUIRE_OPENSEARCH") else pytest.skip
        return refuse(f"OPENSEARCH_ENDPOINT is not set, and {reason}")
