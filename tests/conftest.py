import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import proved
from tests.node import search_node, shared_node
from tests.proving import TABLES, table
from tests.surroundings import keep_out

keep_out(os.environ)

LONG = (
    "tests/stores/test_machine.py",
    "tests/projects/test_machine.py",
    "tests/memories/documents/test_documents_deaths.py",
    "tests/hostile/test_fuzz.py",
    "tests/soak/test_soak.py",
    "tests/server/test_api_document.py",
)
"""Files that take more than a minute: they come first, so that nobody waits for one of them alone at the end."""

# Whether a change breaks something is not a matter of luck, and no example has to be done in some time: a machine may
# be busy. The night looks for examples that nobody had before. What is not said here, Hypothesis takes from the machine
# (where a variable such as CI is set, the same examples are drawn each time), so all is said.
_EVERYWHERE = settings(deadline=None, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", _EVERYWHERE, derandomize=True)
settings.register_profile("exploring", _EVERYWHERE, derandomize=False)
settings.load_profile("steady")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; all others keep their order."""
    order = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: order.get(item.nodeid.split("::")[0], len(LONG)))


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
    if rows := proved.told_of_deployed(terminalreporter.stats):
        terminalreporter.write_line(table(proved.DEPLOYED_TITLE, rows))
    file = Path(os.environ.get(TABLES, os.devnull))
    tables = file.read_text("utf-8").splitlines() if file.is_file() else []
    if lines := proved.told(terminalreporter.stats, tables):
        terminalreporter.section("proved")
        for line in lines:
            terminalreporter.write_line(line)
