"""The worker behind memories' queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.wiring.handlers import lazily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.aws.clients import Aws
    from shared.kernel.clock import Clock
    from shared.wiring.handlers import Handler


def build(environ: Mapping[str, str], aws: Aws, clock: Clock) -> Handler:
    """Return a new instance of the function."""
    del environ, aws, clock

    def work(event: dict[str, Any], _: Any) -> dict[str, Any]:
        """Report every message as not done."""
        return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in event["Records"]]}

    return work


handler = lazily(build)
