"""Never green without having run it: real repositories, the real scanners, a real sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gate.cli import main
from gate.errors import VERDICT_EXIT
from gate.model.score import Verdict
from tests.e2e.pulls import Pull, build
from tests.e2e.unrun_pulls import UNRUN_HARMLESS, UNRUN_HOSTILE

pytestmark = [pytest.mark.backend, pytest.mark.slow]
Checked = Callable[[Pull], tuple[dict[str, Any], int]]
FAILED_CONFTEST = "conftest-that-cannot-be-imported"
"""Needs pytest in the sandbox: bubblewrap shows this machine's Python, which may have none."""
BY_NAME = {pull.name: pull for pull in (*UNRUN_HOSTILE, *UNRUN_HARMLESS)}


def check(pull: Pull, folder: Path) -> tuple[dict[str, Any], int]:
    repo = build(pull, folder)
    file = folder / "report.json"
    words = ["--repo", str(repo), "--base", "main", "--head", "head", "--json", str(file), "-q"]
    code = main(["check", *words])
    report = json.loads(file.read_text())
    assert isinstance(report, dict)
    return report, code


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """`check`, once for a pull request, whichever tests ask about it."""

    @cache
    def once(name: str) -> tuple[dict[str, Any], int]:
        return check(BY_NAME[name], tmp_path_factory.mktemp("pull"))

    return lambda pull: once(pull.name)


def told(report: dict[str, Any]) -> str:
    keys = ("verdict", "score", "reasons", "findings", "exercised", "stages")
    runs = [(r["target"], r["side"], r["outcome"], r["not_run"]) for r in report["sandbox"]["runs"]]
    return json.dumps({key: report[key] for key in keys} | {"runs": runs}, indent=1)[:9000]


@pytest.mark.parametrize(
    "pull",
    [
        pytest.param(pull, marks=pytest.mark.behind_auto if pull.name == FAILED_CONFTEST else ())
        for pull in (*UNRUN_HOSTILE, *UNRUN_HARMLESS)
    ],
    ids=lambda pull: pull.name,
)
def test_verdict(pull: Pull, checked: Checked) -> None:
    report, code = checked(pull)
    assert report["verdict"] in pull.verdicts, told(report)
    assert {finding["rule_id"] for finding in report["findings"]} >= set(pull.rules), told(report)
    assert code == VERDICT_EXIT[Verdict(report["verdict"])]
    if pull in UNRUN_HARMLESS and not pull.rules:
        assert not any(f["rule_id"].startswith("unrun-") for f in report["findings"]), told(report)


def test_a_language_that_is_not_run_is_none_of_all(checked: Checked) -> None:
    report, _ = checked(BY_NAME["go-init-sends-the-environment"])
    found = report["exercised"]
    assert found["ran"] == 0 < found["executable"], told(report)
    (file,) = found["files"]
    assert (file["language"], file["unrun"][0]["reason"]) == ("go", "language-not-run")
    assert {call["kind"] for call in file["calls"]} == {"process"}


@pytest.mark.behind_auto
def test_a_conftest_that_fails_is_told_with_its_exception(checked: Checked) -> None:
    report, _ = checked(BY_NAME[FAILED_CONFTEST])
    runs = [r for r in report["sandbox"]["runs"] if r["phase"] == "test" and r["side"] == "head"]
    assert runs, told(report)
    assert all("PRICING_DSN is not set" in run["not_run"] for run in runs), told(report)
    by_path = {file["path"]: file for file in report["exercised"]["files"]}
    tests = by_path["tests/test_cart.py"]
    assert tests["ran"] == 0, told(report)
    assert tests["unrun"][0]["reason"] == "collection-failed"
    assert "RuntimeError: PRICING_DSN is not set" in tests["unrun"][0]["detail"]
    assert by_path["src/pricing/tax.py"]["ran"] > 0


@pytest.mark.parametrize(
    "name", ["lines-said-to-have-run-of-a-file-never-opened", "lines-said-to-have-run-of-a-file-only-read"]
)
def test_what_the_code_says_of_itself_is_not_believed(name: str, checked: Checked) -> None:
    report, _ = checked(BY_NAME[name])
    by_path = {file["path"]: file for file in report["exercised"]["files"]}
    reserve = by_path["src/pricing/reserve.py"]
    assert [(call["line"], call["reason"]) for call in reserve["calls"]] == [(7, "not-confirmed")], told(
        report
    )
    if "never-opened" in name:
        assert [7, 7] in reserve["unrun"][0]["lines"], (reserve, told(report))
        assert reserve["unrun"][0]["reason"] == "not-confirmed"


def test_what_ran_is_counted_whole(tmp_path: Path) -> None:
    head = {"src/pricing/tax.py": 'RATES = {\n    "DE": 0.19,\n    "AT": 0.2,\n}\n\n\ndef with_tax(net, country):\n'
            "    return net * (1 + RATES.get(country, 0.0))\n"}  # fmt: skip
    report, _ = check(Pull(name="whole", head=head, verdicts=("pass",)), tmp_path)
    found = report["exercised"]
    assert found["ran"] == found["executable"] > 0, told(report)
    assert found["percent"] == 100
