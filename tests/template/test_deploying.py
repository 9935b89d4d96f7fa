"""What infra/deploying.yaml lets the role do that deploys, its caller, and the functions at most."""

import json
import re
from fnmatch import fnmatchcase
from typing import Any

import pytest

from infra.local.template import load_template
from tests.template.rights import BEGINNING, IN_REGION, RIGHTS, STARS, UNNAMED, arn_of, meant, permits
from tests.template.stack import ROOT, Stack
from tests.template.test_policies import listed, statements

# The largest that IAM takes: a managed policy, and all inline policies of a role; white space does not count.
MANAGED, INLINE = 6144, 10240


@pytest.fixture
def deploying() -> Stack:
    return Stack(load_template(ROOT / "infra/deploying.yaml"), {"StackName": "lodestore-dev"})


def of_policy(deploying: Stack, name: str) -> list[dict[str, Any]]:
    if name == "Role":
        return statements(deploying, name)
    policy: list[dict[str, Any]] = deploying.of_type("AWS::IAM::ManagedPolicy")[name]["PolicyDocument"]["Statement"]
    return policy


def of_the_role(deploying: Stack) -> list[dict[str, Any]]:
    role = deploying.of_type("AWS::IAM::Role")["Role"]
    attached = [arn.strip("<>") for arn in role["ManagedPolicyArns"]]
    return [s for name in ("Role", *attached) for s in of_policy(deploying, name)]


def everything(deploying: Stack) -> list[tuple[str, dict[str, Any]]]:
    names = ("Role", *deploying.of_type("AWS::IAM::ManagedPolicy"))
    return [(name, s) for name in names for s in of_policy(deploying, name)]


def test_every_type_of_resource_is_known_to_need_its_rights(any_stack: Stack) -> None:
    assert {r["Type"] for r in any_stack.everything().values()} <= set(RIGHTS)


def test_no_rights_are_kept_for_what_is_not_made_any_more(prod: Stack) -> None:
    assert {r["Type"] for r in prod.everything().values()} == set(RIGHTS)


def test_the_role_may_make_change_and_remove_every_resource_by_its_name(any_stack: Stack, deploying: Stack) -> None:
    may = of_the_role(deploying)
    for name, resource in any_stack.everything().items():
        arn = arn_of("lodestore-dev", name, resource)
        for action in RIGHTS[resource["Type"]].split():
            assert permits(may, action, arn), (name, action, arn)


@pytest.mark.parametrize("other", ["lodestore", "lodestore-dev-two", "lodestore-prod", "other"])
def test_the_role_may_do_nothing_to_the_resources_of_another_stack(prod: Stack, deploying: Stack, other: str) -> None:
    named = [s for name, s in everything(deploying) if (name, s["Sid"]) not in {*UNNAMED, *BEGINNING}]
    another = Stack(prod.template, prod.parameters | {"AWS::StackName": other})
    for name, resource in another.everything().items():
        arn = arn_of(other, name, resource)
        assert not [s["Sid"] for s in named if any(fnmatchcase(arn, p) for p in listed(s["Resource"]))], arn


def test_no_action_is_a_wildcard(deploying: Stack) -> None:
    assert not [a for _, s in everything(deploying) for a in listed(s["Action"]) if "*" in a or "?" in a]
    assert not [s for _, s in everything(deploying) if {"NotAction", "NotResource"} & set(s)]


def test_every_resource_says_the_stacks_name_but_where_there_is_a_reason(deploying: Stack) -> None:
    unnamed = {
        (name, s["Sid"])
        for name, s in everything(deploying)
        if any("lodestore-dev" not in resource for resource in listed(s["Resource"]))
    }
    assert unnamed == set(UNNAMED)


def test_everything_is_the_resource_only_where_aws_knows_none(deploying: Stack) -> None:
    assert {(name, s["Sid"]) for name, s in everything(deploying) if "*" in listed(s["Resource"])} == STARS


