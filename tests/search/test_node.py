import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import gettempdir
from urllib.request import urlopen

import pytest

from infra.opensearch import assembly
from infra.opensearch.assembly import NotAssembled, assembled
from infra.opensearch.node import NodeFailed, running
from tests.node import search_node, shared_node


def test_the_node_is_the_version_that_the_template_deploys_and_searches_by_vectors(opensearch_endpoint: str) -> None:
    with urlopen(opensearch_endpoint) as answer:
        version = json.load(answer)["version"]["number"]
    with urlopen(f"{opensearch_endpoint}/_cat/plugins?format=json") as answer:
        plugins = {plugin["component"] for plugin in json.load(answer)}
    assert f"OpenSearch_{version.rpartition('.')[0]}" in Path("infra/search.yaml").read_text()
    assert plugins == {"opensearch-knn"}


def test_a_node_ends_even_when_its_starter_is_killed_and_leaves_nothing() -> None:
    before = set(Path(gettempdir()).glob("opensearch-*"))
    starter = subprocess.Popen([sys.executable, "-m", "infra.opensearch", "run"], stdout=subprocess.PIPE, text=True)
    assert starter.stdout
    with starter.stdout as output:
        endpoint = output.readline().strip().partition("=")[2]
    assert reachable(endpoint)
    own = [folder for folder in set(Path(gettempdir()).glob("opensearch-*")) - before if _is_of(folder, endpoint)]
    starter.kill()
    starter.wait()
    while reachable(endpoint) or any(folder.exists() for folder in own):
        pass
    assert len(own) == 1


def test_a_port_that_is_taken_is_named_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(NodeFailed, match=f"Port {port} can't be used: .*--port"), running(tmp_path, port=port):
            pass


def _is_of(folder: Path, endpoint: str) -> bool:
    try:
        ports = (folder / "logs" / "http.ports").read_text().split()
    except OSError:  # another run's node, that starts or ends
        return False
    return bool(ports) and ports[0].endswith(endpoint.rpartition("/")[2])


def reachable(endpoint: str) -> bool:
    try:
        with urlopen(endpoint, timeout=5):
            return True
    except OSError:
        return False


def test_a_machine_without_what_it_takes_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotAssembled, match=r"needs Java 17 to 23 .*apt install"):
        assembled(tmp_path / "cache")


@pytest.mark.parametrize(("said", "told"), [('"1.8.0_402"', "this is"), ('"24.0.1"', "this is"), ('"17.0.1"', "Maven")])
def test_a_java_that_cannot_run_it_is_told_from_one_that_can(
    said: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version {said}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}")
    reason = assembly.lacking()
    assert reason
    assert told in reason


def test_tests_without_a_node_are_skipped_but_fail_where_one_is_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENSEARCH_ENDPOINT", raising=False)
    monkeypatch.setattr("tests.node.assembled", lambda: assembled(tmp_path))
    monkeypatch.setattr(assembly, "lacking", lambda: "Java")
    monkeypatch.delenv("REQUIRE_OPENSEARCH", raising=False)
    with pytest.raises(pytest.skip.Exception, match="a search node needs Java"), search_node():
        pass
    monkeypatch.setenv("REQUIRE_OPENSEARCH", "1")
    with pytest.raises(pytest.fail.Exception, match="a search node needs Java"), search_node():
        pass


def test_a_named_node_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENSEARCH_ENDPOINT", "https://elsewhere.example.org")
    with search_node() as endpoint:
        assert endpoint == "https://elsewhere.example.org"


def test_processes_share_a_node_that_goes_after_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[str] = []

    @contextmanager
    def node() -> Iterator[str]:
        running.append("started")
        yield f"node {len(running)}"
        running.append("stopped")

    monkeypatch.setattr("tests.node.search_node", node)
    ended = threading.Event()
    with ExitStack() as first, ExitStack() as second:
        assert first.enter_context(shared_node(tmp_path)) == second.enter_context(shared_node(tmp_path)) == "node 1"
        stopping = threading.Thread(target=lambda: (first.close(), ended.set()))
        stopping.start()
        assert running == ["started"]
        assert not ended.is_set()
        second.close()
        stopping.join()
    assert running == ["started", "stopped"]
    with shared_node(tmp_path) as another:
        assert another == "node 3"
