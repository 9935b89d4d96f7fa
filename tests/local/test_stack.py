"""The local run makes what the template says, and refuses what it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.local.emulator import Emulator
from infra.local.resources import make_resources
from infra.local.stack import TEMPLATE, QueueSource, Schedule, Stack
from infra.local.template import TemplateNotUnderstood
from shared.aws.clients import Aws
from tests.emulator.cloud import emulated_cloud

if TYPE_CHECKING:
    from pathlib import Path

SMALL = """
Parameters:
  Size: {Type: String, Default: small}
Mappings:
  Sizes: {small: {Memory: 256}, large: {Memory: 512}}
Conditions:
  IsLarge: !Equals [!Ref Size, large]
  IsSmall: !Not [!Condition IsLarge]
  Either: !Or [!Condition IsLarge, !Condition IsSmall]
  Both: !And [!Condition IsLarge, !Condition IsSmall]
Globals:
  Function:
    Timeout: 7
    MemorySize: !FindInMap [Sizes, !Ref Size, Memory]
    Environment: {Variables: {SHARED: yes, REGION: !Ref AWS::Region}}
Resources:
  Dead: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub "${AWS::StackName}-dead.fifo", FifoQueue: true}}
  Work:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
      QueueName: !Join ["-", [!Ref AWS::StackName, "work.fifo"]]
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}
  Never: {Type: AWS::SQS::Queue, Condition: Both, Properties: {QueueName: never}}
  Nested:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: nested.yaml, Parameters: {Kind: !If [IsLarge, big, !Ref AWS::NoValue]}}
  Api: {Type: AWS::Serverless::HttpApi, Properties: {StageName: v9}}
  Greet:
    Type: AWS::Serverless::Function
    Properties:
      Handler: greet.handler
      Environment:
        Variables:
          OWN: !Sub ["${A}/${Nested.Outputs.Bucket}/${!kept}", {A: !Select [1, !Split [",", "x,y"]]}]
          QUEUE: !Ref Work
          SOME: !If [Either, !GetAtt [Dead, QueueName], none]
      Events:
        Hello: {Type: HttpApi, Properties: {ApiId: !Ref Api, Method: get, Path: "/hello/{name}"}}
        Nightly: {Type: Schedule, Properties: {Schedule: rate(5 minutes), Input: '{"job":"sweep"}'}}
        Off: {Type: Schedule, Properties: {Schedule: rate(1 minute), Enabled: false}}
        Work:
          Type: SQS
          Properties:
            {Queue: !GetAtt Work.Arn, BatchSize: 3, FunctionResponseTypes: [ReportBatchItemFailures],
             ScalingConfig: {MaximumConcurrency: 5}}
Outputs:
  Kind: {Value: !GetAtt Nested.Outputs.Kind}
  Gone: {Condition: Both, Value: !Ref Never}
"""
NESTED = """
Parameters:
  Kind: {Type: String, Default: plain}
Resources:
  Bucket: {Type: AWS::S3::Bucket}
Outputs:
  Bucket: {Value: !Ref Bucket}
  Kind: {Value: !Ref Kind}
