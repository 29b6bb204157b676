"""Runs many small programs in few sandboxes and tells what each of them did, by its own part of the trace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gate.model.behaviour import Behaviour
from gate.model.canary import Canary
from gate.model.change import Change
from gate.model.finding import Finding
from gate.model.run import Completeness, Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox import canaries
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.tracing.behaviour.disk import UNWRITTEN
from gate.tracing.behaviour.reduction import behaviours
from gate.tracing.diff import compare
from tests.behaviours.cases import Case
from tests.contract.capabilities import backend_named
from tests.contract.trees import DictTree

IN_ONE: Final = 20
"""Programs in one sandbox, one after the other."""
_SECONDS: Final = 6.0
"""For one of them."""
RUNNER: Final = """\
import json, os, signal, subprocess, sys, time
for file in json.load(open("/work/tree/order.json")):
    program = "python3" if file.endswith(".py") else "sh"
    child = subprocess.Popen([program, "/work/tree/" + file], stdin=subprocess.DEVNULL)
    try: child.wait(SECONDS)
    except subprocess.TimeoutExpired: child.kill(); child.wait(); print("slow", file, flush=True)
"""


@dataclass(frozen=True)
class Did:
    """What one program did, and what the rules say of it; ``wrong``: why that was no proper look."""

    behaviours: tuple[Behaviour, ...] = ()
    findings: tuple[Finding, ...] = ()
    wrong: str = ""


def run(cases: Sequence[Case], backend: str, folder: Path, *, patience: float = 1.0) -> dict[str, Did]:
    """Every program's deeds by its id; ``patience``: how much longer than usual they may take.

    A sandbox that was not a proper look is told as such for its own programs only: where it takes half an
    hour, the others' deeds are not made again for it.
    """
    planted = canaries.plant()
    spec = SandboxSpec(
        canaries=planted, files=canaries.as_files(planted), env=canaries.as_environment(planted)
    )
    runner = RUNNER.replace("SECONDS", str(_SECONDS * patience))
    data = {f"{name}/{n}.txt": "data" for name in ("data", "data2") for n in range(30)}
    files = {case.file: case.program for case in cases} | data
    parts = [cases[n : n + IN_ONE] for n in range(0, len(cases), IN_ONE)]
    files |= {f"runner{n}.py": runner.replace("order.json", f"order{n}.json") for n in range(len(parts))}
    files |= {f"order{n}.json": json.dumps([c.file for c in part]) for n, part in enumerate(parts)}
    tree = DictTree(files=files)
    done: dict[str, Did] = {}
    with backend_named(backend).open(spec, tree, tree) as session:
        session.expect(len(parts))
        with ThreadPoolExecutor(2) as pool:
            records = list(
                pool.map(lambda n: session.run(_probe(n, 90 * patience), "head"), range(len(parts)))
            )
        for record, part in zip(records, parts, strict=True):
            try:
                done |= _of_part(record, part, folder, backend, planted)
            except AssertionError as error:
                done |= {case.id: Did(wrong=f"{record.probe.id}: {error}") for case in part}
    return done


def _of_part(
    record: RunRecord, part: Sequence[Case], folder: Path, backend: str, planted: tuple[Canary, ...]
) -> dict[str, Did]:
    """Raises AssertionError when the sandbox was not a proper look."""
    assert record.fault is None, record.fault
    assert record.outcome is Outcome.COMPLETED, (record.outcome, record.stderr[-500:])
    assert record.trace is not None
    assert not record.completeness.dropped
    unseen = [b.detail for b in behaviours(record, planted) if b.subject == UNWRITTEN]
    assert not unseen, f"changed by no call that was seen: {unseen}"
    lines = split(record.trace, [case.file for case in part])
    done = {}
    for case in part:
        if not lines[case.file]:
            done[case.id] = Did(wrong="it never ran")
            continue
        path = folder / f"{backend}-{case.id}.jsonl"
        done[case.id] = _judged(lines[case.file], record, path, planted)
    return done


def _probe(number: int, deadline: float) -> Probe:
    return Probe(
        id=f"part{number}",
        phase="script",
        target=f"part {number}",
        path=None,
        argv=("python3", f"runner{number}.py"),
        deadline=deadline,
        driver=False,
    )


def split(trace: Path, files: Sequence[str]) -> dict[str, list[dict[str, object]]]:
    """A whole trace's lines by program: from its exec on, everything that it and its children did."""
    owner: dict[int, str] = {}
    told: dict[int, dict[str, object]] = {}
    parts: dict[str, list[dict[str, object]]] = {file: [] for file in files}
    for text in trace.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        pid = line.get("pid")
        if line["ev"] == "process" and pid not in owner:
            told[pid] = line
            if line["ppid"] in owner:
                owner[pid] = owner[line["ppid"]]
        if line["ev"] == "exec" and pid not in owner and len(line.get("argv", ())) == 2:
            name = str(line["argv"][1]).removeprefix("/work/tree/")
            if name in parts:
                owner[pid] = name
                parts[name] += [told[pid]] if pid in told else []
        if pid in owner and line["ev"] not in ("start", "summary"):
            parts[owner[pid]].append(line)
    return parts


def _judged(
    lines: list[dict[str, object]], record: RunRecord, path: Path, planted: tuple[Canary, ...]
) -> Did:
    """Behaviours and findings of one program's lines, as if they were a run of their own."""
    start = {"ev": "start", "version": 1, "tracer": "part", "arch": "x86_64", "wall": 0.0, "t": 0.0}
    calls = {"events": len(lines), "dropped": 0, "unparsed": 0, "calls": {}}
    end = {"ev": "summary", **calls, "end": "exited", "t": 9e6}
    numbered = [{**line, "seq": n} for n, line in enumerate([start, *lines, end])]
    path.write_text("\n".join(map(json.dumps, numbered)) + "\n", encoding="utf-8")
    alone = replace(
        record,
        trace=path,
        completeness=Completeness(),
        stdout=b"",
        stderr=b"",
        touched=None,
        stdout_total=0,
        stderr_total=0,
    )
    diff = compare([alone], planted)
    change = Change(repo="", base=None, head=None, merge_base=None, commits=(), files=())
    return Did(diff.new, signals(SignalContext(change=change, diff=diff, runs=(alone,))))
