"""What the publishing tests share: an environment like a runner's, reports, archives."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gate import __version__
from gate.cli import main
from gate.github.client import connect
from gate.model.report import Report
from gate.report.json_v1 import JsonReporter
from tests.forge.clock import Clock
from tests.forge.standin.server import StandIn
from tests.forge.standin.world import OWNER, REPO, TREE, World
from tests.golden import sample


def harmless() -> Report:
    """A report that passes, of this version, about the stand-in's pull request."""
    return replace(sample.harmless(), gate_version=__version__, pull_request=7, tree=TREE)


def hostile() -> Report:
    """A report that blocks."""
    return replace(sample.hostile(), gate_version=__version__, pull_request=7, tree=TREE)


def soft() -> Report:
    """Blocks by its score alone: nothing in it forbids an override."""
    report = hostile()
    findings = tuple(replace(f, hard_block=False) for f in report.findings)
    whole = ("completed", "exited-nonzero")
    runs = tuple(replace(r, completed=True) for r in report.sandbox.runs if r.outcome.value in whole)
    return replace(
        report,
        findings=findings,
        stages=tuple(s for s in report.stages if s.looked),
        sandbox=replace(report.sandbox, runs=runs),
    )


def packed(report: Report | bytes, member: str = "report.json", mode: int = 0o100644) -> bytes:
    """An artifact's archive."""
    raw = report if isinstance(report, bytes) else JsonReporter().render(report).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(member)
        info.external_attr = mode << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(info, raw)
    return out.getvalue()


class Job:
    """One step of a job on a runner: its files, its environment, `gate` run in it."""

    def __init__(self, github: StandIn, clock: Clock, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.github, self.folder = github, folder
        patient = partial(connect, pause=0.0, deadline=5.0, sleep=clock.sleep, now=clock.now)
        patch.setattr("gate.github.client.connect", patient)
        for name in ("output", "step_summary"):
            (folder / name).write_text("")
            patch.setenv(f"GITHUB_{name.upper()}", str(folder / name))
        patch.setenv("GITHUB_REPOSITORY", f"{OWNER}/{REPO}")
        patch.setenv("GITHUB_TOKEN", "job-token")
        patch.setenv("GITHUB_API_URL", github.url)
        patch.setenv("GITHUB_RUN_ID", "99")
        patch.delenv("GITHUB_EVENT_PATH", raising=False)
        self._patch = patch

    def event(self, payload: dict[str, Any]) -> None:
        """The payload of the event that started the job."""
        file = self.folder / "event.json"
        file.write_text(json.dumps(payload))
        self._patch.setenv("GITHUB_EVENT_PATH", str(file))

    def report(self, report: Report | bytes) -> Path:
        """A report.json on disk."""
        file = self.folder / "report.json"
        file.write_bytes(report if isinstance(report, bytes) else JsonReporter().render(report).encode())
        return file

    def publish(self, report: Report | bytes | None, *more: str) -> int:
        """`gate publish` with a report on disk, or (None) from the run's artifact."""
        words = [] if report is None else ["--report", str(self.report(report))]
        return main(["publish", *words, *more])

    @property
    def summary(self) -> str:
        return (self.folder / "step_summary").read_text()

    @property
    def outputs(self) -> str:
        return (self.folder / "output").read_text()


def refused(world: World) -> str:
    """One inconclusive check with the reason and a way out, and nothing of a report. Returns its text."""
    (check,) = world.checks.values()
    assert (check["status"], check["conclusion"]) == ("completed", "failure")
    assert check["output"]["title"].startswith("Inconclusive")
    assert "**Next:**" in check["output"]["summary"]
    assert {a.path for a in world.asked if a.method != "GET"} == {f"/repos/{OWNER}/{REPO}/check-runs"}
    text: str = check["output"]["summary"]
    return text.replace("\u200b", "").replace("&#8203;", "")
