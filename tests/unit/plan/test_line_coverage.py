"""Lines count as run only where a second observer bears out what the driver says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.inside.observer.text import text_of
from gate.model.exercised import UnrunReason
from gate.model.run import (
    ActingCommand,
    Completeness,
    ExecutionPlan,
    NotExercised,
    Outcome,
    Phase,
    Probe,
    RunRecord,
)
from gate.model.sensitive import SensitiveCall, SensitiveKind
from gate.plan.item_outcomes import not_run
from gate.plan.line_coverage import coverage
from gate.tracing.codec import encode
from gate.tracing.events import Exec, File, Fork, Net, Open
from tests.unit.tracing.trace_builder import ITEM, ROOT, Trace

PLAN = ExecutionPlan(probes=())
TREE = "/work/tree/"
IMPORT = {"do": "import", "module": "shop.cart", "path": "shop/cart.py"}
OPENED = Trace().open(TREE + "shop/cart.py")


def run(
    tmp_path: Path,
    answer: Mapping[str, Any] | None,
    *,
    item: Mapping[str, Any] = IMPORT,
    trace: Trace | None = OPENED,
    phase: Phase = "import",
    **more: Any,
) -> RunRecord:
    job = json.dumps({"items": [item]})
    probe = Probe(
        id="i", phase=phase, target="import shop.cart", path="shop/cart.py", argv=("python3", "d", job)
    )
    path = None
    if trace is not None:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
        path.write_bytes(b"".join(encode(event) + b"\n" for event in trace.events))
    words: dict[str, Any] = {
        "outcome": Outcome.COMPLETED, "exit_code": 0, "completed": True, "completeness": Completeness(),
        "driver_report": {"items": [answer] if answer is not None else []},
    }  # fmt: skip
    made = {"side": "head", "seconds": 0.1, "peak_memory": None, "trace": path, **words, **more}
    return RunRecord(probe=probe, **made)


def told(outcome: str = "completed", **more: Any) -> dict[str, Any]:
    seen = {kind: {"shop/cart.py": [5]} for kind in ("process", "network", "deletion")}
    return {"outcome": outcome, "lines": {"shop/cart.py": [1, 2, 5]}, "witnessed": seen, **more}


def test_lines_of_an_opened_file_ran(tmp_path: Path) -> None:
    seen = coverage([run(tmp_path, told(acted={"shop/cart.py": [2]}))], PLAN)
    assert seen.ran == {"shop/cart.py": {1, 2, 5}}
    assert seen.acted == {"shop/cart.py": {2}}
    assert seen.why["shop/cart.py"] == (UnrunReason.NOT_REACHED, "")


def test_what_ran_with_imports_put_off_counts_beside_what_a_stand_in_showed(tmp_path: Path) -> None:
    off = {"names": ["numpy"], "lines": {"shop/cart.py": [1, 4]}, "acted": {"shop/cart.py": [0]}}
    seen = coverage([run(tmp_path, told("missing", missing="numpy", stand_in=True, put_off=off))], PLAN)
    assert seen.ran == {"shop/cart.py": {1, 4}}
    assert seen.acted == {"shop/cart.py": {0}}
    assert seen.why["shop/cart.py"] == (UnrunReason.DEPENDENCY_MISSING, "numpy")


def test_an_import_put_off_is_why_the_rest_of_the_tests_did_not_run(tmp_path: Path) -> None:
    item = {"do": "test", "paths": ["shop/cart.py"]}
    off = {"names": ["pango"], "lines": {"shop/cart.py": [7]}}
    answer = told(uncollected={"shop/cart.py": "OSError: cannot load library"}, put_off=off)
    seen = coverage([run(tmp_path, answer, item=item, phase="test")], PLAN)
    assert seen.ran == {"shop/cart.py": {1, 2, 5, 7}}
    assert seen.why["shop/cart.py"] == (UnrunReason.DEPENDENCY_MISSING, "pango")


def test_of_calls_with_imports_put_off_those_count_that_a_trace_can_show(tmp_path: Path) -> None:
    kinds = (SensitiveKind.PROCESS, SensitiveKind.DYNAMIC_CODE)
    asked = tuple(
        SensitiveCall(first=2, last=2, column=n, end_column=n + 3, kind=kind, call="f")
        for n, kind in enumerate(kinds)
    )
    off = {"names": ["numpy"], "lines": {"shop/cart.py": [2]}, "acted": {"shop/cart.py": [0, 1]}}
    plan = replace(PLAN, asked={"shop/cart.py": asked})
    seen = coverage([run(tmp_path, told("missing", missing="numpy", put_off=off))], plan)
    assert seen.made == {"shop/cart.py": {(2, 0, 2, 3)}}


@pytest.mark.parametrize(
    "odd", [None, [], 3, {"names": 3, "lines": []}, {"names": [None], "lines": {"x": "y"}}]
)
def test_no_told_import_put_off_breaks_it(odd: Any, tmp_path: Path) -> None:
    assert not coverage([run(tmp_path, told("missing", missing="x", put_off=odd))], PLAN).ran.get("x")


def test_a_file_that_the_trace_never_saw_opened_did_not_run(tmp_path: Path) -> None:
    lie = told(lines={"shop/cart.py": [1], "shop/never.py": [1, 2, 3]}, acted={"shop/never.py": [1]})
    seen = coverage([run(tmp_path, lie)], PLAN)
    assert seen.ran == {"shop/cart.py": {1}}
    assert not seen.acted
    assert seen.why["shop/never.py"][0] is UnrunReason.NOT_CONFIRMED


@pytest.mark.parametrize(
    ("answer", "reason", "detail"),
    [
        (told("missing", missing="numpy", stand_in=True), UnrunReason.DEPENDENCY_MISSING, "numpy"),
        (
            told("exception", exception="KeyError", message="'URL'"),
            UnrunReason.IMPORT_FAILED,
            "KeyError: 'URL'",
        ),
        (told("uncollected", message="no test"), UnrunReason.COLLECTION_FAILED, "no test"),
        (told("timed-out"), UnrunReason.OUT_OF_TIME, ""),
        (told("ended", exception="SystemExit"), UnrunReason.ENDED_EARLY, "SystemExit"),
        (told("threads-left"), UnrunReason.ENDED_EARLY, ""),
        (told("absent"), UnrunReason.NOT_REACHED, ""),
        (None, UnrunReason.ENDED_EARLY, ""),
    ],
)
def test_no_look_is_no_coverage(
    answer: dict[str, Any] | None, reason: UnrunReason, detail: str, tmp_path: Path
) -> None:
    record = run(tmp_path, answer)
    seen = coverage([record], PLAN)
    assert not seen.ran
    assert seen.why == {"shop/cart.py": (reason, detail)}
    if answer is not None:
        assert not_run(record).startswith(f"not run: {reason.text}")


def test_tests_that_there_was_no_time_for_are_the_reason(tmp_path: Path) -> None:
    """Of the test's own lines, and of the lines that they would have reached."""
    tests = {"do": "test", "paths": ["tests/test_cart.py"]}
    product = run(tmp_path, told())
    for left, reason, detail in (
        (3, UnrunReason.OUT_OF_TIME, "of its tests: the time was used up"),
        (0, UnrunReason.NOT_REACHED, ""),
    ):
        cut = run(tmp_path, told(tests={"passed": 2, "not_run": left}), item=tests)
        why = coverage([product, cut], PLAN).why
        assert why["tests/test_cart.py"] == (reason, "")
        assert why["shop/cart.py"] == (UnrunReason.NOT_REACHED, detail)
        # The second look's tests have less time on purpose.
        again = replace(cut, probe=replace(cut.probe, condition="as in CI"))
        assert coverage([product, again], PLAN).why["tests/test_cart.py"][0] is UnrunReason.NOT_REACHED


