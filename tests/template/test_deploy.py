import json
import os
import re
import subprocess
import tomllib
from typing import Any

import pytest

from tests.template.stack import ACCOUNT, BACKENDS, ROOT, Stack

# What SAM does before it asks "has no authentication. Is this okay?", once a route.
OPEN_ROUTES = """
import json
from samcli.commands.deploy.auth_utils import auth_per_resource
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider
stacks, _ = SamLocalStackProvider.get_stacks("template.yaml")
print(json.dumps(auth_per_resource(stacks)))
"""


def stages() -> dict[str, Any]:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))
    return {name: table for name, table in config.items() if isinstance(table, dict)}


def overrides(stage: dict[str, Any]) -> dict[str, str]:
    return dict(given.split("=", 1) for given in stage["deploy"]["parameters"]["parameter_overrides"])


def test_a_guided_deployment_can_take_every_default(stack: Stack) -> None:
    assert all("Default" in given and given["Description"] for given in stack.template["Parameters"].values())


def test_a_guided_deployment_asks_of_no_route_whether_it_may_be_open() -> None:
    command = [str(ROOT / ".tools/sam/bin/python"), "-c", OPEN_ROUTES]
    told = os.environ | {"AWS_DEFAULT_REGION": ACCOUNT["AWS::Region"]}
    ran = subprocess.run(command, cwd=ROOT, env=told, capture_output=True, check=True)
    routes = json.loads(ran.stdout)
    assert routes
    assert not [function for function, answered in routes if not answered]


def test_a_guided_deployment_asks_for_nothing_that_changes_nothing(stack: Stack) -> None:
    rest = json.dumps({name: part for name, part in stack.template.items() if name != "Parameters"})
    assert not [n for n in stack.template["Parameters"] if f'"Ref": "{n}"' not in rest and f"${{{n}}}" not in rest]


def takes(parameter: dict[str, Any], value: Any) -> bool:
    """Tell whether a parameter may have a value, by all that it says of itself."""
    return (
        value in parameter.get("AllowedValues", [value])
        and re.fullmatch(parameter.get("AllowedPattern", ".*"), str(value)) is not None
        and (parameter["Type"] != "Number" or value >= parameter.get("MinValue", value))
        and (parameter["Type"] != "Number" or value <= parameter.get("MaxValue", value))
    )


def broken_rules(stack: Stack, **parameters: str) -> set[str]:
    """Return what CloudFormation would say of these parameters before it makes anything."""
    given = Stack(stack.template, stack.parameters | parameters).resolver
    asked = [r for r in stack.template["Rules"].values() if given.holds(r["RuleCondition"])]
    claims = [claim for rule in asked for claim in rule["Assertions"]]
    return {claim["AssertDescription"] for claim in claims if not given.holds(claim["Assert"])}


def test_every_default_is_a_value_that_its_parameter_takes(stack: Stack) -> None:
    assert all(takes(given, given["Default"]) for given in stack.template["Parameters"].values())


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_the_tests_deploy_could_be_deployed(stack: Stack, backend: str) -> None:
    parameters = stack.template["Parameters"]
    assert not broken_rules(stack, **BACKENDS[backend])
    assert all(takes(parameters[name], value) for name, value in BACKENDS[backend].items())


def test_an_existing_domain_needs_its_address_and_its_name(stack: Stack) -> None:
    assert broken_rules(stack, SearchBackend="existing", SearchDomain="search") == {
        "SearchBackend existing needs SearchEndpoint"
    }
    assert broken_rules(stack, SearchBackend="existing", SearchEndpoint="https://search.example.org") == {
        "SearchBackend existing needs SearchDomain"
    }


@pytest.mark.parametrize("address", ["http://search.example.org", "search.example.org", "https://example.org/path"])
def test_a_domain_is_reached_over_tls_at_its_root_alone(stack: Stack, address: str) -> None:
    assert not takes(stack.template["Parameters"]["SearchEndpoint"], address)


@pytest.mark.parametrize("kind", ["Extraction", "Vision"])
def test_a_profile_needs_the_model_behind_it(stack: Stack, kind: str) -> None:
    assert broken_rules(stack, **{f"{kind}Profile": "eu.some.model"}) == {
        f"{kind}Profile needs {kind}Model, the model behind it"
    }


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
