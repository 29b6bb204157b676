"""A session over any backend that holds one launcher: takes a sandbox, talks to it, tells how it ended.

A backend brings a function that starts sandboxes; everything after that is the same for all of them.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.model.change import Side
from gate.model.run import Completeness, Probe, RunRecord, SandboxSpec
from gate.sandbox import clock as clock_of
from gate.sandbox.changed_files import HEAD, Manifest
from gate.sandbox.changed_files import writable_folders as manifest_places
from gate.sandbox.contract import InstallTransfer
from gate.sandbox.egress.bridge import Bridge
from gate.sandbox.outage import NotFailingError, fail_as_asked
from gate.sandbox.overwritten_files import OverwrittenFiles
from gate.sandbox.pool import SandboxPool
from gate.sandbox.protocol import Job, Receiver, Tracing
from gate.sandbox.run_record import RunObservation, never_started, to_record
from gate.sandbox.sinkhole_host.tunnel import Tunnel
from gate.sandbox.transport import STDOUT, EndReason, Watch, Wire, exchange
from gate.sandbox.tree_archive import TreeArchive, job_for, with_tree
from gate.tracing.codec import read_trace
from gate.tracing.readers.sinkhole import read_log

START_SECONDS: Final = 60.0
_UNPACK_SECONDS: Final = 10.0
"""What unpacking the tree may take beyond the code's own deadline."""
_TRACE_SECONDS: Final = 10.0
"""For a trace's last line to arrive; usually it is there."""
_SOFT_SECONDS: Final = 2.0
"""The launcher stops at the deadline and can still tell what it saw; this much later the host kills."""
_COLLECT_SECONDS: Final = 60.0
"""What sending home the files of a transfer may take beyond the code's deadline."""
_NOISE: Final = 4096
_MOST_REMOVING: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class ExitDetails:
    """What only the backend knows about how a sandbox ended."""

    out_of_memory: bool = False
    peak_memory: int | None = None
    polled_limit: int | None = None
    """Bytes of memory, where a look now and then holds a program to them: between two it can take more."""


class RunningSandbox(Wire, Protocol):
    """One started sandbox whose launcher waits for its job. Used once."""

    @property
    def network_log(self) -> Path | None:
        """What its simulated network saw (gate/tracing/readers/sinkhole.py); None: it has none."""
        ...

    @property
    def tunnel(self) -> Tunnel | None:
        """Where its packets go, when its network comes through the launcher's frames; None: it does not."""
        ...

    def move_clock(self, seconds: int) -> bool:
        """Move its own clock for everything inside, before the code is there. False: it has none of its own.
        Raises NotMovedError.
        """
        ...

    def fail_network(self, failures: int) -> bool:
        """Let so many requests to each destination fail, before the code is there. False: it cannot. Raises
        InconclusiveError.
        """
        ...

    @property
    def tracer(self) -> Tracing:
        """How the launcher reaches its observer."""
        ...

    @property
    def trace(self) -> Path:
        """Where the trace is being written on the host."""
        ...

    def kill(self) -> None:
        """End everything inside, at once. Never raises."""
        ...

    def exit_details(self, ending: EndReason, status: int | None) -> ExitDetails:
        """Called once when the conversation is over, before ``kill``. May raise InconclusiveError."""
        ...

    def trace_done(self, deadline: float) -> None:
        """Wait (seconds) until the trace has its last line, as far as it will."""
        ...

    def remove(self) -> None:
        """Leave nothing behind. Never raises."""
        ...


class PlainSandbox:
    """The part of RunningSandbox that is the same wherever network and clock are not the sandbox's own."""

    network_log: Path | None = None
    tunnel: Tunnel | None = None

    def move_clock(self, seconds: int) -> bool:  # noqa: ARG002
        """Move its own clock for everything inside, before the code is there."""
        return False

    def fail_network(self, failures: int) -> bool:  # noqa: ARG002
        """Let so many requests to each destination fail, before the code is there."""
        return False


