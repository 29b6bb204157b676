"""Whole checks kept by what went into them: the same change again is told again, not looked at again.

Kept is the report, sealed (gate/cache/store.py). Its name holds everything that bears on a verdict: commits,
trees and notes, the pull request's text, settings and rules, this program and what is installed beside it,
the machine. Only a whole look is kept (``is_whole``), and for some days: what a check could see later, with
newer packages, it is to see. Where somebody asked that findings stand, nothing is kept: that depends on the
day.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from gate.cache.store import Store, Trust, open_store
from gate.change.interface import OpenChange
from gate.dataclass import dataclass
from gate.model.change import PullRequest
from gate.model.report import Report
from gate.model.run import Outcome
from gate.model.score import Verdict
from gate.model.stage import SkipReason, StageOutcome
from gate.resources import rules_dir
from gate.settings import Settings

_VERSION: Final = 2
_SURROUNDINGS: Final = ("PIP_", "UV_", "NPM_CONFIG_", "GATE_", "DOCKER_", "PODMAN_", "CONTAINER_")
"""Beginnings of variables that say where packages, images and engines come from."""
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_OURS: Final = ("GATE_CACHE", "GATE_CACHE_KEY")
_PASSING: Final = frozenset({SkipReason.BACKEND_FAILED, SkipReason.NO_OPINION})
"""Why a stage was skipped that could be otherwise the next time."""


@dataclass(frozen=True)
class KeptCheck:
    """The place of one check among those that are kept."""

    store: Store
    name: bytes
    repo: str

    def find(self) -> Report | None:
        """The report of the same check, for this copy of the repository; None where there is none."""
        raw = self.store.get("check", self.name)
        if raw is None:
            return None
        try:
            report: Report = msgspec.json.decode(raw, type=Report, dec_hook=_decoded)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return replace(report, change=replace(report.change, repo=self.repo))

    def add(self, report: Report) -> None:
        """Keep it, if it is whole."""
        if is_whole(report):
            runs = tuple(replace(run, trace=None, network=None) for run in report.sandbox.runs)
            kept = replace(report, sandbox=replace(report.sandbox, runs=runs))
            self.store.put("check", self.name, msgspec.json.encode(kept, enc_hook=str))
        self.store.sweep()


def kept_check(
    opened: OpenChange, settings: Settings, request: PullRequest | None
) -> tuple[KeptCheck | None, Store | None]:
    """Where the check is kept, and the store for what is found on the way. None: nothing is kept."""
    store = open_store(settings.config.cache, trust_of(request))
    if store is None:
        return None, None
    store = store.bound_to(program(store))
    name = _name(opened, settings, request)
    return KeptCheck(store, name, opened.change.repo) if name is not None else None, store


def job_store(settings: Settings, request: PullRequest | None) -> Store | None:
    """The store of a job in CI, where its step was given a key: runs and readings of files, no whole checks:
    who asks for another look gets one. A key that lies on the runner is not believed: other jobs can read it.
    """
    given = open_store(settings.config.cache, trust_of(request)) if os.environ.get("GATE_CACHE_KEY") else None
    return given.bound_to(program(given)) if given is not None else None


def trust_of(request: PullRequest | None) -> Trust:
    """Whose change it is: levels share nothing."""
    if request is None:
        return "local"
    return "fork" if request.from_fork else "own"


def is_whole(report: Report) -> bool:
    """Did every part look, to its end? What time or a fault cut short is looked at again."""
    return (
        report.verdict is not Verdict.INCONCLUSIVE
        and not report.overrides
        and all(
            stage.outcome in (StageOutcome.DONE, StageOutcome.SKIPPED) and stage.skip_reason not in _PASSING
            for stage in report.stages
        )
        and report.sandbox.completeness.whole
        and all(
            run.fault is None
            and not run.stopped
            and run.outcome in (Outcome.COMPLETED, Outcome.EXITED_NONZERO)
            for run in report.sandbox.runs
        )
    )


def program(store: Store) -> str:
    """A digest of this program, its rules and what is installed beside it. Reading a thousand files takes as
    long as the rest of a kept check, so it is kept under what the file system says of them.
    """
    seen = sha256()
    roots = (Path(__file__).resolve().parent, rules_dir())
    for root in roots:
        for path in sorted(_files(root)):
            found = Path(path).stat()
            told = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
            seen.update(f"{path}\0{told}\n".encode("utf-8", "surrogateescape"))
    beside = "\n".join((sys.version, *_distributions())).encode()
    name = seen.digest() + sha256(beside).digest()
    from gate.policy import digest

    kept = store.get("program", name)
    gate, _, rules = (kept or b"").decode("ascii", "replace").partition(" ")
    if kept is None:
        gate, rules = digest.gate_digest(), digest.rules_digest()
        store.put("program", name, f"{gate} {rules}".encode())
    digest.known(gate=gate, rules=rules)
    return sha256(f"{_VERSION}\n{gate}\n{rules}\n".encode() + beside).hexdigest()


def _files(root: Path) -> Iterator[str]:
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in ("__pycache__", "_examples")]
        for name in names:
            yield f"{place}/{name}"


def _distributions() -> list[str]:
    """Names and versions of all that is installed beside this program. Of what extends it also what its
    files are: a house's own rules are built anew under the same version.
    """
    places = [Path(place) for place in sys.path if place.endswith(("site-packages", "dist-packages"))]
    found = {path for place in places if place.is_dir() for path in place.iterdir()}
    return sorted(_told(path) for path in found if path.name.endswith((".dist-info", ".egg-info")))


def _told(path: Path) -> str:
    with suppress(OSError):
        if b"[gate." in (path / "entry_points.txt").read_bytes():
            return f"{path.name} {sha256((path / 'RECORD').read_bytes()).hexdigest()}"
    return path.name


def _name(opened: OpenChange, settings: Settings, request: PullRequest | None) -> bytes | None:
    """Everything that bears on the verdict, None where the trees have no names or somebody lets something
    stand.
    """
    from gate.policy.override import FILE

    trees = [getattr(tree, "oid", None) for tree in (opened.base, opened.head, opened.config)]
    if None in trees or any(entry.path == FILE for entry in opened.config.entries()):
        return None
    change = opened.change
    told: dict[str, Any] = {
        "trees": trees,
        "commits": [change.base, change.head, change.merge_base, change.branch],
        "range": [commit.sha for commit in change.commits],
        "notes": {sha: [sha256(b).hexdigest() for b in bodies] for sha, bodies in opened.notes.items()},
        "request": request,
        "settings": settings.config,
        "origin": settings.origin,
        "machine": [platform.machine(), platform.release(), os.geteuid(), os.cpu_count()],
        "surroundings": {name: value for name, value in os.environ.items() if _bears(name)},
    }
    return msgspec.json.encode(told, enc_hook=str, order="deterministic")


def _bears(name: str) -> bool:
    upper = name.upper()
    return upper not in _OURS and (upper.startswith(_SURROUNDINGS) or upper in _PROXIES)


def _decoded(kind: type, value: object) -> object:
    if kind is object:
        from gate.sandbox.driver_report import plain

        return plain(value)
    raise ValueError(f"cannot hold {kind}")
