"""The environment of a function, as `template.yaml` sets it, validated once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Mapping


class Environment(BaseModel):
    """The settings of one function; the names are those of the variables, in upper case."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=str.upper)

    table_name: str = Field(min_length=3)
    bucket_name: str = Field(min_length=3)
    stage: str = "dev"
    direct_body_bytes: int = Field(default=4_500_000, ge=0)
    queue_url: str = ""
    search_backend: Literal["none", "domain", "existing"] = "none"
    search_endpoint: str = ""
    lodestore_version: str = ""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Environment:
        """Return the settings in `environ`.

        Raises:
            pydantic.ValidationError: names each variable that is missing or wrong.
        """
        return cls.model_validate(dict(environ))
