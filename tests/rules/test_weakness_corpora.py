"""What the syntax-tree rules reach on two public sets of insecure code; skipped where the sets are not there.

A sample counts as found when a finding at medium or above names exactly the labelled weakness. Sources:
SALLM (s2e-lab/SALLM, Apache-2.0) and CWEval (Co1lin/CWEval, Apache-2.0); the code is read, never run.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from gate.model.rule import Severity
from gate.prescreen.python_ast.scanner import hits, parse, severity_of
from tests.paths import REPOSITORY

DATA = REPOSITORY.parent / "shared" / "data" / "insecure"


def _samples(name: str) -> list[dict[str, Any]]:
    file = DATA / f"{name}.jsonl"
    if not file.is_file():
        pytest.skip(f"{name}.jsonl is not on this machine")
    return [json.loads(line) for line in file.read_text().splitlines()]


def _weaknesses(code: str) -> set[int]:
    """The CWE numbers of everything found at medium or above."""
    module = parse("app/service.py", code.encode())
    loud = [rule for rule, hit in hits(module) if severity_of(module, rule, hit).rank >= Severity.MEDIUM.rank]
    return {cwe for rule in loud for cwe in rule.meta.cwe}


def _found(sample: dict[str, Any]) -> bool:
    return int(str(sample["cwe"]).removeprefix("CWE-")) in _weaknesses(str(sample["code"]))


def test_sallm() -> None:
    samples = _samples("sallm")
    missed = [s["id"] for s in samples if not _found(s)]
    assert len(samples) - len(missed) >= 88, missed


def test_cweval() -> None:
    samples = _samples("cweval")
    insecure = [s for s in samples if s["label"] == "insecure"]
    missed = [s["id"] for s in insecure if not _found(s)]
    flagged = [s["id"] for s in samples if s["label"] == "secure" and _weaknesses(str(s["code"]))]
    assert len(insecure) - len(missed) >= 25, missed
    assert len(flagged) <= 1, flagged
