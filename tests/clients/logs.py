"""What functions write to their logs, for a test to read."""

from __future__ import annotations

import io
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def log_of(*services: str) -> Iterator[io.StringIO]:
    """Give what the loggers of these services write from here on.

    A process has one logger a service, and it keeps the stream of whoever made it first, which may be a test that has
    ended: its stream is closed. So it is neither written nor flushed here, as `StreamHandler.setStream` would.
    """
    written = io.StringIO()
    for service in services:
        Logger(service=service)
    found = [handler for service in services for handler in logging.getLogger(service).handlers]
    before = [(handler, handler.stream) for handler in found if isinstance(handler, logging.StreamHandler)]
    for handler, _ in before:
        handler.stream = written
    try:
        yield written
    finally:
        for handler, stream in before:
            handler.stream = stream
