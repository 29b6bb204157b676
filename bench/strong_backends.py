"""Start-up of the strong backends: a sandbox from nothing to the end of ``print("hi")``. Prints JSON.

gVisor beside bare ``docker run --runtime runsc`` of the same image (goal: at most 1.3 times); the microVM in
seconds (goal: 4 under TCG, 1 with KVM). Best and median of interleaved runs. Usage: strong_backends.py [RUNS]
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gate import process
from gate.model.run import Probe, SandboxSpec
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Session
from gate.sandbox.images import engine_images
from gate.sandbox.tree_archive import NoTree

_HI: Final = ("python3", "-c", 'print("hi")')


def one_run(session: Session) -> Callable[[], None]:
    """A run in a fresh sandbox, none started ahead."""
    probe = Probe(id="hi", phase="script", target="hi", path=None, argv=_HI, driver=False, deadline=20)

    def run() -> None:
        record = session.run(probe, "head")
        if record.fault or record.stdout != b"hi\n":
            raise SystemExit(f"not a clean run: {record.fault} {record.stderr!r}")

    return run


def bare(image: str) -> Callable[[], None]:
    """What a person would type."""
    words = ["docker", "run", "--rm", "--runtime", "runsc", "--network", "none"]
    words += ["--entrypoint", _HI[0], image, *_HI[1:]]

    def run() -> None:
        if not process.run(words, deadline=60).ok:
            raise SystemExit("docker run --runtime runsc failed")

    return run


def measure(makers: dict[str, Callable[[], None]], runs: int) -> dict[str, Any]:
    """Interleaved, so that a busy moment hits all of them."""
    took: dict[str, list[float]] = {name: [] for name in makers}
    for _ in range(runs):
        for name, run in makers.items():
            start = time.perf_counter()
            run()
            took[name].append(time.perf_counter() - start)
    return {
        name: {"best": round(min(times), 3), "median": round(statistics.median(times), 3)}
        for name, times in took.items()
    }


def main(argv: list[str]) -> int:
    """Print the figures."""
    runs = int(argv[0]) if argv else 5
    result: dict[str, Any] = {"runs": runs, "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    with contextlib.ExitStack() as stack:
        makers: dict[str, Callable[[], None]] = {}
        for name in ("gvisor", "microvm"):
            backend = BACKENDS[name]()
            found = backend.probe()
            result[name] = found.version or found.reason
            if found.available:
                session = stack.enter_context(backend.open(SandboxSpec(), NoTree(), NoTree()))
                makers[name] = one_run(session)
        if "gvisor" in makers:
            client = stack.enter_context(contextlib.closing(engine.connect()))
            makers["bare runsc"] = bare(engine_images.ensure(client, "sandbox"))
        result["seconds"] = measure(makers, runs)
    if "gvisor" in makers:
        ours, theirs = result["seconds"]["gvisor"], result["seconds"]["bare runsc"]
        result["gvisor_ratio"] = round(ours["best"] / theirs["best"], 2)
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
