"""Build one function's artifact: the wheel of this project with the function's extra, pinned by requirements.lock.

`sam build` runs it through the Makefile. SAM does not tell a makefile which processor a function is for, so
an artifact runs on both: native modules carry their platform in their name and lie side by side. What is
tested on one processor is then, byte for byte, what is deployed on the other.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

RUNTIME = "3.13"
PLATFORMS = ("aarch64-manylinux_2_28", "x86_64-manylinux_2_28")
LOCK = "requirements.lock"
# Of a package's own description: its version, its plug-ins, its licence. The rest says where, how and for
# which machine it was installed.
TOLD = ("METADATA", "entry_points.txt", "licenses")
# The same content is the same zip, whenever it is built: SAM then leaves an unchanged function alone.
SAME_TIME = 315532800


class Differs(Exception):
    """The two processors' installations disagree about a file that is not named after its platform."""


def build(function: str, into: Path) -> None:
    """Fill `into` with the artifact of the function whose logical id is `function` without its "Function".

    Raises:
        Differs: a dependency can't be in one artifact for both processors.
        subprocess.CalledProcessError: uv could not build or install; it has said why.
    """
    name = function.lower()
    with tempfile.TemporaryDirectory() as scratch:
        wheel = build_wheel(Path(scratch))
        trees = [install(wheel, name, platform, Path(scratch) / platform) for platform in PLATFORMS]
        for tree in trees:
            strip(tree, keep=package_of(name))
        merge(trees, into)
    settle(into)


def build_wheel(scratch: Path) -> Path:
    """Build the project's wheel with the locked build backend and return its path."""
    uv("build", "--wheel", "--no-create-gitignore", "--build-constraints", LOCK, "--out-dir", str(scratch / "wheel"))
    return next((scratch / "wheel").glob("*.whl"))


def install(wheel: Path, extra: str, platform: str, tree: Path) -> Path:
    """Install the wheel with one extra for one platform into `tree` and return it."""
    pinned = ("--constraints", LOCK, "--only-binary", ":all:", "--link-mode", "copy")
    target = ("--target", str(tree), "--python-version", RUNTIME, "--python-platform", platform)
    uv("pip", "install", *pinned, *target, f"lodestore[{extra}] @ {wheel.as_uri()}")
    return tree


def uv(*arguments: str) -> None:
    """Run the uv that stands beside this Python."""
    command = [str(Path(sys.executable).with_name("uv")), "--quiet", *arguments]
    subprocess.run(command, check=True)  # noqa: S603 - our own words, and no shell


def package_of(name: str) -> str:
    """Return the folder of `functions/` that serves a function: of its name, or with a module of its name."""
    named = Path("functions", name)
    return name if named.is_dir() else next(Path("functions").glob(f"*/{name}.py")).parent.name


def strip(tree: Path, keep: str) -> None:
    """Take out the other functions' packages, commands, byte code and traces of this machine."""
    for package in (tree / "functions").iterdir():
        if package.is_dir() and package.name != keep:
            shutil.rmtree(package)
    for path in [tree / "bin", *tree.rglob("__pycache__")]:
        shutil.rmtree(path, ignore_errors=True)
    for path in [tree / ".lock", *tree.glob("*.dist-info/*")]:
        if path.name not in TOLD:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def merge(trees: list[Path], into: Path) -> None:
    """Copy all trees into one; a file that several have must be the same in each."""
    for tree in trees:
        for path in files(tree):
            there = into / path.relative_to(tree)
            if not there.exists():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, there)
            elif there.read_bytes() != path.read_bytes():
                raise Differs(str(path.relative_to(tree)))


def settle(tree: Path) -> None:
    """Give every file of the artifact the same time and rights."""
    for path in files(tree):
        path.chmod(0o644)
        os.utime(path, (SAME_TIME, SAME_TIME))


def files(tree: Path) -> Iterator[Path]:
    """Yield every file below a folder."""
    return (path for path in tree.rglob("*") if path.is_file())


if __name__ == "__main__":
    try:
        build(sys.argv[1], Path(sys.argv[2]))
    except (Differs, subprocess.CalledProcessError) as error:
        sys.exit(f"lodestore: no artifact for {sys.argv[1]}: {error}")
