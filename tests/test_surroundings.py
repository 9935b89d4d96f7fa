"""Tests see the same whatever the shell around them says."""

from __future__ import annotations

import boto3

from tests.surroundings import HERE, NOBODYS, keep_out


def test_an_own_aws_set_up_settings_and_colours_are_kept_out() -> None:
    environ = {
        "AWS_PROFILE": "work",
        "AWS_REGION": "us-west-2",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_CONFIG_FILE": "/home/me/.aws/config",
        "POWERTOOLS_DEV": "1",
        "EMBEDDER": "bedrock:cohere.embed-multilingual-v3",
        "MEMORY_LANGUAGE": "en",
        "LODESTORE_HOME": "/home/me/lodestore",
        "PORT": "80",
        "COLUMNS": "50",
        "FORCE_COLOR": "1",
    }
    keep_out(environ)
    assert environ == {**NOBODYS, "NO_PROXY": HERE, "no_proxy": HERE}


def test_what_reaches_registries_and_a_given_search_node_stays() -> None:
    given = {"AWS_CA_BUNDLE": "/ca", "HTTPS_PROXY": "http://proxy", "OPENSEARCH_ENDPOINT": "http://node", "HOME": "/h"}
    environ = given | {"NO_PROXY": "registry.example.org"}
    keep_out(environ)
    assert environ.items() >= given.items()
    assert (environ["NO_PROXY"], environ["no_proxy"]) == (f"registry.example.org,{HERE}", HERE)


def test_it_was_done_before_any_test() -> None:
    assert (boto3.Session().available_profiles, boto3.Session().get_credentials()) == ([], None)
