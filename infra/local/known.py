"""What of the template the local run makes, and what it knowingly leaves out.

Anything else in a template raises `TemplateNotUnderstood`: nothing is dropped silently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.local.template import TemplateNotUnderstood

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MADE: Mapping[str, frozenset[str]] = {
    "AWS::S3::Bucket": frozenset(
        {"BucketName", "BucketEncryption", "LifecycleConfiguration", "OwnershipControls"}
        | {"PublicAccessBlockConfiguration", "CorsConfiguration", "VersioningConfiguration"}
    ),
    "AWS::DynamoDB::Table": frozenset(
        {"TableName", "AttributeDefinitions", "KeySchema", "BillingMode", "DeletionProtectionEnabled"}
        | {"GlobalSecondaryIndexes", "LocalSecondaryIndexes", "SSESpecification"}
        | {"PointInTimeRecoverySpecification", "TimeToLiveSpecification"}
    ),
    "AWS::SQS::Queue": frozenset(
        {"QueueName", "FifoQueue", "DeduplicationScope", "FifoThroughputLimit", "ContentBasedDeduplication"}
        | {"MessageRetentionPeriod", "VisibilityTimeout", "RedrivePolicy", "RedriveAllowPolicy", "DelaySeconds"}
        | {"ReceiveMessageWaitTimeSeconds", "MaximumMessageSize"}
    ),
    "AWS::CloudFormation::Stack": frozenset({"TemplateURL", "Parameters"}),
    "AWS::Serverless::Application": frozenset({"Location", "Parameters"}),
    "AWS::Serverless::Function": frozenset({"Handler", "Environment", "Events", "MemorySize", "Timeout"}),
    "AWS::Serverless::HttpApi": frozenset({"StageName"}),
    "event HttpApi": frozenset({"ApiId", "Method", "Path"}),
    "event Schedule": frozenset({"Schedule", "Input", "Enabled"}),
    "event SQS": frozenset({"Queue", "BatchSize", "FunctionResponseTypes", "ScalingConfig"}),
}

_ARTIFACT = "the functions run from the source tree"
_KEY = "nothing is encrypted on this machine"
_NAMES = "says nothing about behaviour"
_TRACES = "nobody collects traces or logs here"
_LIMITS = "one user needs no throttle"

LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    "AWS::SQS::Queue": {"KmsMasterKeyId": _KEY, "KmsDataKeyReusePeriodSeconds": _KEY, "Tags": _NAMES},
    "AWS::S3::Bucket": {"Tags": _NAMES},
    "AWS::DynamoDB::Table": {"Tags": _NAMES},
    "AWS::CloudFormation::Stack": {"Tags": _NAMES},
    "AWS::Serverless::Application": {"Tags": _NAMES},
    "AWS::Serverless::Function": {
        "Runtime": _ARTIFACT,
        "Architectures": _ARTIFACT,
        "CodeUri": _ARTIFACT,
        "PackageType": _ARTIFACT,
        "Description": _NAMES,
        "FunctionName": _NAMES,
        "Tags": _NAMES,
        "Role": "the process has all rights on its own emulator; the template's tests read the policies",
        "Policies": "the process has all rights on its own emulator; the template's tests read the policies",
        "Tracing": _TRACES,
        "LoggingConfig": _TRACES,
        "EventInvokeConfig": "the next schedule is the retry, here too",
    },
    "AWS::Serverless::HttpApi": {
        "Name": _NAMES,
        "Description": _NAMES,
        "Tags": _NAMES,
        "AccessLogSettings": _TRACES,
        "Auth": "the functions check keys; the template's tests see to it that there is no authorizer",
        "DefaultRouteSettings": _LIMITS,
        "RouteSettings": _LIMITS,
        "DisableExecuteApiEndpoint": _NAMES,
    },
    "event HttpApi": {
        "TimeoutInMillis": "the function's own time-out holds",
        "RouteSettings": _LIMITS,
        "PayloadFormatVersion": "2.0 is the only format made",
    },
    "event SQS": {"Enabled": "the local run always has search, and so work"},
    "event Schedule": {"Name": _NAMES, "Description": _NAMES, "RetryPolicy": "the next run is the retry"},
}

LEFT_OUT_TYPES: Mapping[str, str] = {
    "AWS::KMS::Key": _KEY,
    "AWS::KMS::Alias": _KEY,
    "AWS::IAM::Role": "there are no identities on one machine; the template's tests read the policies",
    "AWS::IAM::ManagedPolicy": "there are no identities on one machine",
    "AWS::IAM::Policy": "there are no identities on one machine",
    "AWS::S3::BucketPolicy": "demands TLS, which a process does not speak with itself",
    "AWS::SQS::QueuePolicy": "demands TLS, which a process does not speak with itself",
    "AWS::Logs::LogGroup": _TRACES,
    "AWS::Logs::MetricFilter": _TRACES,
    "AWS::Logs::QueryDefinition": _TRACES,
    "AWS::CloudWatch::Alarm": "nobody is on call for one machine",
    "AWS::CloudWatch::CompositeAlarm": "nobody is on call for one machine",
    "AWS::CloudWatch::Dashboard": "nobody is on call for one machine",
    "AWS::SNS::Topic": "nobody is on call for one machine",
    "AWS::SNS::TopicPolicy": "nobody is on call for one machine",
    "AWS::SNS::Subscription": "nobody is on call for one machine",
    "AWS::OpenSearchService::Domain": "the local run searches in its embedded index",
    "AWS::Lambda::Permission": "the local run invokes the functions itself",
}


def check_type(name: str, kind: str) -> bool:
    """Tell whether resources of `kind` are made; TemplateNotUnderstood when the kind is new."""
    if kind not in MADE and kind not in LEFT_OUT_TYPES:
        raise TemplateNotUnderstood(f"{name}: {kind} is neither made nor knowingly left out (infra/local/known.py)")
    return kind in MADE


def check_properties(name: str, kind: str, properties: Iterable[str]) -> None:
    """Raise TemplateNotUnderstood when a property of a kind that is made is new."""
    left_out: Mapping[str, Any] = LEFT_OUT.get(kind, {})
    unknown = sorted(set(properties) - MADE[kind] - set(left_out))
    if unknown:
        raise TemplateNotUnderstood(
            f"{name}: {kind} has {', '.join(unknown)}, which infra/local/known.py does not know"
        )
