from typing import Any

from shared.retention.records import DAYS, KEEP, SLACK_DAYS, UPLOADS, class_of
from tests.template.stack import Stack


def rules(data: Stack) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data.of_type("AWS::S3::Bucket")["Bucket"]["LifecycleConfiguration"]["Rules"]
    return found


def table(data: Stack) -> dict[str, Any]:
    return data.of_type("AWS::DynamoDB::Table")["Table"]


def keys_of(index: dict[str, Any]) -> list[tuple[str, str]]:
    return [(key["AttributeName"], key["KeyType"]) for key in index["KeySchema"]]


def test_objects_are_encrypted_with_the_key_of_the_stack(data: Stack) -> None:
    (rule,) = data.of_type("AWS::S3::Bucket")["Bucket"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "<Key.Arn>"}
    assert rule["BucketKeyEnabled"] is True


def test_the_bucket_can_not_be_made_public(data: Stack) -> None:
    bucket = data.of_type("AWS::S3::Bucket")["Bucket"]
    assert bucket["PublicAccessBlockConfiguration"] == {
        "BlockPublicAcls": True,
        "BlockPublicPolicy": True,
        "IgnorePublicAcls": True,
        "RestrictPublicBuckets": True,
    }
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]


def test_the_bucket_refuses_what_does_not_come_over_tls(data: Stack) -> None:
    policy = data.of_type("AWS::S3::BucketPolicy")["BucketPolicy"]
    plain = next(s for s in policy["PolicyDocument"]["Statement"] if s["Sid"] == "TlsOnly")
    assert policy["Bucket"] == "<Bucket>"
    assert (plain["Effect"], plain["Principal"], plain["Action"]) == ("Deny", "*", "s3:*")
    assert plain["Resource"] == ["<Bucket.Arn>", "<Bucket.Arn>/*"]
    assert plain["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_every_retention_class_expires_three_days_after_its_days(data: Stack) -> None:
    expiry = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules(data) if "ExpirationInDays" in rule}
    assert expiry == {f"{class_of(days)}/": days + SLACK_DAYS for days in DAYS} | {f"{UPLOADS}/": 1}
    assert all(rule["Status"] == "Enabled" for rule in rules(data))


def test_what_is_kept_never_expires(data: Stack) -> None:
    for rule in rules(data):
        if "ExpirationInDays" in rule:
            assert rule["Prefix"]
            assert not f"{KEEP}/".startswith(rule["Prefix"])


def test_unfinished_multipart_uploads_are_aborted_after_a_day_everywhere(data: Stack) -> None:
    (rule,) = [rule for rule in rules(data) if "AbortIncompleteMultipartUpload" in rule]
    assert rule["Prefix"] == ""
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}


def test_objects_have_no_versions_that_would_outlive_an_erasure(data: Stack) -> None:
    assert "VersioningConfiguration" not in data.of_type("AWS::S3::Bucket")["Bucket"]


def test_the_table_has_its_keys_and_the_indexes_that_can_not_be_added_later(data: Stack) -> None:
    local = {
        i["IndexName"]: (keys_of(i), i["Projection"]["ProjectionType"]) for i in table(data)["LocalSecondaryIndexes"]
    }
    assert keys_of(table(data)) == [("pk", "HASH"), ("sk", "RANGE")]
    assert local == {
        "by_l1": ([("pk", "HASH"), ("l1", "RANGE")], "ALL"),
        "by_l2": ([("pk", "HASH"), ("l2", "RANGE")], "KEYS_ONLY"),
        "by_l3": ([("pk", "HASH"), ("l3", "RANGE")], "ALL"),
    }


def test_the_only_global_index_is_the_sweepers_work_list(data: Stack) -> None:
    (index,) = table(data)["GlobalSecondaryIndexes"]
    assert (index["IndexName"], keys_of(index)) == ("due", [("due", "HASH")])
    assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}


def test_the_table_is_paid_by_request_recoverable_and_encrypted(data: Stack) -> None:
    assert table(data)["BillingMode"] == "PAY_PER_REQUEST"
    assert table(data)["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table(data)["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert table(data)["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": "<Key.Arn>"}


def test_deleting_the_stack_deletes_neither_bucket_nor_table_nor_key(stack: Stack, data: Stack) -> None:
    kept = [stack.resources["Data"], *(data.resources[name] for name in ("Key", "Bucket", "BucketPolicy", "Table"))]
    assert {resource["DeletionPolicy"] for resource in kept} <= {"Retain", "RetainExceptOnCreate"}
    assert {resource["UpdateReplacePolicy"] for resource in kept} == {"Retain"}


def test_names_are_left_to_cloudformation_so_that_a_kept_bucket_never_blocks_a_new_stack(data: Stack) -> None:
    assert "BucketName" not in data.of_type("AWS::S3::Bucket")["Bucket"]
    assert "TableName" not in table(data)


def test_in_prod_the_table_is_also_protected_from_a_single_call(data: Stack, prod: Stack) -> None:
    assert table(data)["DeletionProtectionEnabled"] is False
    assert table(prod.nested("Data"))["DeletionProtectionEnabled"] is True


def test_a_restored_table_takes_the_place_of_the_own_one_which_stays(stack: Stack) -> None:
    data = Stack(stack.nested("Data").template, {"Stage": "prod", "StackName": "lodestore-prod", "TableName": "back"})
    assert data.outputs["TableName"] == "back"
    assert data.outputs["TableArn"] == "arn:aws:dynamodb:eu-central-1:111122223333:table/back"
    assert "Table" in data.resources


def test_the_key_rotates(data: Stack) -> None:
    assert data.of_type("AWS::KMS::Key")["Key"]["EnableKeyRotation"] is True


def test_the_key_encrypts_for_the_log_groups_of_this_stack_alone(data: Stack) -> None:
    statements = data.of_type("AWS::KMS::Key")["Key"]["KeyPolicy"]["Statement"]
    logs = next(s for s in statements if s["Sid"] == "LogGroupsOfThisStack")
    assert logs["Principal"] == {"Service": "logs.eu-central-1.amazonaws.com"}
    groups = "arn:aws:logs:eu-central-1:111122223333:log-group:/lodestore/lodestore-dev/*"
    assert logs["Condition"] == {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}}
