"""Makes what the template describes, by plain boto3 calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from infra.local.stack import REGION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from infra.local.stack import Resource, Stack
    from shared.aws.clients import Aws


def make_resources(stack: Stack, aws: Aws) -> None:
    """Make bucket, table and queues of `stack`, with everything that the template says of them."""
    for resource in sorted(stack.resources(), key=lambda r: "RedrivePolicy" in r.properties):
        _MAKERS[resource.type](aws, resource)


def _make_bucket(aws: Aws, bucket: Resource) -> None:
    s3: Any = aws.s3
    p = bucket.properties
    s3.create_bucket(Bucket=bucket.name, CreateBucketConfiguration={"LocationConstraint": REGION})
    if "OwnershipControls" in p:
        s3.put_bucket_ownership_controls(Bucket=bucket.name, OwnershipControls=p["OwnershipControls"])
    if "VersioningConfiguration" in p:
        s3.put_bucket_versioning(Bucket=bucket.name, VersioningConfiguration=p["VersioningConfiguration"])
    if "CorsConfiguration" in p:
        s3.put_bucket_cors(Bucket=bucket.name, CORSConfiguration=p["CorsConfiguration"])
    if "PublicAccessBlockConfiguration" in p:
        block = p["PublicAccessBlockConfiguration"]
        s3.put_public_access_block(Bucket=bucket.name, PublicAccessBlockConfiguration=block)
    if "BucketEncryption" in p:
        rules = [_encryption(rule) for rule in p["BucketEncryption"]["ServerSideEncryptionConfiguration"]]
        s3.put_bucket_encryption(Bucket=bucket.name, ServerSideEncryptionConfiguration={"Rules": rules})
    if "LifecycleConfiguration" in p:
        rules = [lifecycle_rule(rule) for rule in p["LifecycleConfiguration"]["Rules"]]
        s3.put_bucket_lifecycle_configuration(Bucket=bucket.name, LifecycleConfiguration={"Rules": rules})


def _encryption(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {
        ("ApplyServerSideEncryptionByDefault" if k == "ServerSideEncryptionByDefault" else k): rule[k] for k in rule
    }


def lifecycle_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule of the template (Prefix, ExpirationInDays, …) in the words of the S3 API."""
    made: dict[str, Any] = {"ID": rule["Id"], "Status": rule["Status"], "Filter": {"Prefix": rule["Prefix"]}}
    rest = dict(rule)
    for name in ("Id", "Status", "Prefix"):
        del rest[name]
    if "ExpirationInDays" in rest:
        made["Expiration"] = {"Days": rest.pop("ExpirationInDays")}
    return made | rest


def _make_table(aws: Aws, table: Resource) -> None:
    dynamodb: Any = aws.dynamodb
    p = dict(table.properties)
    p.pop("TableName", None)
    ttl, recovery = p.pop("TimeToLiveSpecification", None), p.pop("PointInTimeRecoverySpecification", None)
    if "SSESpecification" in p:
        p["SSESpecification"] = {("Enabled" if k == "SSEEnabled" else k): v for k, v in p["SSESpecification"].items()}
    dynamodb.create_table(TableName=table.name, **p)
    if ttl:
        dynamodb.update_time_to_live(TableName=table.name, TimeToLiveSpecification=ttl)
    if recovery:
        dynamodb.update_continuous_backups(TableName=table.name, PointInTimeRecoverySpecification=recovery)


def _make_queue(aws: Aws, queue: Resource) -> None:
    left_out = {"QueueName", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds"}
    attributes = {key: _attribute(value) for key, value in queue.properties.items() if key not in left_out}
    aws.sqs.create_queue(QueueName=queue.name.rsplit("/", 1)[-1], Attributes=attributes)  # type: ignore[arg-type]


def _attribute(value: Any) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


_MAKERS: Mapping[str, Callable[[Aws, Resource], None]] = {
    "AWS::S3::Bucket": _make_bucket,
    "AWS::DynamoDB::Table": _make_table,
    "AWS::SQS::Queue": _make_queue,
}
