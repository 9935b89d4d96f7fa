from typing import Any

import pytest

from shared.documents.limits import ParseLimits
from tests.template.stack import ROOT, Stack
from tests.template.test_policies import granted

FUNCTION = "AWS::Lambda::Function"
GATEWAY_SECONDS = 30
LONGEST_RUN = 900


def logs_of(stack: Stack, function: dict[str, Any]) -> dict[str, Any]:
    return stack.of_type("AWS::Logs::LogGroup")[function["LoggingConfig"]["LogGroup"].strip("<>")]


def test_every_function_runs_on_the_python_that_artifacts_are_built_for(stack: Stack) -> None:
    assert {f["Runtime"] for f in stack.of_type(FUNCTION).values()} == {"python3.13"}


def test_every_handler_is_a_module_of_the_project(stack: Stack) -> None:
    for function in stack.of_type(FUNCTION).values():
        module, _, name = function["Handler"].rpartition(".")
        assert name == "handler"
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file()


def test_every_function_has_a_role_of_its_own(any_stack: Stack) -> None:
    functions = any_stack.of_type(FUNCTION).values()
    assert len({f["Role"] for f in functions}) == len(functions)
    assert {f["Role"] for f in functions} == {f"<{name}.Arn>" for name in any_stack.of_type("AWS::IAM::Role")}


def test_every_function_is_traced(stack: Stack) -> None:
    assert {f["TracingConfig"]["Mode"] for f in stack.of_type(FUNCTION).values()} == {"Active"}


def test_no_function_reserves_concurrency_which_a_new_account_has_not_got(any_stack: Stack) -> None:
    assert not [n for n, f in any_stack.of_type(FUNCTION).items() if "ReservedConcurrentExecutions" in f]


def test_every_function_logs_to_an_encrypted_group_that_forgets(stack: Stack) -> None:
    for function in stack.of_type(FUNCTION).values():
        assert logs_of(stack, function)["RetentionInDays"] == 30
        assert logs_of(stack, function)["KmsKeyId"] == "<Data.Outputs.KeyArn>"


def test_every_log_group_has_a_retention(any_stack: Stack) -> None:
    assert all("RetentionInDays" in group for group in any_stack.of_type("AWS::Logs::LogGroup").values())


def test_no_function_behind_the_api_outlives_the_gateways_patience(stack: Stack) -> None:
    invoked = {
        p["FunctionName"].strip("<>")
        for p in stack.of_type("AWS::Lambda::Permission").values()
        if "apigateway" in p["Principal"]
    }
    assert invoked == {"ProjectsFunction", "StoresFunction", "MemoriesFunction", "PlatformFunction"}
    assert all(stack.of_type(FUNCTION)[name]["Timeout"] < GATEWAY_SECONDS for name in invoked)


def test_the_processor_is_a_choice(stack: Stack, with_existing: Stack) -> None:
    def processors(of: Stack) -> dict[str, list[str]]:
        return {name: f["Architectures"] for name, f in of.of_type(FUNCTION).items()}

    assert processors(stack).pop("DocumentsFunction") == ["x86_64"]
    others = processors(stack).keys() - {"DocumentsFunction"}
    assert {tuple(processors(stack)[name]) for name in others} == {("arm64",)}
    assert {tuple(found) for found in processors(with_existing).values()} == {("x86_64",)}


def test_sizes_follow_the_stage(stack: Stack, prod: Stack) -> None:
    for name, function in stack.of_type(FUNCTION).items():
        assert function["MemorySize"] < prod.of_type(FUNCTION)[name]["MemorySize"]


def test_functions_are_told_where_the_data_is(stack: Stack) -> None:
    for function in stack.of_type(FUNCTION).values():
        told = function["Environment"]["Variables"]
        assert told["TABLE_NAME"] == "<Data.Outputs.TableName>"
        assert told["BUCKET_NAME"] == "<Data.Outputs.BucketName>"
        assert told["DIRECT_BODY_BYTES"] == 4500000
        assert told["STAGE"] == "dev"


# What a function is told beside what all are told, because its code reads it.
TOLD = {
    "ProjectsFunction": set(),
    "StoresFunction": {"MEMORIES_A_STORE", "VERSION_RETENTION_DAYS"},
    "MemoriesFunction": {
        *("QUEUE_URL", "DOCUMENTS_QUEUE_URL", "DOCUMENTS", "VISION", "EMBEDDER", "EXTRACTOR", "MEMORY_LANGUAGE"),
        *("MEMORY_LIMIT_MESSAGE_CHARACTERS", "MEMORY_LIMIT_CODE_MESSAGE_CHARACTERS", "MEMORY_LIMIT_MESSAGES"),
    },
    "WorkerFunction": {"QUEUE_URL", "DEAD_LETTER_QUEUE_URL", "EMBEDDER", "EXTRACTOR"},
    "DocumentsFunction": {"QUEUE_URL", "DOCUMENTS_QUEUE_URL", "DEAD_LETTER_QUEUE_URL", "VISION"},
    "PlatformFunction": {"QUEUE_URL"},
    "SweeperFunction": {"QUEUE_URL", "DOCUMENTS_QUEUE_URL"},
}


def test_a_function_is_told_what_its_code_reads_and_no_more(any_stack: Stack) -> None:
    told = {name: set(f["Environment"]["Variables"]) for name, f in any_stack.of_type(FUNCTION).items()}
    all_are_told = set.intersection(*told.values())
    assert all_are_told == {
        *("STAGE", "TABLE_NAME", "BUCKET_NAME", "DIRECT_BODY_BYTES", "SEARCH_BACKEND", "SEARCH_ENDPOINT"),
        *("POWERTOOLS_METRICS_NAMESPACE", "POWERTOOLS_LOG_LEVEL", "POWERTOOLS_SERVICE_NAME"),
    }
    assert {name: variables - all_are_told for name, variables in told.items()} == TOLD


