"""Time as the tests move it: S3's clock, its lifecycle rules, and DynamoDB's time to live."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.kernel.clock import Clock
    from tests.emulator.cloud import Cloud

DAY = timedelta(days=1)


@contextmanager
def s3_clock(clock: Clock) -> Iterator[None]:
    """Let S3 date what is written by `clock`."""

    def now() -> datetime:
        return datetime.fromtimestamp(clock.now_ms() / 1000, UTC).replace(tzinfo=None)

    with patch("moto.s3.models.utcnow", now):
        yield


def expire_objects(cloud: Cloud, now_ms: int) -> list[str]:
    """Remove what the bucket's lifecycle rules have let expire by `now_ms`, and return the keys.

    S3 adds the rule's days to an object's writing and rounds up to the next midnight UTC.
    """
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    s3, bucket = cloud.aws.s3, cloud.bucket_name
    rules = s3.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"]
    days = [(rule["Filter"]["Prefix"], rule["Expiration"]["Days"]) for rule in rules if "Expiration" in rule]
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    listed: list[Any] = [found for page in pages for found in page.get("Contents", [])]
    expired = [o["Key"] for o in listed if any(_is_over(o, prefix, count, now) for prefix, count in days)]
    for key in expired:
        s3.delete_object(Bucket=bucket, Key=key)
    return expired


def _is_over(listed: Any, prefix: str, days: int, now: datetime) -> bool:
    if not listed["Key"].startswith(prefix):
        return False
    end = listed["LastModified"] + timedelta(days=days)
    midnight = end.replace(hour=0, minute=0, second=0, microsecond=0)
    return bool(now >= (midnight if midnight == end else midnight + DAY))


def expire_items(cloud: Cloud, now_ms: int) -> int:
    """Remove the items whose time to live is over by `now_ms`, and return how many."""
    ttl = cloud.aws.dynamodb.describe_time_to_live(TableName=cloud.table_name)["TimeToLiveDescription"]
    name = ttl["AttributeName"]
    over = [item for item in cloud.items() if name in item and int(item[name]["N"]) < now_ms // 1000]
    for item in over:
        key = {"pk": item["pk"], "sk": item["sk"]}
        cloud.aws.dynamodb.delete_item(TableName=cloud.table_name, Key=key)
    return len(over)
