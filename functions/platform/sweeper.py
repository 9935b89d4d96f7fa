"""The sweeper: every five minutes what is due, every night what no record owns or a rule would take too soon."""

from __future__ import annotations

from shared.wiring.handlers import lazily
from shared.wiring.sweeping import Sweeping

build = Sweeping
handler = lazily(build)
