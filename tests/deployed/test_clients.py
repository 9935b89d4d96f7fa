"""The clients of the local run's tests, unchanged, against the deployed stack."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import requests

if TYPE_CHECKING:
    from tests.deployed.conftest import Deployed

LARGE = os.urandom(12_000_000)


def test_it_is_healthy_and_ready(server: Deployed) -> None:
    assert server.session.get(f"{server.base_url}/health", timeout=60).json()["status"] == "ok"
    ready = server.session.get(f"{server.base_url}/ready", timeout=60)
    assert ready.status_code == 200, ready.text


def test_a_turn_and_its_artifact_are_kept(server: Deployed) -> None:
    assert server.call("PUT", "/tasks/fix/turns/1", json={"summary_md": "Fixed"}).status_code == 200
    assert server.call("PUT", "/tasks/fix/turns/1/artifacts/a.bin", data=b"\x00\xff" * 500).status_code == 200
    assert server.call("GET", "/tasks/fix/turns/1/artifacts/a.bin").content == b"\x00\xff" * 500
    assert server.call("GET", "/tasks/fix/turns/1").json()["summary_md"] == "Fixed"


def test_an_artifact_of_12_mb_goes_by_presigned_url_both_ways(server: Deployed) -> None:
    path = "/tasks/large/turns/1/artifacts/a.bin"
    upload = server.call("POST", f"{path}/upload", json={"size": len(LARGE)}).json()
    put = requests.put(upload["url"], data=LARGE, headers=upload["headers"], timeout=60)
    assert put.status_code == 200, put.text
    done = server.call("POST", f"{path}/complete", json={"upload_id": upload["upload_id"]})
    assert done.status_code == 200, done.text
    assert server.call("GET", path).content == LARGE
