"""The built stack in ministack: packaged as SAM does, translated, and brought to what ministack understands."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infra.local.template import load_template
from tests.deployed.ministack import REGION, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.deployed.ministack import Ministack

STACK = "lodestore-test"
ARTIFACTS = "lodestore-artifacts"
ANY = "x-amazon-apigateway-any-method"
OF_MESSAGES = ("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:SendMessage")
INTEGRATION = "x-amazon-apigateway-integration"


class NotDeployed(Exception):
    """The stack could not be made; the message has the reasons of its events."""


def build(into: Path) -> Path:
    """Run `sam build` into a folder and return it."""
    command = [str(ROOT / ".tools/sam/bin/sam"), "build", "--build-dir", str(into)]
    environment = os.environ | {"SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": REGION}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return into


def deploy(aws: Ministack, built: Path, parameters: Mapping[str, str]) -> dict[str, str]:
    """Make the stack and return its outputs.

    Raises:
        NotDeployed: with what its events say.
    """
    s3 = aws.client("s3")
    s3.create_bucket(Bucket=ARTIFACTS, CreateBucketConfiguration={"LocationConstraint": REGION})
    template = lowered(batched(relaxed(translated(parameters))))
    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::Lambda::Function":
            s3.upload_file(str(zipped(built / name)), ARTIFACTS, f"{name}.zip")
            resource["Properties"]["Code"] = {"S3Bucket": ARTIFACTS, "S3Key": f"{name}.zip"}
        if resource["Type"] == "AWS::CloudFormation::Stack":
            resource["Properties"]["TemplateURL"] = upload_nested(aws, resource["Properties"]["TemplateURL"])
    return create(aws, template, parameters)


def translated(parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the template as CloudFormation."""
    command = [str(ROOT / ".tools/sam/bin/python"), "tests/template/translate.py", json.dumps([dict(parameters)])]
    environment = os.environ | {"AWS_DEFAULT_REGION": REGION}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    (template,) = json.loads(ran.stdout)
    return dict(template)


def relaxed(template: dict[str, Any]) -> dict[str, Any]:
    """Let a search node be one of this machine, without TLS; leave out alarms: ministack knows no metric math."""
    del template["Resources"]["Monitoring"]
    template["Parameters"]["SearchEndpoint"]["AllowedPattern"] = "^$|^https?://[A-Za-z0-9.:-]+$"
    return template


def batched(template: dict[str, Any]) -> dict[str, Any]:
    """Grant with each right over a message the same over ten: AWS has no right of that name, ministack asks for it."""
    roles = [r["Properties"] for r in template["Resources"].values() if r["Type"] == "AWS::IAM::Role"]
    policies = [policy["PolicyDocument"] for role in roles for policy in role["Policies"]]
    for statement in (s for policy in policies for s in policy["Statement"] if "Action" in s):
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        statement["Action"] = actions + [f"{action}Batch" for action in actions if action in OF_MESSAGES]
    return template


def lowered(template: dict[str, Any]) -> dict[str, Any]:
    """Say of every HTTP API in resources what its OpenAPI body says: ministack does not read that."""
    resources: dict[str, Any] = template["Resources"]
    apis = [name for name, r in resources.items() if r["Type"] == "AWS::ApiGatewayV2::Api"]
    for api in apis:
        body = resources[api]["Properties"].pop("Body")
        resources[api]["Properties"] |= {"Name": api, "ProtocolType": "HTTP"}
        for number, (path, verbs) in enumerate(body["paths"].items()):
            resources |= _route(api, f"{api}Route{number}", path, verbs[ANY][INTEGRATION])
    return template


def _route(api: str, name: str, path: str, integration: Mapping[str, Any]) -> dict[str, Any]:
    target = {"Fn::Join": ["/", ["integrations", {"Ref": f"{name}To"}]]}
    return {
        f"{name}To": {
            "Type": "AWS::ApiGatewayV2::Integration",
            "Properties": {
                "ApiId": {"Ref": api},
                "IntegrationType": "AWS_PROXY",
                "IntegrationMethod": "POST",
                "IntegrationUri": integration["uri"],
                "PayloadFormatVersion": integration["payloadFormatVersion"],
            },
        },
        name: {
            "Type": "AWS::ApiGatewayV2::Route",
            "Properties": {"ApiId": {"Ref": api}, "RouteKey": f"ANY {path}", "Target": target},
        },
    }


def zipped(artifact: Path) -> Path:
    """Pack an artifact as SAM does, without compressing: nobody transfers it."""
    archive = artifact.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(path for path in artifact.rglob("*") if path.is_file()):
            file.write(path, path.relative_to(artifact))
    return archive


def upload_nested(aws: Ministack, location: str) -> str:
    """Upload a nested template, in JSON, and return its address."""
    key = f"{Path(location).stem}.json"
    body = json.dumps(load_template(ROOT / location), default=str)
    aws.client("s3").put_object(Bucket=ARTIFACTS, Key=key, Body=body.encode())
    return f"{aws.endpoint}/{ARTIFACTS}/{key}"


def create(aws: Ministack, template: Mapping[str, Any], parameters: Mapping[str, str]) -> dict[str, str]:
    """Create the stack from a template in plain CloudFormation, and return its outputs.

    Raises:
        NotDeployed: with what its events say.
    """
    cloudformation = aws.client("cloudformation")
    aws.client("s3").put_object(Bucket=ARTIFACTS, Key="stack.json", Body=json.dumps(template).encode())
    cloudformation.create_stack(
        StackName=STACK,
        TemplateURL=f"{aws.endpoint}/{ARTIFACTS}/stack.json",
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()],
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
    )
    try:
        cloudformation.get_waiter("stack_create_complete").wait(
            StackName=STACK, WaiterConfig={"Delay": 1, "MaxAttempts": 120}
        )
    except Exception as error:
        events = cloudformation.describe_stack_events(StackName=STACK)["StackEvents"]
        reasons = [
            f"{e['LogicalResourceId']}: {e['ResourceStatusReason']}" for e in events if "ResourceStatusReason" in e
        ]
        raise NotDeployed("\n".join(reasons)) from error
    (stack,) = cloudformation.describe_stacks(StackName=STACK)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
