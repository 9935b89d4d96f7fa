"""What a shell around the tests says, and must not say to them: they prove the same on every machine."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from infra.local.settings import FOR_FUNCTIONS, NEEDED, QUEUES
from shared.wiring.environment import Environment

if TYPE_CHECKING:
    from collections.abc import MutableMapping

FAMILIES: Final = ("AWS_", "BOTO_", "LAMBDA_", "LODESTORE_", "MOTO_", "POWERTOOLS_")
OURS: Final = {
    *(*NEEDED, *QUEUES, *FOR_FUNCTIONS, "PORT", "PRESIGN_ENDPOINT_URL"),
    *(field.name.upper() for field in fields(Environment)),
}
"""What the local run and the functions read. OPENSEARCH_ENDPOINT is not among it: tests may be given a node by it."""
OUTPUT: Final = {"CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "PY_COLORS"}
"""How wide and colourful commands write, which some tests read."""
TRUST: Final = {"AWS_CA_BUNDLE"}
"""What a machine needs to reach its registries."""
NOBODYS: Final = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}
"""No file of a developer's own account is read, and no machine's role is asked for."""
HERE: Final = "localhost,127.0.0.1"


def keep_out(environ: MutableMapping[str, str]) -> None:
    """Take out of `environ` what would change what tests see: an own AWS set-up, settings of ours, colours, proxies.

    A proxy stays for what is elsewhere, as registries are, but not for this machine's own servers.
    """
    for name in {*environ}:
        if name in OURS | OUTPUT or (name.startswith(FAMILIES) and name not in TRUST):
            del environ[name]
    environ.update(NOBODYS)
    for name in ("NO_PROXY", "no_proxy"):
        environ[name] = ",".join(filter(None, (environ.get(name), HERE)))