@pytest.mark.parametrize(
    "more",
    [
        {"trace": None},
        {"fault": "the tracer did not see the whole run"},
        {"completeness": Completeness(dropped=1)},
        {"side": "base"},
    ],
)
def test_a_run_that_was_not_wholly_seen_is_no_coverage(more: dict[str, Any], tmp_path: Path) -> None:
    assert not coverage([run(tmp_path, told(), **more)], PLAN).ran


def test_a_call_that_raises_and_a_script_that_exits_did_run(tmp_path: Path) -> None:
    script = {"do": "script", "path": "shop/cart.py"}
    for outcome in ("exception", "exited", "stopped"):
        assert coverage([run(tmp_path, told(outcome), item=script)], PLAN).ran


def test_a_sensitive_line_needs_a_call_of_its_kind_in_the_trace(tmp_path: Path) -> None:
    quiet = coverage([run(tmp_path, told())], PLAN)
    assert all(not lines for lines in quiet.shown.values())
    assert not quiet.shown[SensitiveKind.PROCESS]
    loud = Trace().open(TREE + "shop/cart.py")
    loud.add(Exec, pid=ITEM + 1, call="execve", path="/usr/bin/true", argv=("true",))
    loud.add(Net, pid=ITEM, call="connect", family="AF_INET", addr="198.51.100.1", port=1)
    loud.add(File, pid=ITEM, call="unlink", path="/tmp/x")
    seen = coverage([run(tmp_path, told(), trace=loud)], PLAN)
    for kind in (SensitiveKind.PROCESS, SensitiveKind.NETWORK, SensitiveKind.DELETION):
        assert seen.shown[kind] == {"shop/cart.py": {5}}, "a call elsewhere vouches for nothing"


