"""Build one function's artifact: the wheel of this project with the function's extra, pinned by requirements.lock.

`sam build` runs it through the Makefile. SAM does not tell a makefile which processor a function is for, so
an artifact runs on both: native modules carry their platform in their name and lie side by side. What is
tested on one processor is then, byte for byte, what is deployed on the other. Only a function that the template
itself pins to a processor is built for that one alone.

Lambda can't keep the byte code that it compiles, so it is compiled here, where a Python of the runtime's
version is found: a fifth to a quarter of a cold start.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from infra.local.template import load_template

RUNTIME = "3.13"
PLATFORMS = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}
TEMPLATE = Path("template.yaml")
LOCK = "requirements.lock"
# Of a package's own description: its version, its plug-ins, its licence. The rest says where, how and for
# which machine it was installed.
TOLD = ("METADATA", "entry_points.txt", "licenses")
# What compilers, type checkers and testers read of a dependency: a third of numpy.
UNREAD = ("*.a", "*.c", "*.h", "*.pxd", "*.pyi", "tests")
# Says how it was compiled, to whoever asks to be shown; the first processor's serves both.
COMPILATION = (Path("numpy/__config__.py"),)
# The same content is the same zip, whenever it is built: SAM then leaves an unchanged function alone.
SAME_TIME = 315532800


class Differs(Exception):
    """The two processors' installations disagree about a file that is not named after its platform."""


def build(function: str, into: Path, version: str = RUNTIME) -> None:
    """Fill `into` with the artifact of a function, by its logical id without "Function", for a version of Python.

    Raises:
        Differs: a dependency can't be in one artifact for both processors.
        subprocess.CalledProcessError: uv could not build or install; it has said why.
    """
    described = load_template(TEMPLATE)["Resources"][f"{function}Function"]["Properties"]
    with tempfile.TemporaryDirectory() as scratch:
        wheel = build_wheel(Path(scratch))
        package = f"lodestore[{function.lower()}] @ {wheel.as_uri()}"
        trees = [install(package, version, p, tree=Path(scratch) / p) for p in platforms_of(described)]
        for tree in trees:
            strip(tree, keep=package_of(described))
        merge(trees, into)
    compile_sources(into, version)
    settle(into)


def platforms_of(described: Mapping[str, Any]) -> list[str]:
    """Return the platforms of the processors that a function may run on: both, unless the template pins it."""
    return [PLATFORMS[processor] for processor in described.get("Architectures", PLATFORMS)]


def build_wheel(scratch: Path) -> Path:
    """Build the project's wheel with the locked build backend and return its path."""
    uv("build", "--wheel", "--no-create-gitignore", "--build-constraints", LOCK, "--out-dir", str(scratch / "wheel"))
    return next((scratch / "wheel").glob("*.whl"))


def install(package: str, version: str, platform: str, *, tree: Path) -> Path:
    """Install a package for one Python and platform into `tree` and return it."""
    pinned = ("--constraints", LOCK, "--only-binary", ":all:", "--link-mode", "copy")
    target = ("--target", str(tree), "--python-version", version, "--python-platform", platform)
    uv("pip", "install", *pinned, *target, package)
    return tree


def uv(*arguments: str) -> None:
    """Run the uv that stands beside this Python."""
    command = [str(Path(sys.executable).with_name("uv")), "--quiet", *arguments]
    subprocess.run(command, check=True)  # noqa: S603 - our own words, and no shell


def package_of(described: Mapping[str, Any]) -> str:
    """Return the folder of `functions/` that serves a function."""
    return str(described["Handler"]).split(".")[1]


def strip(tree: Path, keep: str) -> None:
    """Take out the other functions' packages, commands, byte code, what nobody reads and traces of this machine."""
    for package in (tree / "functions").iterdir():
        if package.is_dir() and package.name != keep:
            shutil.rmtree(package)
    unread = [path for pattern in UNREAD for path in tree.rglob(pattern)]
    told = [path for path in tree.glob("*.dist-info/*") if path.name not in TOLD]
    for path in [tree / ".lock", tree / "bin", *tree.rglob("__pycache__"), *unread, *told]:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def merge(trees: list[Path], into: Path) -> None:
    """Copy all trees into one; a file that several have must be the same in each."""
    for tree in trees:
        for path in files(tree):
            name = path.relative_to(tree)
            there = into / name
            if not there.exists():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, there)
            elif name not in COMPILATION and there.read_bytes() != path.read_bytes():
                raise Differs(str(name))


def compile_sources(tree: Path, version: str) -> None:
    """Add byte code that is never checked against its source, as if compiled in Lambda; or say why there is none."""
    python = subprocess.run(["infra/tools/runtime_python"], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S607
    asked = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    if subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() != version:  # noqa: S603
        sys.stderr.write(f"lodestore: no Python {version} here, so no byte code: cold starts will be slower\n")
        return
    where = ["-s", str(tree), "-p", "/var/task", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([python, "-m", "compileall", "-q", *where, str(tree)], check=True)  # noqa: S603


def settle(tree: Path) -> None:
    """Give every file of the artifact the same time and rights."""
    for path in files(tree):
        path.chmod(0o644)
        os.utime(path, (SAME_TIME, SAME_TIME))


def files(tree: Path) -> Iterator[Path]:
    """Yield every file below a folder."""
    return (path for path in tree.rglob("*") if path.is_file())


def main() -> None:
    """Build what the command line names."""
    arguments = argparse.ArgumentParser(description="Build one function's artifact")
    arguments.add_argument("function", help="its logical id without Function: Projects")
    arguments.add_argument("into", type=Path, help="folder to fill")
    arguments.add_argument("--python", default=RUNTIME, help="version to build for, by default the runtime's")
    given = arguments.parse_args()
    try:
        build(given.function, given.into, given.python)
    except (Differs, subprocess.CalledProcessError) as error:
        sys.exit(f"lodestore: no artifact for {given.function}: {error}")


if __name__ == "__main__":
    main()
