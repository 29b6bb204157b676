"""What tracing costs on real test suites: traced against untraced in one backend, in turns; JSON on stdout.

``python -m bench.trace_overhead [--rounds 5] [--backends bubblewrap docker ...] [--suites NAME...]``

The suites are those of popular pure-Python packages, fetched by pip as source archives into the cache
folder and run only inside sandboxes. Seconds are those that the launcher measured from the start of the
suite to its end: making sandboxes, unpacking and listing changed files are not in them. One run of
each kind, in turns, so that a machine that is busy for a while is busy for all; the medians are compared.
``calls`` says which calls the tracer was asked about, the most frequent first.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import statistics
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from gate import process
from gate.model.change import TreeEntry
from gate.model.run import Limits, Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox.backends.bubblewrap.backend import (
    BubblewrapBackend,
    BubblewrapSandbox,
    Tracer,
)
from gate.sandbox.backends.bubblewrap.options import Layout
from gate.sandbox.backends.container.docker import DockerBackend, DockerSandbox
from gate.sandbox.backends.gvisor.backend import GvisorBackend
from gate.sandbox.contract import Backend
from gate.sandbox.protocol import Tracing
from gate.sandbox.session import SandboxSession
from gate.tracing.codec import read_trace

GOALS: Final = {"unotify": 1.15, "seccheck": 1.1}
_DEADLINE: Final = 240.0
_SHOWN: Final = 12


@dataclass(frozen=True)
class Suite:
    """A package's tests: ``argv`` runs in the folder of its source archive."""

    package: str
    version: str
    argv: tuple[str, ...]
    needs: str = ""
    """A module beside the standard library; bubblewrap shows the host's Python, which may lack it."""


_UNITTEST: Final = ("python3", "-m", "unittest", "discover", "-q")
_PYTEST: Final = ("python3", "-m", "pytest", "-q", "-p", "no:cacheprovider")
SUITES: Final = (
    Suite("Markdown", "3.10", (*_UNITTEST, "-p", "test_[!a]*.py", "tests")),
    Suite("click", "8.1.8", (*_PYTEST, "tests"), needs="pytest"),
    Suite("more-itertools", "10.5.0", (*_UNITTEST, "tests")),
    Suite("pyflakes", "3.2.0", (*_UNITTEST, "-s", "pyflakes/test", "-t", ".")),
    Suite("idna", "3.10", (*_PYTEST, "tests"), needs="pytest"),
    Suite("boltons", "24.1.0", (*_PYTEST, "tests"), needs="pytest"),
)
"""Short and long, with other programs and without, for unittest and for pytest. Of a short one most is
the start of Python and of pytest, some two thousand calls at once.
"""


class Archive:
    """A source archive as a tree: it is only ever unpacked inside."""

    def __init__(self, tar: Path) -> None:
        self._tar = tar

    def entries(self) -> tuple[TreeEntry, ...]:
        """None are asked for."""
        return ()

    def read(self, path: str) -> bytes:
        """Raises KeyError."""
        raise KeyError(path)

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:  # noqa: ARG002
        """Nothing."""
        return iter(())

    def archive(self) -> Iterator[bytes]:
        """The tar, piece by piece."""
        with self._tar.open("rb") as stream:
            while piece := stream.read(1 << 18):
                yield piece


class UntracedBubblewrap(BubblewrapBackend):
    """The same backend, where nobody looks."""

    def box(self, layout: Layout, spec: SandboxSpec, trace: Path, tracer: Tracer) -> BubblewrapSandbox:
        """A sandbox as BubblewrapBackend makes it, without a tracer."""
        made = super().box(layout, spec, trace, tracer)
        made.tracer = Tracing(kind="none")
        return made


class UntracedDocker(DockerBackend):
    """The same backend, where nobody looks."""

    def _box(self, client: Any, options: dict[str, Any], observer: Any, events: int) -> DockerSandbox:
        made = super()._box(client, options, observer, events)
        made.tracer = Tracing(kind="none")
        return made


class UntracedGvisor(UntracedDocker):
    """gVisor without a trace session: the runtime that other tools registered."""

    name = "gvisor"
    runtime = "runsc"
    in_cgroup = False


def fetched(suite: Suite, cache: Path) -> Path:
    """The package's source archive as an uncompressed tar."""
    tar = cache / f"{suite.package}-{suite.version}.tar"
    if not tar.is_file():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            words = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "-q"]
            done = process.run([*words, "-d", folder, f"{suite.package}=={suite.version}"], deadline=180)
            if done.code != 0:
                raise SystemExit(f"pip cannot fetch {suite.package}: {done.stderr[-300:]!r}")
            (archive,) = Path(folder).glob("*.tar.gz")
            tar.write_bytes(gzip.decompress(archive.read_bytes()))
    return tar


def ran(session: SandboxSession, suite: Suite, folder: str) -> RunRecord:
    """One run of the suite. A suite that does not pass is no measurement."""
    probe = Probe(
        id="bench",
        phase="script",
        target=suite.package,
        path=None,
        argv=suite.argv,
        cwd=folder,
        env={"PYTHONPATH": "src:.", "PYTHONDONTWRITEBYTECODE": "1"},
        deadline=_DEADLINE,
        driver=False,
    )
    record = session.run(probe, "head")
    if record.outcome is not Outcome.COMPLETED:
        tail = (record.stderr[-400:] + record.stdout[-400:]).decode(errors="replace")
        raise SystemExit(f"{suite.package} did not pass: {record.outcome} {record.fault} {tail}")
    return record


