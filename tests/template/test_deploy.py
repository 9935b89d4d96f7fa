import tomllib
from typing import Any

from tests.template.stack import ROOT, Stack


def stages() -> dict[str, Any]:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))
    return {name: table for name, table in config.items() if isinstance(table, dict)}


def overrides(stage: dict[str, Any]) -> dict[str, str]:
    return dict(given.split("=", 1) for given in stage["deploy"]["parameters"]["parameter_overrides"])


def test_a_guided_deployment_can_take_every_default(stack: Stack) -> None:
    assert all("Default" in given and given["Description"] for given in stack.template["Parameters"].values())


def test_operations_describe_every_parameter(stack: Stack) -> None:
    guide = (ROOT / "docs/operations.md").read_text("utf-8")
    described = guide.partition("## Deploy")[2].partition("\n### ")[0]
    rows = [line.split("|")[1].strip(" `") for line in described.splitlines() if line.startswith("| `")]
    assert rows == list(dict.fromkeys(rows))
    assert set(rows) == set(stack.template["Parameters"])


def test_dev_is_the_default_stage_and_prod_the_other() -> None:
    assert {name: overrides(stage)["Stage"] for name, stage in stages().items()} == {"default": "dev", "prod": "prod"}


def test_stages_set_only_parameters_that_exist(stack: Stack) -> None:
    assert all(set(overrides(stage)) <= set(stack.template["Parameters"]) for stage in stages().values())


def test_prod_shows_its_changes_before_it_makes_them() -> None:
    assert stages()["prod"]["deploy"]["parameters"]["confirm_changeset"] is True


def test_the_outputs_say_what_a_deployer_needs(stack: Stack, with_domain: Stack) -> None:
    assert set(stack.outputs) == {
        *("ApiUrl", "TableName", "BucketName"),
        *("QueueUrl", "DocumentsQueueUrl", "DeadLetterQueueUrl"),
    }
    assert set(with_domain.outputs) - set(stack.outputs) == {"SearchUrl", "Embedder"}


def test_nested_stacks_get_the_parameters_they_ask_for(any_stack: Stack) -> None:
    for name, properties in any_stack.of_type("AWS::CloudFormation::Stack").items():
        asked = any_stack.nested(name).template["Parameters"]
        assert set(properties["Parameters"]) == set(asked)
