"""What holds of every resource of its kind, in every way the stack can be deployed."""

from collections.abc import Iterator
from typing import Any

from tests.template.stack import Stack
from tests.template.test_policies import listed, statements

KEYS = ("<Key.Arn>", "<Data.Outputs.KeyArn>")
RETAINED = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
DELETED = {"DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete"}

# Kinds that keep something, and what becomes of them. An index is made anew of the table; messages repeat what it says.
KEEPING = {
    "AWS::DynamoDB::Table": RETAINED,
    "AWS::KMS::Key": RETAINED,
    "AWS::S3::Bucket": RETAINED,
    "AWS::Logs::LogGroup": DELETED,
    "AWS::OpenSearchService::Domain": DELETED,
    "AWS::SQS::Queue": DELETED,
}


def of_kind(stack: Stack, kind: str) -> dict[str, dict[str, Any]]:
    """Return the properties of all resources of a kind, nested ones too, by the names that references have."""
    found = {n.rpartition("/")[2]: r for n, r in stack.everything().items() if r["Type"] == kind}
    return {name: resource.get("Properties", {}) for name, resource in found.items()}


def keys_of(stack: Stack) -> Iterator[tuple[str, Any]]:
    """Yield the key of whatever keeps data or carries it, by name."""
    for name, bucket in of_kind(stack, "AWS::S3::Bucket").items():
        for rule in bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]:
            yield name, rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"]
    for name, table in of_kind(stack, "AWS::DynamoDB::Table").items():
        yield name, table["SSESpecification"]["KMSMasterKeyId"]
    for kind in ("AWS::SQS::Queue", "AWS::SNS::Topic"):
        yield from ((name, made.get("KmsMasterKeyId")) for name, made in of_kind(stack, kind).items())
    yield from ((name, group.get("KmsKeyId")) for name, group in of_kind(stack, "AWS::Logs::LogGroup").items())
    for name, domain in of_kind(stack, "AWS::OpenSearchService::Domain").items():
        yield name, domain["EncryptionAtRestOptions"]["KmsKeyId"]


def refusing_plain(stack: Stack, kind: str) -> set[str]:
    """Return the resources that are denied to everybody who comes without TLS, by policies of a kind."""
    denials = [
        s
        for policy in of_kind(stack, kind).values()
        for s in policy["PolicyDocument"]["Statement"]
        if (s["Effect"], s["Principal"]) == ("Deny", "*")
        if s["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    ]
    return {resource for s in denials for resource in listed(s["Resource"])}


def test_whatever_keeps_or_carries_data_is_encrypted_with_the_key_of_the_stack(any_stack: Stack) -> None:
    assert not [(name, key) for name, key in keys_of(any_stack) if key not in KEYS]
    encrypted = {name for name, _ in keys_of(any_stack)}
    for kind in set(KEEPING) - {"AWS::KMS::Key"}:
        assert set(of_kind(any_stack, kind)) <= encrypted


def test_every_bucket_queue_and_topic_refuses_what_does_not_come_over_tls(any_stack: Stack) -> None:
    buckets = {f"<{name}.Arn>{of}" for name in of_kind(any_stack, "AWS::S3::Bucket") for of in ("", "/*")}
    assert refusing_plain(any_stack, "AWS::S3::BucketPolicy") == buckets
    assert refusing_plain(any_stack, "AWS::SQS::QueuePolicy") == {
        f"<{name}.Arn>" for name in of_kind(any_stack, "AWS::SQS::Queue")
    }
    assert refusing_plain(any_stack, "AWS::SNS::TopicPolicy") == {
        f"<{name}>" for name in of_kind(any_stack, "AWS::SNS::Topic")
    }


def test_the_bucket_refuses_tls_before_1_2(data: Stack) -> None:
    policy = data.of_type("AWS::S3::BucketPolicy")["BucketPolicy"]["PolicyDocument"]
    (old,) = [s for s in policy["Statement"] if s["Sid"] == "ModernTlsOnly"]
    assert (old["Effect"], old["Principal"], old["Action"]) == ("Deny", "*", "s3:*")
    assert old["Resource"] == ["<Bucket.Arn>", "<Bucket.Arn>/*"]
    assert old["Condition"] == {"NumericLessThan": {"s3:TlsVersion": "1.2"}}


def test_every_bucket_blocks_the_public(any_stack: Stack) -> None:
    for bucket in of_kind(any_stack, "AWS::S3::Bucket").values():
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert len(bucket["PublicAccessBlockConfiguration"]) == len(("acls", "policies", "ignore", "restrict"))


def test_functions_are_called_by_the_stacks_own_api_and_schedules_alone(any_stack: Stack) -> None:
    rules = {f"<{name}.Arn>" for name in any_stack.of_type("AWS::Events::Rule")}
    for name, permission in any_stack.of_type("AWS::Lambda::Permission").items():
        own = {"apigateway.amazonaws.com": ":<Api>/", "events.amazonaws.com": permission["SourceArn"]}
        assert own[permission["Principal"]] in permission["SourceArn"], name
        assert "apigateway" in permission["Principal"] or permission["SourceArn"] in rules
    assert not of_kind(any_stack, "AWS::Lambda::Url")


def test_what_keeps_something_says_what_becomes_of_it_when_it_goes_or_is_replaced(any_stack: Stack) -> None:
    for name, resource in any_stack.everything().items():
        if fate := KEEPING.get(resource["Type"]):
            assert {policy: resource.get(policy) for policy in fate} == fate, name


def test_a_nested_stack_is_kept_as_long_as_what_it_holds(any_stack: Stack) -> None:
    for name in any_stack.of_type("AWS::CloudFormation::Stack"):
        inside = any_stack.nested(name).resources.values()
        fate = RETAINED if any(KEEPING.get(r["Type"]) == RETAINED for r in inside) else DELETED
        assert {policy: any_stack.resources[name].get(policy) for policy in fate} == fate, name


def test_every_function_is_traced_and_may_send_its_traces(any_stack: Stack) -> None:
    for name, function in any_stack.of_type("AWS::Lambda::Function").items():
        granted = {a for s in statements(any_stack, function["Role"][1:-5]) for a in listed(s["Action"])}
        assert function["TracingConfig"] == {"Mode": "Active"}, name
        assert granted >= {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, name


def test_all_logs_are_kept_as_long_as_the_deployment_says(any_stack: Stack) -> None:
    asked = Stack(any_stack.template, any_stack.parameters | {"LogRetentionDays": 7})
    assert {group["RetentionInDays"] for group in of_kind(asked, "AWS::Logs::LogGroup").values()} == {7}
    groups = {f"<{name}>" for name in of_kind(asked, "AWS::Logs::LogGroup")}
    assert {f["LoggingConfig"]["LogGroup"] for f in of_kind(asked, "AWS::Lambda::Function").values()} <= groups