def test_what_is_not_bound_to_a_name_is_bound_to_a_function_a_tag_or_a_service(deploying: Stack) -> None:
    bound = {(name, s["Sid"]): s["Condition"] for name, s in everything(deploying) if "Condition" in s}
    polling = bound["Role", "Polling"]["ArnLike"]["lambda:FunctionArn"]
    assert [arn.rpartition(":")[2] for arn in polling] == [
        "lodestore-dev-WorkerFunction-*",
        "lodestore-dev-DocumentsFunction-*",
    ]
    for sid, key in {"NewKey": "Request", "NewKeysTag": "Request", "OwnKey": "Resource"}.items():
        assert bound["RightsOverData", sid] == {"StringEquals": {f"aws:{key}Tag/lodestore-stack": "lodestore-dev"}}
    for name, sid in (("Boundary", "Key"), ("RightsOverData", "KeyOfTableAndDomain")):
        assert set(bound[name, sid]["StringEquals"]) == {"kms:ViaService"}


def test_the_key_has_the_tag_by_which_its_deployer_knows_it(data: Stack) -> None:
    tags = data.of_type("AWS::KMS::Key")["Key"]["Tags"]
    assert tags == [{"Key": "lodestore-stack", "Value": "lodestore-dev"}]


def test_the_role_makes_roles_only_within_the_boundary_and_can_not_widen_it(deploying: Stack) -> None:
    may = of_the_role(deploying)
    widening = [
        s
        for s in may
        if {"iam:CreateRole", "iam:PutRolePolicy", "iam:PutRolePermissionsBoundary"} & set(listed(s["Action"]))
    ]
    assert [s["Condition"] for s in widening] == [{"ArnEquals": {"iam:PermissionsBoundary": "<Boundary>"}}]
    granted = {a for s in may for a in listed(s["Action"])}
    assert not granted & {"iam:AttachRolePolicy", "iam:DeleteRolePermissionsBoundary"}
    assert not [a for a in granted if a.startswith("iam:") and "Policy" in a and "Role" not in a]


def test_roles_are_passed_to_lambda_alone_and_functions_are_opened_to_the_api_and_the_clock(deploying: Stack) -> None:
    (passing,) = [s for s in of_the_role(deploying) if "iam:PassRole" in listed(s["Action"])]
    assert passing["Condition"] == {"StringEquals": {"iam:PassedToService": "lambda.amazonaws.com"}}
    (opening,) = [s for s in of_the_role(deploying) if "lambda:AddPermission" in listed(s["Action"])]
    callers = opening["Condition"]["StringEquals"]["lambda:Principal"]
    assert set(callers) == {"apigateway.amazonaws.com", "events.amazonaws.com"}