"""


def small_stack(folder: Path, template: str = SMALL, **parameters: str) -> Stack:
    (folder / "nested.yaml").write_text(NESTED)
    (folder / "template.yaml").write_text(template)
    return Stack(folder / "template.yaml", parameters, name="tiny")


def test_intrinsic_functions_conditions_and_nested_stacks_are_resolved(tmp_path: Path) -> None:
    stack = small_stack(tmp_path)
    (greet,) = stack.functions()
    assert greet.environment == {
        "SHARED": "true",
        "REGION": "eu-central-1",
        "OWN": "y/tiny-nested-bucket/${kept}",
        "QUEUE": "https://sqs.eu-central-1.amazonaws.com/123456789012/tiny-work.fifo",
        "SOME": "tiny-dead.fifo",
    }
    assert (greet.timeout, greet.memory, greet.handler) == (7, 256, "greet.handler")
    assert stack.outputs == {"Kind": "plain"}
    assert stack.stage == "v9"


def test_a_parameter_changes_what_depends_on_it(tmp_path: Path) -> None:
    stack = small_stack(tmp_path, Size="large")
    assert stack.functions()[0].memory == 512
    assert stack.outputs["Kind"] == "big"


def test_events_become_routes_and_schedules_that_are_on(tmp_path: Path) -> None:
    (greet,) = small_stack(tmp_path).functions()
    assert greet.routes == [("GET", "/hello/{name}")]
    assert greet.schedules == [Schedule("rate(5 minutes)", '{"job":"sweep"}')]


def test_a_queue_that_is_worked_off_is_known_by_address_and_width(tmp_path: Path) -> None:
    (greet,) = small_stack(tmp_path).functions()
    (source,) = greet.queues
    assert source == QueueSource(
        "https://sqs.eu-central-1.amazonaws.com/123456789012/tiny-work.fifo",
        "arn:aws:sqs:eu-central-1:123456789012:tiny-work.fifo",
        batch=3,
        width=5,
    )


def test_resources_whose_condition_fails_are_not_made(tmp_path: Path) -> None:
    names = {resource.name.rsplit("/", 1)[-1] for resource in small_stack(tmp_path).resources()}
    assert names == {"tiny-dead.fifo", "tiny-work.fifo", "tiny-nested-bucket"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Type: AWS::SQS::Queue, Condition: Both", "Type: AWS::Kinesis::Stream"),
        ("QueueName: never", "Surprise: 1"),
        ("Handler: greet.handler", "Handler: greet.handler\n      Surprise: 1"),
        ("Timeout: 7", "Surprise: 7"),
        ("Method: get", "Surprise: 1, Method: get"),
        ("Type: Schedule, Properties: {Schedule: rate(1 minute)", "Type: Sns, Properties: {Topic: x"),
        ("FunctionResponseTypes: [ReportBatchItemFailures],", ""),
        ("BatchSize: 3", "BatchSize: 3, FilterCriteria: {Filters: []}"),
        ("!Equals [!Ref Size, large]", "!Contains [!Ref Size, large]"),
        ("SHARED: yes", "SHARED: !Base64 yes"),
    ],
)
def test_what_the_local_run_does_not_know_is_refused(tmp_path: Path, old: str, new: str) -> None:
    assert old in SMALL
    stack = small_stack(tmp_path, SMALL.replace(old, new))
    with pytest.raises(TemplateNotUnderstood):
        assert [*stack.resources(), *stack.functions(), stack.outputs]


def test_an_unknown_parameter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateNotUnderstood):
        small_stack(tmp_path, Sise="large")


@pytest.mark.parametrize("parameters", [{}, {"Stage": "prod"}, {"SearchBackend": "domain"}])
def test_every_type_and_property_of_the_projects_templates_is_known(parameters: dict[str, str]) -> None:
    stack = Stack(TEMPLATE, parameters)
    assert list(stack.resources())
    assert {function.name for function in stack.functions()} >= {"ProjectsFunction", "PlatformFunction"}


def test_computed_names_are_those_that_the_emulator_gives() -> None:
    with emulated_cloud() as cloud:
        urls = cloud.aws.sqs.list_queues()["QueueUrls"]
        assert cloud.stack.outputs["QueueUrl"] in urls
        description = cloud.aws.dynamodb.describe_table(TableName=cloud.table_name)["Table"]
        assert description["TableArn"].endswith(f":123456789012:table/{cloud.table_name}")
        attributes = cloud.aws.sqs.get_queue_attributes(
            QueueUrl=cloud.stack.outputs["QueueUrl"], AttributeNames=["All"]
        )["Attributes"]
        assert attributes["FifoQueue"] == "true"
        assert "dead.fifo" in attributes["RedrivePolicy"]


def test_the_bucket_has_the_templates_lifecycle_encryption_and_privacy() -> None:
    with emulated_cloud() as cloud:
        s3, bucket = cloud.aws.s3, cloud.bucket_name
        rules = s3.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"]
        days = {rule["Filter"]["Prefix"]: rule["Expiration"]["Days"] for rule in rules if "Expiration" in rule}
        assert days == {"r7/": 10, "r30/": 33, "r90/": 93, "r365/": 368, "up/": 1}
        assert s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]["BlockPublicAcls"]
        encryption = s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"][0]
        assert encryption["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"


def test_the_table_has_the_templates_indexes_ttl_and_recovery() -> None:
    with emulated_cloud() as cloud:
        dynamodb, table = cloud.aws.dynamodb, cloud.table_name
        description = dynamodb.describe_table(TableName=table)["Table"]
        local = {index["IndexName"] for index in description["LocalSecondaryIndexes"]}
        assert local == {"by_l1", "by_l2", "by_l3"}
        assert [index["IndexName"] for index in description["GlobalSecondaryIndexes"]] == ["due"]
        assert description["SSEDescription"]["SSEType"] == "KMS"
        ttl = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        assert (ttl["TimeToLiveStatus"], ttl["AttributeName"]) == ("ENABLED", "ttl")
        backups = dynamodb.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
        assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"


def test_two_stacks_live_side_by_side_and_stopping_forgets_them(tmp_path: Path) -> None:
    with Emulator():
        aws = Aws({})
        for name in ("one", "two"):
            make_resources(Stack(TEMPLATE, name=name), aws)
        assert len(aws.dynamodb.list_tables()["TableNames"]) == 2
    with Emulator():
        assert Aws({}).dynamodb.list_tables()["TableNames"] == []