def compared(name: str, kinds: dict[str, Backend], suite: Suite, tar: Path, rounds: int) -> dict[str, Any]:
    """Medians of every kind, and their ratio to ``untraced``."""
    spec = replace(SandboxSpec(), limits=Limits(memory=1 << 30, trace_events=3_000_000))
    tree = Archive(tar)
    folder = _folder(tar)
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    calls: dict[str, int] = {}
    holes = 0
    with contextlib.ExitStack() as stack:
        sessions = {
            kind: stack.enter_context(_opened(backend, spec, tree)) for kind, backend in kinds.items()
        }
        for each in sessions.values():
            ran(each, suite, folder)  # fills the page cache, and whatever else is filled once
        for _ in range(rounds):
            for kind, each in sessions.items():
                record = ran(each, suite, folder)
                seconds[kind].append(record.seconds)
                if kind != "untraced" and record.trace is not None:
                    completeness, summary = read_trace(record.trace)
                    holes += not completeness.whole
                    calls = summary.calls if summary is not None else calls
    middle = {kind: statistics.median(values) for kind, values in seconds.items()}
    common = sorted(calls.items(), key=lambda item: -item[1])
    best = {kind: min(values) for kind, values in seconds.items()}
    return {
        "backend": name,
        "suite": f"{suite.package} {suite.version}",
        "seconds": {kind: round(value, 3) for kind, value in middle.items()},
        "spread": {kind: [round(min(v), 3), round(max(v), 3)] for kind, v in seconds.items()},
        "ratio": {kind: round(middle[kind] / middle["untraced"], 3) for kind in kinds if kind != "untraced"},
        "ratio_of_best": {k: round(best[k] / best["untraced"], 3) for k in kinds if k != "untraced"},
        "traced_calls": sum(calls.values()),
        "calls": dict(common[:_SHOWN]),
        "traces_with_holes": holes,
    }


def _folder(tar: Path) -> str:
    """The archive's one folder, by the name of its first member."""
    with tarfile.open(tar) as members:
        first = members.next()
    return first.name.split("/")[0] if first is not None else "."


@contextlib.contextmanager
def _opened(backend: Backend, spec: SandboxSpec, tree: Archive) -> Iterator[SandboxSession]:
    with backend.open(spec, tree, tree) as session:
        if not isinstance(session, SandboxSession):
            raise TypeError(f"{backend.name} has another kind of session")
        yield session


def _strace() -> Backend:
    backend = BubblewrapBackend()
    backend.tracer = "strace"
    return backend


_KINDS: Final[dict[str, Callable[[], dict[str, Backend]]]] = {
    "bubblewrap": lambda: {"untraced": UntracedBubblewrap(), "unotify": BubblewrapBackend()},
    "docker": lambda: {"untraced": UntracedDocker(), "unotify": DockerBackend()},
    "gvisor": lambda: {"untraced": UntracedGvisor(), "seccheck": GvisorBackend()},
    "strace": lambda: {"untraced": UntracedBubblewrap(), "strace": _strace()},
}


def main() -> int:
    """Print one JSON object. 0: the middle suite's ratio is within its goal, in every backend."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--backends", nargs="+", choices=sorted(_KINDS), default=["bubblewrap", "docker", "gvisor"]
    )
    parser.add_argument(
        "--suites", nargs="+", choices=[s.package for s in SUITES], default=[s.package for s in SUITES]
    )
    parser.add_argument("--cache", type=Path, default=Path("bench/.cache"))
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    suites = [suite for suite in SUITES if suite.package in options.suites]
    results: list[dict[str, Any]] = []
    for name in options.backends:
        kinds = _KINDS[name]()
        missing = [f"{kind}: {b.probe().reason}" for kind, b in kinds.items() if not b.probe().available]
        if missing:
            results.append({"backend": name, "available": False, "reason": "; ".join(missing)})
            continue
        for suite in suites:
            print(f"{name}: {suite.package}", file=sys.stderr)
            if suite.needs and name in ("bubblewrap", "strace") and not _has(suite.needs):
                why = f"the host's Python has no {suite.needs}"
                results.append({"backend": name, "suite": suite.package, "available": False, "reason": why})
                continue
            results.append(compared(name, kinds, suite, fetched(suite, options.cache), options.rounds))
    middle = medians(results)
    within = all(ratio <= GOALS.get(key.split()[-1], ratio) for key, ratio in middle.items())
    told = {"rounds": options.rounds, "goals": GOALS, "median_over_suites": middle, "within": within}
    print(json.dumps(told | {"results": results}, indent=2))
    return 0 if within else 1


def medians(results: list[dict[str, Any]]) -> dict[str, float]:
    """The middle suite's ratio, by "BACKEND TRACER"."""
    ratios: dict[str, list[float]] = {}
    for each in results:
        for kind, ratio in each.get("ratio", {}).items():
            ratios.setdefault(f"{each['backend']} {kind}", []).append(ratio)
    return {key: round(statistics.median(values), 3) for key, values in ratios.items()}


def _has(module: str) -> bool:
    return process.run(["/usr/bin/python3", "-I", "-c", f"import {module}"], deadline=10).code == 0


if __name__ == "__main__":
    sys.exit(main())
