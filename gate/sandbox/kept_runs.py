"""Runs of probes kept by what went into them: what a push does not touch is not run again (docs/cache.md).

A kept run is told again only where the probe, the sandbox and what the code could read are the same. Either
the whole tree is the same, or the paths of the tree are and the trace proves that every file that was asked
about is (gate/tracing/reads.py). Repeats, the second look and all that follows it always run.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from gate.cache.active import current
from gate.cache.store import MOST_ENTRY, Store
from gate.dataclass import dataclass
from gate.model.change import Side, Tree
from gate.model.run import Capability, ExecutionPlan, Outcome, Probe, RunRecord, SandboxSpec
from gate.plan.probes import job_of
from gate.redaction import holds
from gate.regex import regex
from gate.sandbox.contract import Backend, Session
from gate.sandbox.driver_report import plain
from gate.sandbox.execution import turns_of
from gate.sandbox.side_tree import SideTree, told_of
from gate.tracing.codec import read_trace
from gate.tracing.readers.sinkhole import read_log
from gate.tracing.reads import Reads

_VERSION: Final = 1
_SYSTEM: Final = ("/usr/", "/lib", "/bin/", "/sbin/", "/etc/")
_BY_CONTENT: Final = regex(r"[0-9a-f]{64}\.tar")
_NAMED: Final = frozenset(("bubblewrap", "docker", "podman", "microvm"))
"""Backends of which is known what their sandboxes show of this machine; a plugin's is none of them."""
_PACED: Final = ("seconds", "each_script")
"""What of a job depends on how busy this machine is."""
_OF_HEAD: Final = ("lines", "acts")
"""What of a job tells which lines of head changed: at base nobody asks whether they ran."""
_MOST_TRACE: Final = MOST_ENTRY // 2


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``tree``: digest of the side's whole tree. ``reads``: files of it and their digests; None where the
    trace does not prove that these are all. ``system``: what the file system tells of files beside the tree.
    """

    made: float
    tree: str
    reads: dict[str, str] | None
    system: dict[str, str]
    record: RunRecord
    trace: bytes
    network: bytes | None


@dataclass
class KeptRuns:
    """A session that tells again what it knows. Implements contract.Session for the first look.

    ``circumstances``: what bears on every run beside probe and tree. ``folder``: new, for traces; it lives as
    long as the check. ``host``: sandboxes show programs of this machine. ``anew``: the side that always runs.
    """

    session: Session
    store: Store
    spec: SandboxSpec
    circumstances: Mapping[str, Any]
    trees: Mapping[Side, SideTree]
    folder: Path
    host: bool
    anew: Side | None = None
    found: dict[tuple[str, Side], RunRecord] = field(default_factory=dict)
    told: set[tuple[str, Side]] = field(default_factory=set)

    def look_up(self, plan: ExecutionPlan) -> int:
        """Find the plan's runs; how many are known. Once, before the first run."""
        for probe, side in turns_of(plan):
            record = self._find(probe, side) if self._keepable(probe, side) else None
            if record is not None:
                self.found[probe.id, side] = record
        return len(self.found)

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        """As the session behind it, or what is known."""
        if repeat or not self._keepable(probe, side):
            return self.session.run(probe, side, repeat=repeat)
        known = self.found.get((probe.id, side))
        if known is not None:
            self.told.add((probe.id, side))
            return replace(known, probe=probe)
        record = self.session.run(probe, side)
        with suppress(OSError, ValueError):  # what cannot be kept is looked at again
            self._add(record)
        return record

    def expect(self, runs: int) -> None:
        """As the session behind it, but for what is known."""
        self.session.expect(max(0, runs - len(self.found.keys() - self.told)))

    def abort(self) -> None:
        """As the session behind it."""
        self.session.abort()

    def _keepable(self, probe: Probe, side: Side) -> bool:
        """The first look only: its second one, and other secrets, are there to run anew."""
        return side != self.anew and not probe.condition and not probe.planted and probe.phase != "install"

    def _name(self, probe: Probe, side: Side) -> bytes:
        job: Any = list(probe.argv)
        if probe.driver:
            without = _PACED + (_OF_HEAD if side == "base" else ())
            job = {key: value for key, value in job_of(probe).items() if key not in without}
        told = {
            "version": _VERSION,
            "probe": [probe.id, probe.phase, probe.cwd, sorted(probe.env.items()), probe.dependency],
            "argv": probe.argv[:-1] if probe.driver else (),
            "job": job,
            "side": side,
            "outline": self.trees[side].outline,
            "circumstances": self.circumstances,
        }
        return json.dumps(told, sort_keys=True).encode()

    def _find(self, probe: Probe, side: Side) -> RunRecord | None:
        raw = self.store.get("run", self._name(probe, side))
        if raw is None:
            return None
        try:
            entry = msgspec.json.decode(raw, type=_Entry, dec_hook=_decoded)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
        if not self._holds(entry, self.trees[side]):
            return None
        place = self.folder / sha256(raw).hexdigest()
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            trace, network = place.with_suffix(".jsonl"), place.with_suffix(".net.jsonl")
            trace.write_bytes(entry.trace)
            if entry.network is not None:
                network.write_bytes(entry.network)
        except OSError:
            return None
        return replace(
            entry.record,
            trace=trace,
            network=network if entry.network is not None else None,
            kept_at=entry.made,
        )

    def _holds(self, entry: _Entry, now: SideTree) -> bool:
        """Does the same go in as then?"""
        if any(told_of(path) != told for path, told in entry.system.items()):
            return False
        if entry.tree == now.whole:
            return True
        return entry.reads is not None and now.digests(entry.reads) == entry.reads

    def _add(self, record: RunRecord) -> None:
        """Keep a run, if it was a whole look that holds nothing of this check's secrets."""
        now = self.trees[record.side]
        reads = Reads(links=now.links, items=_items(record.probe))
        if not _is_whole(record) or record.trace is None or record.trace.stat().st_size > _MOST_TRACE:
            return
        read_trace(record.trace, reads.hear)
        doubt = reads.ended()
        trace = record.trace.read_bytes()
        network = record.network.read_bytes() if record.network else None
        told = replace(record, trace=None, network=None)
        secret = tuple(text for canary in self.spec.canaries for text in canary.secrets)
        if (
            reads.network
            or (record.network is not None and read_log(record.network).events[1:])
            or reads.opened & {canary.path for canary in self.spec.canaries}
            or any(holds(text, secret) for text in _texts(told, trace))
        ):
            return
        system = [path for path in reads.paths if self.host and path.startswith(_SYSTEM)]
        entry = _Entry(
            made=time.time(),
            tree=now.whole,
            reads=None if doubt else now.digests(reads.paths),
            system={path: told_of(path) for path in system},
            record=told,
            trace=trace,
            network=network,
        )
        packed = msgspec.json.encode(entry, enc_hook=str)
        self.store.put("run", self._name(record.probe, record.side), packed)


