"""The user's own AWS set-up, for models of Bedrock alone: the emulated account hides it from everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.aws.errors import told

if TYPE_CHECKING:
    from collections.abc import Mapping

ADDRESS = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


class NoAccount(Exception):
    """Why models can't be asked, and what to do."""


def for_models(environ: Mapping[str, str], functions: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with which functions ask models of Bedrock, credentials and a region; none without a model.

    They are found as the AWS command line finds them, and stay as they are now. At an address of its own
    (`AWS_ENDPOINT_URL_BEDROCK_RUNTIME`) Bedrock may do without them.

    Raises:
        NoAccount: there are none.
    """
    named = next((f"{name} is {value}" for name, value in functions.items() if value.startswith("bedrock:")), None)
    if named is None:
        return {}
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - most runs need none of it

    try:
        found = _found()
    except BotoCoreError as error:
        raise NoAccount(f"{named}: {told(error)}") from error
    if not environ.get(ADDRESS):
        _check(named, {**found, **functions})
    return found


def _found() -> dict[str, str]:
    import boto3  # noqa: PLC0415

    session = boto3.session.Session()
    credentials = session.get_credentials()
    keys = credentials.get_frozen_credentials() if credentials else (None, None, None)
    found = {"BEDROCK_REGION": session.region_name, **dict(zip(KEYS, keys, strict=False))}  # maybe more than the three
    return {name: value for name, value in found.items() if value}


def _check(named: str, found: Mapping[str, str]) -> None:
    if KEYS[0] not in found:
        raise NoAccount(f"{named}, and there are no AWS credentials; see `aws configure`, or set AWS_PROFILE.")
    if "BEDROCK_REGION" not in found:
        raise NoAccount(f"{named}, and no region is named; set BEDROCK_REGION, or AWS_DEFAULT_REGION.")
