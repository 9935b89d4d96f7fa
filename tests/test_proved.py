"""The table at the end of a whole run tells the truth about every room."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.proved import ROOMS, told


def reports(*nodeids: str, why: Any = None) -> list[Any]:
    return [SimpleNamespace(nodeid=nodeid, longrepr=why) for nodeid in nodeids]


def whole() -> list[Any]:
    return reports(*(f"tests/{room}/test_a.py::test_it" for room in ROOMS))


def test_every_room_of_the_tests_is_named_by_what_it_proves() -> None:
    folders = {path.parent.relative_to("tests").parts[0] for path in Path("tests").glob("*/**/test_*.py")}
    assert folders == {*ROOMS, "deployed"}


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
