"""Pairs of base and head: protections taken away, and changes like them that take none away."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.model.finding import Finding
from gate.prescreen.scanners.protections import REMOVED, Protections
from gate.prescreen.views import make_views
from tests.paths import TESTS
from tests.prescreen_support import make_request

CASES = TESTS / "rules" / "protections"


def _parts(text: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """A case: what is expected of it, and the files of both sides by path."""
    first, *rest = text.split("\n=== ")
    sides: dict[str, dict[str, str]] = {"base": {}, "head": {}}
    for part in rest:
        title, _, body = part.partition("\n")
        side, _, path = title.partition(" ")
        sides[side][path] = body
    return first.removeprefix("expect: ").strip(), sides["base"], sides["head"]


def _found(case: Path) -> tuple[str, list[Finding]]:
    expected, base, head = _parts(case.read_text())
    result = Protections().scan(make_request(head, base))
    assert [stage.reason for stage in result.stages] == [""]
    return expected, [f for f in result.findings if f.rule_id == REMOVED.id]


@pytest.mark.parametrize("case", sorted((CASES / "hostile").glob("*.txt")), ids=lambda case: case.stem)
def test_removed_protection_is_found(case: Path) -> None:
    expected, found = _found(case)
    assert (
        max(
            (f.severity.value for f in found), key=["", "low", "medium", "high", "critical"].index, default=""
        )
        == expected
    )


@pytest.mark.parametrize("case", sorted((CASES / "harmless").glob("*.txt")), ids=lambda case: case.stem)
def test_kept_protection_is_no_finding(case: Path) -> None:
    expected, found = _found(case)
    assert expected == "nothing"
    assert [(f.message, dict(f.evidence)) for f in found] == []


def test_a_template_that_begins_as_python_is_no_python_that_cannot_be_read() -> None:
    """Alembic's ``script.py.mako``."""
    mako = "from alembic import op\n${imports}\n\n\ndef upgrade():\n    ${upgrades}\n"
    request = make_request({"alembic/script.py.mako": mako})
    assert [view.language for view in make_views(request).of(side="head")] == ["python"], "it is guessed"
    assert Protections().scan(request).findings == ()
