"""The environment of a function, as `template.yaml` sets it, validated once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SEARCH_BACKENDS = ("none", "domain", "existing", "embedded")
LANGUAGES = ("zh", "en", "source")
SWITCH = ("on", "off")


class EnvironmentInvalid(ValueError):
    """A variable is missing or wrong; the message names each."""


@dataclass(frozen=True)
class Environment:
    """The settings of one function; the names are those of the variables, in lower case."""

    table_name: str = ""
    bucket_name: str = ""
    stage: str = "dev"
    direct_body_bytes: int = 4_500_000
    queue_url: str = ""
    documents_queue_url: str = ""
    dead_letter_queue_url: str = ""
    search_backend: str = "none"
    search_endpoint: str = ""
    index_folder: str = ""
    memory_language: str = "zh"
    documents: str = "on"
    vision: str = "none"
    lodestore_version: str = ""
    powertools_metrics_namespace: str = "Lodestore"

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Environment:
        """Return the settings in `environ`.

        Raises:
            EnvironmentInvalid: names each variable that is missing or wrong.
        """
        given = {f.name: environ[f.name.upper()] for f in fields(cls) if f.name.upper() in environ}
        size = given.pop("direct_body_bytes", str(cls.direct_body_bytes))
        broken = [f"{name} is not set" for name in ("TABLE_NAME", "BUCKET_NAME") if not environ.get(name)]
        if not size.isascii() or not size.isdigit():
            broken.append(f"DIRECT_BODY_BYTES is not a number of bytes: {size!r}")
        if given.get("search_backend", "none") not in SEARCH_BACKENDS:
            broken.append(f"SEARCH_BACKEND is none of {', '.join(SEARCH_BACKENDS)}")
        if given.get("memory_language", "zh") not in LANGUAGES:
            broken.append(f"MEMORY_LANGUAGE is none of {', '.join(LANGUAGES)}")
        if given.get("documents", "on") not in SWITCH:
            broken.append(f"DOCUMENTS is none of {', '.join(SWITCH)}")
        if given.get("search_backend") == "embedded" and not given.get("index_folder"):
            broken.append("INDEX_FOLDER is not set, which SEARCH_BACKEND embedded needs")
        if broken:
            raise EnvironmentInvalid("; ".join(broken))
        return cls(**given, direct_body_bytes=int(size))
