"""The promises of the port, on both indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.search.passages import OWNER, by_words, passage, search

if TYPE_CHECKING:
    from shared.search.port import SearchIndex


def test_what_was_put_is_found_at_once(index: SearchIndex) -> None:
    index.put([passage("m1", "I drink green tea every morning")])
    found = search(index, "green tea")
    assert [(one.memory_id, one.revision) for one in found.sparse] == [("m1", 1)]
    assert [(one.memory_id, one.revision) for one in found.dense] == [("m1", 1)]


def test_nothing_is_found_where_nothing_was_put(index: SearchIndex) -> None:
    found = search(index, "green tea")
    assert (found.dense, found.sparse) == ((), ())


def test_what_was_removed_is_not_found_any_more(index: SearchIndex) -> None:
    index.put([passage("m1"), passage("m2")])
    index.remove(OWNER, [("m1", 1)])
    assert by_words(index, "green tea") == ["m2"]