def test_calls_are_told_by_their_number(tmp_path: Path) -> None:
    asked = tuple(
        SensitiveCall(first=2, last=2, column=n, end_column=n + 3, kind=SensitiveKind.PROCESS, call="f")
        for n in (0, 9)
    )
    plan = replace(PLAN, asked={"shop/cart.py": asked})
    seen = coverage([run(tmp_path, told(acted={"shop/cart.py": [1, 7]}))], plan)
    assert seen.made == {"shop/cart.py": {(2, 9, 2, 12)}}
    assert not seen.acted


@pytest.mark.parametrize(
    ("item", "played"),
    [
        (IMPORT | {"calls": [["late", "Loop"]]}, True),
        (IMPORT, False),
        ({"do": "test", "paths": ["shop/cart.py"]}, False),
    ],
)
def test_a_method_of_a_made_up_object_is_no_method_of_what_a_test_has(
    item: dict[str, Any], played: bool, tmp_path: Path
) -> None:
    call = SensitiveCall(
        first=2, last=2, end_column=3, kind=SensitiveKind.NETWORK, call="x.push", way="method"
    )
    plan = replace(PLAN, asked={"shop/cart.py": (call,)})
    seen = coverage([run(tmp_path, told(acted={"shop/cart.py": [0]}), item=item)], plan)
    there = {"shop/cart.py": frozenset({call.place})}
    assert seen.played == (there if played else {})
    assert seen.made == ({} if played else there)


@pytest.mark.parametrize("how", ["written", "replaced"])
def test_a_file_that_was_written_is_not_what_the_change_has(tmp_path: Path, how: str) -> None:
    trace = Trace().open(TREE + "shop/cart.py")
    if how == "written":
        trace.add(Open, pid=ITEM, call="openat", path=TREE + "shop/cart.py", access="w", flags="O_WRONLY")
    else:
        trace.add(File, pid=ITEM, call="rename", path=TREE + "shop/cart.py", other="/tmp/x")
    seen = coverage([run(tmp_path, told(), trace=trace)], PLAN)
    assert not seen.ran
    assert seen.why["shop/cart.py"][0] is UnrunReason.NOT_CONFIRMED