def with_kept_runs(
    session: Session,
    backend: Backend,
    capability: Capability,
    spec: SandboxSpec,
    trees: Mapping[Side, Tree],
    *,
    folder: Path,
    anew: Side | None = None,
) -> KeptRuns | None:
    """The session with what the store of this check knows; ``anew``: nothing of that side. None where nothing
    is to be kept, or where not everything that bears on a run can be named. Raises InconclusiveError.
    """
    store = current()
    if store is None or capability.tracer != "unotify" or capability.backend not in _NAMED:
        return None
    if spec.services or spec.runtimes or spec.modules or spec.image or spec.clock_offset:
        return None  # servers, and programs that nobody has listed
    layers = {side: tar.name for side, tar in spec.layers.items()}
    by_content = all(_BY_CONTENT.fullmatch(name) for name in layers.values())
    if not by_content or None in [getattr(tree, "oid", None) for tree in trees.values()]:
        return None
    options = backend.options
    by_name = {
        "machine": [platform.machine(), platform.release(), os.geteuid(), os.cpu_count()],
        "backend": [capability.backend, capability.version, capability.isolation, capability.tracer],
        "ground": [backend.install_cache_key(), options.python, options.image],
        "limits": [msgspec.to_builtins(spec.limits), getattr(session, "tree_room", 0)],
        "network": [spec.network, spec.on_canary],
        "layers": layers,
        **_planted(spec),
    }
    return KeptRuns(
        session=session,
        store=store,
        spec=spec,
        circumstances=by_name,
        trees={side: SideTree.of(tree) for side, tree in trees.items()},
        folder=folder,
        host=capability.backend == "bubblewrap" and not options.python,
        anew=anew,
    )


def _planted(spec: SandboxSpec) -> dict[str, Any]:
    """Files and variables of every sandbox. The secrets themselves are other ones in every check: what holds
    them is not kept.
    """
    places = {canary.path for canary in spec.canaries}
    names = {canary.env for canary in spec.canaries}
    return {
        "planted": [[c.name, c.path, c.env, c.named, len(c.content)] for c in spec.canaries],
        "files": {p: sha256(d).hexdigest() for p, d in spec.files.items() if p not in places},
        "env": {name: value for name, value in spec.env.items() if name not in names},
    }


def _is_whole(record: RunRecord) -> bool:
    return (
        record.fault is None
        and not record.stopped
        and record.outcome in (Outcome.COMPLETED, Outcome.EXITED_NONZERO)
        and (record.completed or not record.probe.driver)
        and record.completeness.whole
        and not record.full
        and record.touched is not None
    )


def _items(probe: Probe) -> int:
    return len(job_of(probe).get("items", ())) if probe.driver else 0


def _texts(record: RunRecord, trace: bytes) -> Iterator[str]:
    yield trace.decode("utf-8", "replace")
    yield record.stdout.decode("utf-8", "replace")
    yield record.stderr.decode("utf-8", "replace")
    yield json.dumps(msgspec.to_builtins(record.driver_report), ensure_ascii=False)
    for path, data in record.heads:
        yield path
        yield data.decode("utf-8", "replace")


def _decoded(kind: type, value: object) -> object:
    if kind is object:
        return plain(value)
    raise ValueError(f"cannot hold {kind}")
