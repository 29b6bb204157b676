"""The same backends when an ordinary user runs gate (in the docker group, as on GitHub's hosted runners)."""

from __future__ import annotations

import grp
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.sandbox.backends.registry import BACKENDS
from tests.paths import REPOSITORY

pytestmark = [pytest.mark.engine, pytest.mark.root]
UID = 61234

_SMOKE = """
import json, sys
from gate.model.run import Limits, SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from dataclasses import replace
from tests.contract.backend_contract import CASES, run_case, unhurried
from tests.contract.leftovers import snapshot
backend = BACKENDS[sys.argv[1]]()
found = backend.probe()
if not found.available:
    print(json.dumps({"skip": found.reason})); raise SystemExit
wanted = {"hello", "endless loop", "memory bomb", "has no standing", "extra files are planted"}
before = snapshot()
name = sys.argv[1]
chosen = [
    replace(c, deadline=unhurried(name, c.deadline, until_deadline=c.until_deadline))
    for c in CASES if c.name in wanted
]
done = {case.name: run_case(backend, case).outcome.value for case in chosen}
print(json.dumps({"done": done, "clean": snapshot() == before, "version": found.version}))
"""


def _python() -> str | None:
    """An interpreter of this version that another user can start."""
    for path in (sys.executable, shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin")):
        if path and all(folder.stat().st_mode & 0o001 for folder in Path(path).resolve().parents):
            return path
    return None


@pytest.fixture
def home() -> Iterator[Path]:
    """pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory(prefix="home-", dir="/tmp") as folder:
        os.chown(folder, UID, UID)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, which only root can")
@pytest.mark.parametrize("name", BACKENDS)
def test_an_ordinary_user_gets_the_same_backends(name: str, home: Path) -> None:
    python = _python()
    if python is None:
        pytest.skip("no Python of this version that other users can start")
    if not all(folder.stat().st_mode & 0o001 for folder in REPOSITORY.parents):
        pytest.skip("the checkout lies where other users cannot go")
    groups = [group.gr_gid for group in grp.getgrall() if group.gr_name == "docker"]
    packages = [path for path in sys.path if path.endswith("site-packages")]
    done = subprocess.run(
        [python, "-B", "-c", _SMOKE, name],
        user=UID,
        group=UID,
        extra_groups=groups,
        cwd=REPOSITORY,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": ":".join([str(REPOSITORY), *packages]),
        },
        capture_output=True,
        check=False,
        timeout=280,  # a microVM's files are made anew for this user, by a processor in software
    )
    told = done.stderr.decode().strip()
    assert done.returncode == 0, f"{told.rpartition(chr(10))[2]}\n{told[-3000:]}"  # the error itself first
    said = json.loads(done.stdout.splitlines()[-1])
    if "skip" in said:
        pytest.skip(f"{name}: {said['skip']}")
    assert said["clean"]
    assert said["done"] == {
        "hello": "completed",
        "endless loop": "timed-out",
        "memory bomb": "out-of-memory",
        "has no standing": "completed",
        "extra files are planted": "completed",
    }