@pytest.mark.parametrize(
    "event",
    [
        {
            "kind": Exec,
            "pid": ITEM,
            "call": "execve",
            "path": "/usr/bin/node",
            "argv": ("node", "/opt/gate/x.mjs"),
        },
        {"kind": Net, "pid": ITEM, "call": "connect", "family": "AF_UNIX", "addr": "/run/x"},
        {"kind": Net, "pid": ITEM, "call": "bind", "family": "AF_INET6", "addr": "::1"},
        {"kind": File, "pid": ITEM, "call": "mkdir", "path": "/tmp/x"},
    ],
)
def test_what_the_driver_and_libraries_do_shows_nothing(event: dict[str, Any], tmp_path: Path) -> None:
    trace = Trace().open(TREE + "shop/cart.py")
    trace.add(event.pop("kind"), **event)
    assert not any(coverage([run(tmp_path, told(), trace=trace)], PLAN).shown.values())


def test_the_reason_of_a_file_whose_tests_could_not_be_collected_names_them(tmp_path: Path) -> None:
    tests = {"do": "test", "paths": ["tests/test_cart.py"]}
    failed = {"outcome": "uncollected", "message": "ImportError: no settings"}
    runs = [run(tmp_path, told()), run(tmp_path, failed, item=tests, phase="test")]
    why = coverage(runs, PLAN).why
    assert why["tests/test_cart.py"] == (UnrunReason.COLLECTION_FAILED, "ImportError: no settings")
    assert why["shop/cart.py"][0] is UnrunReason.NOT_REACHED
    assert "ImportError: no settings" in why["shop/cart.py"][1]


def test_why_a_test_file_did_not_run_is_what_its_runner_says(tmp_path: Path) -> None:
    path = "test/cart.test.ts"
    alone = {"outcome": "exception", "exception": "ReferenceError", "message": "describe is not defined"}
    failed = {"outcome": "uncollected", "message": "Error: no settings"}
    runs = [
        run(tmp_path, alone, item={"do": "javascript", "path": path}),
        run(tmp_path, failed, item={"do": "javascript_test", "paths": [path]}, phase="test"),
    ]
    assert coverage(runs, PLAN).why[path] == (UnrunReason.COLLECTION_FAILED, "Error: no settings")
    gone = run(tmp_path, {"outcome": "absent"}, item={"do": "javascript_test", "paths": [path]}, phase="test")
    assert coverage([runs[0], gone], PLAN).why[path][0] is UnrunReason.IMPORT_FAILED


def test_a_runner_that_raised_is_no_test_run(tmp_path: Path) -> None:
    tests = {"do": "test", "paths": ["tests/test_a.py"]}
    answer = {"outcome": "exception", "exception": "AttributeError", "message": "__spec__"}
    why = coverage([run(tmp_path, answer, item=tests, phase="test")], PLAN).why
    assert why["tests/test_a.py"] == (UnrunReason.COLLECTION_FAILED, "AttributeError: __spec__")


def test_one_uncollected_file_among_tests_that_ran(tmp_path: Path) -> None:
    tests = {"do": "test", "paths": ["tests/test_a.py", "tests/test_b.py"]}
    answer = {"outcome": "completed", "uncollected": {"tests/test_b.py": "ValueError: b"}}
    why = coverage([run(tmp_path, answer, item=tests, phase="test")], PLAN).why
    assert why["tests/test_b.py"] == (UnrunReason.COLLECTION_FAILED, "ValueError: b")
    assert why["tests/test_a.py"][0] is UnrunReason.NOT_REACHED


def test_a_missing_interpreter_is_told_from_a_missing_package(tmp_path: Path) -> None:
    item = {"do": "javascript", "path": "a.js"}
    for name, reason in (
        ("node or deno", UnrunReason.NO_INTERPRETER),
        ("axios", UnrunReason.DEPENDENCY_MISSING),
    ):
        seen = coverage([run(tmp_path, {"outcome": "missing", "missing": name}, item=item)], PLAN)
        assert seen.why == {"a.js": (reason, name)}


