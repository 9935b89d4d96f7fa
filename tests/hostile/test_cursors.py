"""Cursors that were made up: their mark is no secret, so what they say may be anything that JSON can say."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from shared.kernel.scope import Role
from tests.clients.whole import Whole, whole
from tests.hostile.document import operations, used_by
from tests.hostile.holdings import Names, Party, held_by
from tests.hostile.oracle import faults_of, watched
from tests.hostile.probes import PROBES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.local.events import Request

    Held = tuple[Whole, Party, Names]

MARK = b"of any list."
CURSORS = {("query", "cursor"), ("query", "page")}
LISTS = sorted(name for name, operation in operations().items() if operation.parameters & CURSORS)
POSITIONS = (
    *("null", "true", "-1", "1.5", "10000", "1e300", "{}", "[]", "[[[[]]]]", '{"pk": "a"}', '["a", "b"]'),
    *('""', '"x"', '"\\ud800"', '"\\u0000"', '"~"', '"#"', '"m#"', '"a#b#c"', '"%s"' % ("0" * 1500), "", "nonsense"),
    '"acme#project-b#x"',
    '"00000000-0000-0000-0000-000000000000"',
    '"999999999999999#00000000-0000-0000-0000-000000000000"',
)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    with whole(tmp_path_factory.mktemp("index")) as stack, patch("shared.kernel.cursor._mark", lambda *_: MARK):
        admin = Party(stack, stack.key(Role.TENANT_ADMIN), "project-a")
        yield stack, admin, held_by(admin, "acme", "project-a", "a")


def test_every_list_is_tried() -> None:
    assert len(LISTS) > 8


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_that_was_made_up_is_refused_or_leads_to_a_place_of_the_list(
    held: Held, name: str, position: str
) -> None:
    stack, admin, names = held
    forged = base64.urlsafe_b64encode(MARK + position.encode()).decode().rstrip("=")
    for request in _with_a_cursor(admin, names, name, forged):
        with watched() as written:
            answer = stack.send(request)
        assert answer.status in {200, 400, 404, 422}, (request.query, answer)
        assert not faults_of(request, answer, written, served=True)


def _with_a_cursor(admin: Party, names: Names, name: str, forged: str) -> list[Request]:
    """Return the requests of a list that bring a cursor, with this one; those of memory stores begin with a word."""
    cursors = {field: value for field, value in names.items() if field.endswith("_cursor")}
    asked = {field: f"page_{forged}" if value.startswith("page_") else forged for field, value in cursors.items()}
    requests = PROBES[name](admin, names, replace(names, **asked))
    return [request for request in requests if used_by([request]) & CURSORS]
