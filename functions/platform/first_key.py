"""Makes the first operator's key in a deployed table and prints its secret, once.

    python -m functions.platform.first_key --table NAME [--region REGION] [--force]

It needs AWS credentials that may read and write the table. The table's name is the stack's output `TableName`;
`TABLE_NAME` in the environment serves as well.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from shared.aws.clients import Aws
from shared.aws.errors import told
from shared.aws.table import Table
from shared.kernel.clock import SystemClock
from shared.kernel.errors import Unavailable
from shared.kernel.scope import Role
from shared.tenancy.keys import Issued, Keys
from shared.tenancy.models import KeyRecord, KeyWish
from shared.tenancy.remembered import Remembered

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

_REASONS = {
    "ResourceNotFoundException": "There is no table {table} in {region}. The stack's output TableName names it.",
    "AccessDeniedException": "These credentials may not read and write the table {table}.",
    "UnrecognizedClientException": "AWS does not know these credentials.",
    "InvalidSignatureException": "AWS does not accept these credentials.",
    "ExpiredTokenException": "These credentials have expired.",
}


class CanNotMakeKey(Exception):
    """Why there is no key, in a sentence for whoever ran the command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    asked = _parse(arguments)
    if asked.region:
        os.environ["AWS_DEFAULT_REGION"] = asked.region
    try:
        issued = _make(asked)
    except CanNotMakeKey as reason:
        sys.stderr.write(f"first_key: {reason}\n")
        return 1
    sys.stderr.write(f"Made {issued.record.id}, an operator's key. Its secret is shown only now:\n")
    sys.stdout.write(f"{issued.secret}\n")
    return 0


def _parse(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="first_key", description="Make the first operator's key in a deployed table.")
    table = os.environ.get("TABLE_NAME")
    parser.add_argument("--table", default=table, required=not table, help="the stack's output TableName")
    parser.add_argument("--region", help="where the table is (default: as AWS is configured)")
    parser.add_argument("--name", default="first operator", help="the key's name")
    parser.add_argument("--force", action="store_true", help="make one though there is an operator's key")
    return parser.parse_args(arguments)


def _make(asked: Namespace) -> Issued:
    from botocore import exceptions as botocore  # noqa: PLC0415 - after the arguments are known to be good

    clock = SystemClock()
    try:
        aws = Aws(os.environ)
        region = aws.dynamodb.meta.region_name
        keys = Keys(Table(aws, asked.table), clock, Remembered[KeyRecord](clock))
        if not asked.force and keys.has_operator():
            raise CanNotMakeKey("There is an operator's key already; --force makes another one.")
        return keys.issue(KeyWish(asked.name, Role.OPERATOR))
    except botocore.ClientError as error:
        code = error.response["Error"]["Code"]
        raise CanNotMakeKey(_REASONS.get(code, str(error)).format(table=asked.table, region=region)) from error
    except botocore.BotoCoreError as error:
        raise CanNotMakeKey(told(error)) from error
    except Unavailable as error:
        raise CanNotMakeKey(f"DynamoDB does not answer: {error.__cause__ or error.message}") from error


if __name__ == "__main__":
    sys.exit(main())
