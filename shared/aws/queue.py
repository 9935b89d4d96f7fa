"""The one queue, typed: JSON messages in groups, each group in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.aws.errors import translated
from shared.kernel.strict_json import compact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.clients import Aws


class Queue:
    """The stack's queue, or its dead letters'."""

    def __init__(self, aws: Aws, url: str) -> None:
        self._aws = aws
        self.url = url

    def send(self, body: Mapping[str, Any], *, group: str, once: str) -> None:
        """Send a message behind those of its group; one sent within five minutes as `once` is not sent again.

        Raises:
            Unavailable: it may or may not have been sent.
        """
        with translated():
            self._aws.sqs.send_message(
                QueueUrl=self.url,
                MessageBody=compact(body),
                MessageGroupId=group,
                MessageDeduplicationId=once,
            )
