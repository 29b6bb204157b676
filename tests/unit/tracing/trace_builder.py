"""Writes traces event by event, as a tracer would, for the tests of the view."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from gate.model.behaviour import Behaviour
from gate.model.canary import Canary
from gate.model.run import Phase, RunRecord
from gate.tracing.behaviour.reduction import behaviours
from gate.tracing.codec import encode
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
    Summary,
)
from tests.unit.signals.context import run

ROOT, DRIVER, ITEM = 100, 100, 101


class Trace:
    """Events get their number and time by themselves. The driver is process 100, its child 101."""

    def __init__(self, *, driver: bool = True) -> None:
        self.events: list[Event] = []
        self.exes: dict[int, str] = {}
        self.add(Start, version=1, tracer="unotify", arch="x86_64", wall=1.0)
        self.process(ROOT, 1, "/usr/bin/python3.11", inner=2)
        if driver:
            argv = ("python3", "/opt/gate/driver/main.py", "{}")
            self.add(Exec, pid=ROOT, call="execve", path="/usr/bin/python3", argv=argv)
            self.process(ROOT, 1, "/usr/bin/python3.11", inner=2, why="exec")
            self.process(ITEM, DRIVER, "/usr/bin/python3.11", inner=7)

    def add(self, kind: type, /, **fields: Any) -> Trace:
        self.events.append(kind(seq=len(self.events), t=len(self.events) / 1000, **fields))
        return self

    def process(self, pid: int, ppid: int, exe: str, **fields: Any) -> Trace:
        self.exes[pid] = exe
        return self.add(Process, pid=pid, ppid=ppid, exe=exe, comm=exe.rsplit("/", 1)[-1][:15], **fields)

    def open(
        self, path: str, access: str = "r", flags: str = "O_CLOEXEC", pid: int = ITEM, **more: Any
    ) -> Trace:
        return self.add(Open, pid=pid, call="openat", path=path, access=access, flags=flags, **more)

    def write(self, path: str, flags: str = "O_WRONLY|O_CREAT", pid: int = ITEM, **more: Any) -> Trace:
        return self.open(path, "w", flags, pid, **more)

    def look(self, path: str, pid: int = ITEM, **more: Any) -> Trace:
        return self.add(PathQuery, pid=pid, call="newfstatat", path=path, **more)

    def file(self, call: str, path: str, other: str = "", pid: int = ITEM, **more: Any) -> Trace:
        return self.add(File, pid=pid, call=call, path=path, other=other, **more)

    def net(self, call: str, addr: str = "", port: int | None = None, pid: int = ITEM, **more: Any) -> Trace:
        more.setdefault("family", "AF_INET6" if ":" in addr else "AF_INET")
        more.setdefault("proto", "tcp")
        return self.add(Net, pid=pid, call=call, addr=addr, port=port, **more)

    def socket(self, family: str, kind: str = "SOCK_STREAM", **more: Any) -> Trace:
        return self.add(Socket, pid=ITEM, call="socket", family=family, kind=kind, **more)

    def exec(self, path: str, *argv: str, pid: int = 102, ppid: int = ITEM, **more: Any) -> Trace:
        """A fresh child of the item executes a program, and succeeds."""
        self.process(pid, ppid, self.exes.get(ppid, "/usr/bin/python3.11"), inner=pid)
        self.add(Exec, pid=pid, call="execve", path=path, argv=argv, argc=len(argv), **more)
        return self.process(pid, ppid, path, inner=pid, why="exec")

    def signal(self, sig: str, target: int, scope: str, pid: int = ITEM) -> Trace:
        return self.add(Signal, pid=pid, call="kill", sig=sig, target=target, scope=scope)

    def fork(self, flags: str) -> Trace:
        return self.add(Fork, pid=ITEM, call="clone", flags=flags)

    def control(self, call: str, op: str = "", value: str = "") -> Trace:
        return self.add(Control, pid=ITEM, call=call, op=op, value=value)

    def attempt(self, call: str, detail: str = "", **more: Any) -> Trace:
        return self.add(Attempt, pid=ITEM, call=call, detail=detail, denied=True, errno="EPERM", **more)

    def end(self, pid: int) -> Trace:
        return self.add(Exit, pid=pid, code=0)

    def save(self, path: Path) -> Path:
        """The trace as a file, with its summary."""
        lines = len(self.events)
        summary = Summary(seq=lines, t=9.0, events=lines - 1, dropped=0, unparsed=0, calls={}, end="exited")
        path.write_bytes(b"".join(map(encode, (*self.events, summary))))
        return path

    def record(self, folder: Path, *, phase: Phase = "import", name: str = "t", **fields: Any) -> RunRecord:
        """A run whose trace this is."""
        return replace(run(phase, trace=self.save(folder / f"{name}.jsonl")), **fields)

    def seen(self, folder: Path, canaries: tuple[Canary, ...] = (), **fields: Any) -> tuple[Behaviour, ...]:
        """The behaviours of such a run."""
        return behaviours(self.record(folder, **fields), canaries)


def told(seen: tuple[Behaviour, ...]) -> list[str]:
    """``kind subject`` of each."""
    return [f"{b.kind.value} {b.subject}" for b in seen]
