"""What the environment says of a local run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_S3")
NEEDED = ("TABLE_NAME", "BUCKET_NAME")
HIGHEST_PORT = 65_535


class BadSetting(Exception):
    """A variable has a value that can't be used, or is missing."""


@dataclass(frozen=True)
class Settings:
    """Port, home, and, where nothing shall be emulated, the names of the real resources by variable."""

    port: int
    home: Path
    real: Mapping[str, str] | None


def settings_of(environ: Mapping[str, str]) -> Settings:
    """Return the settings in `environ`.

    Raises:
        BadSetting: says which variable, and what it should be.
    """
    port = environ.get("PORT") or "8000"
    if not (port.isdecimal() and int(port) <= HIGHEST_PORT):
        raise BadSetting(f"PORT is {port!r}, which is not a port's number.")
    return Settings(int(port), Path(environ.get("LODESTORE_HOME") or ".lodestore"), _real(environ))


def _real(environ: Mapping[str, str]) -> dict[str, str] | None:
    given = [name for name in ENDPOINTS if environ.get(name)]
    if not given:
        return None
    missing = [name for name in NEEDED if not environ.get(name)]
    if missing:
        raise BadSetting(f"{given[0]} is set, so nothing is emulated; then {' and '.join(missing)} must be set too.")
    return {name: environ[name] for name in (*NEEDED, "QUEUE_URL") if environ.get(name)}
