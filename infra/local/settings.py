"""What the environment says of a local run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from infra.local.own_account import NoAccount, for_models

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_S3")
NEEDED = ("TABLE_NAME", "BUCKET_NAME")
QUEUES = ("QUEUE_URL", "DOCUMENTS_QUEUE_URL", "DEAD_LETTER_QUEUE_URL")
FOR_FUNCTIONS = (
    *("EMBEDDER", "EXTRACTOR", "MEMORY_LANGUAGE", "DOCUMENTS", "VISION", "BEDROCK_REGION"),
    *("MEMORIES_A_STORE", "VERSION_RETENTION_DAYS"),
)
"""What is handed on to the functions as it is."""

OCR = "rapidocr"
"""The package that reads pictures on this machine (extra `ocr`)."""

HIGHEST_PORT = 65_535


class BadSetting(Exception):
    """A variable has a value that can't be used, or is missing."""


@dataclass(frozen=True)
class Settings:
    """Port, home, and variables for the functions.

    `real` has, where nothing shall be emulated, the names of the real resources; `functions` the models and how to ask
    them, the language, limits and, where it is not the embedded one, the search; `faults` is the share of emulated
    calls that fail.
    """

    port: int
    home: Path
    real: Mapping[str, str] | None
    functions: Mapping[str, str] = field(default_factory=dict, repr=False)
    faults: float = 0.0

    def variables(self, search: Path) -> dict[str, str]:
        """Return what these settings change in every function's environment; `search` is the embedded index's place."""
        embedded = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": str(search)}
        return {**embedded, **self.functions, **(self.real or {})}


def settings_of(environ: Mapping[str, str]) -> Settings:
    """Return the settings in `environ`.

    Raises:
        BadSetting: says which variable, and what it should be.
    """
    port = environ.get("PORT") or "8000"
    if not (port.isdecimal() and int(port) <= HIGHEST_PORT):
        raise BadSetting(f"PORT is {port!r}, which is not a port's number.")
    home = Path(environ.get("LODESTORE_HOME") or ".lodestore")
    real = _real(environ)
    functions = _for_functions(environ)
    if real is None:
        functions = _of_own_account(environ, functions) | functions
    return Settings(int(port), home, real, functions, _faults(environ, real))


def _of_own_account(environ: Mapping[str, str], functions: Mapping[str, str]) -> dict[str, str]:
    try:
        return for_models(environ, functions)
    except NoAccount as reason:
        raise BadSetting(str(reason)) from reason


def _faults(environ: Mapping[str, str], real: Mapping[str, str] | None) -> float:
    text = environ.get("AWS_FAULTS") or "0"
    if not re.fullmatch(r"0(\.\d{1,6})?", text):
        raise BadSetting(f"AWS_FAULTS is {text!r}, which is not a share from 0 to below 1.")
    if real is not None and float(text):
        raise BadSetting("AWS_FAULTS is set, but nothing is emulated: calls of real services are not made to fail.")
    return float(text)


def _for_functions(environ: Mapping[str, str]) -> dict[str, str]:
    given = {name: environ[name] for name in FOR_FUNCTIONS if environ.get(name)}
    if "VISION" not in given and find_spec(OCR):
        given["VISION"] = "local"
    if endpoint := environ.get("OPENSEARCH_ENDPOINT"):
        given |= {"SEARCH_BACKEND": "existing", "SEARCH_ENDPOINT": endpoint}
    return given


def _real(environ: Mapping[str, str]) -> dict[str, str] | None:
    given = [name for name in ENDPOINTS if environ.get(name)]
    if not given:
        return None
    missing = [name for name in NEEDED if not environ.get(name)]
    if missing:
        raise BadSetting(f"{given[0]} is set, so nothing is emulated; then {' and '.join(missing)} must be set too.")
    return {name: environ[name] for name in (*NEEDED, *QUEUES) if environ.get(name)}
