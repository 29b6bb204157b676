"""What base refuses and head accepts, by what calls answered."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gate.model.change import Side
from gate.model.run import RunRecord
from gate.signals.rules.refused_then_accepted import _path, check
from tests.unit.signals.context import context, run

NO, NOT_IN = "raised PermissionError OSError Exception", "raised HTTPException Exception status 401"


def called(side: Side, name: str, answers: list[str], *, given: str = "(x)", repeat: int = 0) -> RunRecord:
    record = run("call")
    job = {"items": [{"do": "call", "path": "shop/cart.py", "calls": [name]}]}
    said = [[f"n{number}", word] for number, word in enumerate(answers)]
    report = {"items": [{"outcome": "completed", "answers": {name: [given, said]}}]}
    probe = replace(record.probe, argv=("python3", "driver", json.dumps(job)))
    return replace(record, side=side, repeat=repeat, probe=probe, driver_report=report)


def told(*runs: RunRecord) -> list[str]:
    return [f"{f.severity.value} {f.evidence['function']}" for f in check.check(context(runs=runs))]


@pytest.mark.parametrize(
    ("name", "base", "head", "severity"),
    [
        ("delete", [NO, NO], ["value", "value"], "high"),
        ("delete", [NO, "value", NO], ["value", NO, "none"], "high"),
        ("delete", [NO, "value"], ["value", NO], "medium"),
        ("page", [NOT_IN], ["status 200"], "high"),
        ("page", ["status 403"], ["status 204"], "high"),
        ("page", [NOT_IN, "status 403", NOT_IN], ["status 200", "status 403", "status 200"], "medium"),
        ("User.check_token", ["false"] * 3, ["true"] * 3, "high"),
        ("load", ["raised BadSignature Exception"], ["value"], "high"),
    ],
)
def test_what_is_opened(name: str, base: list[str], head: list[str], severity: str) -> None:
    assert told(called("base", name, base), called("head", name, head)) == [f"{severity} {name}(x)"]


@pytest.mark.parametrize(
    ("name", "base", "head"),
    [
        ("delete", ["value", NO], ["value", NO]),
        ("delete", ["value"], [NO]),
        ("delete", [NO], ["raised ValueError Exception"]),
        ("delete", [NO], ["late"]),
        ("delete", [NO, NO], ["value"]),
        ("parse", ["raised ValueError Exception"], ["value"]),
        ("page", ["status 404"], ["status 200"]),
        ("is_allowed", ["false"], ["true"]),
        ("is_allowed", ["false"] * 3, ["true", "true", "false"]),
        ("is_even", ["false"] * 3, ["true"] * 3),
        ("enabled", ["false"] * 3, ["true"] * 3),
    ],
)
def test_what_is_not(name: str, base: list[str], head: list[str]) -> None:
    assert told(called("base", name, base), called("head", name, head)) == []


def test_other_questions_are_not_compared() -> None:
    assert told(called("base", "delete", [NO]), called("head", "delete", ["value"], given="(x, y)")) == []


def test_values_name_the_question_where_they_are_plain() -> None:
    """Values are drawn from the function's own text: a new word in it shifts the rest."""
    base, head = called("base", "f", []), called("head", "f", [])
    said = {"base": [["va", NO], ["vb", "value"]], "head": [["vb", "value"], ["vc", "value"], ["va", NO]]}
    runs = [
        replace(run, driver_report={"items": [{"answers": {"f": ["(x)", said[run.side]]}}]})
        for run in (base, head)
    ]
    assert told(*runs) == []


def test_what_base_says_by_chance_is_no_refusal() -> None:
    runs = (called("base", "delete", [NO]), called("base", "delete", ["value"], repeat=1))
    assert told(*runs, called("head", "delete", ["value"])) == []


@pytest.mark.parametrize(
    "table", [None, 3, {"delete": None}, {"delete": ["(x)", 3]}, {"delete": ["(x)", [4]]}]
)
def test_a_report_of_another_shape_is_no_error(table: object) -> None:
    odd = called("head", "delete", ["value"])
    odd = replace(odd, driver_report={"items": [{"answers": table}]})
    assert told(called("base", "delete", [NO]), odd) == []


def test_functions_told_are_bounded() -> None:
    base, head = called("base", "f", [NO]), called("head", "f", ["value"])
    many = [
        replace(r, driver_report={"items": [{"answers": {f"f{n}": ["(x)", [["n0", a]]] for n in range(50)}}]})
        for r, a in ((base, NO), (head, "value"))
    ]
    assert len(told(*many)) == 5


def test_a_function_of_no_item_has_no_place() -> None:
    assert _path(run("call"), "delete") == ""
    assert _path(called("head", "other", ["value"]), "delete") == ""


@pytest.mark.parametrize(
    ("name", "asked", "opened"),
    [
        ("is_genuine", "v0a1b2c3d-", True),
        ("Hooks.verify_signature", "v0a1b2c3d-", True),
        ("is_genuine", "v0a1b2c3d", False),  # a proof that may be a better one
        ("is_number", "v0a1b2c3d-", False),
    ],
)
def test_an_empty_proof_that_is_accepted(name: str, asked: str, opened: bool) -> None:
    said = {"base": [[asked, "false"], ["v1", "true"]], "head": [[asked, "true"], ["v1", "true"]]}
    runs = [
        replace(called(side, name, []), driver_report={"items": [{"answers": {name: ["(x)", said[side]]}}]})
        for side in ("base", "head")
    ]
    assert told(*runs) == ([f"high {name}(x)"] if opened else [])
