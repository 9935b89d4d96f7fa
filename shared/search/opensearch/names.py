"""How indexes are called.

| name | what it is |
| --- | --- |
| `{prefix}` | alias of every index of this stack, whatever its state |
| `{prefix}.v{mapping}.{embedder}.{dimension}` | alias of the one that is searched |
| `….000001` | an index; the number grows with every rebuild |
| `….000001.write` | its alias as long as it is written to; during a rebuild two indexes have theirs |

An embedder's vectors can't meet another's: who runs with one never addresses an index of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.search.opensearch.mapping import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.models.port import Embedder

ROOT = "lodestore."
"""What all names begin with: policies are bound to it."""

Aliases = dict[str, frozenset[str]]
"""The indexes of a stack, each with its aliases."""


@dataclass(frozen=True)
class Names:
    """The names of one stack's indexes for one embedder."""

    prefix: str
    embedder: str
    dimension: int

    @classmethod
    def of(cls, table: str, embedder: Embedder) -> Names:
        """Return the names for a table, which no other stack has, and an embedder."""
        return cls(ROOT + table.lower(), embedder.name, embedder.dimension)

    @property
    def searched(self) -> str:
        """The alias that is searched."""
        return f"{self.prefix}.v{VERSION}.{self.embedder}.{self.dimension}"

    def index(self, number: int) -> str:
        """Return the name of an index."""
        return f"{self.searched}.{number:06d}"

    def next_index(self, there: Aliases) -> str:
        """Return the name of the index to be built next."""
        return self.index(max((int(name[-6:]) for name in self._ours(there)), default=0) + 1)

    def readable(self, there: Aliases) -> list[str]:
        """Return which of our indexes is searched: one, or none."""
        return [name for name in self._ours(there) if self.searched in there[name]]

    def written(self, there: Aliases) -> list[str]:
        """Return which of our indexes take writes."""
        return [name for name in self._ours(there) if writing(name) in there[name]]

    def half_built(self, there: Aliases) -> list[str]:
        """Return which of our indexes a rebuild has not finished: those newer than the one that is searched."""
        searched = max(self.readable(there), default="")
        return [name for name in self._ours(there) if name > searched]

    def _ours(self, there: Aliases) -> list[str]:
        return sorted(name for name in there if name.rpartition(".")[0] == self.searched)


def writing(index: str) -> str:
    """Return the alias that an index is written through: a write never makes an index that was just dropped."""
    return f"{index}.write"


def aliases_of(answer: Mapping[str, Any]) -> Aliases:
    """Return what an answer to GET _alias says."""
    return {index: frozenset(told["aliases"]) for index, told in answer.items()}
