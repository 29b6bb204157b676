"""A world that is the same every time: programs that ask chance and clocks, run twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gate.resources import inside_dir

_BEGIN = """
import sys
package = type(sys)("gate_driver"); package.__path__ = [sys.argv[1]]; sys.modules["gate_driver"] = package
from gate_driver import pinned_world
pinned_world.pin(1, 1_700_000_000.0)
"""
_ASKS = """
import datetime, os, random, secrets, subprocess, sys, tempfile, time, uuid
print(os.urandom(8).hex(), os.getrandom(4).hex(), random.random(), random.Random().random())
print(random.SystemRandom().random(), secrets.token_hex(8), uuid.uuid4(), uuid.uuid1())
print(tempfile.mktemp(), time.time(), time.time_ns(), datetime.datetime.now(), datetime.date.today())
print(time.perf_counter(), time.strftime("%Y"), datetime.datetime.now(datetime.timezone.utc).year)
print(isinstance(datetime.datetime.now(), datetime.datetime), time.monotonic() > 0)
"""
_NODE = """
const crypto = require("node:crypto");
console.log(crypto.randomBytes(8).toString("hex"), crypto.randomUUID(), Math.random(), Date.now(), new Date(),
  crypto.randomInt(1000), globalThis.crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)),
  new Date(0).getTime(), new Date() instanceof Date);
"""


def run(code: str, folder: Path, *argv: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONHASHSEED": "0"}
    words = [sys.executable, "-c", _BEGIN + code, str(inside_dir() / "driver"), *argv]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_chance_and_clocks_are_the_same_every_time(tmp_path: Path) -> None:
    first = run(_ASKS, tmp_path)
    assert first == run(_ASKS, tmp_path)
    assert "2023-11-14" in first
    assert "True True" in first


def test_so_they_are_in_python_programs_that_it_starts(tmp_path: Path) -> None:
    child = f"{_ASKS}\nsubprocess.run([sys.executable, '-c', {_ASKS!r}])\n"
    first = run(child, tmp_path)
    assert first == run(child, tmp_path)
    assert len(first.splitlines()) == 10


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_and_in_node(tmp_path: Path) -> None:
    child = f"import subprocess\nsubprocess.run(['node', '-e', {_NODE!r}])\n"
    first = run(child, tmp_path)
    assert first == run(child, tmp_path)
    assert first.rstrip().endswith("0 true")
