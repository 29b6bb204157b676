"""What a report says was not exercised: read from hints that the code can forge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.change.git_range import open_range
from gate.model.change import Side
from gate.model.run import Completeness, ExecutionPlan, NotExercised, Outcome, Probe, RunRecord
from gate.plan import coverage
from gate.plan.build import make_plan, unreached
from gate.plan.coverage import unreached_lines
from tests.e2e.pulls import Pull, build
from tests.unit.inside.driver.harness import imported, lay_tree


def record(report: Any, *, side: Side = "head", repeat: int = 0) -> RunRecord:
    probe = Probe(id="i", phase="import", target="import shop.cart", path="shop/cart.py", argv=("x",))
    return RunRecord(
        probe=probe, side=side, outcome=Outcome.COMPLETED, exit_code=0, seconds=0.1, peak_memory=None,
        completed=True, trace=None, completeness=Completeness(), driver_report=report, repeat=repeat,
    )  # fmt: skip


def test_real_report_becomes_entries(tmp_path: Path) -> None:
    source = """
        def needs():
            import nothere
            return 1
        def endless():
            while True: pass
        def fine():
            return 2
        def never():
            if 1 > fine():
                return 3
        """
    tree = lay_tree(tmp_path / "t", {"shop/__init__.py": "", "shop/cart.py": source})
    seen = imported(
        tree, "shop.cart", ["needs", "endless", "fine", "never"], each=0.1, lines={"shop/cart.py": [[1, 20]]}
    )
    assert unreached([record(seen.report)]) == (
        NotExercised(path="shop/cart.py", target="call needs", reason="needs nothere"),
        NotExercised(
            path="shop/cart.py", target="call endless", reason="was stopped after its share of the time"
        ),
        NotExercised(path="shop/cart.py", target="lines 3, 10", reason="no probe reached them"),
    )


def test_missing_dependency() -> None:
    entry = unreached(
        [record({"items": [{"outcome": "missing", "missing": "numpy", "module": "shop.cart"}]})]
    )
    assert entry == (NotExercised(path="shop/cart.py", target="import shop.cart", reason="needs numpy"),)


def test_programs_that_a_shell_missed() -> None:
    said = b"/work/tree/go.sh: 3: curl: not found\ngo.sh: line 4: nc: command not found\nx: not found\n"
    run = record({"items": []})
    shell = replace(run, stderr=said, probe=replace(run.probe, phase="script", target="sh go.sh"))
    assert [entry.reason for entry in unreached([shell])] == ["needs curl", "needs nc"]
    assert unreached([replace(run, stderr=said)]) == ()


def test_only_the_first_run_at_head_counts() -> None:
    report = {"items": [{"missing": "numpy"}]}
    assert unreached([record(report, side="base"), record(report, repeat=1)]) == ()


def test_lines_of_several_runs_add_up() -> None:
    runs = [
        record({"items": [{"code": {"a.py": [1, 2, 3, 5]}, "lines": {"a.py": [1]}}]}),
        record({"items": [{"code": {"a.py": [1, 2, 3, 5]}, "lines": {"a.py": [2]}}]}),
    ]
    assert unreached_lines(runs) == {"a.py": [3, 5]}


def test_a_program_that_ran_unwatched_is_no_proof_of_dark_lines() -> None:
    module = {"path": "cli.js", "do": "javascript", "lines": {"cli.js": [1]}, "code": {"cli.js": [1, 2]}}
    program = {"path": "cli.js", "do": "javascript_main", "outcome": "completed"}
    told = "not reached by import and calls (what ran of it as a program is not watched)"
    assert unreached([record({"items": [module]}), record({"items": [program]})]) == (
        NotExercised(path="cli.js", target="line 2", reason=told),
    )


def test_lines_that_a_runtime_does_not_tell() -> None:
    (entry,) = unreached([record({"items": [{"path": "a.tsx", "unwatched": "no map"}]})])
    assert entry == NotExercised(
        path="a.tsx", target="the changed lines", reason="which of them ran is not known: no map"
    )


def test_list_is_bounded() -> None:
    report = {"items": [{"missing": f"m{n}", "module": f"m{n}"} for n in range(900)]}
    entries = unreached([record(report)])
    assert len(entries) == 201
    assert entries[-1].target == "700 more"


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"items": 3},
        {"items": [3, None, {"calls": 3, "lines": 4, "code": {"a": 5}, "missing": 6, "not_called": "x"}]},
        {
            "items": [
                {
                    "calls": [["a"], "ab", [1, 2], ["f", None]],
                    "lines": [1],
                    "code": {"a.py": [True, -1, 10**99, "1"]},
                }
            ]
        },
    ],
)
def test_nonsense_is_nothing(report: Any) -> None:
    assert unreached([record(report)]) == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["items", "calls", "lines", "code", "missing", "module", "path"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=3))
@pytest.mark.slow
def test_no_report_breaks_the_reader(items: list[Any]) -> None:
    for entry in unreached([record({"items": items})]):
        assert isinstance(entry.path + entry.target + entry.reason, str)


def test_lines_that_can_act_come_first_and_say_what() -> None:
    acts = {"a.py": ((3, 5, "start a process"), (9, 9, "reach the network"), (9, 9, "delete files"))}
    report = {"items": [{"code": {"a.py": [1, 3, 9, 11]}, "lines": {"a.py": [1, 4]}}]}
    assert unreached([record(report)], plan_with(acts)) == (
        NotExercised(
            path="a.py",
            target="line 9",
            reason="can reach the network and delete files, and no probe reached it",
        ),
        NotExercised(path="a.py", target="lines 3, 9, 11", reason="no probe reached them"),
    )
    nothing_ran = unreached([], plan_with(acts))
    assert [entry.target for entry in nothing_ran] == ["line 3", "line 9"]


def plan_with(acts: Any) -> ExecutionPlan:
    return ExecutionPlan(probes=(), acts=acts)


def test_the_plan_knows_which_changed_lines_can_act(tmp_path: Path) -> None:
    source = (
        "import subprocess as sp\nfrom os import system\nimport socket\n\n\n"
        "def f(mode):\n    if mode == open('/nowhere').read():\n"
        "        sp.run(\n            ['true'],\n        )\n"
        "        system('true')\n        socket.create_connection(('example.invalid', 9))\n"
        "    return eval('1')\n"
    )
    pull = Pull(name="x", head={"src/pricing/tax.py": source}, verdicts=())
    with open_range(build(pull, tmp_path), "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
    assert plan.acts == {
        "src/pricing/tax.py": (
            (8, 10, "start a process"),
            (11, 11, "start a process"),
            (12, 12, "reach the network"),
            (13, 13, "run code that is made while running"),
        )
    }


def test_unchanged_lines_that_can_act_are_nobodys_business(tmp_path: Path) -> None:
    old = "import os\n\n\ndef f():\n    os.system('true')\n    return 1\n"
    base = {"src/pricing/tax.py": old}
    pull = Pull(name="x", base=base, head={"src/pricing/tax.py": old.replace("1", "2")}, verdicts=())
    with open_range(build(pull, tmp_path), "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
    assert plan.acts == {}


JAVASCRIPT = (
    'import { execSync as run } from "node:child_process";\n\n'
    "export function f(mode) {\n  if (mode === globalThis.nobody) {\n"
    "    run(\n      'true',\n    );\n    fetch('https://x.invalid');\n  }\n  return 1;\n}\n"
)


@pytest.mark.parametrize("path", ["web/tax.mjs", "web/tax.ts", "web/tax.jsx"])
def test_javascript_that_can_act(tmp_path: Path, path: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    types = {"web/types.d.ts": "declare function fetch(a: string): void;\neval('1');\n"}
    pull = Pull(
        name="x",
        base={path: JAVASCRIPT.replace("fetch(", "f(")},
        head={path: JAVASCRIPT} | types,
        verdicts=(),
    )
    with open_range(build(pull, tmp_path / "a"), "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
    assert plan.acts == {path: ((8, 8, "reach the network"),)}
    new = Pull(name="y", head={path: JAVASCRIPT}, verdicts=())
    with open_range(build(new, tmp_path / "b"), "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
    assert plan.acts == {path: ((5, 7, "start a process"), (8, 8, "reach the network"))}


def test_javascript_that_is_too_big_to_be_read_is_named(tmp_path: Path) -> None:
    pull = Pull(name="x", head={"web/a.js": "a();\n" * 250_000}, verdicts=())
    with open_range(build(pull, tmp_path), "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
    assert ("lines of web/a.js that can act", "too big to be read for them") in {
        (entry.target, entry.reason) for entry in plan.not_exercised
    }


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([{"path": "a.js", "lines": {"a.js": [1]}}], "can start a process, and no probe reached it"),
        (
            [{"path": "a.js", "unwatched": "no map"}],
            "can start a process, and whether a probe reached it is not known",
        ),
        (
            [{"path": "a.js", "do": "javascript_main", "outcome": "completed"}],
            (
                "can start a process, and import and calls did not reach it "
                "(what ran of it as a program is not watched)"
            ),
        ),
    ],
)
def test_what_is_known_of_javascript_that_ran(items: list[Any], reason: str) -> None:
    acts = plan_with({"a.js": ((3, 4, "start a process"),)})
    entry = unreached([record({"items": items})], acts)[0]
    assert (entry.path, entry.target, entry.reason) == ("a.js", "line 3", reason)
    ran = [*items, {"path": "a.js", "lines": {"a.js": [4]}}]
    assert not any("start a process" in e.reason for e in unreached([record({"items": ran})], acts))


def test_what_reaches_out_comes_first_and_no_file_hides_another() -> None:
    acts = {
        "a.py": tuple((n, n, "delete files") for n in range(1, 30)),
        "b.py": tuple((n, n, "reach the network") for n in range(1, 30)),
        "c.py": ((7, 7, "start a process"), (8, 8, "delete files")),
    }
    told = [(e.path, e.target) for e in coverage.unreached([], acts)]
    assert told[:3] == [("b.py", "line 1"), ("c.py", "line 7"), ("b.py", "line 2")]
    assert told[30:33] == [("a.py", "line 1"), ("c.py", "line 8"), ("a.py", "line 2")]
    assert len(told) == 60
