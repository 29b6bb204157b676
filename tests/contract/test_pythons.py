"""Sandboxes with another Python than the backend's own keep the same contract, and the driver works there."""

from __future__ import annotations

import dataclasses
import json

import pytest

from gate.model.run import Outcome, Probe, SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Backend
from gate.sandbox.images import debian
from tests.contract.backend_contract import CASES, Case, run_case, unhurried, working
from tests.contract.trees import DictTree

pytestmark = pytest.mark.engine

_NEWER = (
    "type Name = str\n\n\n"
    "def first[T](items: list[T]) -> T:\n"
    "    if len(items) > 1:\n"
    "        return items[0]\n"
    "    return items[-1]\n"
)


@pytest.fixture(params=[(name, python) for name in BACKENDS for python in debian.PYTHONS], ids="-".join)
def backend(request: pytest.FixtureRequest) -> Backend:
    name, python = request.param
    made = working(name)
    if python not in made.pythons(made=True):
        pytest.skip(f"{name}: Python {python} was not made here (gate doctor --fix makes it)")
    made.options = dataclasses.replace(made.options, python=python)
    return made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contract(backend: Backend, case: Case) -> None:
    """The newest one that is there: its C library and interpreter differ most from the backend's own."""
    if backend.options.python != backend.pythons(made=True)[-1]:
        pytest.skip("a newer one is there")
    if backend.name == "microvm":
        pytest.skip("the whole contract in software takes an hour; the driver's test below runs there")
    deadline = unhurried(backend.name, case.deadline, until_deadline=case.until_deadline)
    run_case(backend, dataclasses.replace(case, deadline=deadline))


def test_the_driver_runs_newer_syntax_and_counts_its_lines(backend: Backend) -> None:
    """Lines are counted by sys.monitoring there, and the interpreter is the one that was asked for."""
    if backend.options.python == "3.11":
        pytest.skip("this Python does not know the syntax")
    tree = DictTree(files={"shop/__init__.py": "", "shop/cart.py": _NEWER})
    test = "from shop.cart import first\n\ndef test_first():\n    assert first([1, 2]) == 1\n"
    tree = DictTree(files={**tree.files, "test_cart.py": test})
    job = {
        "items": [
            {"do": "import", "module": "shop.cart", "path": "shop/cart.py"},
            {"do": "test", "path": "test_cart.py", "paths": ["test_cart.py"]},
        ],
        "roots": ["."],
        "lines": {"shop/cart.py": [[1, 7]]},
        "seconds": 60,
    }
    probe = Probe(
        id="t", phase="test", target="t", path="shop/cart.py",
        argv=("python3", "/opt/gate/driver/main.py", json.dumps(job)),
        deadline=unhurried(backend.name, 60.0),
    )  # fmt: skip
    with backend.open(SandboxSpec(), tree, tree) as session:
        record = session.run(probe, "head")
    assert record.outcome is Outcome.COMPLETED, (record.fault, record.stderr)
    report = json.loads(json.dumps(record.driver_report))
    assert report["python"].startswith(f"{backend.options.python}.")
    lines = [item.get("lines", {}).get("shop/cart.py", []) for item in report["items"]]
    assert {1, 4} <= set(lines[0]), report
    assert {5, 6} <= set(lines[1]), report
    assert 7 not in lines[1], report
