"""Queues, typed: JSON messages in groups, each group in order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shared.aws.errors import translated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.aws.clients import Aws


class Queue:
    """One of the stack's queues."""

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
                # In ASCII: SQS refuses some characters that names may have.
                MessageBody=json.dumps(body, separators=(",", ":")),
                MessageGroupId=group,
                MessageDeduplicationId=once,
            )

    def hold(self, receipts: Sequence[str], seconds: int) -> None:
        """Keep received messages from others for so long from now, at most ten; what is not held any more is left out.

        Raises:
            Unavailable: the queue can't be asked.
        """
        entries: Any = [
            {"Id": str(n), "ReceiptHandle": receipt, "VisibilityTimeout": seconds} for n, receipt in enumerate(receipts)
        ]
        with translated():
            self._aws.sqs.change_message_visibility_batch(QueueUrl=self.url, Entries=entries)
