"""Start-up of each backend: from asking for a sandbox to the record of ``print("hi")``; JSON on stdout.

Ratios come from one run on one machine, interleaved, so that they mean something anywhere:
docker against a bare ``docker run`` of the same image, bubblewrap against bare Python.
``warm`` is what a check sees after its first run: the sandbox was started while others ran.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from gate.change.files import open_paths
from gate.model.run import Probe, SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Session
from gate.sandbox.images import engine_images

ROUNDS = 9
CODE = ("python3", "-c", 'print("hi")')
PROBE = Probe(id="bench", phase="script", target="hi", path=None, argv=CODE, driver=False)


def timed(action: Callable[[], object]) -> float:
    """Seconds of wall time."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def sandboxed(session: Session) -> None:
    """One run that must come out right: a fast failure is no result."""
    record = session.run(PROBE, "head")
    if record.fault or record.stdout != b"hi\n":
        raise SystemExit(f"the run failed: {record.fault} {record.stderr!r}")


def bare(argv: tuple[str, ...]) -> None:
    """The yardstick."""
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(name: str, yardstick: tuple[str, ...]) -> dict[str, object]:
    """Cold and warm starts of one backend beside its yardstick, interleaved."""
    found = BACKENDS[name]().probe()
    if not found.available:
        return {"available": False, "reason": found.reason}
    cold, plain = [], []
    with (
        open_paths([Path(__file__)]) as change,
        BACKENDS[name]().open(SandboxSpec(), change.base, change.head) as session,
    ):
        for _ in range(ROUNDS):
            plain.append(timed(lambda: bare(yardstick)))
            cold.append(timed(lambda: sandboxed(session)))
        session.expect(ROUNDS + 1)
        sandboxed(session)
        warm = [timed(lambda: sandboxed(session)) for _ in range(ROUNDS)]
    middle = {
        "cold": statistics.median(cold),
        "warm": statistics.median(warm),
        "bare": statistics.median(plain),
    }
    return {
        "available": True,
        "version": found.version,
        "seconds": {key: round(value, 4) for key, value in middle.items()},
        "cold_over_bare": round(middle["cold"] / middle["bare"], 2),
        "warm_over_bare": round(middle["warm"] / middle["bare"], 2),
        "cold_minus_bare": round(middle["cold"] - middle["bare"], 4),
    }


def main() -> int:
    """Print one JSON object."""
    image = engine_images.tag("sandbox")
    docker_run = ("docker", "run", "--rm", "--network", "none", "--entrypoint", "python3", image, *CODE[1:])
    result = {
        "rounds": ROUNDS,
        "goals": {"docker": "cold_over_bare <= 1.3", "bubblewrap": "cold_minus_bare <= 0.15"},
        "docker": measure("docker", docker_run),
        "bubblewrap": measure("bubblewrap", ("/usr/bin/python3", *CODE[1:])),
    }
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
