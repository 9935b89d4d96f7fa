from typing import Any

import pytest

from tests.template.stack import Stack


def domain(stack: Stack) -> dict[str, Any]:
    return stack.nested("Search").of_type("AWS::OpenSearchService::Domain")["Domain"]


def told(stack: Stack) -> set[tuple[str, str]]:
    variables = [f["Environment"]["Variables"] for f in stack.of_type("AWS::Lambda::Function").values()]
    return {(v["SEARCH_BACKEND"], v["SEARCH_ENDPOINT"]) for v in variables}


def test_without_search_there_is_nothing_that_costs_while_idle(stack: Stack) -> None:
    assert told(stack) == {("none", "")}
    assert not [n for n, r in stack.everything().items() if r["Type"].startswith(("AWS::OpenSearch", "AWS::EC2"))]


def test_an_existing_domain_is_passed_on_and_none_is_made(with_existing: Stack) -> None:
    assert told(with_existing) == {("existing", "https://search.example.org")}
    assert "Search" not in with_existing.resources


def test_a_domain_of_its_own_is_passed_on(with_domain: Stack) -> None:
    assert told(with_domain) == {("domain", "<Search.Outputs.Endpoint>")}
    assert with_domain.nested("Search").outputs["Endpoint"] == "https://<Domain.DomainEndpoint>"


@pytest.mark.parametrize("stage", ["with_domain", "prod"])
def test_the_domain_is_2_19_encrypted_everywhere_and_speaks_tls_alone(
    stage: str, request: pytest.FixtureRequest
) -> None:
    made = domain(request.getfixturevalue(stage))
    assert made["EngineVersion"] == "OpenSearch_2.19"
    assert made["EncryptionAtRestOptions"] == {"Enabled": True, "KmsKeyId": "<Data.Outputs.KeyArn>"}
    assert made["NodeToNodeEncryptionOptions"] == {"Enabled": True}
    assert made["DomainEndpointOptions"] == {
        "EnforceHTTPS": True,
        "TLSSecurityPolicy": "Policy-Min-TLS-1-2-PFS-2023-10",
    }


def test_only_signed_requests_of_this_account_reach_the_domain(with_domain: Stack) -> None:
    (statement,) = domain(with_domain)["AccessPolicies"]["Statement"]
    assert statement["Principal"] == {"AWS": "arn:aws:iam::111122223333:root"}
    assert set(statement["Action"]) == {f"es:ESHttp{verb}" for verb in ("Delete", "Get", "Head", "Post", "Put")}
    assert statement["Resource"].endswith(f":domain/{domain(with_domain)['DomainName']}/*")


def test_in_prod_the_index_survives_the_loss_of_a_zone(prod: Stack) -> None:
    cluster = domain(prod)["ClusterConfig"]
    assert (cluster["InstanceCount"], cluster["ZoneAwarenessEnabled"]) == (2, True)
    assert cluster["ZoneAwarenessConfig"] == {"AvailabilityZoneCount": 2}


def test_the_domain_goes_with_the_stack_since_it_can_be_rebuilt(with_domain: Stack) -> None:
    assert with_domain.resources["Search"]["DeletionPolicy"] == "Delete"
