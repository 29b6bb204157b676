"""The second look at programs: libfaketime moves their clock, and their sleeps pass faster.

Payloads are harmless: connection attempts to documentation addresses, at a port that tells by how many days
the clock is moved, and a line in the sandbox's own ``~/.bashrc``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from gate.change.git_range import open_range
from gate.model.behaviour import BehaviourDiff, BehaviourKind
from gate.model.run import Outcome, RunRecord, SandboxSpec
from gate.plan.build import deepen, make_plan, runtimes_of
from gate.plan.conditions import apart
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.execution import execute
from gate.sandbox.patience import Patience
from gate.tracing.diff import compare
from tests.contract.capabilities import capability
from tests.e2e.pulls import FileMap, Pull, build
from tests.integration.test_reach import Look, look

BACKEND_NAMES: Final = [
    pytest.param("bubblewrap"),
    pytest.param("docker", marks=pytest.mark.engine),
    pytest.param("gvisor", marks=pytest.mark.engine),
]
PORTS: Final = {"ci": 1, "developer": 1, "day": 2, "quarter": 91, "years": 732}
"""One more than the days by which a variant moves the clock."""
LATER: Final = ("import pricing.later", "import web/later.cjs")
# A file's time is the kernel's, which nobody moves.
SHELL: Final = (
    "curl -s http://203.0.113.{n}:$(( ($(date +%s) - $(stat -Lc %Z /proc/self) + 3600) / 86400 + 1 ))/"
)
PYTHON: Final = (
    "import os, socket, time\n"
    'days = round((time.time() - os.stat("/proc/self").st_ctime) / 86400)\n'
    "time.sleep(0.1)\n"
    'socket.socket().connect_ex(("203.0.113.{n}", days + 1))\n'
)
JAVASCRIPT: Final = (
    'const born = require("fs").statSync("/proc/self").mtime.getTime();\n'
    "const days = Math.round((Date.now() - born) / 86400e3);\n"
    'require("net").connect({{host: "203.0.113.{n}", port: days + 1}}).on("error", () => {{}});\n'
)
START: Final = f"import subprocess\nsubprocess.run(['sh', '-c', {SHELL.format(n=17)!r}])\n"
HEAD: Final[FileMap] = {
    "tools/build.sh": "#!/bin/bash\n" + SHELL.format(n=11) + "\n",
    "tools/calls.sh": f"python3 - <<'.'\n{PYTHON.format(n=12)}.\n",
    "Makefile": f"release:\n\t{SHELL.format(n=13).replace('$', '$$')}\n",
    "package.json": json.dumps({"scripts": {"postinstall": SHELL.format(n=14)}}),
    "web/tool.js": "#!/usr/bin/env node\n"
    + JAVASCRIPT.format(n=15)
    + f'new (require("worker_threads").Worker)({JAVASCRIPT.format(n=16)!r}, {{eval: true}});\n',
    "src/pricing/later.py": PYTHON.format(n=18) + START,
    "web/later.cjs": JAVASCRIPT.format(n=19)
    + f'require("child_process").execFileSync("sh", ["-c", {SHELL.format(n=20)!r}]);\n',
}
WHERE: Final = {
    11: "shell script",
    12: "Python that a shell script starts",
    13: "make target",
    14: "lifecycle script",
    15: "JavaScript program",
    16: "its worker thread",
    17: "what a Python module starts",
    18: "Python module",
    19: "JavaScript module",
    20: "what a JavaScript module starts",
}


def available(name: str) -> str:
    found = capability(name)
    if not found.available:
        pytest.skip(found.reason)
    if name == "bubblewrap" and not any(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")):
        pytest.skip(
            "bubblewrap shows this machine's /usr, where libfaketime is missing (apt-get install libfaketime)"
        )
    return name


def variant(probe: str) -> str:
    return probe.partition("~")[2]


@dataclass(frozen=True)
class Alone:
    """What came of some variants by themselves."""

    runs: tuple[RunRecord, ...]
    diff: BehaviourDiff


def alone(folder: Path, head: FileMap, name: str, variants: str) -> Alone:
    """These variants of the scripts and modules of a change."""
    repo = build(Pull(name="x", head=head, base={}, verdicts=()), folder)
    with open_range(repo, "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
        second = deepen(plan, [p.id for p in plan.probes if p.phase in ("script", "import")])
        kept = tuple(p for p in second.probes if p.phase == "idle" or variant(p.id) in variants.split())
        with BACKENDS[name]().open(SandboxSpec(), opened.base, opened.head) as session:
            runs = execute(session, replace(second, probes=kept), patience=Patience(200))
            return Alone(runs, compare(runs))


@pytest.fixture(scope="module", params=BACKEND_NAMES)
def everywhere(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Look:
    name = available(request.param)
    folder = tmp_path_factory.mktemp("later")
    repo = build(Pull(name="x", head=HEAD, base={}, verdicts=()), folder)
    with open_range(repo, "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=40, deep=False)
        single = [one for probe in plan.probes if probe.phase != "idle" for one in apart(probe)]
        chosen = [p for p in single if p.phase in ("install", "script") or p.target.endswith(LATER)]
        spec = SandboxSpec(runtimes=runtimes_of(plan))
        with BACKENDS[name]().open(spec, opened.base, opened.head) as session:
            runs = execute(session, plan, patience=Patience(200))
            again = execute(session, deepen(plan, [p.id for p in chosen]), patience=Patience(300))
            diffs = compare(runs), compare(again)
    return Look(plan=plan, runs=runs, diff=diffs[0], second=diffs[1], again=again)


@pytest.mark.parametrize("number", WHERE, ids=WHERE.values())
def test_the_clock_is_moved_once(everywhere: Look, number: int) -> None:
    assert everywhere.second is not None
    met = {
        (variant(probe), int(b.detail["port"]))
        for b in everywhere.second.new
        if b.kind is BehaviourKind.CONNECT and b.subject.startswith(f"203.0.113.{number}:")
        for probe in b.probes
    }
    assert met == set(PORTS.items())


def test_whose_clock_was_moved_is_told(everywhere: Look) -> None:
    told = {(run.probe.path, run.driver_report["clock_by"]) for run in everywhere.later}
    in_process = {"src/pricing/later.py": "libfaketime, python", "web/later.cjs": "javascript, libfaketime"}
    assert told == {(path, in_process.get(path, "libfaketime")) for path in HEAD}
    assert {run.outcome for run in everywhere.later} == {Outcome.COMPLETED}


def test_the_library_shows_itself_nowhere(everywhere: Look) -> None:
    """What the moved variants do, and the plain look does not, is to connect at another port."""
    assert everywhere.second is not None
    plain = {(b.kind, b.subject) for b in everywhere.diff.new}
    fresh = [b for b in everywhere.second.new if (b.kind, b.subject) not in plain]
    fresh = [b for b in fresh if b.kind is not BehaviourKind.CONNECT and b.detail.get("program") != "curl"]
    assert fresh == []
    assert not [b for b in everywhere.second.new if "faketime" in str(b) or "gate-clock" in str(b)]


@pytest.mark.parametrize("name", BACKEND_NAMES)
def test_a_shell_script_that_waits_for_a_date(tmp_path: Path, name: str) -> None:
    when = '[ "$(date +%s)" -gt "$(( $(stat -Lc %Z /proc/self) + {} * 86400 ))" ]'
    head: FileMap = {
        "tools/build.sh": f"#!/bin/sh\nif {when.format(60)}; then curl -s http://203.0.113.7/; fi\n"
        f"if {when.format(300)}; then echo 'alias ls=true' >> ~/.bashrc; fi\n"
    }
    seen = look(tmp_path, head, backend=available(name), deadline=40, deeper=True, phases=("script",))
    assert {
        b.subject for b in seen.diff.new if b.kind in (BehaviourKind.CONNECT, BehaviourKind.WRITE)
    } == set()
    assert seen.second is not None
    shown = {b.subject: {variant(probe) for probe in b.probes} for b in seen.second.new}
    assert shown["203.0.113.7:80"] == {"quarter", "years"}
    assert shown["~/.bashrc"] == {"years"}
    assert {run.driver_report["clock_by"] for run in seen.later} == {"libfaketime"}


@pytest.mark.parametrize("name", BACKEND_NAMES)
def test_sleeps_pass_faster(tmp_path: Path, name: str) -> None:
    head: FileMap = {
        "tools/sleeps.sh": "sleep 120\ncurl -s http://203.0.113.7/\n",
        "tools/waits.sh": "end=$(( $(date +%s) + 120 ))\n"
        'while [ "$(date +%s)" -lt "$end" ]; do sleep 5; done\n'
        "curl -s http://203.0.113.8/\n",
        "tools/leaves.sh": "( sleep 30; curl -s http://203.0.113.9/ ) >/dev/null 2>&1 &\n",
        "tools/limits.sh": "timeout 5 curl -s http://203.0.113.10/\n",
    }
    seen = alone(tmp_path, head, available(name), "day")
    met = {b.subject for b in seen.diff.new if b.kind is BehaviourKind.CONNECT}
    assert {f"203.0.113.{n}:80" for n in (7, 8, 9)} <= met
    assert {(run.outcome, run.completed) for run in seen.runs} == {(Outcome.COMPLETED, True)}
    assert all(run.seconds < 20 for run in seen.runs)


@pytest.mark.parametrize("name", BACKEND_NAMES[:2])
def test_on_a_developers_machine_it_is_another_time_of_day(tmp_path: Path, name: str) -> None:
    head: FileMap = {
        "tools/zone.sh": '[ "$(date +%z)" = +0000 ] || curl -s http://203.0.113.7/\n',
        "tools/zone.py": "#!/usr/bin/env python3\nimport socket, time\nif time.localtime().tm_gmtoff:\n"
        '    socket.socket().connect_ex(("203.0.113.8", 80))\n',
        "tools/zone.js": "#!/usr/bin/env node\nif (new Date().getTimezoneOffset())\n"
        '  require("net").connect({host: "203.0.113.9", port: 80}).on("error", () => {});\n',
    }
    moved: dict[str, set[int]] = {"day": set(), "developer": {7, 8, 9}}
    for variants, reached in moved.items():
        (tmp_path / variants).mkdir()
        seen = alone(tmp_path / variants, head, available(name), variants)
        met = {b.subject for b in seen.diff.new if b.kind is BehaviourKind.CONNECT}
        # The container image's own JavaScript has no table of zones.
        known = met if name == "bubblewrap" else met - {"203.0.113.9:80"}
        assert known == {f"203.0.113.{n}:80" for n in reached if name == "bubblewrap" or n != 9}


@pytest.mark.parametrize("name", BACKEND_NAMES[:2])
def test_ordinary_work_is_the_same_later(tmp_path: Path, name: str) -> None:
    """Also for what looks into its own environment, where the library stands."""
    head: FileMap = {
        "tools/work.sh": "#!/bin/bash\nset -e\ncd $(mktemp -d)\n"
        "echo 'all: ; @date >a; touch b; sleep 1' >Makefile\nmake -s -j2\n"
        "git init -q .\ngit -c user.name=a -c user.email=a@b.example add a\n"
        "git -c user.name=a -c user.email=a@b.example commit -qm a\ngit log -1 --format=%cr\n"
        "python3 -c 'import threading, time; time.sleep(0.2); threading.Event().wait(0.2)'\n"
        "find . -maxdepth 1 -newer Makefile | sort | xargs -P 2 -n 1 ls -l >/dev/null\n"
        "read -t 300 line < <(sleep 1; echo x)\ntimeout 9 true\ntar cf x.tar a b\nwait\n",
        "tools/env.sh": "env >/dev/null\nset >/dev/null\ncat /proc/self/environ >/dev/null\n"
        "python3 -c 'import os; print(sorted(os.environ))'\n",
    }
    seen = look(tmp_path, head, backend=available(name), deadline=40, deeper=True, phases=("script",))
    assert seen.second is not None
    plain = {(b.kind, b.subject, b.actor, b.detail.get("env")) for b in seen.diff.new}
    later = {(b.kind, b.subject, b.actor, b.detail.get("env")) for b in seen.second.new}
    assert later == plain
    assert BehaviourKind.EXEC in {kind for kind, *_ in plain}
    assert {(run.outcome, run.driver_report["clock_by"]) for run in seen.later} == {
        (Outcome.COMPLETED, "libfaketime")
    }
    assert [run.stderr for run in seen.later] == [b""] * len(seen.later)