def test_queues_are_named_to_the_functions_that_may_use_them(any_stack: Stack) -> None:
    for name, function in any_stack.of_type(FUNCTION).items():
        told = {value for key, value in function["Environment"]["Variables"].items() if key.endswith("QUEUE_URL")}
        may = {resource for _, resource in granted(any_stack, f"{name.removesuffix('Function')}Role", "sqs")}
        assert {f"{queue[:-1]}.Arn>" for queue in told} == may, name


def test_metrics_of_two_stacks_in_one_account_do_not_mix(stack: Stack) -> None:
    spaces = {f["Environment"]["Variables"]["POWERTOOLS_METRICS_NAMESPACE"] for f in stack.of_type(FUNCTION).values()}
    assert spaces == {"Lodestore/lodestore-dev"}


def test_the_sweeper_runs_every_five_minutes_and_reconciles_every_night(stack: Stack) -> None:
    rules = stack.of_type("AWS::Events::Rule").values()
    runs = {r["ScheduleExpression"]: [(t["Arn"], t["Input"]) for t in r["Targets"]] for r in rules}
    assert runs == {
        "rate(5 minutes)": [("<SweeperFunction.Arn>", '{"job":"sweep"}')],
        "cron(17 2 * * ? *)": [("<SweeperFunction.Arn>", '{"job":"reconcile"}')],
    }


def test_the_next_schedule_is_the_sweepers_only_retry(stack: Stack) -> None:
    (config,) = stack.of_type("AWS::Lambda::EventInvokeConfig").values()
    assert config["MaximumRetryAttempts"] == 0


def sources(stack: Stack) -> dict[str, dict[str, Any]]:
    """Return what is polled, by the function that works it off."""
    return {m["FunctionName"].strip("<>"): m for m in stack.of_type("AWS::Lambda::EventSourceMapping").values()}


def test_batches_of_work_are_ten_and_of_files_one_and_failures_are_reported_one_by_one(stack: Stack) -> None:
    assert {name: (s["EventSourceArn"], s["BatchSize"]) for name, s in sources(stack).items()} == {
        "WorkerFunction": ("<Queue.Arn>", 10),
        "DocumentsFunction": ("<DocumentsQueue.Arn>", 1),
    }
    for source in sources(stack).values():
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        # With a filter messages would vanish unread.
        assert "FilterCriteria" not in source


def test_a_queue_that_nothing_fills_is_not_polled(stack: Stack, with_domain: Stack, with_existing: Stack) -> None:
    def polled(of: Stack) -> set[bool]:
        return {bool(source["Enabled"]) for source in sources(of).values()}

    assert [polled(of) for of in (stack, with_domain, with_existing)] == [{False}, {True}, {True}]


@pytest.mark.parametrize("function", ["WorkerFunction", "DocumentsFunction"])
def test_only_so_many_workers_run_at_a_time(stack: Stack, prod: Stack, function: str) -> None:
    widths = [sources(of)[function]["ScalingConfig"]["MaximumConcurrency"] for of in (stack, prod)]
    assert 2 <= widths[0] < widths[1] <= 1000


def test_what_reads_files_has_room_for_its_parser_beside_itself(any_stack: Stack) -> None:
    assert any_stack.of_type(FUNCTION)["DocumentsFunction"]["MemorySize"] << 20 >= ParseLimits().memory + (512 << 20)


def test_what_reads_files_outlives_its_parser(any_stack: Stack) -> None:
    assert ParseLimits().seconds < any_stack.of_type(FUNCTION)["DocumentsFunction"]["Timeout"] <= LONGEST_RUN


def test_what_embeds_has_a_whole_core(any_stack: Stack) -> None:
    functions = any_stack.of_type(FUNCTION)
    assert all(functions[name]["MemorySize"] >= 1769 for name in ("MemoriesFunction", "WorkerFunction"))


def test_models_are_a_choice_and_none_are_needed(stack: Stack, prod: Stack) -> None:
    def told(of: Stack) -> set[tuple[str, str]]:
        functions = (of.of_type(FUNCTION)[name] for name in ("MemoriesFunction", "WorkerFunction"))
        return {(v["EMBEDDER"], v["EXTRACTOR"]) for f in functions if (v := f["Environment"]["Variables"])}

    assert told(stack) == {("local", "rules")}
    assert told(prod) == {
        ("bedrock:amazon.titan-embed-text-v2:0", "bedrock:eu.anthropic.claude-haiku-4-5-20251001-v1:0")
    }


def test_files_are_taken_and_nothing_sees_unless_the_deployment_says_otherwise(stack: Stack, prod: Stack) -> None:
    def told(of: Stack) -> set[tuple[str, str]]:
        variables = [f["Environment"]["Variables"] for f in of.of_type(FUNCTION).values()]
        return {(name, v[name]) for v in variables for name in ("DOCUMENTS", "VISION") if name in v}

    assert told(stack) == {("DOCUMENTS", "on"), ("VISION", "none")}
    assert told(prod) == {("DOCUMENTS", "off"), ("VISION", "bedrock:eu.amazon.nova-lite-v1:0")}


def test_generated_memories_are_chinese_unless_the_deployment_says_otherwise(stack: Stack) -> None:
    variables = stack.of_type(FUNCTION)["MemoriesFunction"]["Environment"]["Variables"]
    assert variables["MEMORY_LANGUAGE"] == "zh"
