import json
from typing import Any

from tests.template.stack import Stack


def routes(stack: Stack) -> dict[str, Any]:
    paths = stack.of_type("AWS::ApiGatewayV2::Api")["Api"]["Body"]["paths"]
    return {
        path: verbs["x-amazon-apigateway-any-method"]["x-amazon-apigateway-integration"]
        for path, verbs in paths.items()
    }


def served_by(stack: Stack, function: str) -> set[str]:
    return {path for path, integration in routes(stack).items() if f"<{function}.Arn>" in integration["uri"]}


def test_project_memory_has_all_paths_below_its_own(stack: Stack) -> None:
    assert served_by(stack, "ProjectsFunction") == {"/sandbox/memory/v1/{proxy+}"}


def test_memory_stores_have_their_path_and_all_below_it(stack: Stack) -> None:
    assert served_by(stack, "StoresFunction") == {"/v1/memory_stores", "/v1/memory_stores/{proxy+}"}


def test_memories_have_their_paths_and_those_of_files(stack: Stack) -> None:
    below = {f"{path}{rest}" for path in ("/v1/memories", "/v1/files") for rest in ("", "/{proxy+}")}
    assert served_by(stack, "MemoriesFunction") == below


def test_the_platform_has_the_paths_of_its_contract(stack: Stack) -> None:
    assert served_by(stack, "PlatformFunction") == {
        "/v1/api_keys",
        "/v1/api_keys/{id}",
        "/v1/projects/{project_id}",
        "/v1/usage",
        "/health",
        "/ready",
        "/openapi.json",
        "/openapi.yaml",
        "/docs",
    }


def test_functions_get_the_second_event_format(stack: Stack) -> None:
    assert {integration["payloadFormatVersion"] for integration in routes(stack).values()} == {"2.0"}


def test_every_path_answers_every_verb_so_that_405_has_our_shape(stack: Stack) -> None:
    paths = stack.of_type("AWS::ApiGatewayV2::Api")["Api"]["Body"]["paths"]
    assert {verb for verbs in paths.values() for verb in verbs} == {"x-amazon-apigateway-any-method"}


def test_the_api_is_throttled_and_serves_at_its_root(stack: Stack) -> None:
    (stage,) = stack.of_type("AWS::ApiGatewayV2::Stage").values()
    assert stage["StageName"] == "$default"
    assert stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] > 0
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] > 0


def test_throttles_follow_the_stage(stack: Stack, prod: Stack) -> None:
    (dev,) = stack.of_type("AWS::ApiGatewayV2::Stage").values()
    (large,) = prod.of_type("AWS::ApiGatewayV2::Stage").values()
    for limit in ("ThrottlingBurstLimit", "ThrottlingRateLimit"):
        assert dev["DefaultRouteSettings"][limit] < large["DefaultRouteSettings"][limit]


def test_there_is_no_authorizer_beside_the_functions_own_check_of_keys(any_stack: Stack) -> None:
    body = any_stack.of_type("AWS::ApiGatewayV2::Api")["Api"]["Body"]
    assert not {"security", "components", "securityDefinitions"} & set(body)
    assert not [p for p, verbs in body["paths"].items() for verb in verbs.values() if verb.get("security")]


def test_access_logs_are_json_and_name_the_route_but_never_the_path(stack: Stack) -> None:
    (stage,) = stack.of_type("AWS::ApiGatewayV2::Stage").values()
    line = json.loads(stage["AccessLogSettings"]["Format"])
    assert stage["AccessLogSettings"]["DestinationArn"] == "<ApiLogs.Arn>"
    assert line["route"] == "$context.routeKey"
    assert not [value for value in line.values() if "path" in value or value == "$context.identity.userAgent"]


def test_access_logs_are_encrypted_and_forget(stack: Stack) -> None:
    logs = stack.of_type("AWS::Logs::LogGroup")["ApiLogs"]
    assert logs["RetentionInDays"] == 30
    assert logs["KmsKeyId"] == "<Data.Outputs.KeyArn>"
