"""The gate-action image, and a step with it as a hosted runner starts one (`uses: docker://...`)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gate.sandbox.backends.container import engine
from gate.sandbox.images import engine_images
from tests.e2e.pulls import git
from tests.paths import REPOSITORY

SOCKET: Final = Path("/var/run/docker.sock")
IMAGE: Final = "gate-action:under-test"
RUNNER: Final = 1001
"""The uid of a hosted runner's user."""
_SECONDS: Final = 300


@dataclass(frozen=True)
class Stepped:
    """How a step ended. ``said``: its log. ``summary``: the step summary."""

    code: int
    said: str
    outputs: dict[str, str]
    summary: str


@contextmanager
def action_image() -> Iterator[dict[str, Any]]:
    """Build it from the base that is there; what the engine says about it. Gone at the end."""
    words = [
        sys.executable,
        str(REPOSITORY / "scripts" / "image.py"),
        "--target",
        "gate-action",
        "--tag",
        IMAGE,
    ]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    with closing(engine.connect(timeout=600.0)) as client:
        try:
            yield {**client.api.inspect_image(IMAGE), "said": made.stdout}
        finally:
            client.api.remove_image(IMAGE)


def named_images() -> dict[str, str]:
    """The variables that name our images by their ids: a fresh container has no record of what gate built."""
    with closing(engine.connect(timeout=600.0)) as client:
        return {
            f"GATE_IMAGE_{target.upper()}": engine_images.ensure(client, target)
            for target in engine_images.TARGETS
        }


def owner() -> int:
    """Whose the work space is: a runner's user where we may give files away."""
    return RUNNER if os.geteuid() == 0 else os.getuid()


def step(repo: Path, inputs: Mapping[str, str], *, payload: Mapping[str, Any] | None = None) -> Stepped:
    """One container action on a clone: names, mounts and environment as actions/runner gives them.

    See ContainerActionHandler and DockerCommandManager there. No network, so that nothing is told.
    """
    folder = repo.parent / "runner"
    for name in ("home", "workflow", "file_commands"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    commands = {name: folder / "file_commands" / name for name in ("set_output", "step_summary")}
    for file in commands.values():
        file.write_text("")
    event = folder / "workflow" / "event.json"
    event.write_text(json.dumps(payload if payload is not None else pull_request(repo)))
    for path in (folder, *folder.rglob("*"), repo, *repo.rglob("*")):
        os.chown(path, owner(), owner(), follow_symlinks=False)
    env = {f"INPUT_{name.upper()}": value for name, value in inputs.items()} | {
        "HOME": "/github/home",
        "GITHUB_ACTIONS": "true",
        "CI": "true",
        "GITHUB_REPOSITORY": "octo/shop",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": "/github/workflow/event.json",
        "GITHUB_WORKSPACE": "/github/workspace",
        "GITHUB_OUTPUT": "/github/file_commands/set_output",
        "GITHUB_STEP_SUMMARY": "/github/file_commands/step_summary",
        **named_images(),
    }
    mounts = {
        SOCKET: SOCKET,
        folder / "home": "/github/home",
        folder / "workflow": "/github/workflow",
        folder / "file_commands": "/github/file_commands",
        repo: "/github/workspace",
    }
    words = ["docker", "run", "--rm", "--label", "gate=test", "--network", "none"]
    words += ["--workdir", "/github/workspace"]
    words += [word for name, value in env.items() for word in ("-e", f"{name}={value}")]
    words += [word for host, inside in mounts.items() for word in ("-v", f"{host}:{inside}")]
    ran = subprocess.run(
        [*words, IMAGE],
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
        stdin=subprocess.DEVNULL,
    )
    return Stepped(
        code=ran.returncode,
        said=ran.stdout + ran.stderr,
        outputs=_entries(commands["set_output"].read_text()),
        summary=commands["step_summary"].read_text(),
    )


def pull_request(repo: Path) -> dict[str, Any]:
    """The event of a pull request of ``head`` into ``main``."""
    place = {"id": 1, "full_name": "octo/shop", "default_branch": "main"}
    sides = {
        side: {"sha": git(repo, "rev-parse", name), "ref": name, "repo": place}
        for side, name in (("base", "main"), ("head", "head"))
    }
    request = {"number": 7, "title": "Change prices", "body": "", "user": {"login": "sam"}, "draft": False}
    return {
        "action": "opened",
        "number": 7,
        "pull_request": {**request, **sides, "state": "open", "labels": []},
        "repository": {**place, "name": "shop", "owner": {"login": "octo"}},
    }


def _entries(text: str) -> dict[str, str]:
    """A file of ``name<<delimiter`` entries, as the runner reads it; nothing else may be in it."""
    entry = re.compile(r"([\w-]+)<<(\S+)\n(.*?)\n?\2\n", re.DOTALL)
    assert entry.sub("", text) == "", text
    return {found[1]: found[3] for found in entry.finditer(text)}
