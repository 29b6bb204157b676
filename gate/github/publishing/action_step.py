"""The action's `mode: check`: one step that looks, writes all of it to disk, tells it, ends with the verdict.

Inputs come through the environment (``GATE_INPUT_*``), never through a shell. The exit code is the verdict's
whatever happened while telling (IS-12).
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from gate.cache.active import in_use
from gate.change.git_range import open_range
from gate.check import check
from gate.errors import VERDICT_EXIT, Exit, GateError, UsageError
from gate.escape import command_data, without_commands
from gate.github.interface import ForgeError
from gate.github.publishing import notice
from gate.github.publishing.chosen import chosen
from gate.github.publishing.doubts import shared_head
from gate.github.publishing.publication import Published
from gate.github.publishing.publish import ReceivedReport, commit_or_pull, publish_commit, publish_pull
from gate.github.publishing.runner_context import RunnerContext
from gate.github.publishing.step import Step, flags
from gate.github.target import own_login, pull
from gate.kept_check import job_store
from gate.model.report import Report
from gate.model.score import Verdict
from gate.report.annotations import annotate, step_summary
from gate.report.registry import REPORTERS
from gate.report.terminal import TerminalReporter
from gate.settings import GithubSettings, Settings, load
from gate.stages.progress import Silent

FILES: Final = {"report": "report.json", "markdown": "report.md", "sarif": "report.sarif"}
_FORMATS: Final = {"report": "json", "markdown": "markdown", "sarif": "sarif"}


def run(step: Step) -> int:
    """Look, tell, and return the exit code."""
    wanted, event = step.inputs, step.event
    folder = Path(wanted.output)
    _make_room(folder)
    _say(step, None)
    try:
        report, settings = _look(step)
    except GateError as error:
        _could_not(step.around, error)
        _say(step, error)
        raise
    raw = _write(folder, report)
    sys.stdout.write(without_commands(TerminalReporter(color=False).render(report)))
    outcome = Published()
    request = event.pull_request if event is not None else None
    if step.around.token is None:
        note = "> There is no token, so there is no comment and no check: this summary is all."
        step.around.summarise(step_summary(report, note=note))
    elif request is None and (event is None or report.change.head != event.head):
        step.around.summarise(step_summary(report))  # a range of the caller's own: whose check would it be?
    elif request is None:
        outcome = _tell_commit(step, report, settings, raw, (event.branch if event is not None else "") or "")
    else:
        report, outcome = _tell(step, report, settings, raw, request.number)
        _write(folder, report)
    sys.stdout.write(annotate(report, findings=not outcome.has_check))
    for line in outcome.words().splitlines():
        print(f"gate: {command_data(line, 600)}")
    _put(step.around, folder, report, outcome.comment_url)
    return exit_code(report.verdict, wanted.fail_on)


def exit_code(verdict: Verdict, fail_on: str) -> int:
    """The verdict's; ``fail_on: warn`` makes a warning block too. Nothing makes a block pass."""
    if verdict is Verdict.WARN and fail_on == "warn":
        return Exit.BLOCKED
    return VERDICT_EXIT[verdict]


def _look(step: Step) -> tuple[Report, Settings]:
    wanted, event = step.inputs, step.event
    base = wanted.base or (event.base if event is not None else None)
    head = wanted.head or (event.head if event is not None else None)
    if not base or not head:
        raise UsageError(
            "which change? The event names no base and head",
            advice="Run on pull_request, push or merge_group, or give the inputs base and head.",
        )
    branch = event.branch if event is not None else None
    request = event.pull_request if event is not None else None
    with open_range(Path(wanted.repository), base, head, branch=branch) as opened:
        tree, names, where = chosen(wanted.config, opened.config, step.around.api)
        settings = load(base=tree, flags=flags(wanted), names=names, where=where)
        store = job_store(settings, request)
        with in_use(store):
            report = check(opened, settings, Silent(), request=request)
        if store is not None:
            store.sweep()
        return report, settings


