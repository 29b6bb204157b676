"""What one run of the action's step works with: inputs, event, where it runs. Imports nothing that looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from gate.change.event import Event
from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.github.publishing.publish import ARTIFACT, WORKFLOW
from gate.github.publishing.runner_context import RunnerContext


class Inputs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``with:`` may say; empty means not given. docs/github.md explains each."""

    base: str = ""
    head: str = ""
    config: str = ""
    backend: str = ""
    fail_on: Literal["", "fail", "warn"] = ""
    comment: Literal["", "auto", "always", "never"] = ""
    sarif: Literal["", "true", "false"] = ""
    deep: Literal["", "true", "false"] = ""
    repository: str = "."
    output: str = "gate-report"
    mode: Literal["", "check", "publish", "deploy"] = ""
    workflow: str = WORKFLOW
    artifact: str = ARTIFACT
    audit: str = ""
    environment: str = ""
    sha: str = ""
    since: str = ""
    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{0,40}$")] = ""


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one run of the step works with."""

    inputs: Inputs
    event: Event | None
    around: RunnerContext


def inputs(environ: Mapping[str, str]) -> Inputs:
    """The inputs out of the environment. Raises UsageError for values that are not allowed."""
    found = {
        name: environ[f"GATE_INPUT_{name.upper()}"].strip()
        for name in Inputs.__struct_fields__
        if environ.get(f"GATE_INPUT_{name.upper()}", "").strip()
    }
    try:
        return msgspec.convert(found, Inputs)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the action's inputs: {ascii(str(error))[1:300]}", advice="docs/github.md lists them."
        ) from error


def flags(wanted: Inputs) -> dict[str, tuple[object, str]]:
    """Settings that inputs replace, each with where it came from."""
    return {
        "sandbox.backend": (wanted.backend or None, "input backend"),
        "sandbox.deep": (_flag(wanted.deep), "input deep"),
        "github.comment": (wanted.comment or None, "input comment"),
        "github.sarif": (_flag(wanted.sarif), "input sarif"),
    }


def _flag(text: str) -> bool | None:
    return None if not text else text == "true"
