"""The action's `mode: deploy`: a step that fails unless the commit may be deployed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from gate.change.event import EVENT_BYTES
from gate.deploy.answer import decide_on_github
from gate.deploy.decide import Decision
from gate.errors import Exit, InconclusiveError, UsageError
from gate.escape import command_data, markdown
from gate.github.publishing.step import Step
from gate.regex import regex

_FULL: Final = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class _Deployment(msgspec.Struct):
    sha: str
    environment: str = ""


class _Payload(msgspec.Struct):
    deployment: _Deployment | None = None


def run_deploy(step: Step, environ: Mapping[str, str] = os.environ) -> int:
    """Ask GitHub's checks; 0 only if the commit may be deployed, else 1. Raises UsageError."""
    wanted = step.inputs
    told = _told(environ)
    sha = wanted.sha or (told.sha if told else "") or environ.get("GITHUB_SHA", "")
    environment = wanted.environment or (told.environment if told else "")
    if not environment:
        raise UsageError(
            "where to? No environment is given", advice="Give the input environment: its table decides."
        )
    for name, given in (("sha", sha), ("since", wanted.since)):
        if (given or name == "sha") and not _FULL.fullmatch(given):
            raise UsageError(f"the input {name} is not a commit's full name: {ascii(given)[:80]}")
    try:
        found = decide_on_github(
            step.around.api(),
            step.around.repo,
            sha,
            environment,
            since=wanted.since or None,
            config=wanted.config,
        )
    except InconclusiveError as error:  # unverifiable is blocked
        found = Decision(allowed=False, reason=f"{error.message}. {error.advice}".rstrip(". "))
    word = "may be deployed" if found.allowed else "blocked"
    where, why = command_data(environment, 100), command_data(found.reason, 600)
    print(f"gate: {where}: {sha[:12]} {word}: {why}")
    if found.link:
        print(f"gate: {command_data(found.link, 400)}")
    if not found.allowed:
        print(f"::error title=gate blocks this deployment::{where}: {why}")
    mark = "✅" if found.allowed else "⛔"
    step.around.summarise(
        f"### {mark} {markdown(environment, 100)}: {word}\n- `{sha[:12]}`: {markdown(found.reason, 600)}"
    )
    return Exit.OK if found.allowed else Exit.BLOCKED


def _told(environ: Mapping[str, str]) -> _Deployment | None:
    """What the event deployment or deployment_status says; a payload that cannot be read says nothing."""
    named = environ.get("GITHUB_EVENT_PATH")
    if not named or not environ.get("GITHUB_EVENT_NAME", "").startswith("deployment"):
        return None
    try:
        with Path(named).open("rb") as stream:
            return msgspec.json.decode(stream.read(EVENT_BYTES), type=_Payload).deployment
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
