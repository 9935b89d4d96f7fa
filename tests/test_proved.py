"""The table at the end of a whole run tells the truth about every room."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.proved import DEPLOYED, DEPLOYED_TITLE, ROOMS, told, told_of_deployed


def reports(*nodeids: str, why: Any = None) -> list[Any]:
    return [SimpleNamespace(nodeid=nodeid, longrepr=why) for nodeid in nodeids]


def whole() -> list[Any]:
    return reports(*(f"tests/{room}{'' if '.' in room else '/test_a.py'}::test_it" for room in ROOMS))


def test_every_room_of_the_tests_is_named_by_what_it_proves() -> None:
    rooms = {path.relative_to("tests").parts[0] for path in Path("tests").glob("**/test_*.py")}
    assert rooms == {*ROOMS, "deployed"}
    assert {path.name for path in Path("tests/deployed").glob("test_*.py")} == set(DEPLOYED)


def test_a_room_with_a_failure_proves_nothing() -> None:
    lines = told({"passed": whole(), "failed": reports("tests/stores/test_b.py::test_it")}, [])
    assert [line for line in lines if "FAILED: 1" in line] == [line for line in lines if "linearizable" in line]
    assert sum("proved, 1 tests" in line for line in lines) == len(ROOMS) - 1


def test_what_was_skipped_is_told_with_its_reason_and_the_long_forms_beside_it() -> None:
    skipped = reports("tests/clients/test_node.py::test_it", why=("test_node.py", 3, "Skipped: node is not here"))
    lines = told({"passed": whole(), "skipped": skipped}, [json.dumps({"title": "Soak", "rows": [["kills", "7"]]})])
    assert "     1x Skipped: node is not here" in lines
    assert "  Soak" in lines
    assert any("make soak" in line for line in lines)


def test_a_part_of_the_tests_tells_no_table() -> None:
    assert told({"passed": whole()[:3]}, []) == []


def test_the_deployed_shape_is_a_table_of_its_own_and_else_told_as_not_run() -> None:
    passed = reports("tests/deployed/test_rights.py::test_it", "tests/deployed/test_pages.py::test_it")
    rows = told_of_deployed(
        {"passed": passed, "skipped": reports("tests/deployed/test_pages.py::test_b", why="no node")}
    )
    assert rows == [
        (DEPLOYED["test_pages.py"], "proved, 1 tests (1 skipped)"),
        (DEPLOYED["test_rights.py"], "proved, 1 tests"),
        ("skipped, 1x", "no node"),
    ]
    alone = [line for line in told({"passed": whole()}, []) if "test-deployed" in line]
    beside = told({"passed": whole()}, [json.dumps({"title": DEPLOYED_TITLE, "rows": rows})])
    assert len(alone) == 1
    assert f"  {DEPLOYED_TITLE}" in beside
    assert not any("test-deployed" in line for line in beside)


def test_what_was_only_skipped_is_not_proved_and_another_run_is_not_the_deployed_one() -> None:
    skipped = reports("tests/deployed/test_pages.py::test_it", why="no Python 3.13")
    assert told_of_deployed({"skipped": skipped})[0][1] == "not proved, 0 tests (1 skipped)"
    assert told_of_deployed({"passed": whole()}) == []
    assert told_of_deployed({}) == []
