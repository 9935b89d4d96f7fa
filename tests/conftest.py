import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import proved
from tests.node import search_node, shared_node
from tests.proving import TABLES


@pytest.fixture(scope="session")
def opensearch_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real search node, one for the whole session, whatever processes it has."""
    together = "PYTEST_XDIST_WORKER" in os.environ
    with shared_node(tmp_path_factory.getbasetemp().parent) if together else search_node() as endpoint:
        yield endpoint


def pytest_configure(config: pytest.Config) -> None:
    """Have what is long say what it proved where this run collects it; of a larger run's part, that one does."""
    if not hasattr(config, "workerinput") and TABLES not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="proved")
        config.add_cleanup(folder.cleanup)
        config.add_cleanup(lambda: os.environ.pop(TABLES, None) and None)
        os.environ[TABLES] = str(Path(folder.name) / "tables.jsonl")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the run proved, and what it skipped and why."""
    file = Path(os.environ.get(TABLES, os.devnull))
    tables = file.read_text("utf-8").splitlines() if file.is_file() else []
    if lines := proved.told(terminalreporter.stats, tables):
        terminalreporter.section("proved")
        for line in lines:
            terminalreporter.write_line(line)
