"""A million events to behaviours: seconds of CPU and peak memory, for four kinds of trace.

    python bench/view.py

Prints one JSON object. Limits (issue "Seeing what the change does"): 5 s and 300 MB each.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gate.model.run import Completeness, Outcome, Probe, RunRecord
from gate.tracing.behaviour.reduction import behaviours
from gate.tracing.codec import encode
from gate.tracing.events import File, Fork, Net, Open, Process, Start, Summary

EVENTS = 1_000_000
READ = "O_RDONLY|O_CLOEXEC"


def _ordinary(n: int, chance: random.Random) -> Any:
    common: dict[str, Any] = {"seq": n, "t": n * 1e-5, "pid": 100}
    kind = chance.random()
    if kind < 0.7:
        path = f"/usr/lib/python3.11/{chance.randrange(3000)}.py"
        return Open(call="openat", path=path, access="r", flags=READ, **common)
    if kind < 0.8:
        return File(call="unlink", path=f"/tmp/{chance.randrange(30000)}", **common)  # noqa: S108  # only a text
    if kind < 0.9:
        return Net(
            call="sendto", family="AF_INET", addr="203.0.113.7", port=9, proto="udp", head="a" * 100, **common
        )
    return Fork(call="clone", flags="SIGCHLD", **common)


KINDS: dict[str, Callable[[int, random.Random], Any]] = {
    "ordinary": _ordinary,
    "one-file": lambda n, _: Open(
        seq=n, t=n * 1e-5, pid=100, call="openat", path="/usr/lib/os.py", access="r", flags=READ
    ),
    "different-files": lambda n, _: Open(
        seq=n, t=n * 1e-5, pid=100, call="openat", path=f"/var/data/{n:x}x/f", access="r", flags=READ
    ),
    "different-temp-files": lambda n, _: Open(
        seq=n,
        t=n * 1e-5,
        pid=100,
        call="openat",
        path=f"/tmp/x/{n}",  # noqa: S108
        access="w",
        flags="O_WRONLY|O_CREAT",
    ),
}


def write(kind: str, path: Path) -> None:
    """A whole trace of EVENTS events of one kind."""
    chance = random.Random(1)  # noqa: S311  # the same trace every time
    with path.open("wb") as file:
        file.write(encode(Start(seq=0, t=0.0, version=1, tracer="bench", arch="x86_64", wall=1.0)))
        file.write(encode(Process(seq=1, t=0.0, pid=100, ppid=1, exe="/usr/bin/python3", comm="python3")))
        for n in range(2, EVENTS + 1):
            file.write(encode(KINDS[kind](n, chance)))
        end = Summary(seq=EVENTS + 1, t=9.0, events=EVENTS, dropped=0, unparsed=0, calls={}, end="exited")
        file.write(encode(end))


def measure(path: Path) -> dict[str, float]:
    """Run in a process of its own, so that the peak is this trace's."""
    record = RunRecord(
        probe=Probe(id="p", phase="test", target="bench", path=None, argv=()),
        side="head",
        outcome=Outcome.COMPLETED,
        exit_code=0,
        seconds=0.0,
        peak_memory=None,
        completed=True,
        trace=path,
        completeness=Completeness(),
    )
    start = time.process_time()
    seen = behaviours(record)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "cpu_seconds": round(time.process_time() - start, 2),
        "peak_mb": round(peak),
        "behaviours": len(seen),
    }


def main(argv: list[str]) -> None:
    """All kinds, each in a fresh interpreter."""
    if argv:
        print(json.dumps(measure(Path(argv[0]))))
        return
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            path = Path(folder) / "trace.jsonl"
            write(kind, path)
            command = [sys.executable, __file__, str(path)]
            out[kind] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    print(json.dumps({"events": EVENTS, "view": out}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
