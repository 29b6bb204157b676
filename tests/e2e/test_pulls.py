"""The right verdict on made-up pull requests, through the real scanners and a real sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.cli import main
from gate.errors import VERDICT_EXIT
from gate.model.score import Verdict
from tests.e2e.evasive_pulls import EVASIVE
from tests.e2e.harmless_pulls import HARMLESS
from tests.e2e.hostile_pulls import HOSTILE
from tests.e2e.identity_pulls import IDENTITY_HARMLESS, IDENTITY_HOSTILE
from tests.e2e.pulls import Pull, build
from tests.e2e.reach_pulls import REACH_HARMLESS, REACH_HOSTILE

pytestmark = [pytest.mark.backend, pytest.mark.slow, pytest.mark.spread]


@pytest.mark.parametrize(
    "pull",
    [
        *HOSTILE,
        *EVASIVE,
        *HARMLESS,
        *REACH_HOSTILE,
        *REACH_HARMLESS,
        *IDENTITY_HOSTILE,
        *IDENTITY_HARMLESS,
    ],
    ids=lambda pull: pull.name,
)
def test_verdict(pull: Pull, tmp_path: Path) -> None:
    repo = build(pull, tmp_path)
    file = tmp_path / "report.json"
    code = main(["check", "--repo", str(repo), "--base", "main", "--head", "head", "--json", str(file), "-q"])
    report = json.loads(file.read_text())
    told = json.dumps(
        {key: report[key] for key in ("verdict", "score", "contributions", "findings", "stages")}, indent=1
    )[:6000]
    assert report["verdict"] in pull.verdicts, told
    found = {finding["rule_id"] for finding in report["findings"]}
    assert found >= set(pull.rules), told
    topics = {finding["topic"] for finding in report["findings"]}
    assert topics >= set(pull.topics), told
    assert code == VERDICT_EXIT[Verdict(report["verdict"])]
    assert {stage["name"] for stage in report["stages"]} >= {"attribution", "prescreen", "sandbox"}
