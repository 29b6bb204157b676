"""All scanners together: each has a stage, none costs the others, and newness is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.errors import InconclusiveError
from gate.model.change import Change, ChangedFile
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, FindingStage, Severity
from gate.model.stage import StageOutcome
from gate.prescreen import run
from gate.prescreen.catalogue import catalogue
from gate.prescreen.interface import Prescreened, PrescreenRequest
from gate.prescreen.run import SCANNERS, prescreen
from gate.prescreen.scope import only_new
from tests.prescreen_support import DictTree, make_change, make_request


class Broken:
    """A scanner that ends in the given way."""

    name = "broken"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def scan(self, request: PrescreenRequest) -> Prescreened:
        raise self.error


def test_every_scanner_has_a_stage_and_the_order_is_fixed() -> None:
    head = {
        "a.py": "import os\nos.system(input())\n",
        "CODEOWNERS": "* @x\n",
        "requirements.txt": "reqeusts\n",
    }
    told: list[str] = []
    one = prescreen(make_request(head), told.append)
    two = prescreen(make_request(head))
    assert sorted(told) == sorted(SCANNERS)
    assert {s.name for s in one.stages} == {f"prescreen:{name}" for name in SCANNERS} | {"prescreen:files"}
    assert one.findings == two.findings
    assert {"bandit-b605", "governance.owners", "dependency.lookalike"} <= {f.rule_id for f in one.findings}


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (InconclusiveError("the engine is gone", advice="Get it."), "engine"),
        (ZeroDivisionError(), "internal"),
    ],
)
def test_a_scanner_that_fails_costs_only_its_own_stage(
    error: Exception, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SCANNERS", {**SCANNERS, "broken": Broken(error)})
    result = prescreen(make_request({"a.py": "import os\nos.system(input())\n"}))
    (stage,) = [s for s in result.stages if s.name == "prescreen:broken"]
    assert stage.outcome is StageOutcome.FAILED
    assert word in stage.reason
    assert "bandit-b605" in {f.rule_id for f in result.findings}


def test_an_empty_change_is_looked_at_in_no_time() -> None:
    result = prescreen(make_request({}))
    assert result.findings == ()
    assert all(stage.looked for stage in result.stages)


def test_content_that_the_repository_lacks_is_named() -> None:
    request = make_request({"a.py": "x = 1\n"})
    result = prescreen(replace(request, head=DictTree({})))
    (stage,) = [s for s in result.stages if s.name == "prescreen:files"]
    assert stage.outcome is StageOutcome.DEGRADED
    assert "a.py" in stage.reason


def test_every_rule_is_in_the_catalogue_once() -> None:
    ids = [meta.id for meta, _ in catalogue()]
    assert len(ids) == len(set(ids))
    result = prescreen(
        make_request(
            {"a.py": "import os\nos.system(input())\neval(input())\n", "b.so": b"\x7fELF" + bytes(9)}
        )
    )
    assert {f.rule_id for f in result.findings} <= set(ids)


def made(path: str, shape: str, line: int, rule: str = "r") -> Finding:
    return Finding(
        rule_id=rule,
        stage=FindingStage.PRESCREEN,
        severity=Severity.HIGH,
        confidence=Confidence.HIGH,
        message="m",
        locations=(Location(path=path, line=line),),
        shape=shape,
    )


def changed(head: dict[str, str], base: dict[str, str], renames: dict[str, str] | None = None) -> Change:
    return make_change(DictTree(base), DictTree(head), renames)


def test_copies_are_counted_and_those_on_changed_lines_are_kept() -> None:
    change = changed({"a.py": "new\nnew\nx\nnew\n"}, {"a.py": "x\n"})
    head = [made("a.py", "x", n) for n in (1, 2, 3, 4)]
    kept = only_new(head, [made("a.py", "x", 1)], change)
    assert [f.primary.line for f in kept] == [1, 2, 4]


def test_blanks_do_not_make_a_finding_new_and_another_rule_does() -> None:
    change = changed({"a.py": "x\n"}, {"a.py": "y\n"})
    assert only_new([made("a.py", "f( x )", 1)], [made("a.py", "  f( x\n)", 7)], change) == ()
    assert len(only_new([made("a.py", "x", 1)], [made("a.py", "x", 1, rule="other")], change)) == 1


def test_code_that_moved_to_another_file_is_told_as_moved() -> None:
    change = changed({"b.py": "one\ncall(argument)\n"}, {"a.py": "one\ncall(argument)\n"})
    assert isinstance(change.files[0], ChangedFile)
    (moved,) = only_new([made("b.py", "call(argument)", 2)], [made("a.py", "call(argument)", 2)], change)
    assert moved.severity is Severity.LOW
    assert moved.evidence["moved from"] == "a.py"
    assert (
        len(
            only_new(
                [made("b.py", "call(argument)", n) for n in (2, 3)],
                [made("a.py", "call(argument)", 2)],
                change,
            )
        )
        == 2
    )
