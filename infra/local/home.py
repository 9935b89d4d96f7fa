"""The folder of a local run: its lock, its log, its credentials, its state."""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LOG_BYTES = 20 << 20


class HomeInUse(Exception):
    """Another server works in this folder."""


class HomeUnusable(Exception):
    """The folder, or something in it, can't be made, read or written by who runs this."""


class Home:
    """`LODESTORE_HOME` or its default, held by one server at a time.

    Raises:
        HomeInUse: another server holds it.
        HomeUnusable: it can't be worked in.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._refuse_anothers()
            self._lock = (folder / "server.lock").open("a+")
        except OSError as error:
            raise HomeUnusable(
                f"{error.filename} can't be used: {error.strerror}. Make it yours, or set LODESTORE_HOME to a folder "
                "that you may write to."
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise HomeInUse(f"Another Lodestore uses {folder}. Stop it, or set LODESTORE_HOME.") from None

    def _refuse_anothers(self) -> None:
        """Raise PermissionError for what another user's run, such as root's, has left here."""
        for used in (self.state, self.search, self.log, self.credentials):
            if used.exists() and not os.access(used, os.R_OK | os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(used))

    def release(self) -> None:
        """Let another server have the folder; the end of the process does the same."""
        self._lock.close()

    @property
    def state(self) -> Path:
        """Where the journal is."""
        return self.folder / "state"

    @property
    def search(self) -> Path:
        """Where the search index is; what it holds is in the journal as well."""
        return self.folder / "search"

    @property
    def log(self) -> Path:
        """The log: one JSON object a line."""
        return self.folder / "server.log"

    @property
    def credentials(self) -> Path:
        """Address and keys, for whoever runs the server only."""
        return self.folder / "credentials.json"

    def read_credentials(self) -> dict[str, Any]:
        """Return what the last run wrote, or nothing."""
        try:
            found = json.loads(self.credentials.read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write_credentials(self, credentials: Mapping[str, Any]) -> None:
        """Write them at once and whole, readable by their owner."""
        unfinished = self.credentials.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json.dumps(credentials, indent=2) + "\n")
        unfinished.replace(self.credentials)

    def take_over_output(self) -> TextIO:
        """Send what functions print and log to the log; return the console.

        Warnings of the local run itself go to both.
        """
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        console, sys.stdout = sys.stdout, self.log.open("a", buffering=1, encoding="utf-8")
        file = logging.StreamHandler(sys.stdout)
        file.setFormatter(JsonLines())
        told = logging.StreamHandler(sys.stderr)
        told.setLevel(logging.WARNING)
        told.setFormatter(logging.Formatter("lodestore: %(message)s (see the log)"))
        logging.getLogger("infra.local").addHandler(told)
        logging.basicConfig(level=logging.WARNING, handlers=[file])
        return console


class JsonLines(logging.Formatter):
    """Log records as JSON, one a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        line: dict[str, Any] = {
            "timestamp": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if function := getattr(record, "function", None):
            line["function"] = function
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)
