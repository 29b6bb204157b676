"""Runs real workflows with `act` in containers: a repository, an event, a small GitHub, what came out."""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from tests.e2e.image_step import named_images
from tests.e2e.pulls import Pull, build, git
from tests.e2e.runner import Runner
from tests.forge.standin.server import StandIn
from tests.forge.standin.world import OWNER, REPO, REPO_ID, World
from tests.paths import REPOSITORY

ACT = Path(sys.executable).parent / "act"
_SECONDS = 600
"""For one workflow: the first has the action installed, and machines may be busy."""
GATE = "gate-ci/gate@" + "0" * 40
UPLOAD = "actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f"
_UPLOAD = """
name: upload
description: keeps the file where the test finds it
inputs: {name: {required: true}, path: {required: true}, if-no-files-found: {}, retention-days: {}}
runs: {using: node20, main: index.js}
"""
_UPLOAD_JS = """
const fs = require("node:fs");
fs.copyFileSync(process.env.INPUT_PATH, "/gate-artifacts/" + process.env.INPUT_NAME);
console.log("kept by node " + process.version);
"""


@dataclass(frozen=True)
class Ran:
    """How a workflow ended. ``outputs``: of every step, the last of a name."""

    code: int
    log: str
    outputs: dict[str, str]

    @property
    def green(self) -> bool:
        return self.code == 0


@cache
def _released() -> Path:
    """The action as a release holds it: without environments, caches and history. One for the session:
    all tests run (and install) the same, whatever is edited meanwhile.
    """
    import atexit
    import tempfile

    made = Path(tempfile.mkdtemp(prefix="gate-act-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    for name in (
        "action.yml",
        "pyproject.toml",
        "Dockerfile",
        "README.md",
        "requirements-image.txt",
        "requirements-publish.txt",
    ):
        shutil.copy2(REPOSITORY / name, made / name)
    for name in ("gate", "rules", "examples", "scripts"):
        shutil.copytree(REPOSITORY / name, made / name, ignore=shutil.ignore_patterns("__pycache__"))
    return made


@contextmanager
def _alone() -> Iterator[None]:
    """One `act` on this machine at a time: it names its containers after workflow and job, and removes what
    has that name.
    """
    with (Path(gettempdir()) / "gate-act.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


class Bench:
    """One repository with one pull request, and a GitHub that knows it."""

    def __init__(
        self, folder: Path, github: StandIn, runner: Runner, pull: Pull, workflows: Mapping[str, str]
    ) -> None:
        placed = {f".github/workflows/{name}": text for name, text in workflows.items()}
        self._enter(folder, github, runner, build(replace(pull, base={**pull.base, **placed}), folder))

    def _enter(self, folder: Path, github: StandIn, runner: Runner, repo: Path) -> None:
        """Make the branches ``main`` and ``head`` of a repository known to the GitHub as pull request 7."""
        self.folder, self.github, self.runner, self.repo = folder, github, runner, repo
        git(self.repo, "remote", "add", "origin", f"https://github.com/{OWNER}/{REPO}")
        self.base, self.head = git(self.repo, "rev-parse", "main"), git(self.repo, "rev-parse", "head")
        ours = self.world.pulls[7]
        ours.base_sha, ours.head_sha, ours.head_ref = self.base, self.head, "head"
        for commit, parents in ((self.base, ()), (self.head, (self.base,))):
            self.world.trees[commit] = (git(self.repo, "rev-parse", f"{commit}^{{tree}}"), parents)
        self.artifacts = folder / "artifacts"
        self.artifacts.mkdir()
        upload = folder / "upload"
        upload.mkdir()
        (upload / "action.yml").write_text(_UPLOAD)
        (upload / "index.js").write_text(_UPLOAD_JS)
        self._local = {GATE: _released(), UPLOAD: upload}

    @property
    def world(self) -> World:
        return self.github.world

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
            **self.place(),
            **more,
        }

    def place(self) -> dict[str, Any]:
        """What every payload has."""
        repo = {"id": REPO_ID, "full_name": f"{OWNER}/{REPO}", "default_branch": "main"}
        return {"repository": {**repo, "name": REPO, "owner": {"login": OWNER}}}

    def uploaded(self) -> int:
        """What gate-check's run left, as GitHub keeps it: a finished run with an artifact; the run's id."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("report.json", (self.artifacts / "gate-report").read_bytes())
        owner = self.world.pulls[7].head_owner
        run = self.world.run(head_sha=self.head, head_branch="head", head_owner=owner)
        self.world.artifacts[self.world.ids()] = (run, "gate-report", packed.getvalue())
        return run

    def pushed(self) -> dict[str, Any]:
        """The push of ``head`` to main; the stand-in knows main's settings."""
        self.world.branches["main"] = self.head
        settings = self.repo / "gate.toml"
        if settings.is_file():
            self.world.files[self.head, "gate.toml"] = settings.read_bytes()
        return {"before": self.base, "after": self.head, "ref": "refs/heads/main", **self.place()}

    def act(
        self,
        event: str,
        workflow: str,
        payload: dict[str, Any],
        token: str = "job-token",
        settings: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run one workflow in the runner image. ``settings``: variables of the job (default: no setup, as the
        made-up project needs no package; a deployment asks for main's own settings).
        """
        if settings is None:
            settings = {"GATE_SANDBOX_SETUP": "none"} if event != "push" else {}
        variables = {**settings, **named_images()}
        file = self.folder / "event.json"
        file.write_text(json.dumps(payload))
        words = [
            str(ACT), event, "--workflows", f".github/workflows/{workflow}", "--eventpath", str(file),
            "--platform", f"ubuntu-latest={self.runner.image}", "--pull=false", "--rm", "--network", "host",
            "--container-options", self.runner.options(self.artifacts), "--action-offline-mode",
            "--secret", f"GITHUB_TOKEN={token}", "--no-cache-server", "--json",
            "--env", f"GITHUB_API_URL={self.github.url}", "--env", f"GITHUB_REPOSITORY={OWNER}/{REPO}",
            *(word for name, text in variables.items() for word in ("--env", f"{name}={text}")),
            *(f"--local-repository={name}={path}" for name, path in self._local.items()),
        ]  # fmt: skip
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            **{k: v for k, v in os.environ.items() if k.startswith("DOCKER_")},
        }
        with (
            _alone(),
            subprocess.Popen(
                words,
                cwd=self.repo,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            ) as child,
        ):
            try:
                said, _ = child.communicate(timeout=_SECONDS)
            except BaseException:
                child.kill()
                self.runner.remove(self.artifacts)
                raise
        log = said.decode(errors="replace")
        return Ran(child.returncode, log, _outputs(log))


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
