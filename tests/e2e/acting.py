"""Runs real workflows with `act` on this machine: a repository, an event, a small GitHub, what came out."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gate import proc
from tests.e2e.pulls import Pull, build, git
from tests.forge.standin.server import StandIn
from tests.forge.standin.world import OWNER, REPO, REPO_ID, World

ROOT = Path(__file__).resolve().parents[2]
ACT = Path(sys.executable).parent / "act"
GATE = "gate-ci/gate@" + "0" * 40
UPLOAD = "actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f"
_UPLOAD = """
name: upload
description: keeps the file where the test finds it
inputs: {name: {}, path: {}, if-no-files-found: {}, retention-days: {}}
runs:
  using: composite
  steps:
    - shell: bash
      env: {FILE: "${{ inputs.path }}", NAME: "${{ inputs.name }}"}
      run: cp -- "$FILE" "$GATE_TEST_ARTIFACTS/$NAME"
"""


@dataclass(frozen=True)
class Ran:
    """How a workflow ended."""

    code: int
    log: str
    outputs: dict[str, str]

    @property
    def green(self) -> bool:
        return self.code == 0


class Bench:
    """One repository with one pull request, and a GitHub that knows it."""

    def __init__(self, folder: Path, github: StandIn, pull: Pull, workflows: dict[str, str]) -> None:
        self.folder, self.github = folder, github
        placed = {f".github/workflows/{name}": text for name, text in workflows.items()}
        self.repo = build(replace(pull, base={**pull.base, **placed}), folder)
        git(self.repo, "remote", "add", "origin", f"https://github.com/{OWNER}/{REPO}")
        self.base, self.head = git(self.repo, "rev-parse", "main"), git(self.repo, "rev-parse", "head")
        ours = self.world.pulls[7]
        ours.base_sha, ours.head_sha, ours.head_ref = self.base, self.head, "head"
        self.artifacts = folder / "artifacts"
        self.artifacts.mkdir()
        self.upload = folder / "upload"
        self.upload.mkdir()
        (self.upload / "action.yml").write_text(_UPLOAD)
        self.tools = folder / "cache" / "act" / "tool_cache"  # where act keeps it
        self.action = folder / "action"
        self._copy_action()
        self._install()

    @property
    def world(self) -> World:
        return self.github.world

    @staticmethod
    def with_base(pull: Pull, files: dict[str, str]) -> Pull:
        """The same pull request on a base with more files."""
        return replace(pull, base={**pull.base, **files})

    def _copy_action(self) -> None:
        """The action as a release holds it: without environments, caches and history."""
        for name in ("action.yml", "pyproject.toml", "Dockerfile", "README.md"):
            self.action.mkdir(exist_ok=True)
            shutil.copy2(ROOT / name, self.action / name)
        for name in ("gate", "rules", "scripts"):
            shutil.copytree(ROOT / name, self.action / name, ignore=shutil.ignore_patterns("__pycache__"))

    def _install(self) -> None:
        """The tool cache of a runner that has installed this version before: this test's own environment."""
        listing = (self.action / "scripts" / "install-action.sh").read_text().split("home=")[0]
        script = listing + '\nprintf %s "$key"\n'
        env = {"GATE_ACTION_PATH": str(self.action)}
        done = proc.run(["bash", "-c", script], deadline=60, env=env)
        assert done.ok, done.stderr
        venv = self.tools / "gate" / done.stdout.decode()
        venv.parent.mkdir(parents=True)
        venv.symlink_to(Path(sys.prefix))

    def payload(self, **more: Any) -> dict[str, Any]:
        """A pull_request event for pull request 7."""
        ours = self.world.pulls[7]
        repo = {"id": REPO_ID, "full_name": f"{OWNER}/{REPO}", "default_branch": "main"}
        head = {"sha": self.head, "ref": "head", "repo": {**repo, "id": ours.head_repo_id}}
        base = {"sha": self.base, "ref": "main", "repo": repo}
        pull = {"number": 7, "state": "open", "title": ours.title, "body": "", "user": {"login": ours.author}}
        return {
            "action": "opened",
            "number": 7,
            "pull_request": {**pull, "head": head, "base": base, "labels": [], "draft": False},
            "repository": {**repo, "name": REPO, "owner": {"login": OWNER}},
            **more,
        }

    def act(self, event: str, workflow: str, payload: dict[str, Any], token: str = "job-token") -> Ran:
        """Run one workflow on this machine (act's self-hosted mode)."""
        file = self.folder / "event.json"
        file.write_text(json.dumps(payload))
        words = [
            str(ACT), event, "--workflows", f".github/workflows/{workflow}", "--eventpath", str(file),
            "--platform", "ubuntu-latest=-self-hosted", "--local-repository", f"{GATE}={self.action}",
            "--local-repository", f"{UPLOAD}={self.upload}", "--action-offline-mode", "--pull=false",
            "--secret", f"GITHUB_TOKEN={token}", "--no-cache-server", "--json",
        ]  # fmt: skip
        for name, value in {
            "GITHUB_API_URL": self.github.url,
            "GITHUB_REPOSITORY": f"{OWNER}/{REPO}",
            "GATE_TEST_ARTIFACTS": str(self.artifacts),
        }.items():
            words += ["--env", f"{name}={value}"]
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            **{k: v for k, v in os.environ.items() if k.startswith("DOCKER_")},
        }
        done = subprocess.run(
            words,
            cwd=self.repo,
            env=env,
            capture_output=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        log = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
        return Ran(done.returncode, log, _outputs(log))


def _outputs(log: str) -> dict[str, str]:
    found = {}
    for line in log.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("command") == "set-output" or "::set-output::" in entry.get("msg", ""):
            match = re.search(r"::set-output:: ([\w-]+)=(.*)", entry.get("msg", ""), re.DOTALL)
            name = entry.get("name") or (match and match[1])
            value = entry.get("arg") if entry.get("arg") is not None else (match and match[2])
            if name:
                found[str(name)] = str(value)
    return found