ODD = (
    "caf\udce9.py",
    "new\nline.py",
    'quo"te.py',
    "sp ace.py",
    "back\\slash.py",
    "\u00fcn\u00ef.py",
    "tab\t.py",
)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("observer", ["kernel", "gvisor"])
def test_a_file_of_any_name_is_one_file_to_both_observers(name: str, observer: str, tmp_path: Path) -> None:
    """The driver's report has escapes for what is no UTF-8, the trace its own ones, gVisor U+FFFD."""
    raw = f"shop/{name}".encode("utf-8", "surrogateescape")
    seen = raw if observer == "kernel" else raw.decode("utf-8", "replace").encode()
    said = f"shop/{name}".encode("utf-8", "backslashreplace").decode()
    record = run(
        tmp_path,
        {"outcome": "completed", "lines": {said: [1, 2]}},
        item={"do": "file", "path": f"shop/{name}"},
        trace=Trace().open(TREE + text_of(seen)),
    )
    assert coverage([record], PLAN).ran == {f"shop/{name}": {1, 2}}


SHELL = 102


def shell_runs(*scripts: str) -> Trace:
    """The driver's child starts a shell that reads these files of the tree."""
    trace = Trace().exec("/bin/bash", "bash", *scripts, pid=SHELL)
    for script in scripts:
        trace.open(TREE + script, pid=SHELL)
    return trace


def seen_of(tmp_path: Path, trace: Trace, *steps: ActingCommand) -> Any:
    item = {"do": "shell", "path": "go.sh"}
    record = run(tmp_path, {"outcome": "completed"}, item=item, trace=trace, phase="script")
    return coverage([record], ExecutionPlan(probes=(), steps={"go.sh": steps}))


def step(line: int, program: str, *words: str, **more: Any) -> ActingCommand:
    return ActingCommand(first=line, last=line, what="", program=program, words=words, **more)


def test_commands_of_scripts_ran_when_the_trace_has_them(tmp_path: Path) -> None:
    steps = (step(3, "cp", "-r", "build"), step(4, "rsync", "-r", "build"))
    trace = shell_runs("go.sh").exec("/bin/cp", "cp", "-r", "build", "/x", pid=103, ppid=SHELL)
    seen = seen_of(tmp_path, trace, *steps)
    assert seen.ran == {"go.sh": {3}}
    assert seen.acted == {"go.sh": {3}}
    assert seen.shown[SensitiveKind.NETWORK] == {"go.sh": {3}}


@pytest.mark.parametrize(
    ("trace", "vouches"),
    [
        (shell_runs("go.sh").exec("/bin/rm", "rm", "-rf", "x", pid=103, ppid=SHELL), True),
        (shell_runs("go.sh").exec("/bin/rm", "rm", "-rf", "x", pid=SHELL), True),
        (Trace().exec("/bin/rm", "rm", "-rf", "x", pid=103), False),
        (shell_runs("other.sh").exec("/bin/rm", "rm", "-rf", "x", pid=103, ppid=SHELL), False),
        (shell_runs("go.sh").exec("/bin/rm", "rm", "x", "-rf", pid=103, ppid=SHELL), False),
        (shell_runs("go.sh").exec("/bin/rm", "rm", "-rf", "x", "y", pid=103, ppid=SHELL), False),
    ],
    ids=["its child", "itself", "nobody's", "another script's", "other order", "other words"],
)
def test_a_program_vouches_only_for_the_line_that_started_it(
    trace: Trace, vouches: bool, tmp_path: Path
) -> None:
    seen = seen_of(tmp_path, trace, step(3, "rm", "-rf", "x", whole=True))
    assert seen.acted == ({"go.sh": {3}} if vouches else {"go.sh": set()})


