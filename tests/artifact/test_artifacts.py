"""Every artifact of `sam build` boots under the runtime client on its own Python and answers its kind of event."""

import json
import os
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import boto3
import pytest

from infra.local.resources import make_resources
from infra.local.stack import TEMPLATE, Stack
from infra.local.template import load_template
from infra.tools.artifact import RUNTIME, files, platforms_of
from tests.artifact import office
from tests.artifact.runtime_api import REGION, booted

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".tools/lambda/bin/python"
SAM = ROOT / ".tools/sam/bin/sam"
EVENTS = ROOT / "tests/events"
SMALL, LARGEST = 40_000_000, 200_000_000  # Lambda takes 262 MB
WITH_MODELS = ("MemoriesFunction", "WorkerFunction")
WITH_A_PARSER = "DocumentsFunction"
FUNCTIONS = {function.name: function for function in Stack(TEMPLATE).functions()}
DESCRIBED = load_template(TEMPLATE)["Resources"]
ON_BOTH = [name for name in FUNCTIONS if len(platforms_of(DESCRIBED[name]["Properties"])) > 1]

if not (SAM.exists() and PYTHON.exists()):
    pytest.skip("the tools' environments are missing: run `make tools`", allow_module_level=True)


def version() -> str:
    asked = [str(PYTHON), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Build as a deployment does; where there is no Python of the runtime's version, for the one there is."""
    into: Path = tmp_path_factory.mktemp("built")
    if version() == RUNTIME:
        run(str(SAM), "build", "--build-dir", str(into))
        return into
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\nno Python {RUNTIME} here: artifacts are built for and booted on {version()}")
    for name in FUNCTIONS:
        arguments = (name.removesuffix("Function"), str(into / name), "--python", version())
        run(str(ROOT / ".venv/bin/python"), "-m", "infra.tools.artifact", *arguments)
    return into


def run(*command: str) -> None:
    environment = os.environ | {"SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": REGION}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Start moto's server, the address of everything that the artifacts call."""
    command = [str(ROOT / ".venv/bin/python"), "-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = next(line for line in server.stderr if "Running on" in line)
            # It logs every request, and would stop at a full pipe.
            Thread(target=deque, args=(server.stderr, 0), daemon=True).start()
            yield line.split()[-1]
        finally:
            server.kill()


class Clients:
    """What `make_resources` asks of `Aws`, against another address."""

    def __init__(self, endpoint: str) -> None:
        session = boto3.session.Session(aws_access_key_id="a", aws_secret_access_key="b", region_name=REGION)
        self.s3, self.dynamodb, self.sqs = (session.client(n, endpoint_url=endpoint) for n in ("s3", "dynamodb", "sqs"))


@pytest.fixture(scope="module")
def environment(endpoint: str) -> dict[str, str]:
    make_resources(Stack(TEMPLATE), Clients(endpoint))  # type: ignore[arg-type]
    return {"AWS_ENDPOINT_URL": endpoint}


def answer(built: Path, name: str, event: Any, environment: dict[str, str]) -> Any:
    function = FUNCTIONS[name]
    with booted(PYTHON, built / name, function.handler, function.environment | environment) as running:
        return running.invoke(event)


def sample(name: str) -> Any:
    return json.loads((EVENTS / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_artifact_stays_below_40_mb_and_with_a_model_or_a_parser_inside_below_200(built: Path, name: str) -> None:
    size = sum(path.stat().st_size for path in files(built / name))
    print(f"{name}: {size / 1e6:.1f} MB unpacked")
    assert size < (LARGEST if name in (*WITH_MODELS, WITH_A_PARSER) else SMALL)


def test_the_parser_is_in_one_artifact_alone(built: Path) -> None:
    parsers = {"PIL", "kreuzberg", "pypdfium2"}
    held = {name for name in FUNCTIONS if parsers & {path.name for path in (built / name).iterdir()}}
    assert held <= {WITH_A_PARSER}


@pytest.mark.parametrize("name", [name for name in WITH_MODELS if name in FUNCTIONS])
def test_an_artifact_with_a_model_inside_embeds(built: Path, name: str) -> None:
    asked = "from shared.wiring.models import embedder_of; print(len(embedder_of({}).of_query('hello')))"
    command = [str(PYTHON), "-B", "-c", asked]
    assert subprocess.run(command, cwd=built / name, capture_output=True, text=True, check=True).stdout == "512\n"


@pytest.mark.parametrize(
    ("extension", "content"), [("pdf", office.PDF), ("docx", office.DOCX), ("md", office.MARKDOWN)]
)
def test_the_artifact_with_the_parser_inside_reads_files(
    built: Path, tmp_path: Path, extension: str, content: bytes
) -> None:
    file = tmp_path / f"file.{extension}"
    file.write_bytes(content)
    # As in Lambda: nothing but the path of modules says where the artifact is, and its parser runs in another process.
    asked = f"""import sys; sys.path.insert(0, {str(built / WITH_A_PARSER)!r})
from pathlib import Path
from shared.documents.parsing import SubprocessParser
print(*(chunk.text for chunk in SubprocessParser().parse(Path({str(file)!r}), {extension!r})))"""
    ran = subprocess.run([str(PYTHON), "-I", "-B", "-c", asked], cwd="/", capture_output=True, text=True, check=False)
    assert (office.SENTENCE in ran.stdout, ran.stderr) == (True, ""), ran.stdout


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_artifact_brings_nothing_that_the_runtime_brings(built: Path, name: str) -> None:
    brought = {path.name for path in (built / name).iterdir()}
    for_opensearch = {"urllib3", "dateutil"} if name in WITH_MODELS else set()  # the runtime's may be too old for it
    runtime = {"boto3", "botocore", "s3transfer", "urllib3", "dateutil", "awslambdaric", "bin", "tests"}
    assert not brought & runtime - for_opensearch


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_artifact_holds_its_own_function_and_no_other(built: Path, name: str) -> None:
    package = FUNCTIONS[name].handler.split(".")[1]
    held = {path.name for path in (built / name / "functions").iterdir() if path.is_dir()}
    assert held - {"__pycache__"} == {package}


@pytest.mark.parametrize("name", ON_BOTH)
def test_an_artifact_runs_on_both_processors(built: Path, name: str) -> None:
    # What modules link to lies beside them under names of their content's hash.
    compiled = [path for path in (built / name).rglob("*.so") if not path.parent.name.endswith(".libs")]
    native = {path.name.split(".")[-2].split("-")[2] for path in compiled}
    modules = {path.relative_to(built / name).parent / path.name.split(".")[0] for path in compiled}
    assert native == {"aarch64", "x86_64"}
    assert all(len(list((built / name).glob(f"{module}.*.so"))) == len(native) for module in modules)


def test_only_the_parser_is_bound_to_a_processor() -> None:
    assert set(FUNCTIONS) - set(ON_BOTH) == {WITH_A_PARSER}
    assert platforms_of(DESCRIBED[WITH_A_PARSER]["Properties"]) == ["x86_64-manylinux_2_28"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_artifact_tells_nothing_of_the_machine_that_built_it(built: Path, name: str) -> None:
    here = str(ROOT).encode()
    assert not [path for path in files(built / name) if path.name != "LICENSE" and here in path.read_bytes()]


def test_the_same_sources_make_the_same_artifact(built: Path, tmp_path: Path) -> None:
    name = next(iter(FUNCTIONS))
    arguments = (name.removesuffix("Function"), str(tmp_path / name), "--python", version())
    run(str(ROOT / ".venv/bin/python"), "-m", "infra.tools.artifact", *arguments)
    assert contents(built / name) == contents(tmp_path / name)


def contents(tree: Path) -> dict[str, tuple[bytes, int]]:
    return {str(p.relative_to(tree)): (p.read_bytes(), int(p.stat().st_mtime)) for p in files(tree)}


def test_health_is_answered_without_a_key_and_without_a_call(built: Path) -> None:
    got = answer(built, "PlatformFunction", sample("health"), {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    assert got["statusCode"] == 200
    assert json.loads(got["body"])["status"] == "ok"


@pytest.mark.parametrize("path", ["/docs", "/openapi.json", "/openapi.yaml"])
def test_the_api_describes_itself_out_of_the_artifact(built: Path, path: str) -> None:
    event = sample("health") | {"rawPath": path, "routeKey": f"ANY {path}"}
    event["requestContext"]["http"]["path"] = path
    got = answer(built, "PlatformFunction", event, {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    assert got["statusCode"] == 200
    assert len(got["body"]) > 1000


def test_a_function_whose_dependencies_answer_is_ready(built: Path, environment: dict[str, str]) -> None:
    event = sample("health") | {"rawPath": "/ready", "routeKey": "ANY /ready"}
    event["requestContext"]["http"]["path"] = "/ready"
    got = answer(built, "PlatformFunction", event, environment)
    assert got["statusCode"] == 200, got


def test_a_request_without_a_credential_is_answered_401(built: Path, environment: dict[str, str]) -> None:
    event = sample("get_task")
    del event["headers"]["authorization"]
    got = answer(built, "ProjectsFunction", event, environment)
    assert got["statusCode"] == 401
    assert list(json.loads(got["body"])) == ["detail"]


def test_a_request_with_an_unknown_credential_is_looked_up_and_answered_401(
    built: Path, environment: dict[str, str]
) -> None:
    assert answer(built, "ProjectsFunction", sample("get_task"), environment)["statusCode"] == 401


def test_memories_say_in_their_own_words_that_a_key_is_unknown(built: Path, environment: dict[str, str]) -> None:
    got = answer(built, "MemoriesFunction", sample("add_memories"), environment)
    assert got["statusCode"] == 401
    assert json.loads(got["body"])["error"]["code"] == "unauthenticated"


def test_the_worker_is_done_with_a_message_of_an_unknown_task(
    built: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    search = {"SEARCH_BACKEND": "embedded", "INDEX_FOLDER": str(tmp_path)}
    assert answer(built, "WorkerFunction", sample("work"), environment | search) == {"batchItemFailures": []}


def test_what_reads_files_is_done_with_a_message_of_an_unknown_task(built: Path, environment: dict[str, str]) -> None:
    assert answer(built, "DocumentsFunction", sample("read"), environment) == {"batchItemFailures": []}


@pytest.mark.parametrize("schedule", ["sweep", "reconcile"])
def test_the_sweeper_answers_its_schedules(built: Path, environment: dict[str, str], schedule: str) -> None:
    answer(built, "SweeperFunction", sample(schedule), environment)


def test_a_warm_function_answers_again(built: Path, environment: dict[str, str]) -> None:
    function = FUNCTIONS["PlatformFunction"]
    with booted(PYTHON, built / function.name, function.handler, function.environment | environment) as running:
        started = time.perf_counter()
        answers = [running.invoke(sample("health"))["statusCode"] for _ in range(20)]
        each = (time.perf_counter() - started) / len(answers) * 1000
        print(f"boot {running.boot_ms:.0f} ms, then {each:.1f} ms an event, on Python {version()}")
    assert set(answers) == {200}