class SandboxSession:
    """Implements contract.Session over a function that starts sandboxes."""

    def __init__(
        self,
        make: Callable[[], RunningSandbox],
        spec: SandboxSpec,
        tree_archives: Mapping[Side, TreeArchive],
        *,
        in_cgroup: bool,
        ahead: int = 2,
        patience: float = 1.0,
    ) -> None:
        """``patience``: by how much longer than usual this backend may take to start and to unpack."""
        self._patience = patience
        self._spec = spec
        self._parcels = tree_archives
        self._in_cgroup = in_cgroup
        self._warm: SandboxPool[RunningSandbox] = SandboxPool(make, size=ahead)
        self._live: set[RunningSandbox] = set()
        self._removing: deque[Future[None]] = deque()
        self._removers = ThreadPoolExecutor(max_workers=ahead, thread_name_prefix="remove")
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    @property
    def tree_room(self) -> int:
        """Bytes that every sandbox has for the larger tree, beside the spec's limits."""
        return with_tree(self._spec.limits, self._parcels).scratch - self._spec.limits.scratch

    def expect(self, runs: int) -> None:
        """So many runs are coming: sandboxes are started ahead of need."""
        self._warm.expect(runs)

    def abort(self) -> None:
        """End every running sandbox now; runs that come later fail. Safe from any thread."""
        self._stopped.set()
        with self._lock:
            live = list(self._live)
        for sandbox in live:
            sandbox.kill()

    def close(self) -> None:
        """Remove everything."""
        self.abort()
        self._warm.close()
        self._removers.shutdown(wait=True)
        with self._lock:
            live = list(self._live)
        for sandbox in live:
            sandbox.remove()

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        """One probe in a fresh sandbox; see contract.Session."""
        return self._run(probe, side, repeat, None)

    def run_with_transfer(self, probe: Probe, side: Side, transfer: InstallTransfer) -> RunRecord:
        """As ``run``, with a transfer beside it."""
        return self._run(probe, side, 0, transfer)

    def _run(self, probe: Probe, side: Side, repeat: int, transfer: InstallTransfer | None) -> RunRecord:
        asked = time.monotonic()
        try:
            sandbox = self._warm.take(deadline=self._patience * START_SECONDS)
        except TimeoutError:
            why = "the check was stopped" if self._stopped.is_set() else "the sandbox did not start in time"
            return never_started(probe, side, repeat, why, time.monotonic() - asked)
        except InconclusiveError as error:
            return never_started(probe, side, repeat, error.message, time.monotonic() - asked)
        with self._lock:
            self._live.add(sandbox)
        try:
            fail_as_asked(sandbox, probe)
            run = clock_of.by_machine(sandbox, probe)
            return clock_of.with_clock_source(self._use(sandbox, run, side, repeat, transfer), probe)
        except (clock_of.NotMovedError, NotFailingError) as error:
            return never_started(probe, side, repeat, error.message, time.monotonic() - asked)
        finally:
            self._put_away(sandbox)

    def _put_away(self, sandbox: RunningSandbox) -> None:
        """Remove a sandbox beside the next run; wait only when too many wait to be removed."""

        def remove() -> None:
            sandbox.remove()
            with self._lock:
                self._live.discard(sandbox)

        with self._lock:
            self._removing.append(self._removers.submit(remove))
            oldest = self._removing.popleft() if len(self._removing) > _MOST_REMOVING else None
        if oldest is not None:
            oldest.result()

    def _job(
        self, sandbox: RunningSandbox, probe: Probe, side: Side, transfer: InstallTransfer | None
    ) -> Job:
        own = transfer is not None and transfer.own
        tracer = replace(sandbox.tracer, look=False, files=False) if own else sandbox.tracer
        job = job_for(probe, self._spec, side, tracer=tracer, in_cgroup=self._in_cgroup)
        if sandbox.tracer.kind != "none" and not own:
            job = replace(job, manifest=manifest_places(self._spec))
        if transfer is not None:
            job = replace(job, bridge=transfer.port, collect=transfer.collect, collect_most=transfer.most)
        return job

    def _use(
        self, sandbox: RunningSandbox, probe: Probe, side: Side, repeat: int, transfer: InstallTransfer | None
    ) -> RunRecord:
        job = self._job(sandbox, probe, side, transfer)
        tree_archive = self._parcels[side]
        manifest = Manifest()
        bridge, others = _ways_out(sandbox.tunnel, transfer)
        others[b"M"] = manifest.feed
        heard = Receiver(job.key, output=job.output, others=others)
        soft = _SOFT_SECONDS if transfer is None else _COLLECT_SECONDS
        clock = _Clock(probe.deadline, soft, self._patience * _UNPACK_SECONDS)
        noise = bytearray()

        def hear(stream: int, data: bytes) -> None:
            if stream == STDOUT:
                heard.feed(data)
                if heard.started is not None:
                    clock.code_started()
            else:
                noise.extend(data[: _NOISE - len(noise)])

        watch = Watch(
            feed=hear, through=lambda: heard.finished, until=clock.until, stopped=self._stopped.is_set
        )
        try:
            ending = exchange(
                sandbox, itertools.chain([job.head(tree_archive.size)], tree_archive.chunks()), watch, bridge
            )
        finally:
            if bridge is not None:
                bridge.close()
        if self._stopped.is_set() and ending != "said":
            ending = "stopped"  # killed by abort() while we listened
        seconds = clock.seconds()
        after, fault = _exit_details(sandbox, ending, heard)
        sandbox.kill()
        started = heard.started is not None
        if started and not fault:
            sandbox.trace_done(_TRACE_SECONDS)
        network = sandbox.network_log if started else None
        given = OverwrittenFiles(tree_archive.files, self._spec.files)
        lost = _completeness(sandbox, network, given) if started else Completeness(truncated=True)
        seen = RunObservation(
            ending=ending,
            seconds=seconds,
            out_of_memory=after.out_of_memory or _took_more(after, heard),
            peak_memory=after.peak_memory,
            trace=sandbox.trace if started else None,
            network=network,
            touched=manifest.touched,
            heads=manifest.heads,
            full=manifest.full,
            given=given.written,
            data_files=tree_archive.data,
            cut=_cut(given, tree_archive, self._spec, manifest),
            completeness=lost + _unlisted(heard, job, manifest) if started else lost,
            noise=bytes(noise),
            fault=fault,
        )
        return to_record(heard, seen, probe, side, repeat)