def _tell(
    step: Step, report: Report, settings: Settings, raw: bytes, number: int
) -> tuple[Report, Published]:
    """Tell GitHub. Whatever fails there is said; the report as it was stands."""
    around = step.around
    try:
        api = around.api()
        target = pull(api, around.repo, number)
        wanted = step.event.pull_request if step.event is not None else None
        if target.head_sha != report.change.head:
            why = "a newer push came while this one was looked at; its own run tells it"
            outcome = Published(failed=[why])
        elif wanted is not None and wanted.base_branch != target.base_ref:
            why = "the base branch was changed while this one was looked at; its own run tells it"
            outcome = Published(failed=[why])
        else:
            report = replace(report, doubts=tuple(shared_head(api, target)))
            log = Path(step.inputs.audit) if step.inputs.audit else None
            return publish_pull(api, around, target, settings, ReceivedReport(report, raw), log=log)
    except ForgeError as error:
        outcome = Published(failed=[error.message])
    except GateError as error:
        outcome = Published(failed=[f"{error.message} {error.advice}".strip()])
    around.summarise(step_summary(report, note="> Nothing could be told on the pull request; see the log."))
    return report, outcome


def _say(step: Step, error: GateError | None) -> None:
    """The check is in progress, or (error) inconclusive with the reason; as far as the token may say so.

    Only for what the event names: whose check would another range be?
    """
    event, around = step.event, step.around
    own_range = step.inputs.base or step.inputs.head
    if around.token is None or event is None or own_range:
        return
    with contextlib.suppress(GateError):
        api = around.api()
        request = event.pull_request
        target = pull(api, around.repo, request.number) if request is not None else None
        if target is not None and target.head_sha != event.head:
            return
        where = commit_or_pull(around, event.head, event.branch or "", target)
        me = own_login(api, GithubSettings().author)
        if error is None:
            notice.begin(api, where, GithubSettings(), me=me)
        else:
            notice.refuse(api, where, GithubSettings(), error, me=me)


def _tell_commit(step: Step, report: Report, settings: Settings, raw: bytes, branch: str) -> Published:
    try:
        return publish_commit(step.around.api(), step.around, settings, report, branch=branch, raw=raw)
    except GateError as error:
        step.around.summarise(step_summary(report, note="> The check could not be written; see the log."))
        return Published(failed=[f"{error.message} {error.advice}".strip()])


def _make_room(folder: Path) -> None:
    """Remove what is where our files go. The work space holds the change's own: a link there would lead our
    words anywhere, and a report there must not pass for ours when we cannot look.
    """
    _clear(folder, unless_folder=True)
    for file in FILES.values():
        _clear(folder / file)


def _write(folder: Path, report: Report) -> bytes:
    """All files; the bytes of report.json."""
    written = {FILES[name]: REPORTERS[form].render(report).encode() for name, form in _FORMATS.items()}
    _make_room(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for file, raw in written.items():
        with (folder / file).open("xb") as stream:  # anew or not at all
            stream.write(raw)
    return written[FILES["report"]]


def _clear(place: Path, *, unless_folder: bool = False) -> None:
    """Remove what is at ``place``, a link and not what it leads to."""
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir() and not unless_folder:
        aside = place.rename(place.with_name(f"{place.name}.{secrets.token_hex(8)}"))
        with contextlib.suppress(OSError, RecursionError):  # a change may nest folders deeper than we can
            shutil.rmtree(aside)


def _put(around: RunnerContext, folder: Path, report: Report, url: str) -> None:
    around.put(
        verdict=report.verdict.value,
        score=str(report.score.value),
        report=around.outside(folder / FILES["report"]),
        sarif=around.outside(folder / FILES["sarif"]),
        comment_url=url,
    )


def _could_not(around: RunnerContext, error: GateError) -> None:
    """Nothing was looked at: say so where people look, and in the outputs."""
    from gate.escape import markdown

    around.summarise(
        f"### ❔ Inconclusive\n- gate could not look: {markdown(error.message, 400)}\n"
        f"- **Next:** {markdown(error.advice or 'see the log', 400)}"
    )
    around.put(verdict="inconclusive", score="")
    print(f"::error title=gate could not look::{command_data(error.message, 600)}")