def test_only_cloudformation_takes_on_the_role(deploying: Stack) -> None:
    (trust,) = deploying.of_type("AWS::IAM::Role")["Role"]["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "cloudformation.amazonaws.com"}


def test_whoever_deploys_reads_and_writes_no_record_object_or_message(deploying: Stack) -> None:
    granted = {a for s in of_the_role(deploying) for a in listed(s["Action"])}
    assert not [a for a in granted if a.startswith("dynamodb:") and ("Item" in a or a.endswith(("Query", "Scan")))]
    assert not granted & {"sqs:ReceiveMessage", "sqs:SendMessage", "lambda:InvokeFunction", "logs:GetLogEvents"}
    assert not [a for a in granted if a.startswith("es:ESHttp")]
    objects = [s for s in of_the_role(deploying) if "Object" in str(s["Action"]) and "s3:" in str(s["Action"])]
    assert [s["Sid"] for s in objects] == ["Artifacts"]


def test_the_caller_deploys_this_stack_with_this_role_and_no_other(deploying: Stack) -> None:
    by_sid = {s["Sid"]: s for s in of_policy(deploying, "Caller")}
    stack = f"arn:aws:cloudformation:{IN_REGION}:stack/lodestore-dev/*"
    assert by_sid["ChangesWithTheRole"]["Resource"] == by_sid["Changes"]["Resource"] == stack
    assert by_sid["ChangesWithTheRole"]["Condition"] == {"ArnEquals": {"cloudformation:RoleArn": "<Role.Arn>"}}
    assert by_sid["TheRole"]["Resource"] == "<Role.Arn>"
    assert by_sid["TheRole"]["Condition"] == {"StringEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}}
    granted = {a for s in by_sid.values() for a in listed(s["Action"])}
    assert {a for a in granted if a.startswith("iam:")} == {"iam:PassRole"}
    assert not granted & {"cloudformation:CreateStack", "cloudformation:UpdateStack", "cloudformation:DeleteStack"}


def test_artifacts_are_those_of_this_stack_in_this_account(deploying: Stack) -> None:
    of_s3 = [
        s
        for _, s in everything(deploying)
        if "Artifacts" in s["Sid"] or s["Sid"] in ("AbsentIsNotForbidden", "Objects")
    ]
    assert len(of_s3) == len(("Boundary", "Role", "Caller", "Caller"))
    assert all(s["Condition"] == {"StringEquals": {"aws:ResourceAccount": "111122223333"}} for s in of_s3)
    prefixes = {s["Resource"].partition("/")[2] for s in of_s3 if s["Sid"] == "Artifacts"}
    assert prefixes == {"lodestore-dev/*"}


def test_the_boundary_leaves_every_function_what_its_role_allows(any_stack: Stack) -> None:
    template = load_template(ROOT / "infra/deploying.yaml")
    boundary = of_policy(Stack(template, {"StackName": "lodestore-dev", "SearchDomain": "search"}), "Boundary")
    for role in any_stack.of_type("AWS::IAM::Role"):
        for statement in (s for s in statements(any_stack, role) if s["Effect"] == "Allow"):
            for action in listed(statement["Action"]):
                for resource in map(meant, listed(statement["Resource"])):
                    assert permits(boundary, action, resource), (role, action, resource)


def test_the_boundary_is_no_wider_than_all_functions_together(any_stack: Stack, deploying: Stack, prod: Stack) -> None:
    needed = {
        a
        for of in (any_stack, prod)
        for role in of.of_type("AWS::IAM::Role")
        for s in statements(of, role)
        for a in listed(s["Action"])
    }
    assert {a for s in of_policy(deploying, "Boundary") for a in listed(s["Action"])} == needed


def test_the_boundary_is_put_on_every_role_that_the_stack_makes(stack: Stack, prod: Stack) -> None:
    told = {role["PermissionsBoundary"] for role in prod.of_type("AWS::IAM::Role").values()}
    assert told == {prod.parameters["RolesBoundary"]}
    assert not [n for n, role in stack.of_type("AWS::IAM::Role").items() if "PermissionsBoundary" in role]


def test_policies_are_no_larger_than_iam_takes() -> None:
    longest = {"StackName": "x" * 20, "SearchDomain": "x" * 28, "AWS::Region": "ap-southeast-1"}
    stack = Stack(load_template(ROOT / "infra/deploying.yaml"), longest)
    policies = stack.of_type("AWS::IAM::ManagedPolicy")
    assert all(size(policy["PolicyDocument"]) <= MANAGED for policy in policies.values())
    assert sum(size(p["PolicyDocument"]) for p in stack.of_type("AWS::IAM::Role")["Role"]["Policies"]) <= INLINE


def size(document: dict[str, Any]) -> int:
    return len(json.dumps(document, separators=(",", ":")))


def test_operations_say_how_to_use_what_is_given_out(deploying: Stack) -> None:
    guide = (ROOT / "docs/operations.md").read_text("utf-8").partition("### Who may deploy")[2].partition("\n## ")[0]
    assert "--role-arn" in guide
    assert all(f"`{name}`" in guide for name in deploying.outputs)


def test_the_documented_command_allows_its_roles_and_makes_the_bucket_of_artifacts(deploying: Stack) -> None:
    """SAM reads `samconfig.toml` beside the template, where there is none of ours: all has to be said."""
    page = (ROOT / "docs/operations.md").read_text("utf-8").replace("\\\n", "")
    (command,) = re.findall(r"^\S*sam deploy -t infra/deploying.yaml .*$", page, re.MULTILINE)
    named = [name for kind in ("Role", "ManagedPolicy") for name in deploying.of_type(f"AWS::IAM::{kind}")]
    assert named
    assert " --capabilities CAPABILITY_IAM " in command
    assert " --resolve-s3 " in command
