"""Jobs that publish or ask to deploy install a fifth of the packages: enough, and the same bytes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from gate.errors import Exit
from tests.forge.standin.server import running
from tests.forge.standin.world import BASE, HEAD, OWNER, REPO, TREE, Pull, World
from tests.forge.telling import packed, soft
from tests.paths import REPOSITORY

ALONE = """
import importlib.metadata, re, sys

locked = set(sys.argv[1].split())
plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
theirs = {}
for top, names in importlib.metadata.packages_distributions().items():
    theirs[top] = {plain(name) for name in names}

class Absent:
    def find_spec(self, name, path=None, target=None):
        owners = theirs.get(name.partition(".")[0], set())
        if owners and not owners & (locked | {"gate-ci", "pip", "setuptools"}):
            raise ModuleNotFoundError(f"not in the lock: {name}", name=name)

sys.meta_path.insert(0, Absent())
"""
"""What is not in the lock (the first argument) is not there."""
IMPORTS = """
import gate.verbs.action
import gate.deploy.action_step
import gate.github.publishing.publish_step
print("imported")
"""
RUNS = """
from gate.cli import main

code = main(["action"])
looking = ("check", "stages", "sandbox", "prescreen", "plan", "inside", "tracing")
print("loaded:", *sorted(n for n in sys.modules if n.startswith(tuple(f"gate.{room}" for room in looking))))
sys.exit(code)
"""


def _locked(name: str) -> dict[str, frozenset[str]]:
    """Version and hashes by package."""
    text = re.sub(r"^#.*\n", "", (REPOSITORY / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries: dict[str, frozenset[str]] = {}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        package, _, rest = entry.partition("==")
        hashes = re.findall(r"sha256:[0-9a-f]{64}", rest)
        assert hashes, entry[:80]
        entries[str(canonicalize_name(package))] = frozenset([re.split(r"[ ;]", rest)[0], *hashes])
    return entries


def test_it_is_a_part_of_the_whole_lock_with_the_same_hashes() -> None:
    thin, whole = _locked("requirements-publish.txt"), _locked("requirements-image.txt")
    assert thin.items() <= whole.items()
    assert len(thin) <= len(whole) / 5


def _alone(
    program: str, locked: set[str], env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", ALONE + program, " ".join(locked)]
    return subprocess.run(words, capture_output=True, text=True, cwd=REPOSITORY, check=False, env=env)


def test_publishing_and_deploying_import_nothing_else() -> None:
    done = _alone(IMPORTS, set(_locked("requirements-publish.txt")))
    assert done.stdout.strip() == "imported", done.stderr


def test_what_is_not_in_the_lock_would_be_noticed() -> None:
    done = _alone(IMPORTS, set(_locked("requirements-publish.txt")) - {"msgspec"})
    assert "not in the lock: msgspec" in done.stderr


@pytest.mark.parametrize("mode", ["publish", "deploy"])
def test_the_whole_step_runs_with_it_and_loads_nothing_that_looks(tmp_path: Path, mode: str) -> None:
    """The job that holds the token: real requests to the stand-in, from the first import to the exit code."""
    world = World()
    world.pulls[7] = Pull(number=7)
    world.branches["main"] = BASE
    world.trees[BASE] = (TREE, ())
    world.job(checks="write", pull_requests="write", contents="read", actions="read", statuses="write")
    number = world.run()
    world.artifacts[world.ids()] = (number, "gate-report", packed(soft()))
    (tmp_path / "event.json").write_text(json.dumps({"workflow_run": {"id": number}}))
    with running(world) as github:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "GITHUB_API_URL": github.url,
            "GITHUB_REPOSITORY": f"{OWNER}/{REPO}",
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_EVENT_NAME": "workflow_run",
            "GITHUB_SHA": HEAD,
            "GATE_TOKEN": "job-token",
            "GATE_INPUT_MODE": mode,
            "GATE_INPUT_ENVIRONMENT": "production",
        }
        done = _alone(RUNS, set(_locked("requirements-publish.txt")), env)
    assert done.stdout.splitlines()[-1] == "loaded:", done.stdout + done.stderr
    if mode == "publish":
        assert done.returncode == Exit.OK, done.stderr
        assert [check["conclusion"] for check in world.checks.values()] == ["failure"]
        assert world.on(7)
    else:
        assert done.returncode == Exit.BLOCKED, done.stderr
        assert "gate.toml on main has no table" in done.stdout


def test_the_action_installs_it_where_no_code_is_looked_at() -> None:
    script = (REPOSITORY / "scripts" / "install-action.sh").read_text(encoding="utf-8")
    assert script.count("requirements-publish.txt") == 1
    assert "publish | deploy) lock=requirements-publish.txt" in script
