"""What each function may do, and that it is no more than that."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import grimp
import pytest

from tests.template.stack import ROOT, Stack

# What code says to `shared.aws`, and what DynamoDB asks a permission for; a transaction asks for that of its parts.
RECORD_ACTIONS = {
    "batch_get": "dynamodb:BatchGetItem",
    "Check": "dynamodb:ConditionCheckItem",
    "Delete": "dynamodb:DeleteItem",
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
}

# Services whose actions know no resources.
RESOURCELESS = {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
# The keys below one prefix, the streams of one log group, the addresses of one domain.
BELOW = re.compile(
    r"^(<Data\.Outputs\.BucketArn>/[a-z0-9]+(/[a-z]+)?/\*|arn:aws:es:[^*]+/\*|arn:aws:es:[^*]+/lodestore\.\*"
    # One model, wherever a profile has it run.
    r"|arn:aws:bedrock:\*::foundation-model/[^*]+|<[A-Za-z]+Logs\.Arn>)$"
)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements(stack: Stack, role: str) -> list[dict[str, Any]]:
    policies = stack.of_type("AWS::IAM::Role")[role]["Policies"]
    return [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]


def allowed(stack: Stack) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every statement that allows something, of roles and of resources, with its owner's name."""
    for name, resource in stack.everything().items():
        yield from ((name, s) for s in found_in(resource.get("Properties", {})) if s["Effect"] == "Allow")


def found_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "Effect" in value:
            yield value
        for inner in value.values():
            yield from found_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from found_in(inner)


def test_no_action_is_a_wildcard(any_stack: Stack) -> None:
    assert not [(n, a) for n, s in allowed(any_stack) for a in listed(s["Action"]) if "*" in a]


def test_no_resource_is_a_wildcard_but_where_a_service_knows_none(any_stack: Stack) -> None:
    for name, statement in allowed(any_stack):
        for resource in listed(statement.get("Resource", [])):
            if name == "Data/Key":  # in a key's own policy "*" is that key
                continue
            if resource == "*":
                assert set(statement["Action"]) <= RESOURCELESS, name
            elif "*" in resource:
                assert BELOW.match(resource), (name, resource)


def test_nobody_is_allowed_to_everybody(any_stack: Stack) -> None:
    assert not [name for name, s in allowed(any_stack) if s.get("Principal") in ("*", {"AWS": "*"})]


