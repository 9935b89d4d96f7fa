"""A request that was slow and was sent again: its first one arrives when everything else is done."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.aws.clients import Aws


@contextmanager
def late_puts(aws: Aws) -> Iterator[Callable[[], int]]:
    """Give what lets every PutItem of the block arrive once more, whatever came after; it tells how many those are."""
    client, puts = aws.dynamodb, []
    put_item = client.put_item

    def put(**arguments: Any) -> Any:
        puts.append(arguments)
        return put_item(**arguments)

    def arrive() -> int:
        for arguments in puts:
            with suppress(client.exceptions.ConditionalCheckFailedException):
                put_item(**arguments)
        return len(puts)

    with patch.object(client, "put_item", put):
        yield arrive
