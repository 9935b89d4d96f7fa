"""Writes to an emulator with a folder until it is killed, and says on stdout what was acknowledged."""

from __future__ import annotations

import itertools
import json
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from infra.local.emulator import Emulator
from infra.local.resources import make_resources
from infra.local.stack import TEMPLATE, Stack
from shared.aws.clients import Aws


def write_for_ever(aws: Aws, table: str, bucket: str, thread: str) -> None:
    transact: Any = aws.dynamodb.transact_write_items
    for number in itertools.count():
        name = f"{thread}/{number}"
        aws.s3.put_object(Bucket=bucket, Key=name, Body=name.encode() * 1000)
        aws.s3.put_object(Bucket=bucket, Key=f"{thread}/deleted/{number}", Body=b"short-lived")
        rows = [{"pk": {"S": thread}, "sk": {"S": f"{number:06}-{side}"}} for side in ("left", "right")]
        count = {
            "TableName": table,
            "Key": {"pk": {"S": thread}, "sk": {"S": "counter"}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        transact(TransactItems=[*({"Put": {"TableName": table, "Item": row}} for row in rows), {"Update": count}])
        aws.s3.delete_object(Bucket=bucket, Key=f"{thread}/deleted/{number}")
        sys.stdout.write(json.dumps({"thread": thread, "number": number}) + "\n")
        sys.stdout.flush()


def main(folder: Path) -> None:
    emulator = Emulator(folder)
    emulator.start()
    stack, aws = Stack(TEMPLATE, name="kept"), Aws({})
    make_resources(stack, aws)
    emulator.restore()
    where = stack.outputs["TableName"], stack.outputs["BucketName"]
    for name in ("a", "b", "c"):
        threading.Thread(target=write_for_ever, args=(aws, *where, name)).start()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