def test_only_lambda_takes_on_the_functions_roles(stack: Stack) -> None:
    for role in stack.of_type("AWS::IAM::Role").values():
        (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
        assert trust == {
            "Effect": "Allow",
            "Principal": {"Service": "lambda.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }


def test_no_role_borrows_a_managed_policy(any_stack: Stack) -> None:
    assert not [n for n, role in any_stack.of_type("AWS::IAM::Role").items() if "ManagedPolicyArns" in role]


@pytest.mark.parametrize(
    ("role", "logs"),
    [
        ("ProjectsRole", "ProjectsLogs"),
        ("StoresRole", "StoresLogs"),
        ("MemoriesRole", "MemoriesLogs"),
        ("WorkerRole", "WorkerLogs"),
        ("DocumentsRole", "DocumentsLogs"),
        ("PlatformRole", "PlatformLogs"),
        ("SweeperRole", "SweeperLogs"),
    ],
)
def test_a_function_writes_to_its_own_log_group_alone(stack: Stack, role: str, logs: str) -> None:
    (statement,) = [s for s in statements(stack, role) if any(a.startswith("logs:") for a in listed(s["Action"]))]
    assert listed(statement["Resource"]) == [f"<{logs}.Arn>"]
    assert set(statement["Action"]) == {"logs:CreateLogStream", "logs:PutLogEvents"}


@pytest.mark.parametrize(
    ("role", "indexes"),
    [
        ("ProjectsRole", {"by_l1", "by_l2"}),
        ("StoresRole", {"by_l1", "by_l2", "by_l3"}),
        ("MemoriesRole", {"by_l1", "by_l2", "by_l3"}),
        ("WorkerRole", {"by_l1", "by_l2", "by_l3"}),
        ("DocumentsRole", set()),
        ("PlatformRole", set()),
        ("SweeperRole", {"due"}),
    ],
)
def test_a_function_reads_its_own_indexes_and_no_answer_may_rest_on_the_global_one(
    stack: Stack, role: str, indexes: set[str]
) -> None:
    resources = [str(r) for s in statements(stack, role) for r in listed(s["Resource"])]
    assert {r.rpartition("/index/")[2] for r in resources if "/index/" in r} == indexes


@cache
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("functions", "shared", exclude_type_checking_imports=True, cache_dir=None)


def called(handler: str) -> set[str]:
    """Return the names that are called anywhere in what a function imports, the AWS clients themselves apart."""
    module = handler.removesuffix(".handler")
    modules = {m for m in imports().find_upstream_modules(module) | {module} if not m.startswith("shared.aws")}
    trees = [ast.parse(path.read_text("utf-8")) for m in modules if (path := source(m)).is_file()]
    calls = [node.func for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {f.id if isinstance(f, ast.Name) else f.attr for f in calls if isinstance(f, ast.Name | ast.Attribute)}


def source(module: str) -> Path:
    return (ROOT / module.replace(".", "/")).with_suffix(".py")


@pytest.mark.parametrize(
    "function",
    [
        "ProjectsFunction",
        "StoresFunction",
        "MemoriesFunction",
        "WorkerFunction",
        "DocumentsFunction",
        "PlatformFunction",
        "SweeperFunction",
    ],
)
def test_a_function_may_do_to_records_what_its_code_does_and_nothing_else(stack: Stack, function: str) -> None:
    properties = stack.of_type("AWS::Lambda::Function")[function]
    role = properties["Role"].strip("<>").removesuffix(".Arn")
    granted = {a for s in statements(stack, role) for a in listed(s["Action"]) if a.startswith("dynamodb:")}
    used = {action for name, action in RECORD_ACTIONS.items() if name in called(properties["Handler"])}
    assert granted == used | {"dynamodb:GetItem", "dynamodb:Query"}


def test_project_memory_can_write_to_the_erasure_log_but_neither_read_nor_shorten_it(stack: Stack) -> None:
    below_keep = {
        action: resource
        for statement in statements(stack, "ProjectsRole")
        for resource in listed(statement["Resource"])
        if "/keep/" in resource
        for action in listed(statement["Action"])
    }
    assert below_keep == {"s3:PutObject": "<Data.Outputs.BucketArn>/keep/erasures/*"}


def test_memory_stores_see_their_objects_and_of_the_erasure_log_nothing(stack: Stack) -> None:
    by_effect = {
        (statement["Effect"], action): resource
        for statement in statements(stack, "StoresRole")
        for resource in listed(statement["Resource"])
        for action in listed(statement["Action"])
        if action.startswith("s3:") and action != "s3:ListBucket"
    }
    mine, log = "<Data.Outputs.BucketArn>/keep/*", "<Data.Outputs.BucketArn>/keep/erasures/*"
    assert by_effect == {
        **{("Allow", action): mine for action in ("s3:DeleteObject", "s3:GetObject", "s3:PutObject")},
        **{("Deny", action): log for action in ("s3:DeleteObject", "s3:GetObject")},
    }


def granted(stack: Stack, role: str, service: str) -> set[tuple[str, str]]:
    return {
        (action, resource)
        for statement in statements(stack, role)
        for action in listed(statement["Action"])
        if action.startswith(f"{service}:")
        for resource in listed(statement["Resource"])
    }


def test_the_platform_sees_no_object_and_only_writes_to_the_erasure_log(stack: Stack) -> None:
    assert granted(stack, "PlatformRole", "s3") == {
        ("s3:ListBucket", "<Data.Outputs.BucketArn>"),
        ("s3:PutObject", "<Data.Outputs.BucketArn>/keep/erasures/*"),
    }


def test_a_queue_is_read_by_the_function_that_works_it_off_alone(any_stack: Stack) -> None:
    roles = any_stack.of_type("AWS::IAM::Role")
    may = {role: granted(any_stack, role, "sqs") for role in roles}
    reading = ("ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes")
    send = ("sqs:SendMessage", "<Queue.Arn>")
    assert may["MemoriesRole"] == may["SweeperRole"] == {send, ("sqs:SendMessage", "<DocumentsQueue.Arn>")}
    assert may["WorkerRole"] == {
        send,
        ("sqs:SendMessage", "<DeadLetterQueue.Arn>"),
        *((f"sqs:{verb}", "<Queue.Arn>") for verb in reading),
    }
    assert may["DocumentsRole"] == {
        send,
        ("sqs:SendMessage", "<DeadLetterQueue.Arn>"),
        *((f"sqs:{verb}", "<DocumentsQueue.Arn>") for verb in reading),
    }
    assert not any(may[role] for role in ("ProjectsRole", "StoresRole"))


@pytest.mark.parametrize("role", ["MemoriesRole", "WorkerRole"])
def test_memories_reach_their_own_indexes_of_the_stacks_domain_and_no_other(
    stack: Stack, with_domain: Stack, with_existing: Stack, role: str
) -> None:
    verbs = ("es:ESHttpGet", "es:ESHttpPost", "es:ESHttpPut")
    for of, domain in ((with_domain, "lodestore-dev"), (with_existing, "search")):
        arn = f"arn:aws:es:eu-central-1:111122223333:domain/{domain}/lodestore.*"
        assert granted(of, role, "es") == {(verb, arn) for verb in verbs}
    assert granted(stack, role, "es") == set()


def test_what_reads_files_sees_them_and_writes_pieces_and_nothing_else(stack: Stack) -> None:
    bucket = "<Data.Outputs.BucketArn>"
    assert granted(stack, "DocumentsRole", "s3") == {
        ("s3:GetObject", f"{bucket}/keep/*"),
        ("s3:GetObject", f"{bucket}/keep/erasures/*"),
        ("s3:DeleteObject", f"{bucket}/r30/*"),
        ("s3:PutObject", f"{bucket}/r30/*"),
        ("s3:ListBucket", bucket),
    }
    (refusal,) = [s for s in statements(stack, "DocumentsRole") if s["Effect"] == "Deny"]
    assert (refusal["Action"], refusal["Resource"]) == ("s3:GetObject", f"{bucket}/keep/erasures/*")


def test_what_reads_files_may_show_them_to_the_model_that_is_chosen_and_no_other(stack: Stack, prod: Stack) -> None:
    model = "amazon.nova-lite-v1:0"
    assert granted(stack, "DocumentsRole", "bedrock") == set()
    assert granted(prod, "DocumentsRole", "bedrock") == {
        ("bedrock:InvokeModel", f"arn:aws:bedrock:*::foundation-model/{model}"),
        ("bedrock:InvokeModel", f"arn:aws:bedrock:eu-central-1:111122223333:inference-profile/eu.{model}"),
    }


@pytest.mark.parametrize("role", ["MemoriesRole", "WorkerRole"])
def test_memories_may_invoke_the_models_that_are_chosen_and_no_other(stack: Stack, prod: Stack, role: str) -> None:
    invoke = "bedrock:InvokeModel"
    model, region = "anthropic.claude-haiku-4-5-20251001-v1:0", "eu-central-1"
    assert granted(stack, role, "bedrock") == set()
    assert granted(prod, role, "bedrock") == {
        (invoke, f"arn:aws:bedrock:{region}::foundation-model/amazon.titan-embed-text-v2:0"),
        (invoke, f"arn:aws:bedrock:*::foundation-model/{model}"),
        (invoke, f"arn:aws:bedrock:{region}:111122223333:inference-profile/eu.{model}"),
    }


ALL_OF_AN_OBJECT = ("s3:DeleteObject", "s3:GetObject", "s3:PutObject")


@pytest.mark.parametrize(
    ("role", "of_uploads"), [("MemoriesRole", ALL_OF_AN_OBJECT), ("WorkerRole", ("s3:DeleteObject",))]
)
def test_memories_see_payloads_texts_and_files_and_of_the_erasure_log_nothing(
    stack: Stack, role: str, of_uploads: tuple[str, ...]
) -> None:
    bucket = "<Data.Outputs.BucketArn>"
    allowed_verbs = {(verb, f"{bucket}/{prefix}/*") for verb in ALL_OF_AN_OBJECT for prefix in ("r30", "keep")}
    allowed_verbs |= {(verb, f"{bucket}/up/*") for verb in of_uploads}
    denied = {(verb, f"{bucket}/keep/erasures/*") for verb in ("s3:DeleteObject", "s3:GetObject")}
    assert granted(stack, role, "s3") == {*allowed_verbs, *denied, ("s3:ListBucket", bucket)}
    (refusal,) = [s for s in statements(stack, role) if s["Effect"] == "Deny"]
    assert {(verb, refusal["Resource"]) for verb in refusal["Action"]} == denied
