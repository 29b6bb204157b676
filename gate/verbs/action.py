"""`gate action`: the step of the GitHub Action (action.yml)."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.verbs.interface import Verb

if TYPE_CHECKING:
    from gate.github.publishing.step import Step


def _arguments(_parser: argparse.ArgumentParser) -> None:
    """Everything comes through the environment."""


def _run(_arguments: argparse.Namespace) -> int:
    from gate.github.publishing.runner_context import surroundings
    from gate.github.publishing.step import Step, inputs

    around = surroundings(os.environ)
    wanted = inputs(os.environ)
    around = replace(around, name=wanted.name)
    if wanted.mode == "publish":
        from gate.github.publishing.publish_step import run_publish

        return run_publish(Step(inputs=wanted, event=None, around=around))
    if wanted.mode == "deploy":
        from gate.deploy.action_step import run_deploy

        return run_deploy(Step(inputs=wanted, event=None, around=around))
    return _look(Step(inputs=wanted, event=None, around=around))


def _look(step: Step) -> int:
    from gate.change.event import read_event
    from gate.errors import UsageError
    from gate.github.publishing.action_step import run

    event, wanted = None, step.inputs
    named = os.environ.get("GITHUB_EVENT_PATH")
    if named:
        try:
            event = read_event(Path(named))
        except UsageError:
            if not (wanted.base and wanted.head):
                raise
    return run(replace(step, event=event))


VERB: Final = Verb(
    name="action",
    summary="the step of the GitHub Action: look, tell, end with the verdict",
    description="Reads GATE_INPUT_* and GITHUB_* from the environment; see action.yml and docs/github.md.",
    arguments=_arguments,
    run=_run,
)
