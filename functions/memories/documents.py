"""The reader behind the queue of documents."""

from __future__ import annotations

from shared.wiring.documents import Documents
from shared.wiring.handlers import lazily

build = Documents
handler = lazily(build)
