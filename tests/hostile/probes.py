"""How each operation of the API can be asked for what is somebody else's: one probe an operation, by its id.

A probe is given who asks, the names of what they hold themselves, and those of what they don't, and returns the
requests. Every parameter and every field of the operation has to be in one of them.
"""

from __future__ import annotations

from tests.hostile.probing import files, memories, platform, projects, stores
from tests.hostile.probing.registry import PROBES

__all__ = ["PROBES", "files", "memories", "platform", "projects", "stores"]
