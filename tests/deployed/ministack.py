"""AWS on this machine, over TLS, with the functions' roles enforced: ministack in an environment of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import certifi
import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".tools/ministack/bin"
HOST = "127.0.0.1"
REGION = "eu-central-1"
TRUSTING = ("AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
"""The variables that name files of certificates to trust."""

START_SECONDS = 60
STOP_SECONDS = 30


def version() -> str:
    """Return the version of the Python that runs ministack, and the functions in it."""
    asked = [str(PLACE / "python"), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


class Ministack:
    """One running account. `client` has its root's rights; what functions may do, their roles say."""

    def __init__(self, port: int, folder: Path) -> None:
        self.endpoint = f"https://{HOST}:{port}"
        self.certificate = folder / "ministack-tls/server.crt"
        self.log = folder / "ministack.log"

    @property
    def trust(self) -> dict[str, str]:
        """The variables by which other programs trust its certificate, beside all that they trust already.

        Some of them install packages first: their registries may need a certificate of this machine's own.
        """
        bundle = self.certificate.with_name("trusted.pem")
        if not bundle.exists():
            already = {os.environ[name] for name in TRUSTING if os.environ.get(name)} | {certifi.where()}
            files = [*filter(Path.is_file, map(Path, sorted(already))), self.certificate]
            bundle.write_text("\n".join(file.read_text("utf-8") for file in files), "utf-8")
        return dict.fromkeys(TRUSTING, str(bundle))

    def client(self, service: str) -> Any:
        """Return a boto3 client of the account's root."""
        named = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": REGION}
        return boto3.client(service, endpoint_url=self.endpoint, verify=str(self.certificate), **named)

    def address_of(self, api: str) -> str:
        """Return the base URL of an HTTP API; its own host name does not resolve everywhere."""
        return f"{self.endpoint}/_aws/execute-api/{api}/$default"


@contextmanager
def ministack(folder: Path) -> Iterator[Ministack]:
    """Start an empty account, and end it with all its functions."""
    port = _free_port()
    started = Ministack(port, folder)
    own = {
        "AUTH": "true",
        "BIND_HOST": HOST,
        "GATEWAY_PORT": str(port),
        "HOME": str(folder),
        "MINISTACK_REGION": REGION,
        "TMPDIR": str(folder),
        "USE_SSL": "1",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))}
    with started.log.open("wb") as file:
        process = subprocess.Popen(
            [str(PLACE / "ministack")], cwd=folder, env={**kept, **own}, stdout=file, stderr=file
        )
    try:
        _wait_for(started, process)
        yield started
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(started: Ministack, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if requests.get(f"{started.endpoint}/_ministack/health", timeout=5, verify=str(started.certificate)).ok:
                return
        except (OSError, requests.RequestException):  # its certificate is not there yet, or it does not listen
            time.sleep(0.1)
    raise AssertionError(f"ministack does not answer: {started.log.read_text()[-3000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
