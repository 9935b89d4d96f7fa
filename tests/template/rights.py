"""What the resources of the stack are called in AWS, and what making them takes: what rights are measured by."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from tests.template.test_policies import listed

IN_REGION = "eu-central-1:111122223333"
# What CloudFormation calls to make, change, read and remove one; from each type's published handlers.
RIGHTS = {
    "AWS::ApiGatewayV2::Api": "apigateway:DELETE apigateway:GET apigateway:PATCH apigateway:POST apigateway:PUT",
    "AWS::ApiGatewayV2::Stage": "apigateway:DELETE apigateway:GET apigateway:PATCH apigateway:POST apigateway:PUT",
    "AWS::CloudFormation::Stack": "cloudformation:CreateStack cloudformation:DeleteStack cloudformation:DescribeStacks "
    "cloudformation:UpdateStack",
    "AWS::CloudWatch::Alarm": "cloudwatch:DeleteAlarms cloudwatch:DescribeAlarms cloudwatch:PutMetricAlarm "
    "cloudwatch:ListTagsForResource cloudwatch:TagResource cloudwatch:UntagResource",
    "AWS::CloudWatch::Dashboard": "cloudwatch:DeleteDashboards cloudwatch:GetDashboard cloudwatch:PutDashboard",
    "AWS::DynamoDB::Table": "dynamodb:CreateTable dynamodb:DeleteTable dynamodb:DescribeContinuousBackups "
    "dynamodb:DescribeTable dynamodb:DescribeTimeToLive dynamodb:ListTagsOfResource dynamodb:TagResource "
    "dynamodb:UpdateContinuousBackups dynamodb:UpdateTable dynamodb:UpdateTimeToLive",
    "AWS::Events::Rule": "events:DeleteRule events:DescribeRule events:ListTargetsByRule events:PutRule "
    "events:PutTargets events:RemoveTargets events:TagResource",
    "AWS::IAM::Role": "iam:CreateRole iam:DeleteRole iam:DeleteRolePolicy iam:GetRole iam:GetRolePolicy "
    "iam:ListAttachedRolePolicies iam:ListRolePolicies iam:PassRole iam:PutRolePermissionsBoundary iam:PutRolePolicy "
    "iam:TagRole iam:UntagRole iam:UpdateAssumeRolePolicy iam:UpdateRole",
    "AWS::KMS::Key": "kms:CreateGrant kms:CreateKey kms:Decrypt kms:DescribeKey kms:DisableKey kms:DisableKeyRotation "
    "kms:EnableKey kms:EnableKeyRotation kms:GenerateDataKey kms:GetKeyPolicy kms:GetKeyRotationStatus "
    "kms:ListResourceTags kms:PutKeyPolicy kms:ScheduleKeyDeletion kms:TagResource kms:UntagResource "
    "kms:UpdateKeyDescription",
    "AWS::Lambda::EventInvokeConfig": "lambda:DeleteFunctionEventInvokeConfig lambda:GetFunctionEventInvokeConfig "
    "lambda:PutFunctionEventInvokeConfig lambda:UpdateFunctionEventInvokeConfig",
    "AWS::Lambda::EventSourceMapping": "lambda:CreateEventSourceMapping lambda:DeleteEventSourceMapping "
    "lambda:GetEventSourceMapping lambda:ListTags lambda:TagResource lambda:UpdateEventSourceMapping",
    "AWS::Lambda::Function": "lambda:CreateFunction lambda:DeleteFunction lambda:GetFunction lambda:ListTags "
    "lambda:GetFunctionCodeSigningConfig lambda:GetRuntimeManagementConfig lambda:TagResource lambda:UntagResource "
    "lambda:UpdateFunctionCode lambda:UpdateFunctionConfiguration",
    "AWS::Lambda::Permission": "lambda:AddPermission lambda:GetPolicy lambda:RemovePermission",
    "AWS::Logs::LogGroup": "logs:AssociateKmsKey logs:CreateLogGroup logs:DeleteLogGroup logs:DeleteRetentionPolicy "
    "logs:DescribeLogGroups logs:DisassociateKmsKey logs:ListTagsForResource logs:PutRetentionPolicy logs:TagResource",
    "AWS::Logs::MetricFilter": "logs:DeleteMetricFilter logs:DescribeMetricFilters logs:PutMetricFilter",
    "AWS::OpenSearchService::Domain": "es:AddTags es:CreateDomain es:DeleteDomain es:DescribeDomain es:ListTags "
    "es:DescribeDomainChangeProgress es:RemoveTags es:UpdateDomainConfig es:UpgradeDomain",
    "AWS::S3::Bucket": "s3:CreateBucket s3:DeleteBucket s3:GetBucketOwnershipControls s3:GetBucketPublicAccessBlock "
    "s3:GetEncryptionConfiguration s3:GetLifecycleConfiguration s3:ListBucket s3:PutBucketOwnershipControls "
    "s3:PutBucketPublicAccessBlock s3:PutBucketTagging s3:PutEncryptionConfiguration s3:PutLifecycleConfiguration",
    "AWS::S3::BucketPolicy": "s3:DeleteBucketPolicy s3:GetBucketPolicy s3:PutBucketPolicy",
    "AWS::SNS::Topic": "sns:CreateTopic sns:DeleteTopic sns:GetTopicAttributes sns:ListSubscriptionsByTopic "
    "sns:ListTagsForResource sns:SetTopicAttributes sns:Subscribe sns:TagResource sns:Unsubscribe",
    "AWS::SNS::TopicPolicy": "sns:GetTopicAttributes sns:SetTopicAttributes",
    "AWS::SQS::Queue": "sqs:CreateQueue sqs:DeleteQueue sqs:GetQueueAttributes sqs:GetQueueUrl sqs:ListQueueTags "
    "sqs:SetQueueAttributes sqs:TagQueue sqs:UntagQueue",
    "AWS::SQS::QueuePolicy": "sqs:GetQueueAttributes sqs:SetQueueAttributes",
}

# Why a statement's resources do not say the stack's name.
UNNAMED = {
    ("Boundary", "Key"): "KMS draws ids; bound to the three services",
    ("Boundary", "Models"): "models belong to no stack",
    ("Boundary", "Traces"): "X-Ray knows no resources",
    ("Role", "RoleOfApiGateway"): "one in an account, for one service",
    ("Role", "Polling"): "a mapping is made before it has an id; bound to the functions",
    ("Role", "PollingIsRead"): "Lambda draws ids; reads and tags alone",
    ("Role", "Api"): "API Gateway draws ids",
    ("RightsOverData", "NewKey"): "a key is made before it has an id; bound to its tag",
    ("RightsOverData", "NewKeysTag"): "KMS draws ids; bound to the tag",
    ("RightsOverData", "NewKeysSettings"): "KMS draws ids, and may not know a new key's tag yet",
    ("RightsOverData", "OwnKey"): "KMS draws ids; bound to the tag",
    ("RightsOverData", "KeyOfTableAndDomain"): "KMS draws ids; bound to the two services",
    ("RightsOverMonitoring", "LogDelivery"): "these actions know no resources",
    ("Caller", "SamsTransform"): "AWS's own",
    ("Caller", "SamsBucket"): "SAM's own stack; read alone",
    ("Caller", "AbsentIsNotForbidden"): "SAM's own bucket; the names of its objects",
    ("Caller", "TheRole"): "the one role",
}
# What also reaches a stack whose name begins with this one's and a hyphen.
BEGINNING = {("Boundary", "Records"), ("RightsOverMonitoring", "Alarms")}
# Everything, where even an ARN can't be told.
STARS = {
    ("Boundary", "Traces"),
    ("Role", "Polling"),
    ("RightsOverData", "NewKey"),
    ("RightsOverMonitoring", "LogDelivery"),
}


def permits(allowing: Iterable[dict[str, Any]], action: str, arn: str) -> bool:
    """Tell whether an action on a resource is allowed, wherever it comes from and whatever it is told."""
    return any(
        action in listed(s["Action"]) and any(fnmatchcase(arn, pattern) for pattern in listed(s["Resource"]))
        for s in allowing
    )


def name_of(stack: str, name: str) -> str:
    """Return the name that CloudFormation makes up for a resource, of a nested stack too."""
    return "-".join([stack, *(f"{part}-1A2B3C4D5E6F7" for part in name.split("/"))])


def arn_of(stack: str, name: str, resource: dict[str, Any]) -> str:
    """Return what a resource of a stack is called in AWS; of what belongs to another resource, that one."""
    told, made_up = resource.get("Properties", {}), name_of(stack, name)
    function = name_of(stack, str(told.get("FunctionName", "")).strip("<>"))
    arns = {
        "AWS::ApiGatewayV2::Api": "arn:aws:apigateway:eu-central-1::/apis/a1b2c3",
        "AWS::ApiGatewayV2::Stage": "arn:aws:apigateway:eu-central-1::/apis/a1b2c3/stages/$default",
        "AWS::CloudFormation::Stack": f"arn:aws:cloudformation:{IN_REGION}:stack/{made_up}/4f1c2a3b",
        "AWS::CloudWatch::Alarm": f"arn:aws:cloudwatch:{IN_REGION}:alarm:{told.get('AlarmName')}",
        "AWS::CloudWatch::Dashboard": f"arn:aws:cloudwatch::111122223333:dashboard/{told.get('DashboardName')}",
        "AWS::DynamoDB::Table": f"arn:aws:dynamodb:{IN_REGION}:table/{made_up}",
        "AWS::Events::Rule": f"arn:aws:events:{IN_REGION}:rule/{made_up}",
        "AWS::IAM::Role": f"arn:aws:iam::111122223333:role/{made_up}",
        "AWS::KMS::Key": f"arn:aws:kms:{IN_REGION}:key/1234abcd",
        "AWS::Lambda::EventInvokeConfig": f"arn:aws:lambda:{IN_REGION}:function:{function}",
        "AWS::Lambda::EventSourceMapping": f"arn:aws:lambda:{IN_REGION}:event-source-mapping:1234abcd",
        "AWS::Lambda::Function": f"arn:aws:lambda:{IN_REGION}:function:{made_up}",
        "AWS::Lambda::Permission": f"arn:aws:lambda:{IN_REGION}:function:{function}",
        "AWS::Logs::LogGroup": f"arn:aws:logs:{IN_REGION}:log-group:{told.get('LogGroupName')}",
        "AWS::Logs::MetricFilter": f"arn:aws:logs:{IN_REGION}:log-group:/lodestore/{stack}/projects",
        "AWS::OpenSearchService::Domain": f"arn:aws:es:{IN_REGION}:domain/{told.get('DomainName')}",
        "AWS::S3::Bucket": f"arn:aws:s3:::{made_up.lower()}",
        "AWS::S3::BucketPolicy": f"arn:aws:s3:::{name_of(stack, 'Data/Bucket').lower()}",
        "AWS::SNS::Topic": f"arn:aws:sns:{IN_REGION}:{made_up}",
        "AWS::SNS::TopicPolicy": f"arn:aws:sns:{IN_REGION}:{name_of(stack, 'Monitoring/Topic')}",
        "AWS::SQS::Queue": f"arn:aws:sqs:{IN_REGION}:{told.get('QueueName')}",
        "AWS::SQS::QueuePolicy": f"arn:aws:sqs:{IN_REGION}:{stack}-work.fifo",
    }
    return arns[resource["Type"]]


MEANT = {
    "<Data.Outputs.TableArn>": f"arn:aws:dynamodb:{IN_REGION}:table/{name_of('lodestore-dev', 'Data/Table')}",
    "<Data.Outputs.BucketArn>": f"arn:aws:s3:::{name_of('lodestore-dev', 'Data/Bucket').lower()}",
    "<Data.Outputs.KeyArn>": f"arn:aws:kms:{IN_REGION}:key/1234abcd",
    "<Queue.Arn>": f"arn:aws:sqs:{IN_REGION}:lodestore-dev-work.fifo",
    "<DocumentsQueue.Arn>": f"arn:aws:sqs:{IN_REGION}:lodestore-dev-documents.fifo",
    "<DeadLetterQueue.Arn>": f"arn:aws:sqs:{IN_REGION}:lodestore-dev-dead.fifo",
}


def meant(resource: str) -> str:
    for reference, arn in MEANT.items():
        resource = resource.replace(reference, arn)
    if resource.endswith("Logs.Arn>"):
        return f"arn:aws:logs:{IN_REGION}:log-group:/lodestore/lodestore-dev/{resource.strip('<>')}:log-stream:x"
    return resource