def _ways_out(
    tunnel: Tunnel | None, transfer: InstallTransfer | None
) -> tuple[Bridge | Tunnel | None, dict[bytes, Callable[[bytes], None]]]:
    """What carries the connections of a run, and who hears which of the launcher's frames for it."""
    if transfer is None:
        return tunnel, {} if tunnel is None else {b"P": tunnel.feed}
    if tunnel is not None:
        raise ValueError("a sandbox with a network of its own has no way out")
    bridge = Bridge(transfer.dial)
    return bridge, {b"N": bridge.feed, b"A": transfer.keep}


def _exit_details(
    sandbox: RunningSandbox, ending: EndReason, heard: Receiver
) -> tuple[ExitDetails, str | None]:
    """How the sandbox ended, and why that is not known."""
    try:
        return sandbox.exit_details(ending, heard.end.status if heard.end else None), None
    except InconclusiveError as error:
        return ExitDetails(), error.message


def _took_more(after: ExitDetails, heard: Receiver) -> bool:
    """True for a program that failed after it had more memory than it may, when no look saw it in time."""
    end = heard.end
    return bool(after.polled_limit and end and end.status and (end.peak_memory or 0) > after.polled_limit)


def _completeness(sandbox: RunningSandbox, network: Path | None, given: OverwrittenFiles) -> Completeness:
    """What the observers together did not keep. ``given`` hears the trace on the way."""
    whole = read_trace(sandbox.trace, given.feed)[0]
    return whole if network is None else whole + read_log(network).completeness


def _cut(
    given: OverwrittenFiles, tree_archive: TreeArchive, spec: SandboxSpec, manifest: Manifest
) -> tuple[str, ...]:
    """Which files that were appended to hold less than before, or begin otherwise."""
    sizes = {path: len(data) for path, data in spec.files.items()} | dict(tree_archive.files)
    ends = {path: data for path, data in manifest.heads if path in given.appended}
    old = tree_archive.beginnings(ends.keys() & tree_archive.files.keys(), HEAD) | {
        path: spec.files[path][:HEAD] for path in ends.keys() & spec.files.keys()
    }
    smaller = {p for p in given.appended if manifest.sizes.get(p, sizes[p]) < sizes[p]}
    other = {path for path, data in old.items() if not ends[path].startswith(data)}
    return tuple(sorted(smaller | other))


def _unlisted(heard: Receiver, job: Job, manifest: Manifest) -> Completeness:
    """A run that ended by itself has its list of changed files, or we have not seen everything."""
    end = heard.end
    ended = end is not None and end.tracer_ok and not {"wall", "canary"} & set(end.limits_hit)
    return Completeness(truncated=bool(job.manifest) and ended and manifest.touched is None)


class _Clock:
    """The host's clock over one run: the code's deadline counts from its start, unpacking has its own."""

    def __init__(self, deadline: float, soft: float = _SOFT_SECONDS, unpack: float = _UNPACK_SECONDS) -> None:
        self._deadline = deadline
        self._soft = soft
        self._unpack = unpack
        self._sent = time.monotonic()
        self._started: float | None = None

    def code_started(self) -> None:
        """The first call counts."""
        self._started = self._started or time.monotonic()

    def until(self) -> float:
        """When the host kills, on time.monotonic()'s clock."""
        latest = self._sent + self._deadline + self._unpack + self._soft - _SOFT_SECONDS
        return latest if self._started is None else min(latest, self._started + self._deadline + self._soft)

    def seconds(self) -> float:
        """How long the code ran (or how long we waited for it to start)."""
        return time.monotonic() - (self._sent if self._started is None else self._started)
