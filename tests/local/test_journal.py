"""What was acknowledged is there after the end of the process, however it ended."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from botocore.exceptions import HTTPClientError

from infra.local.emulator import Emulator
from infra.local.journal import FileBlobs, Journal, JournalUnreadable
from infra.local.resources import make_resources
from infra.local.stack import TEMPLATE, Stack
from tests.emulator.cloud import Cloud, shared_aws

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITER = Path(__file__).parent / "endless_writer.py"


@contextmanager
def reopened(folder: Path) -> Iterator[Cloud]:
    with Emulator(folder) as emulator:
        stack = Stack(TEMPLATE, name="kept")
        make_resources(stack, shared_aws())
        emulator.restore()
        yield Cloud(emulator, stack, shared_aws())


def files(folder: Path) -> list[Path]:
    return [path for path in (folder / "objects").rglob("*") if path.is_file()]


def test_items_come_back_with_every_type_and_in_every_index(tmp_path: Path) -> None:
    item: dict[str, Any] = {
        "pk": {"S": "p"},
        "sk": {"S": "é\n"},
        "l1": {"S": "9"},
        "due": {"S": "now"},
        "b": {"B": b"\x00\xff"},
        "n": {"N": "0.1"},
        "m": {"M": {"B": {"S": "a member called B"}, "l": {"L": [{"NULL": True}, {"BS": [b"x"]}]}}},
    }
    with reopened(tmp_path) as cloud:
        cloud.aws.dynamodb.put_item(TableName=cloud.table_name, Item=item)
        cloud.aws.dynamodb.put_item(TableName=cloud.table_name, Item={"pk": {"S": "p"}, "sk": {"S": "gone"}})
        cloud.aws.dynamodb.delete_item(TableName=cloud.table_name, Key={"pk": {"S": "p"}, "sk": {"S": "gone"}})
    for _ in range(2):
        with reopened(tmp_path) as cloud:
            assert cloud.aws.dynamodb.scan(TableName=cloud.table_name)["Items"] == [item]
            for index, attribute in (("by_l1", "pk"), ("due", "due")):
                found = cloud.aws.dynamodb.query(
                    TableName=cloud.table_name,
                    IndexName=index,
                    KeyConditionExpression="#a = :v",
                    ExpressionAttributeNames={"#a": attribute},
                    ExpressionAttributeValues={":v": item[attribute]},
                )
                assert found["Items"][0]["sk"] == item["sk"]


def test_objects_come_back_with_all_that_is_known_of_them(tmp_path: Path) -> None:
    with reopened(tmp_path) as cloud:
        s3, bucket = cloud.aws.s3, cloud.bucket_name
        s3.put_object(Bucket=bucket, Key="k", Body=b"v" * 100_000, ContentType="a/b; c=d", Metadata={"owner": "p|s"})
        before: Any = s3.get_object(Bucket=bucket, Key="k")
        bytes_before = before.pop("Body").read()
    with reopened(tmp_path) as cloud:
        after: Any = cloud.aws.s3.get_object(Bucket=cloud.bucket_name, Key="k")
        assert after.pop("Body").read() == bytes_before
        for name in ("ETag", "LastModified", "ContentType", "Metadata", "ContentLength", "ServerSideEncryption"):
            assert after[name] == before[name]
        cloud.aws.s3.put_object(Bucket=cloud.bucket_name, Key="k", Body=b"new")
        assert len(files(tmp_path)) == 1
        cloud.aws.s3.delete_object(Bucket=cloud.bucket_name, Key="k")
        assert files(tmp_path) == []
    with reopened(tmp_path) as cloud:
        assert cloud.object_keys() == []


def test_messages_come_back_in_order_and_those_in_flight_too_since_who_had_them_is_gone(tmp_path: Path) -> None:
    def send(cloud: Cloud, body: str) -> None:
        url = cloud.stack.outputs["QueueUrl"]
        cloud.aws.sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId=body[0], MessageDeduplicationId=body)

    def receive(cloud: Cloud) -> list[Any]:
        answer = cloud.aws.sqs.receive_message(QueueUrl=cloud.stack.outputs["QueueUrl"], MaxNumberOfMessages=10)
        return list(answer.get("Messages", []))

    with reopened(tmp_path) as cloud:
        for body in ("a1", "b1", "gone", "a2", "b2"):
            send(cloud, body)
        taken = {message["Body"]: message for message in receive(cloud)}
        cloud.aws.sqs.delete_message(
            QueueUrl=cloud.stack.outputs["QueueUrl"], ReceiptHandle=taken["gone"]["ReceiptHandle"]
        )
        assert set(taken) == {"a1", "b1", "gone", "a2", "b2"}
        send(cloud, "c1")
        send(cloud, "c2")
    with reopened(tmp_path) as cloud:
        assert [message["Body"] for message in receive(cloud)] == ["a1", "b1", "a2", "b2", "c1", "c2"]


def test_a_cancelled_transaction_leaves_nothing_on_disk(tmp_path: Path) -> None:
    with reopened(tmp_path) as cloud:
        table = cloud.table_name
        put = {"TableName": table, "Item": {"pk": {"S": "p"}, "sk": {"S": "new"}}}
        check = {
            "TableName": table,
            "Key": {"pk": {"S": "p"}, "sk": {"S": "x"}},
            "ConditionExpression": "attribute_exists(pk)",
        }
        transact: Any = cloud.aws.dynamodb.transact_write_items
        with pytest.raises(cloud.aws.dynamodb.exceptions.TransactionCanceledException):
            transact(TransactItems=[{"Put": put}, {"ConditionCheck": check}])
    with reopened(tmp_path) as cloud:
        assert cloud.items() == []


def test_bytes_without_a_row_are_removed_at_the_start(tmp_path: Path) -> None:
    with reopened(tmp_path) as cloud:
        cloud.aws.s3.put_object(Bucket=cloud.bucket_name, Key="k", Body=b"kept")
    for name in ("ab" + "0" * 30, "cd" + "0" * 30 + ".part"):
        (tmp_path / "objects" / name[:2] / name).write_bytes(b"orphan")
    with reopened(tmp_path):
        assert [path.read_bytes() for path in files(tmp_path)] == [b"kept"]


def test_a_state_of_another_version_is_refused(tmp_path: Path) -> None:
    with reopened(tmp_path):
        pass
    with sqlite3.connect(tmp_path / "state.db") as db:
        db.execute("PRAGMA user_version=999")
    db.close()
    with pytest.raises(JournalUnreadable, match="999"):
        Emulator(tmp_path).start()


def test_no_file_is_kept_open_for_an_object(tmp_path: Path) -> None:
    with reopened(tmp_path) as cloud:
        before = len(list(Path("/proc/self/fd").iterdir()))
        for number in range(50):
            cloud.aws.s3.put_object(Bucket=cloud.bucket_name, Key=str(number), Body=b"x" * 2_000_000)
        assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1


@pytest.mark.parametrize("milliseconds", [5, 20, 60, 150])
def test_everything_acknowledged_survives_a_kill_at_any_moment(tmp_path: Path, milliseconds: int) -> None:
    command = [sys.executable, str(WRITER), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        acknowledged = [json.loads(writer.stdout.readline())]
        time.sleep(milliseconds / 1000)
        writer.send_signal(signal.SIGKILL)
        acknowledged += [json.loads(line) for line in writer.stdout if line.endswith("\n")]
    with reopened(tmp_path) as cloud:
        for done in acknowledged:
            check_step(cloud, done)
        items = {item["sk"]["S"] for item in cloud.items()}
        pairs = {name.removesuffix("-left").removesuffix("-right") for name in items if "-" in name}
        assert {f"{pair}-{side}" for pair in pairs for side in ("left", "right")} == {n for n in items if "-" in n}
        known = {row[0] for row in cloud.emulator.journal.rows("SELECT blob FROM objects")}
        assert {path.name for path in files(tmp_path)} == known


def check_step(cloud: Cloud, done: dict[str, Any]) -> None:
    thread, number = done["thread"], done["number"]
    body = cloud.aws.s3.get_object(Bucket=cloud.bucket_name, Key=f"{thread}/{number}")["Body"].read()
    assert body == f"{thread}/{number}".encode() * 1000
    for side in ("left", "right"):
        key = {"pk": {"S": thread}, "sk": {"S": f"{number:06}-{side}"}}
        assert "Item" in cloud.aws.dynamodb.get_item(TableName=cloud.table_name, Key=key)
    counter = cloud.aws.dynamodb.get_item(TableName=cloud.table_name, Key={"pk": {"S": thread}, "sk": {"S": "counter"}})
    assert int(counter["Item"]["n"]["N"]) > number
    if number:
        assert f"{thread}/deleted/{number - 1}" not in cloud.object_keys()


def test_a_full_disk_is_a_service_that_does_not_answer_until_there_is_room(tmp_path: Path) -> None:
    def put(cloud: Cloud, sk: str) -> None:
        cloud.aws.dynamodb.put_item(TableName=cloud.table_name, Item={"pk": {"S": "p"}, "sk": {"S": sk}})

    full, no_space = sqlite3.OperationalError("database or disk is full"), OSError(28, "No space left on device")
    with reopened(tmp_path) as cloud, patch("botocore.endpoint.time.sleep"):
        with patch.object(Journal, "save_items", side_effect=full), pytest.raises(HTTPClientError, match="is full"):
            put(cloud, "a")
        with patch.object(FileBlobs, "write", side_effect=no_space), pytest.raises(HTTPClientError, match="No space"):
            cloud.aws.s3.put_object(Bucket=cloud.bucket_name, Key="r7/k", Body=b"bytes")
        put(cloud, "b")
    with reopened(tmp_path) as cloud:
        assert [item["sk"]["S"] for item in cloud.items()] == ["a", "b"]
        assert cloud.object_keys() == []
