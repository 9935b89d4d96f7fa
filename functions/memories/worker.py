"""The worker behind memories' queue."""

from __future__ import annotations

from shared.wiring.handlers import lazily
from shared.wiring.working import Working

build = Working
handler = lazily(build)
