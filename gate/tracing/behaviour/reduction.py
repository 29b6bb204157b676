"""One run's trace to behaviours: streamed, grouped as it is read, bounded in memory.

A million events end as a few hundred facts. Which calls are nobody's business (the interpreter's own
files, the locale, temp files) is decided here and in paths.py; whether a fact is good or bad is not: that
is for signals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.canary import Canary
from gate.model.leftover import left_running
from gate.model.run import Outcome, RunRecord
from gate.tracing.behaviour.accumulator import Cell, Cells
from gate.tracing.behaviour.canary_match import Matcher
from gate.tracing.behaviour.disk import DiskView, files_left
from gate.tracing.behaviour.files import PIP, FileView
from gate.tracing.behaviour.left_behind import LeftView
from gate.tracing.behaviour.network import NetView
from gate.tracing.behaviour.outgoing_data import Channels
from gate.tracing.behaviour.processes import CallView
from gate.tracing.behaviour.program_chains import Actors
from gate.tracing.behaviour.rewrites import Rewrites
from gate.tracing.behaviour.run_outcome import outcome_behaviours
from gate.tracing.behaviour.services import Services
from gate.tracing.behaviour.sinkhole import SinkholeView
from gate.tracing.behaviour.source_lines import Hints
from gate.tracing.codec import read_trace
from gate.tracing.events import (
    Attempt,
    Control,
    Event,
    Exec,
    Exit,
    File,
    Fork,
    Net,
    Open,
    PathQuery,
    Process,
    Signal,
    Socket,
    Start,
)
from gate.tracing.own_service import OwnServices
from gate.tracing.readers.sinkhole import read_log

_SEEN = 100_000
"""Different raw calls remembered; when full, all are forgotten and grouped anew: slower, never wrong."""
_SLOW = 100_000
_FLOOD = 1_000
"""After so many different opens, reads below a folder with so many of them are told as one."""
_PROPER = (Outcome.COMPLETED, Outcome.EXITED_NONZERO)
_WATCHED = (
    "/etc",
    "/proc",
    "/sys",
    "/work",
    "/root",
    "/home",
    "/run",
    "/var/run",
    "/var/spool",
    "/dev",
    "/usr",
)


def behaviours(
    record: RunRecord, canaries: Iterable[Canary] = (), matcher: Matcher | None = None
) -> tuple[Behaviour, ...]:
    """Everything one run was seen to do, sorted by key. Never raises for what a trace contains.

    A run without a trace yields what its outcome alone says. ``matcher`` may be shared between runs
    with the same canaries.
    """
    planted = tuple(canaries)
    view = View(record, planted)
    if record.trace is not None:
        view.read(record.trace)
    view.channels.add("stdout", "", record.stdout)
    view.channels.add("stderr", "", record.stderr)
    files_left(record, planted, view.channels, view.cells)
    for refused in record.refused:
        detail = {"reach": "outside", "proto": "tcp", "host": _host(refused.asked), "why": refused.why}
        view.cells.add(BehaviourKind.CONNECT, refused.asked, "pip", detail, denied=True)
        view.channels.add("net", refused.asked, refused.asked.encode("utf-8", "replace"), "pip")
    view.finish(matcher or Matcher(planted))
    outcome_behaviours(record, view.cells)
    hints = Hints(record.driver_report)
    return tuple(
        Behaviour(
            kind=cell.kind,
            subject=cell.subject,
            actor=cell.actor,
            detail=cell.detail,
            probes=(record.probe.id,),
            count=cell.count,
            denied=cell.denied,
            at=hints.at(cell),
            shape=cell.shape,
            first_seen=cell.first_seen,
        )
        for cell in sorted(view.cells, key=lambda c: (c.kind.value, c.subject, c.actor))
    )


def _host(place: str) -> str:
    return place.rpartition(":")[0] if ":" in place else place


def _servers(record: RunRecord) -> frozenset[int]:
    """What the driver calls its fork servers."""
    told = record.driver_report.get("servers")
    return frozenset(pid for pid in told if type(pid) is int) if isinstance(told, list) else frozenset()


class View:
    """The state of one reading."""

    def __init__(self, record: RunRecord, canaries: tuple[Canary, ...]) -> None:
        self._canaries = canaries
        self.cells = Cells()
        self.channels = Channels()
        self.actors = Actors(_servers(record))
        self._services = Services()
        named = Hints(record.driver_report).opened_by_name()
        rewrites = Rewrites(record.given, record.cut, record.data_files)
        own = record.probe.phase == "install" and not record.probe.driver
        self.files = FileView(
            self.cells, self.actors, self.channels, canaries, named, rewrites, installer=own
        )
        self._heads = dict(record.heads)
        self.log = read_log(record.network) if record.network is not None else None
        self.net = NetView(self.cells, self.actors, self.channels, self.files, self.log)
        self._whole = record.completeness.whole and record.outcome in _PROPER
        self.calls = CallView(self.cells, self.actors, self.channels, self.files, record.probe.phase)
        self.left = LeftView(self.cells, self.actors)
        self._left_running = left_running(record)
        self.disk = DiskView(self.cells)
        both = self._whole and record.trace is not None  # one observer alone contradicts nobody
        self._touched = record.touched if both else None
        self._seen: dict[tuple[Any, ...], Cell] = {}
        self._slow = 0
        self._floods: dict[str, int] = {}
        self._handlers: dict[type, Callable[[Any], None]] = {
            Start: self._start,
            Open: self._open,
            PathQuery: self._look,
            File: self._file,
            Net: self._net,
            Socket: self.net.socket,
            Exec: self.calls.exec,
            Fork: self._fork,
            Signal: self.calls.signal,
            Control: self._control,
            Attempt: self.calls.attempt,
            Process: self._process,
            Exit: self._exit,
        }

    def read(self, trace: Path) -> None:
        """Take in a whole trace file."""
        handlers = self._handlers

        def each(event: Event) -> None:
            self.cells.now = self.channels.now = event.t
            if self._services.own(event, self.actors):
                if isinstance(event, Fork):
                    self.actors.forked(event)
                elif isinstance(event, Exec):
                    self.actors.remember_request(event)
                elif isinstance(event, Open):
                    self.disk.opened(event)
                elif isinstance(event, File):
                    self.disk.changed(event)
                return
            handler = handlers.get(type(event))
            if handler is not None:
                handler(event)

        read_trace(trace, each)
        self.cells.now = self.channels.now = None

    def finish(self, matcher: Matcher) -> None:
        """What only the whole run shows."""
        self.files.finish(self._heads)
        self.left.finish(left_running=self._left_running)
        if self._touched is not None:
            self.disk.finish(self._touched)
        if self.log is not None:
            own = OwnServices(self._canaries)
            SinkholeView(self.log, self.net, self.cells, self.channels, own).finish(whole=self._whole)
        self.net.finish()
        self.channels.finish(matcher, self.cells)

    def _start(self, event: Start) -> None:
        self.disk.replaced = event.tracer == "seccheck"

    def _file(self, event: File) -> None:
        self.disk.changed(event)
        self.files.changed(event)

    def _open(self, event: Open) -> None:
        if event.access != "r" or event.flags:
            self.disk.opened(event)
        key = (event.path, event.access, event.flags, event.abi, self.actors.chain(event.pid))
        cell = self._seen.get(key)
        if cell is None and self._slow > _SLOW:
            cell = self._flooded(event)
        if cell is not None:
            cell.count += 1
            return
        self._slow += 1
        self._remember(key, self.files.opened(event))

    def _flooded(self, event: Open) -> Cell | None:
        """The common cell of a flood of reads below one folder that holds nothing of interest."""
        path = event.path
        if event.access != "r" or "O_CREAT" in event.flags or path.startswith(_WATCHED) or "/.." in path:
            return None
        folder = "/".join(path.split("/", 3)[:3])
        met = self._floods.get(folder, 0)
        if len(self._floods) < _SEEN:
            self._floods[folder] = met + 1
        if met < _FLOOD:
            return None
        detail = {"how": "opens", "place": "system"}
        return self.cells.get(BehaviourKind.READ, f"{folder}/…", self.actors.chain(event.pid), detail)

    def _look(self, event: PathQuery) -> None:
        key = (event.path, event.abi, self.actors.chain(event.pid))
        cell = self._seen.get(key)
        if cell is not None:
            cell.count += 1
            return
        self._remember(key, self.files.path_query(event))

    def _remember(self, key: tuple[Any, ...], cell: Cell) -> None:
        cell.count += 1
        if key[0].startswith("/proc/") or PIP.match(key[0]):
            return  # means another thing for another process
        if len(self._seen) >= _SEEN:
            self._seen.clear()
        self._seen[key] = cell

    def _net(self, event: Net) -> None:
        self.left.net(event)
        self.net.call(event)

    def _fork(self, event: Fork) -> None:
        self.actors.forked(event)
        self.left.fork(event)
        self.calls.fork(event)

    def _control(self, event: Control) -> None:
        self.left.control(event)
        self.calls.control(event)

    def _process(self, event: Process) -> None:
        self.actors.process(event)
        if self._services.met(event):
            self.left.forget(event.pid)
        else:
            self.left.process(event)

    def _exit(self, event: Exit) -> None:
        if not self._services.gone(event):
            self.calls.exit()
            self.left.exit(event)
        self.actors.forget(event.pid)
