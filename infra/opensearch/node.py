"""One node as a process: started on free ports, ready when it answers, gone with whoever started it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAP = "512m"
SECONDS = 120
_NOBODY = 65534

_SETTINGS = """\
cluster.name: lodestore
discovery.type: single-node
network.host: 127.0.0.1
http.port: {port}
transport.port: 0
node.portsfile: true
path.data: {folder}/data
path.logs: {folder}/logs
bootstrap.system_call_filter: false
cluster.routing.allocation.disk.threshold_enabled: false
"""

_LOGGING = """\
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""

# The node ends with the pipe that its starter holds: a starter that is killed leaves nothing behind, no process and no
# folder. The node is killed, since its own way to end takes ten seconds; what it acknowledged is on disk by then.
_LEASH = """
exec 3<&0
"$@" </dev/null 3<&- & node=$!
( read -r _ <&3; kill -9 "$node" ) 2>/dev/null & leash=$!
wait "$node" 2>/dev/null; status=$?
kill "$leash" 2>/dev/null
[ "$status" -ne 137 ] || rm -rf "$0"
exit "$status"
"""


class NodeFailed(Exception):
    """The node ended, or did not answer in time; the message has the end of what it said."""


@contextmanager
def running(home: Path, *, data: Path | None = None, port: int = 0) -> Iterator[str]:
    """Run a node of `home` and yield its address; what it held is gone at the end, unless `data` is its folder.

    Raises:
        NodeFailed: it did not start.
    """
    _refuse_taken(port)
    with tempfile.TemporaryDirectory(prefix="opensearch-") as scratch:
        folder = (data or Path(scratch)).resolve()
        _furnish(folder, port)
        home = _reachable(home, Path(scratch))
        _hand_over(folder, Path(scratch))
        with (Path(scratch) / "output").open("wb") as output, _process(home, folder, output) as process:
            yield _ready(process, folder, Path(output.name))


def _refuse_taken(port: int) -> None:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            raise NodeFailed(f"Port {port} can't be used: {error}. Give another --port, or none.") from error


@contextmanager
def _process(home: Path, folder: Path, output: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if _is_root() else {}
    command = ["sh", "-c", _LEASH, str(Path(output.name).parent), *_java(home, folder)]
    process = subprocess.Popen(  # type: ignore[call-overload] # noqa: S603 - our own words
        command, stdin=subprocess.PIPE, stdout=output, stderr=output, cwd=folder, start_new_session=True, **user
    )
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait()


def _java(home: Path, folder: Path) -> list[str]:
    return [
        shutil.which("java") or "java",
        f"-Xms{HEAP}",
        f"-Xmx{HEAP}",
        "-XX:+UseSerialGC",
        "-Djava.security.manager=allow",
        f"-Djava.io.tmpdir={folder}/scratch",
        f"-Dopensearch.path.home={home}",
        f"-Dopensearch.path.conf={folder}/config",
        "-Dlog4j2.disable.jmx=true",
        "-Dio.netty.noUnsafe=true",
        "-cp",
        f"{home}/lib/*",
        "org.opensearch.bootstrap.OpenSearch",
    ]


def _furnish(folder: Path, port: int) -> None:
    for name in ("config", "data", "logs", "scratch"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "logs" / "http.ports").unlink(missing_ok=True)
    (folder / "config" / "opensearch.yml").write_text(_SETTINGS.format(folder=folder, port=port))
    (folder / "config" / "log4j2.properties").write_text(_LOGGING)


def _is_root() -> bool:
    return os.geteuid() == 0


def _reachable(home: Path, scratch: Path) -> Path:
    """Return a home that the node's user can read: a copy, where ours lies below a closed folder."""
    if not _is_root() or all(folder.stat().st_mode & 0o001 for folder in home.parents):
        return home
    shutil.copytree(home, scratch / "home")
    return scratch / "home"


def _hand_over(*folders: Path) -> None:
    """Give folders to the user that runs the node: it refuses to run as root."""
    for folder in folders if _is_root() else ():
        folder.chmod(0o755)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)


def _ready(process: subprocess.Popen[bytes], folder: Path, output: Path) -> str:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        port = _port(folder / "logs" / "http.ports")
        if port and _answers(port):
            return f"http://127.0.0.1:{port}"
        time.sleep(0.1)
    said = output.read_text(errors="replace") if output.exists() else "It was killed."
    raise NodeFailed(f"The search node did not start:\n{said[-3000:]}")


def _port(file: Path) -> int | None:
    text = file.read_text() if file.exists() else ""
    return int(text.splitlines()[0].rpartition(":")[2]) if text.endswith("\n") else None


def _answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/_cluster/health?wait_for_status=yellow&timeout=1s")
        answer = connection.getresponse()
        return answer.status == 200 and json.loads(answer.read())["status"] != "red"
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
