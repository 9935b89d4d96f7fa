"""A memory's history: every state that it had, and every decision about it, the newest first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from shared.aws.errors import ObjectMissing
from shared.aws.table import Query
from shared.kernel.clock import rfc3339
from shared.kernel.errors import Unavailable
from shared.memories.pages import cursor_of, fitting, fitting_views, position_in
from shared.memories.past import was_removed
from shared.memories.records import generations_of, has_form, memory_key, past_prefix
from shared.memories.rows import moment_or_none
from shared.memories.sight import LOOKS, document_of, documents_of, is_visible, unknown
from shared.memories.texts import texts_of

if TYPE_CHECKING:
    from shared.aws.items import Item
    from shared.kernel.scope import Scope
    from shared.memories.backing import Backing

    Record = dict[str, Any]

_POSITION = re.compile("[0-9]{15}#[0-9]{6}")
_NOW = "now"


@dataclass(frozen=True)
class HistoryWish:
    """Which part of a memory's history: at most `limit` entries, after the cursor."""

    memory_id: str
    limit: int
    cursor: str | None = None


@dataclass(frozen=True)
class Histories:
    """Tells the history of memories, and of those that a decision removed."""

    backing: Backing

    def page(self, scope: Scope, wish: HistoryWish) -> Record:
        """Return one page of a memory's history.

        Raises:
            NotFound: there is no such memory and never was, or it was forgotten.
            InvalidInput: a cursor of another list.
        """
        if not has_form(wish.memory_id):
            raise unknown()
        binding = ("history", scope.tenant, scope.project, wish.memory_id)
        after = position_in(wish.cursor, binding, _POSITION)
        for _ in range(LOOKS):
            states = self._states(scope, wish, after)
            shown = states[: fitting(states, wish.limit)]
            try:
                texts = _texts(self.backing, shown)
            except ObjectMissing:
                continue  # changed since its rows were read: look again
            views = [_view(state, text) for state, text in zip(shown, texts, strict=True)]
            views = views[: fitting_views(views)]
            last = _position(states[len(views) - 1]) if len(views) < len(states) else None
            return {"data": views, "next_cursor": None if last is None else cursor_of(last, binding)}
        raise Unavailable

    def _states(self, scope: Scope, wish: HistoryWish, after: str | None) -> list[Item]:
        """Return one state more than a page has, the newest first."""
        key, generations_key = memory_key(scope, wish.memory_id), generations_of(scope, wish.memory_id)
        prefix = past_prefix(wish.memory_id)
        between = prefix, prefix + (after or "~")
        query = Query(key[0], between=between, size=wish.limit + 2, newest_first=True)
        # The row first: what it was then is among the past states read after it, if it has changed in between.
        table = self.backing.table
        found = table.batch_get([key, generations_key])
        # A mebibyte, which is what DynamoDB returns at once, may hold fewer long states than a page.
        states = {_position(state): state for state in islice(table.every(query), wish.limit + 2)}
        if key in found:
            states.setdefault(_position(now := _state_of(found[key])), now)
        told = key in found or was_removed(table, key[0], wish.memory_id)
        if not told or not self._are_visible(list(states.values()), found.get(key), found.get(generations_key)):
            raise unknown()
        places = sorted(place for place in states if after is None or place < after)
        return [states[place] for place in reversed(places)][: wish.limit + 1]

    def _are_visible(self, states: list[Item], row: Item | None, generations: Item | None) -> bool:
        """Tell whether all states can be seen: of what was made of a file, as long as the memory itself can be."""
        now = [row] if row else []
        documents = documents_of(self.backing.table, now)
        held = [{**state, "token": row["token"]} if row and "token" in row else state for state in states]
        document = document_of(row, documents) if row else None
        return all(is_visible(state, generations, document) for state in held)


def _state_of(row: Item) -> Item:
    """Return the state that a memory is in now, as a past row would tell it."""
    return {**row, "at": row["decided_at"], "sk": f"h#{_NOW}#{row['decided_at']:015d}#000000"}


def _position(state: Item) -> str:
    place: str = state["sk"].split("#", 2)[2]
    return place


def _texts(backing: Backing, states: list[Item]) -> list[str | None]:
    told = [state for state in states if "object" in state or state["text"] is not None]
    texts = dict(zip(map(_position, told), texts_of(backing.objects, told), strict=True))
    return [texts.get(_position(state)) for state in states]


def _view(state: Item, text: str | None) -> Record:
    return {
        "event": state["event"],
        "memory": text,
        "reason": state["reason"],
        "at": rfc3339(state["at"]),
        "task_id": state["task"],
        "metadata": {
            "memory_type": state["memory_type"],
            "event_created_at": moment_or_none(state["event_at"]),
        },
        "categories": state["categories"],
    }
