"""The index of OpenSearch, composed: the domain's address, the function's credentials, the ledger in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.writes import Put
from shared.search.opensearch.connecting import connect
from shared.search.opensearch.index import OpenSearchIndex
from shared.search.opensearch.names import Names

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from shared.aws.table import Table
    from shared.models.port import Embedder

_MADE = ("SEARCH", "made")


class TableLedger:
    """Remembers in the table that its index was made: a table that outlives the domain knows that it is lost."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def tells(self) -> bool:
        """Tell whether it was."""
        return self._table.get(_MADE) is not None

    def note(self) -> None:
        """Keep that it was."""
        self._table.write(Put({"pk": _MADE[0], "sk": _MADE[1]}))


def opensearch_index(client: OpenSearch, table: Table, embedder: Embedder) -> OpenSearchIndex:
    """Return the index of a table's memories; no call is made before it is used."""
    return OpenSearchIndex(client, Names.of(table.name, embedder), TableLedger(table))


def client_of(endpoint: str) -> OpenSearch:
    """Return a client that signs with this process's credentials.

    Raises:
        Unavailable: there are none, or no region, and the endpoint is not on this machine.
    """
    import boto3  # noqa: PLC0415 - here by then

    session = boto3.session.Session()
    return connect(endpoint, session.get_credentials(), session.region_name)
