"""Measure, print, and write `docs/benchmarks.md`: `python -m bench [--quick] [aws] [speed] [documents] [retrieval]`."""

from __future__ import annotations

import logging
import os
import platform
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from bench import startup
from bench.documents import documents_part
from bench.memories import retrieval_part, speed_part
from bench.operations import Bench, Measured, memories_operations, operations
from bench.scale import load_tasks, scale_operations
from bench.stage import open_stage
from bench.stores import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bench.startup import Startup

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SMALL, LARGE = 100, 100_000


def main() -> None:
    """Run the parts that are named, by default all, and write them into the page; `--quick` writes nothing."""
    quick = "--quick" in sys.argv[1:]
    named = [name for name in sys.argv[1:] if name in PARTS] or list(PARTS)
    logging.disable(logging.CRITICAL)
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"
    for name in named:
        text = "\n".join([*_machine(), *PARTS[name](quick=quick)]).strip()
        print(text)
        if not quick:
            _write(name, text)


def _write(name: str, text: str) -> None:
    """Put a part in its place on the page, and leave the others as they are."""
    old = PAGE.read_text("utf-8") if PAGE.exists() else ""
    kept = {part: found[1].strip() for part in PARTS if (found := re.search(_MARKED.format(part), old, re.DOTALL))}
    parts = [f"<!-- {part} -->\n{body}\n<!-- end -->" for part in PARTS if (body := {**kept, name: text}.get(part))]
    PAGE.write_text("\n\n".join([INTRODUCTION, *parts]) + "\n", "utf-8")


def _aws(*, quick: bool) -> list[str]:
    rounds, large = (6, SMALL * 10) if quick else (60, LARGE)
    page = [*_startup(startup.measure(3 if quick else 9))]
    with open_stage() as stage:
        print("operations …", flush=True)
        bench = Bench(stage, "small")
        page += _operations("Project memory", (bench.measure(operation, rounds) for operation in operations()))
        store = Bench(stage, "small", "StoresFunction")
        page += _operations("Memory stores", (store.measure(op, rounds) for op in Store(store).operations()))
        memories = Bench(stage, "small", "MemoriesFunction")
        page += _operations("Memories", (memories.measure(op, rounds) for op in memories_operations()))
        print(f"{SMALL} and {large:,} tasks …", flush=True)
        sizes = {SMALL: "hundred", large: "many"}
        found = {}
        for size, project in sizes.items():
            load_tasks(stage, project, size)
            scaled = Bench(stage, project)
            found[size] = [scaled.measure(operation, rounds // 3) for operation in scale_operations()]
        page += _scale("tasks", found)
        print(f"{SMALL} and {large:,} memories …", flush=True)
        for size, project in sizes.items():
            store = Bench(stage, project, "StoresFunction")
            loaded = Store(store)
            loaded.load(size)
            found[size] = [store.measure(operation, rounds // 3) for operation in loaded.operations()]
        page += _scale("memories in a store", found)
    return page


PARTS: dict[str, Callable[..., list[str]]] = {
    "aws": _aws,
    "speed": speed_part,
    "documents": documents_part,
    "retrieval": retrieval_part,
}
"""The page's parts, by the name that the command takes."""
INTRODUCTION = """# Benchmarks

Written by `make bench`; nothing here is typed by hand. `ARGS=speed` and the like measures one part anew."""
_MARKED = "<!-- {} -->\n(.*?)<!-- end -->"


def _machine() -> list[str]:
    packages = ", ".join(f"{name} {version(name)}" for name in ("boto3", "moto", "aws-lambda-powertools", "pydantic"))
    return [
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {packages}.",
        "",
    ]


def _startup(found: Startup) -> list[str]:
    return [
        "## Cold start of project memory",
        "",
        "A fresh process: imports, the function built, its DynamoDB and S3 clients. Aim: at most 1.5 times bare boto3.",
        "",
        "| | ms | memory, MB |",
        "| --- | ---: | ---: |",
        f"| boto3 with both clients | {found.bare_ms:.0f} | {found.bare_mb:.0f} |",
        f"| the function | {found.function_ms:.0f} | {found.function_mb:.0f} |",
        f"| **ratio** | **{found.ratio:.2f}** | {found.function_mb / found.bare_mb:.2f} |",
        "",
    ]


def _operations(surface: str, found: Iterable[Measured]) -> list[str]:
    rows = []
    for one in found:
        rows.append(f"| {one.name} | {one.calls} | {one.handler_ms:.1f} | {one.bare_ms:.1f} | {one.ratio:.2f} |")
        print(rows[-1], flush=True)
    return [
        f"## Operations: {surface.lower()}",
        "",
        "The handler, event in and answer out, over the very AWS calls it makes, made bare on a second stack, in turn.",
        "AWS is the emulator in the same process, so milliseconds say little; **ratios** compare with bare boto3.",
        "Aim: at most 1.3.",
        "",
        "| operation | AWS calls | handler, ms | bare calls, ms | ratio |",
        "| --- | ---: | ---: | ---: | ---: |",
        *rows,
        "",
    ]


def _scale(what: str, found: dict[int, list[Measured]]) -> list[str]:
    sizes = list(found)
    rows = [
        f"| {small.name} | {small.calls} | {large.calls} | {small.bytes:,} | {large.bytes:,} |"
        for small, large in zip(*found.values(), strict=True)
    ]
    return [
        f"## As there are more {what}",
        "",
        f"The same requests beside few and many {what}: calls to AWS, and bytes sent and received.",
        "Aim: the same.",
        "",
        f"| operation | calls, {sizes[0]:,} | calls, {sizes[1]:,} | bytes, {sizes[0]:,} | bytes, {sizes[1]:,} |",
        "| --- | ---: | ---: | ---: | ---: |",
        *rows,
        "",
    ]


if __name__ == "__main__":
    main()
