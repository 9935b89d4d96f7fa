"""What a cold start costs: the function's imports and first clients over those of bare boto3."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from dataclasses import dataclass

ROUNDS = 9

_TIMED = """
import time; started = time.perf_counter()
{body}
took = time.perf_counter() - started
pages = int(open("/proc/self/statm").read().split()[1])
print(took * 1000, pages * {page} / 1e6)
"""
_BARE = """
import boto3
clients = [boto3.client(name) for name in ("dynamodb", "s3")]
"""
_FUNCTION = """
import os
from functions.projects import api
from shared.aws.clients import Aws
from shared.kernel.clock import SystemClock
aws = Aws(os.environ)
handler = api.build(os.environ, aws, SystemClock())
clients = [aws.dynamodb, aws.s3]
"""


@dataclass(frozen=True)
class Startup:
    """Medians of fresh processes: milliseconds and MB of both, and the ratio of the times."""

    bare_ms: float
    bare_mb: float
    function_ms: float
    function_mb: float
    ratio: float


def measure(rounds: int = ROUNDS) -> Startup:
    """Start both in turn, after one round that fills the caches."""
    pairs = [(_run(_BARE), _run(_FUNCTION)) for _ in range(rounds + 1)][1:]
    bare_ms, bare_mb, function_ms, function_mb = (
        statistics.median(pair[who][what] for pair in pairs) for who in (0, 1) for what in (0, 1)
    )
    ratio = statistics.median(function[0] / bare[0] for bare, function in pairs)
    return Startup(bare_ms, bare_mb, function_ms, function_mb, ratio)


def _run(body: str) -> tuple[float, float]:
    code = _TIMED.format(body=body, page=os.sysconf("SC_PAGE_SIZE"))
    environ = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",  # as deployed: compiled once
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "TABLE_NAME": "bench",
        "BUCKET_NAME": "bench",
    }
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    milliseconds, megabytes = done.stdout.split()
    return float(milliseconds), float(megabytes)