def test_a_program_that_two_lines_may_have_started_vouches_for_none(tmp_path: Path) -> None:
    trace = shell_runs("go.sh").exec("/bin/rm", "rm", "-rf", "x", pid=103, ppid=SHELL)
    alike = step(3, "rm", "-rf", rivals=((("-rf", "x"), True),))
    assert seen_of(tmp_path, trace, alike).acted == {"go.sh": set()}
    other = step(3, "rm", "-rf", rivals=((("-rf", "y"), True),))
    assert seen_of(tmp_path, trace, other).acted == {"go.sh": {3}}
    both = (step(3, "rm", "-rf"), step(9, "rm", "-rf"))
    assert seen_of(tmp_path, trace, *both).acted == {"go.sh": set()}


def test_a_program_that_is_not_there_did_not_run(tmp_path: Path) -> None:
    step = ActingCommand(first=3, last=3, what="", program="curl", words=("-s",))
    plan = ExecutionPlan(probes=(), steps={"shop/cart.py": (step,)})
    trace = Trace().add(Exec, pid=ITEM, call="execve", path="/bin/curl", argv=("curl", "-s"))
    shell = {"do": "shell", "path": "shop/cart.py"}
    record = run(tmp_path, {"outcome": "completed"}, item=shell, trace=trace, phase="script")
    assert coverage([record], plan).ran == {"shop/cart.py": {3}}
    seen = coverage([replace(record, stderr=b"x.sh: 3: curl: not found\n")], plan)
    assert not seen.ran["shop/cart.py"]
    assert seen.why["shop/cart.py"] == (UnrunReason.DEPENDENCY_MISSING, "curl")


def test_what_was_not_planned_for_want_of_room(tmp_path: Path) -> None:
    left = NotExercised(path="z.py", target="import z", reason="any words", kind=UnrunReason.LEFT_OUT)
    assert coverage([], replace(PLAN, not_exercised=(left,))).why == {"z.py": (UnrunReason.LEFT_OUT, "")}


def test_a_fork_of_the_code_is_a_process_of_the_code(tmp_path: Path) -> None:
    own, code = Trace().open(TREE + "shop/cart.py"), Trace().open(TREE + "shop/cart.py")
    own.add(Fork, pid=ROOT, call="clone")
    assert not coverage([run(tmp_path, told(), trace=own)], PLAN).shown[SensitiveKind.PROCESS]
    code.add(Fork, pid=ROOT, call="clone").add(Fork, pid=ITEM, call="clone")
    assert coverage([run(tmp_path, told(), trace=code)], PLAN).shown[SensitiveKind.PROCESS]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "items",
                    "outcome",
                    "lines",
                    "acted",
                    "witnessed",
                    "process",
                    "missing",
                    "uncollected",
                    "unwatched",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_report_breaks_it(report: Any) -> None:
    probe = Probe(id="i", phase="test", target="t", path="a.py", argv=("x", json.dumps({"items": [IMPORT]})))
    record = RunRecord(
        probe=probe, side="head", outcome=Outcome.COMPLETED, exit_code=0, seconds=0.1, peak_memory=None,
        completed=True, trace=None, completeness=Completeness(),
        driver_report=report if isinstance(report, dict) else {"items": report},
    )  # fmt: skip
    coverage([record], PLAN)
    not_run(record)


def test_one_command_of_a_line_says_nothing_of_the_others(tmp_path: Path) -> None:
    """``grep -q release x && rm -rf y``: the line ran, what it would do did not."""
    steps = tuple(
        ActingCommand(first=3, last=3, what="", program=program, words=("-q",)) for program in ("grep", "rm")
    )
    plan = ExecutionPlan(probes=(), steps={"go.sh": steps})
    trace = Trace().add(Exec, pid=ITEM, call="execve", path="/bin/grep", argv=("grep", "-q", "x"))
    shell = {"do": "shell", "path": "go.sh"}
    record = run(tmp_path, {"outcome": "completed"}, item=shell, trace=trace, phase="script")
    seen = coverage([record], plan)
    assert seen.ran == {"go.sh": {3}}
    assert not seen.shown[SensitiveKind.DELETION].get("go.sh")
