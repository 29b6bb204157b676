"""Plan, driver, sandbox and trace together: does what hides in a change show itself?

EV-1, EV-2, EV-4 and EV-5 of the threat list. Payloads are harmless: one connection attempt to a
documentation address, inside a sandbox without a network.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from gate.change.git_range import open_range
from gate.model.behaviour import Behaviour, BehaviourDiff, BehaviourKind
from gate.model.run import ExecutionPlan, Outcome, RunRecord, SandboxSpec
from gate.plan.build import deepen, make_plan, runtimes_of, unreached
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.execution import execute
from gate.sandbox.patience import Patience
from gate.tracing.diff import compare
from tests.contract.capabilities import capability
from tests.e2e.pulls import FileMap, Pull, build
from tests.integration.launching import why_no_bwrap

pytestmark = pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works")


def reach(number: int) -> str:
    """A payload with a destination of its own."""
    return f'__import__("socket").socket().connect_ex(("203.0.113.{number}", 4444))'


PLACES: Final = {
    "method": "class A:\n    def act(self, item):\n        {act}\n",
    "async": "async def act(url):\n    {act}\n",
    "__del__": "class A:\n    def __del__(self):\n        {act}\n",
    "__getattr__": "class A:\n    def __getattr__(self, name):\n        {act}\n",
    "submodule": "{act}\n",
    "cli": (
        "import argparse\n\n\ndef main(argv=None):\n    parser = argparse.ArgumentParser()\n"
        "    commands = parser.add_subparsers(dest='command', required=True)\n"
        "    push = commands.add_parser('push')\n    push.add_argument('target')\n"
        "    words = parser.parse_args(argv)\n    if words.command == 'push':\n        {act}\n"
    ),
    "test": "import unittest\n\n\nclass Case(unittest.TestCase):\n    def test_act(self):\n        {act}\n",
    "decorator": "def deco(function):\n    {act}\n    return function\n\n\n"
    "@deco\ndef plain():\n    return 1\n",
    "class-body": "class A:\n    {act}\n",
    "default": "def late(value={act}):\n    return value\n",
    "generator": "def act(rows):\n    yield 1\n    {act}\n",
    "property": "class A:\n    def __init__(self, size: int):\n        self.size = size\n\n"
    "    @property\n    def area(self):\n        {act}\n        return self.size\n",
}
"""The twelve placements of EV-5."""


def path_of(place: str) -> str:
    """Where the placement lives in the made-up project."""
    word = place.strip("_").replace("-", "_")
    return {"test": "tests/test_act.py", "submodule": "src/pricing/deep/er.py"}.get(
        place, f"src/pricing/at_{word}.py"
    )


@dataclass(frozen=True, kw_only=True)
class Look:
    """What came of one made-up change."""

    plan: ExecutionPlan
    runs: tuple[RunRecord, ...]
    diff: BehaviourDiff
    second: BehaviourDiff | None = None
    again: tuple[RunRecord, ...] = ()

    @property
    def later(self) -> tuple[RunRecord, ...]:
        """Those runs of the second look that had the clock moved."""
        return tuple(run for run in self.again if run.probe.condition.endswith("later"))

    def new(self, kind: BehaviourKind) -> dict[str, Behaviour]:
        """New behaviours of one kind by subject."""
        return {b.subject: b for b in self.diff.new if b.kind is kind}


def look(
    folder: Path,
    head: FileMap,
    base: FileMap | None = None,
    *,
    backend: str = "bubblewrap",
    deadline: float = 15,
    deeper: bool = False,
    phases: tuple[str, ...] = (),
) -> Look:
    """Plan and run a change in real sandboxes. ``deeper``: and again, the probes of these phases (all)."""
    folder.mkdir(exist_ok=True)
    repo = build(Pull(name="x", head=head, base=base or {}, verdicts=()), folder)
    with open_range(repo, "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=deadline, deep=False)
        with BACKENDS[backend]().open(
            SandboxSpec(runtimes=runtimes_of(plan)), opened.base, opened.head
        ) as session:
            runs = execute(session, plan, patience=Patience(200))
            diff = compare(runs)
            reasons = [probe.id for probe in plan.probes if probe.phase in phases]
            again = execute(session, deepen(plan, reasons), patience=Patience(300)) if deeper else ()
            second = compare(again) if deeper else None
    assert [run.fault for run in runs if run.fault] == []
    return Look(plan=plan, runs=runs, diff=diff, second=second, again=again)


@pytest.fixture(scope="module", params=["bubblewrap", pytest.param("docker", marks=pytest.mark.engine)])
def everywhere(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Look:
    backend = capability(request.param)
    if not backend.available:
        pytest.skip(backend.reason)
    base: dict[str, str | bytes | None] = {"src/pricing/deep/__init__.py": ""}
    head: dict[str, str | bytes | None] = {}
    for number, (place, source) in enumerate(PLACES.items(), 1):
        base[path_of(place)] = source.format(act="len('calm')")
        head[path_of(place)] = source.format(act=reach(number))
    return look(tmp_path_factory.mktemp("everywhere"), head, base, backend=request.param)


@pytest.mark.parametrize("place", PLACES)
def test_every_placement_is_reached_and_located(everywhere: Look, place: str) -> None:
    number = list(PLACES).index(place) + 1
    shown = everywhere.new(BehaviourKind.CONNECT)
    behaviour = shown.get(f"203.0.113.{number}:4444")
    assert behaviour is not None, sorted(shown)
    assert behaviour.at is not None
    assert behaviour.at.path == path_of(place)


def test_nothing_but_the_payloads_is_new(everywhere: Look) -> None:
    extra = [b for b in everywhere.diff.new if b.kind is not BehaviourKind.CONNECT]
    assert extra == []
    assert len(everywhere.diff.new) == len(PLACES)


def test_every_run_came_to_its_end(everywhere: Look) -> None:
    assert {run.outcome for run in everywhere.runs} == {Outcome.COMPLETED}
    assert all(run.completed for run in everywhere.runs)
    assert [entry for entry in unreached(everywhere.runs) if "needs" in entry.reason] == []


def test_harmless_rewrite_is_quiet(tmp_path: Path) -> None:
    base = {path_of(p): s.format(act="len('calm')") for p, s in PLACES.items()}
    head = {path_of(p): s.format(act="len('calmer')") for p, s in PLACES.items()}
    extra = {
        "src/pricing/files.py": (
            "import json\nimport pathlib\nimport tempfile\n\n\n"
            "def load(path: pathlib.Path) -> dict:\n    return json.loads(path.read_text())\n\n\n"
            "def save(path, data):\n    with open(path, 'w') as file:\n        json.dump(data, file)\n\n\n"
            "def scratch():\n    with tempfile.TemporaryDirectory() as folder:\n        return folder\n"
        )
    }
    seen = look(tmp_path, {**head, **extra}, base)
    assert seen.diff.new == ()


def test_ends_and_hangs_that_main_has_not(tmp_path: Path) -> None:
    head = {
        "src/pricing/tax.py": "import os\nos._exit(0)\n",
        "src/pricing/cart.py": "while True:\n    pass\n",
    }
    seen = look(tmp_path, head, deadline=6)
    broken = [run for run in seen.runs if not run.completed]
    assert broken
    assert {run.side for run in broken} == {"head"}
    assert {(b.kind, b.subject) for b in seen.diff.new} == {
        (BehaviourKind.EXIT, "without-completion"),
        (BehaviourKind.LIMIT, "wall-time"),
    }


def test_only_later_and_only_in_ci(tmp_path: Path) -> None:
    head = {
        "src/pricing/tax.py": (
            "import datetime, os\nborn = datetime.date.fromtimestamp(os.stat('/proc/self').st_mtime)\n"
            f"if datetime.date.today().year > born.year + 1:\n    {reach(2)}\n"
            f"if os.environ.get('GITHUB_ACTIONS'):\n    {reach(3)}\n"
        )
    }
    seen = look(tmp_path, head, deeper=True)
    assert seen.new(BehaviourKind.CONNECT) == {}
    assert seen.second is not None
    shown = {b.subject: b.probes for b in seen.second.new if b.kind is BehaviourKind.CONNECT}
    assert any(probe.endswith("~ci") for probe in shown["203.0.113.3:4444"])
    assert any(probe.endswith("~years") for probe in shown["203.0.113.2:4444"])


FURTHER: Final = {
    "migrations/versions/0a1_add.py": "def upgrade():\n    {act}\n",
    "src/pricing/at_login.py": "import functools\n\n\ndef admins_only(function):\n"
    "    @functools.wraps(function)\n    def asking(*args, **named):\n        raise PermissionError\n\n"
    "    return asking\n\n\n"
    "@admins_only\ndef view(number):\n    {act}\n",
    "src/pricing/at_database.py": "async def read(db: 'Session'):\n    async with db.begin() as inner:\n"
    "        await inner.execute('x')\n    {act}\n",
    "src/pricing/at_model.py": "import dataclasses\n\n\n@dataclasses.dataclass\nclass Cart:\n"
    "    size: int\n\n\ndef total(cart: Cart):\n"
    "    if cart.size + 1 and isinstance(cart, Cart):\n        {act}\n",
}
"""Files without a module name, functions behind a login, what is awaited, models."""


def test_further_places_are_reached_and_located(tmp_path: Path) -> None:
    base = {path: text.format(act="len('calm')") for path, text in FURTHER.items()}
    head = {path: text.format(act=reach(n)) for n, (path, text) in enumerate(FURTHER.items(), 1)}
    seen = look(tmp_path, head, base)
    shown = {b.subject: b.at.path for b in seen.diff.new if b.kind is BehaviourKind.CONNECT and b.at}
    assert shown == {f"203.0.113.{n}:4444": path for n, path in enumerate(FURTHER, 1)}
    assert len(seen.diff.new) == len(FURTHER)
    assert {run.outcome for run in seen.runs} == {Outcome.COMPLETED}
