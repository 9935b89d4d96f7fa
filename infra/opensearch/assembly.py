"""The node's home: fetched with Maven once, put together beside its place, moved there when it is whole."""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from infra.opensearch.parts import LIB, PARTS, VERSION, Part, descriptor, policy, project, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

CACHE = Path(".tools/opensearch")
_OLDEST, _NEWEST = 17, 23
"""Of Java: OpenSearch 2 needs the security manager, which 24 has no more."""


class NotAssembled(Exception):
    """Why there is no node, in a sentence for whoever wanted one."""


def lacking() -> str | None:
    """Say what this machine lacks to assemble and run a node, or return None."""
    wanted = f"Java {_OLDEST} to {_NEWEST}"
    if not shutil.which("java"):
        return f"{wanted} (Debian, Ubuntu: apt install openjdk-17-jre-headless)"
    told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S607
    version = re.search(r'version "(\d+)', told)
    if not version or not _OLDEST <= int(version[1]) <= _NEWEST:
        return f"{wanted}; this is {told.strip().partition(chr(10))[0] or 'none'}"
    if not shutil.which("mvn"):
        return "Maven, which fetches the node (Debian, Ubuntu: apt install maven)"
    return None


def assembled(cache: Path = CACHE) -> Path:
    """Return the home of a node, assembled where it is not there yet; others who want it meanwhile wait.

    Raises:
        NotAssembled: this machine lacks something, or Maven could not fetch it all.
    """
    home = cache.resolve() / f"{VERSION}-{_fingerprint()}"
    if home.is_dir():
        return home
    if reason := lacking():
        raise NotAssembled(f"a search node needs {reason}")
    cache.mkdir(parents=True, exist_ok=True)
    with _alone(cache / "lock"), tempfile.TemporaryDirectory(dir=cache) as scratch:
        if not home.is_dir():
            _assemble(Path(scratch))
            (Path(scratch) / "home").rename(home)
    return home


def _fingerprint() -> str:
    return hashlib.sha256(repr(PARTS).encode()).hexdigest()[:8]


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _assemble(scratch: Path) -> None:
    _fetch(scratch / "maven")
    for part in PARTS:
        _fill(scratch / "home" / part.folder, scratch / "maven" / part.name / "jars", part)
    (scratch / "home" / "bin").mkdir()  # the node makes it where it is missing, and may not write here
    ours = {jar.name for jar in (scratch / "home" / LIB).iterdir()}
    for jar in (scratch / "home" / "modules").glob("*/*.jar"):
        if jar.name in ours:  # a class that two places have stops the node
            jar.unlink()


def _fetch(where: Path) -> None:
    for part in PARTS:
        (where / part.name).mkdir(parents=True)
        (where / part.name / "pom.xml").write_text(project(part))
    (where / "pom.xml").write_text(whole())
    into = "-DoutputDirectory=${project.basedir}/jars"
    command = ["mvn", "-B", "-q", "-f", str(where / "pom.xml"), "dependency:copy-dependencies", into]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if done.returncode:
        raise NotAssembled(f"Maven could not fetch the search node:\n{(done.stdout + done.stderr)[-2000:]}")


def _fill(folder: Path, jars: Path, part: Part) -> None:
    folder.mkdir(parents=True)
    for jar in jars.iterdir():
        if jar.suffix == ".zip":
            with zipfile.ZipFile(jar) as packed:
                packed.extractall(folder)
        else:
            jar.rename(folder / jar.name)
    if part.plugin:
        (folder / "plugin-descriptor.properties").write_text(descriptor(part))
    if part.permissions:
        (folder / "plugin-security.policy").write_text(policy(part))
