"""Whatever anything in the product logs as erased can be replayed."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from tests.restoring.history import history

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


def kinds_logged() -> Iterator[str]:
    """Yield the kind of every entry that the sources make, and fail for one that can't be read from them."""
    for path in sorted((ROOT / "shared").rglob("*.py")):
        if path.name == "erasures.py":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        constants = {
            node.targets[0].id: node.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Erasure":
                yield from _kinds(node.args[1], constants, path)


def _kinds(kind: ast.expr, constants: dict[str, object], path: Path) -> list[str]:
    if isinstance(kind, ast.Constant):
        return [str(kind.value)]
    if isinstance(kind, ast.Name) and kind.id in constants:
        return [str(constants[kind.id])]
    # Given by those who call: as the third argument of a function of the same module.
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    given = [c.args[2].value for c in calls if len(c.args) > 2 and isinstance(c.args[2], ast.Constant)]
    assert given, f"{path.name} logs erasures of a kind that this test can't read"
    return list(map(str, given))


def test_every_kind_of_erasure_that_is_logged_has_a_replay_and_no_other_has() -> None:
    with history() as at:
        assert set(at.restorer("none").replays()) == set(kinds_logged())
