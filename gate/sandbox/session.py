"""A session over any wall that holds one launcher: takes a started box, talks to it, tells how it ended.

A backend brings a function that starts boxes; everything after that is the same for all of them.
"""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from gate.errors import CouldNotLook
from gate.model.change import Side
from gate.model.run import Completeness, Probe, RunRecord, SandboxSpec
from gate.sandbox import clock as clock_of
from gate.sandbox.bridge import Bridge
from gate.sandbox.channel import Job, Receiver, Tracing
from gate.sandbox.given import Given
from gate.sandbox.manifest import HEAD, Manifest
from gate.sandbox.manifest import places as manifest_places
from gate.sandbox.parcel import Parcel, job_for
from gate.sandbox.record import Seen, never_started, to_record
from gate.sandbox.talk import STDOUT, Ending, Watch, Wire, converse
from gate.sandbox.tunnel import Tunnel
from gate.sandbox.warm import Warm
from gate.trace.codec import read_trace
from gate.trace.sinkhole_log import read_log

START_SECONDS: Final = 30.0
_UNPACK_SECONDS: Final = 3.0
"""What unpacking the tree may take beyond the code's own deadline."""
_TRACE_SECONDS: Final = 2.0
_SOFT_SECONDS: Final = 0.5
"""The launcher stops at the deadline and can still tell what it saw; this much later the host kills."""
_COLLECT_SECONDS: Final = 60.0
"""What sending home the files of an errand may take beyond the code's deadline."""
_NOISE: Final = 4096
_MOST_REMOVING: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Errand:
    """What a run may do beside running: connect outwards over ``dial`` (a connected socket for each
    connection to ``port`` of its loopback), and send home the files below ``collect`` (``keep`` gets a tar,
    piece by piece; what it raises as OSError or ValueError ends in a fault), at most about ``most`` bytes.
    """

    port: int
    dial: Callable[[], socket.socket]
    collect: str
    most: int
    keep: Callable[[bytes], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Aftermath:
    """What only the wall can say once a box has ended."""

    out_of_memory: bool = False
    peak_memory: int | None = None


class Box(Wire, Protocol):
    """One started sandbox whose launcher waits for its job. Used once."""

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

    def aftermath(self, ending: Ending, status: int | None) -> Aftermath:
        """Called once when the conversation is over, before ``kill``. May raise CouldNotLook."""
        ...

    def trace_done(self, deadline: float) -> None:
        """Wait (seconds) until the trace has its last line, as far as it will."""
        ...

    def remove(self) -> None:
        """Leave nothing behind. Never raises."""
        ...


class BoxSession:
    """Implements interface.Session over a function that starts boxes."""

    def __init__(
        self,
        make: Callable[[], Box],
        spec: SandboxSpec,
        parcels: Mapping[Side, Parcel],
        *,
        in_cgroup: bool,
        ahead: int = 2,
        patience: float = 1.0,
    ) -> None:
        """``patience``: by how much longer than usual this wall may take to start and to unpack."""
        self._patience = patience
        self._spec = spec
        self._parcels = parcels
        self._in_cgroup = in_cgroup
        self._warm: Warm[Box] = Warm(make, size=ahead)
        self._live: set[Box] = set()
        self._removing: deque[Future[None]] = deque()
        self._removers = ThreadPoolExecutor(max_workers=ahead, thread_name_prefix="remove")
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def expect(self, runs: int) -> None:
        """So many runs are coming: sandboxes are started ahead of need."""
        self._warm.expect(runs)

    def abort(self) -> None:
        """End every running sandbox now; runs that come later fail. Safe from any thread."""
        self._stopped.set()
        with self._lock:
            live = list(self._live)
        for box in live:
            box.kill()

    def close(self) -> None:
        """Remove everything."""
        self.abort()
        self._warm.close()
        self._removers.shutdown(wait=True)
        with self._lock:
            live = list(self._live)
        for box in live:
            box.remove()

    def run(self, probe: Probe, side: Side, *, repeat: int = 0, errand: Errand | None = None) -> RunRecord:
        """One probe in a fresh sandbox; see interface.Session."""
        asked = time.monotonic()
        try:
            box = self._warm.take(deadline=self._patience * START_SECONDS)
        except TimeoutError:
            why = "the check was stopped" if self._stopped.is_set() else "the sandbox did not start in time"
            return never_started(probe, side, repeat, why, time.monotonic() - asked)
        except CouldNotLook as error:
            return never_started(probe, side, repeat, error.message, time.monotonic() - asked)
        with self._lock:
            self._live.add(box)
        try:
            run = clock_of.by_machine(box, probe)
            return clock_of.told(self._use(box, run, side, repeat, errand), probe)
        except clock_of.NotMovedError as error:
            return never_started(probe, side, repeat, error.message, time.monotonic() - asked)
        finally:
            self._put_away(box)

    def _put_away(self, box: Box) -> None:
        """Remove a box beside the next run; wait only when too many wait to be removed."""

        def remove() -> None:
            box.remove()
            with self._lock:
                self._live.discard(box)

        with self._lock:
            self._removing.append(self._removers.submit(remove))
            oldest = self._removing.popleft() if len(self._removing) > _MOST_REMOVING else None
        if oldest is not None:
            oldest.result()

    def _use(self, box: Box, probe: Probe, side: Side, repeat: int, errand: Errand | None) -> RunRecord:
        job = job_for(probe, self._spec, side, tracer=box.tracer, in_cgroup=self._in_cgroup)
        parcel = self._parcels[side]
        tunnel: Tunnel | None = getattr(box, "tunnel", None)
        if errand is not None and tunnel is not None:
            raise ValueError("a sandbox with a network of its own has no way out")
        bridge: Bridge | Tunnel | None = tunnel
        manifest = Manifest()
        others: dict[bytes, Callable[[bytes], None]] = {b"M": manifest.hear}
        if tunnel is not None:
            others[b"P"] = tunnel.hear
        if box.tracer.kind != "none":
            job = replace(job, manifest=manifest_places(self._spec))
        if errand is not None:
            bridge = Bridge(errand.dial)
            others |= {b"N": bridge.hear, b"A": errand.keep}
            job = replace(job, bridge=errand.port, collect=errand.collect, collect_most=errand.most)
        heard = Receiver(job.key, output=job.output, others=others)
        soft = _SOFT_SECONDS if errand is None else _COLLECT_SECONDS
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
            hear=hear, through=lambda: heard.finished, until=clock.until, stopped=self._stopped.is_set
        )
        try:
            ending = converse(box, itertools.chain([job.head(parcel.size)], parcel.chunks()), watch, bridge)
        finally:
            if bridge is not None:
                bridge.close()
        if self._stopped.is_set() and ending != "said":
            ending = "stopped"  # killed by abort() while we listened
        seconds = clock.seconds()
        after, fault = Aftermath(), None
        try:
            after = box.aftermath(ending, heard.end.status if heard.end else None)
        except CouldNotLook as error:
            fault = error.message
        box.kill()
        started = heard.started is not None
        if started and not fault:
            box.trace_done(_TRACE_SECONDS)
        network: Path | None = getattr(box, "network_log", None) if started else None
        given = Given(parcel.files, self._spec.files)
        lost = _completeness(box, network, given) if started else Completeness(truncated=True)
        seen = Seen(
            ending=ending,
            seconds=seconds,
            out_of_memory=after.out_of_memory,
            peak_memory=after.peak_memory,
            trace=box.trace if started else None,
            network=network,
            touched=manifest.touched,
            heads=manifest.heads,
            full=manifest.full,
            given=given.written,
            data_files=parcel.data,
            cut=_cut(given, parcel, self._spec, manifest),
            completeness=lost + _unlisted(heard, job, manifest) if started else lost,
            noise=bytes(noise),
            fault=fault,
        )
        return to_record(heard, seen, probe, side, repeat)


def _completeness(box: Box, network: Path | None, given: Given) -> Completeness:
    """What the observers together did not keep. ``given`` hears the trace on the way."""
    whole = read_trace(box.trace, given.hear)[0]
    return whole if network is None else whole + read_log(network).completeness


def _cut(given: Given, parcel: Parcel, spec: SandboxSpec, manifest: Manifest) -> tuple[str, ...]:
    """Which files that were appended to hold less than before, or begin otherwise."""
    sizes = {path: len(data) for path, data in spec.files.items()} | dict(parcel.files)
    ends = {path: data for path, data in manifest.heads if path in given.appended}
    old = parcel.beginnings(ends.keys() & parcel.files.keys(), HEAD) | {
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
