"""Lodestore on this machine: `python -m infra.local`.

`PORT` (8000; 0 takes any free one) and `LODESTORE_HOME` (.lodestore) move it. With AWS_ENDPOINT_URL,
AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL_S3 in the environment nothing is emulated: the same server works on
those services, with the table and bucket that TABLE_NAME and BUCKET_NAME name.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from infra.local.home import Home, HomeInUse, HomeUnusable
from infra.local.journal import JournalUnreadable
from infra.local.run import Run
from infra.local.server import PortInUse, bind
from infra.local.settings import BadSetting, settings_of
from infra.local.template import TemplateNotUnderstood
from shared.aws.errors import told
from shared.kernel.errors import Unavailable
from shared.search.port import IndexMismatch
from shared.wiring.environment import EnvironmentInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping


def main(environ: Mapping[str, str]) -> int:
    """Run until a signal stops it; return the exit status."""
    try:
        settings = settings_of(environ)
        home = Home(settings.home)
        Run(home, bind(settings.port), settings).until_stopped()
    except (BadSetting, EnvironmentInvalid, HomeUnusable) as reason:
        sys.stderr.write(f"lodestore: {reason}\n")
        return 2
    except (HomeInUse, PortInUse, JournalUnreadable, TemplateNotUnderstood, IndexMismatch) as reason:
        sys.stderr.write(f"lodestore: {reason}\n")
        return 1
    except Unavailable as error:  # of a service that is not emulated
        sys.stderr.write(f"lodestore: {error.__cause__ or error}\n")
        return 1
    except Exception as error:
        if (said := told(error)) is None:
            raise
        sys.stderr.write(f"lodestore: {said}\n")
        return 1
    return 0


if __name__ == "__main__":
    status = main(dict(os.environ))
    sys.stdout.flush()
    # Threads that still wait for a function to end would hold the process.
    os._exit(status)
