"""The first process inside every sandbox: unpacks the tree, starts the code, tells the host what came of it.

Trusted, standard library only, Python 3.9 and later; started by start.py,
with tree_unpacker.py, code_process.py and egress_bridge.py beside it. Protocol: docs/launcher-protocol.md.
The code under test never holds this process's stdin or stdout, cannot read its memory (not dumpable) and is
killed with all its descendants when its main process has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import time

from . import code_process, egress_bridge, file_manifest, tun
from .authentication import mac
from .code_process import close_others, high, prctl
from .tree_unpacker import CHUNK, LauncherError, Unpacker, exactly, write_files

TYPE_CHECKING = False  # typing alone takes a tenth of the start
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Dict, List, Optional, Tuple

    Job = Dict[str, Any]

MAGIC = b"GATE1\n"
MAX_JOB = 64 << 20
MAX_REPORT = 256 << 10
DRAIN_SECONDS = 2.0


def read_job(stream: BinaryIO) -> Job:
    """The magic and the job."""
    if exactly(stream, len(MAGIC)) != MAGIC:
        raise LauncherError("not a job")
    (size,) = struct.unpack(">I", exactly(stream, 4))
    if size > MAX_JOB:
        raise LauncherError("job too large")
    job: Job = json.loads(exactly(stream, size))
    return job


class Frames:
    """Authenticated, numbered frames on one descriptor."""

    def __init__(self, fd: int, key: bytes) -> None:
        self._fd = fd
        self._key = key
        self._seq = 0

    def send(self, kind: bytes, payload: bytes) -> None:
        """One frame; blocks until it is written."""
        body = kind + payload
        seal = mac(self._key, struct.pack(">Q", self._seq) + body)
        self._seq += 1
        data = memoryview(struct.pack(">I", len(seal) + len(body)) + seal + body)
        while data:
            data = data[os.write(self._fd, data) :]

    def say(self, kind: bytes, value: Job) -> None:
        """A frame with a JSON payload."""
        self.send(kind, json.dumps(value, separators=(",", ":")).encode("ascii"))


class Run:
    """One target from fork to the last orphan."""

    def __init__(self, job: Job, frames: Frames, tunnel: Optional[tun.Tunnel] = None) -> None:
        self.job = job
        self.tunnel = tunnel
        self.frames = frames
        self.cap = int(job["limits"].get("output") or (1 << 20))
        self.totals = {b"O": 0, b"E": 0}
        self.driver_said = bytearray()
        self.limits_hit: List[str] = []
        self.main = 0
        self.code: Optional[int] = None
        self.reaped = 0
        self.tracer_ok = job["tracer"]["kind"] in ("none", "guard")
        self.stopped = False
        self.selector = selectors.DefaultSelector()

    def connect(self) -> Optional[socket.socket]:
        """The connection to the observer, made before the fork; None when nothing traces."""
        tracer = self.job["tracer"]
        if tracer["kind"] in ("none", "guard"):  # what we run on reports by itself
            return None
        if tracer["kind"] not in ("unotify", "strace"):
            raise LauncherError(f"this launcher has no tracer {tracer['kind']!r}")
        try:
            if "fd" in tracer:
                link = socket.socket(fileno=high(int(tracer["fd"])))
            else:
                raw = socket.socket(socket.AF_UNIX)
                raw.connect(tracer["socket"])
                link = socket.socket(fileno=high(raw.detach()))
            link.sendall(bytes.fromhex(tracer["token"]))
        except OSError as error:
            raise LauncherError(f"no observer: {error}") from None
        return link

    def go(self) -> Job:
        """Run to the end; returns the payload of the X frame."""
        link = self.connect()
        bridge = egress_bridge.Bridge(self.job["bridge"], high) if self.job.get("bridge") else None
        wake = _wake_pipe()
        since = file_manifest.mark() if self.job.get("manifest") else 0
        start = time.monotonic()
        heard = self._start(link)
        self.frames.say(b"S", {"pid": self.main, "t": round(time.monotonic() - start, 6)})
        for end, what in [*heard, (wake, "wake"), *([(link, "link")] if link is not None else [])]:
            self.selector.register(end, selectors.EVENT_READ, what)
        ways_out = [way for way in (bridge, self.tunnel) if way is not None]
        for way in ways_out:
            way.begin(self.selector, self.frames.send)
        until = start + float(self.job.get("deadline") or 1e9)
        killed = self._until_main_ends(until)
        leftover = self._kill_all()
        for way in ways_out:
            way.close()
        self._drain()
        seconds = time.monotonic() - start
        if not killed:
            self._send_files(since, until)
        return self._outcome(seconds, leftover, killed)

    def _start(self, link: Optional[socket.socket]) -> List[Tuple[Any, object]]:
        """Fork the target: our ends of what it writes to, each with the name it is read under."""
        out, err, status = (tuple(high(fd) for fd in os.pipe()) for _ in range(3))
        driver = None
        if self.job.get("driver"):
            ours, theirs = socket.socketpair()
            driver = (socket.socket(fileno=high(ours.detach())), high(theirs.detach()))
        null = high(os.open("/dev/null", os.O_RDONLY))
        launcher = os.getpid()
        self.main = os.fork()
        if self.main == 0:
            signal.set_wakeup_fd(-1)
            fds = {"null": null, "out": out[1], "err": err[1], "status": status[1], "launcher": launcher}
            code_process.become_target(self.job, {**fds, "driver": driver[1] if driver else None}, link)
        for fd in (null, out[1], err[1], status[1], *(driver[1:] if driver else ())):
            os.close(fd)
        self._wait_for_exec(status[0], link)
        return [(out[0], b"O"), (err[0], b"E"), *([(driver[0], "driver")] if driver else [])]

    def _send_files(self, since: int, until: float) -> None:
        """What the code changed and what the host collects, read as whose files they are."""
        with code_process.acting_as((self.job.get("tracer") or {}).get("user")):
            if since and self.tracer_ok:
                places = self.job["manifest"]
                file_manifest.report(since, places, until, lambda said: self.frames.say(b"M", said))
            if self.job.get("collect") and self.code == 0:
                egress_bridge.collect(self.job["collect"], self.frames.send, int(self.job["collect_most"]))

    def _outcome(self, seconds: float, leftover: int, killed: bool) -> Job:
        report, done = self._driver_report()
        if report is not None:
            with contextlib.suppress(RecursionError):  # a hint: one that cannot be written again is none
                self.frames.say(b"D", report)
        code = self.code if self.code is not None else -signal.SIGKILL
        for sig, limit in ((signal.SIGXFSZ, "file-size"), (signal.SIGXCPU, "cpu")):
            if code == -sig:
                self.limits_hit.append(limit)
        if max(self.totals.values()) > self.cap:
            self.limits_hit.append("output")
        return {
            "status": code,
            "completed": (done if self.job.get("driver") else code >= 0) and not killed,
            "seconds": round(seconds, 6),
            "peak_memory": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
            "stdout_total": self.totals[b"O"],
            "stderr_total": self.totals[b"E"],
            "limits_hit": self.limits_hit,
            "leftover_killed": leftover,
            "tracer_ok": self.tracer_ok,
            "clock": "faketime" if "faketime" in self.job["env"].get("LD_PRELOAD", "") else "real",
        }

    def _wait_for_exec(self, status: int, link: Optional[socket.socket]) -> None:
        """Until the child executed the target (its end of the pipe closes). Raises LauncherError."""
        said = b""
        while data := os.read(status, 4096):
            said += data
        os.close(status)
        if said:
            raise LauncherError("cannot start the target: " + said.decode("utf-8", "replace"))
        self.tracer_ok = True if link is not None else self.tracer_ok

    def _until_main_ends(self, until: float) -> bool:
        """Pump until the main process was reaped; True when we had to kill it."""
        killed = False
        while self.code is None:
            left = until - time.monotonic()
            if left <= 0 and not killed:
                killed = True
                self.limits_hit.append("wall")
            if killed or self.stopped or not self.tracer_ok:  # a dead observer: nothing unseen may go on
                killed = True
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.main, signal.SIGKILL)
            self._pump(min(max(left, 0.01), 1.0))
            self._reap()
        return killed

    def _pump(self, timeout: float) -> bool:
        """Move what is there; True when anything of the code's or the driver's was read."""
        moved = False
        for key, _ in self.selector.select(timeout):
            what = key.data
            if what == "wake":
                with contextlib.suppress(BlockingIOError):
                    os.read(key.fd, 4096)
            elif what == "driver":
                moved = self._hear_driver(key.fileobj) or moved  # a long report is read in pieces
            elif what == "link":
                self._hear_observer(key.fileobj)
            elif callable(what):
                what()
            else:
                moved = True
                data = os.read(key.fd, CHUNK)
                if not data:
                    self.selector.unregister(key.fileobj)
                    os.close(key.fd)
                    continue
                room = self.cap - self.totals[what]
                self.totals[what] += len(data)
                if room > 0:
                    self.frames.send(what, data[:room])
        return moved

    def _hear_observer(self, link: Any) -> None:
        """``E``: nobody uses the filter any more, it leaves. ``C``: a canary was opened, end everything.
        Gone without a word: it died.
        """
        try:
            data = link.recv(64)
        except OSError:
            data = b""
        if data.startswith(b"C") and not self.stopped:
            self.stopped = True
            self.limits_hit.append("canary")
            data = data[1:]
            if not data:
                return
        self.tracer_ok = self.tracer_ok and data == b"E"
        self.selector.unregister(link)

    def _hear_driver(self, link: Any) -> bool:
        """Take a piece of what the driver says; False at its end."""
        try:
            data = link.recv(CHUNK)
        except OSError:
            data = b""
        if not data:
            self.selector.unregister(link)
        elif len(self.driver_said) <= MAX_REPORT:
            self.driver_said += data
        return bool(data)

    def _driver_report(self) -> Tuple[Optional[Job], bool]:
        """(report or None, whether it said done). Anything but the agreed lines counts as nothing said."""
        lines = bytes(self.driver_said[: MAX_REPORT + 64]).split(b"\n")
        done = lines[-2:] == [b"done", b""]
        for line in lines:
            if line.startswith(b'{"report"') and len(line) <= MAX_REPORT:
                try:
                    report = json.loads(line)["report"]
                except (ValueError, RecursionError, KeyError):
                    return None, False
                return (report, done) if isinstance(report, dict) else (None, False)
        return None, done

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.main:
                self.code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            else:
                self.reaped += 1

    def _kill_all(self) -> int:
        """Kill whatever is left; returns how many processes there were."""
        self._reap()
        self.reaped = 0
        until = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < until:
            if os.getpid() == 1:
                with contextlib.suppress(OSError):
                    os.kill(-1, signal.SIGKILL)
            else:
                for pid in descendants():
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
            self._reap()
            try:
                os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            except ChildProcessError:
                break  # nobody left
            self._pump(0.002)
        return self.reaped

    def _drain(self) -> None:
        """What is still in the pipes; nobody is left to write more."""
        until = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < until and self._pump(0):
            pass


def descendants() -> List[int]:
    """All processes below this one, from /proc (as sub-reaper every orphan is among them)."""
    children: Dict[int, List[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with (
                contextlib.suppress(OSError, IndexError, ValueError),
                open(f"/proc/{name}/stat", "rb") as file,
            ):
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    out, todo = [], [os.getpid()]
    while todo:
        found = children.get(todo.pop(), [])
        out += found
        todo += found
    return out


def _wake_pipe() -> int:
    """What can be read as soon as a child ended."""
    wake = tuple(high(fd) for fd in os.pipe())
    for fd in wake:
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake[1], warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wake[0]


def main() -> int:
    """Serve one job. 0: an X frame was sent; 3: a fault."""
    prctl(code_process.PR_SET_DUMPABLE, 0)
    stdin = open(0, "rb", buffering=CHUNK, closefd=False)  # noqa: SIM115
    frames = None
    try:
        job = read_job(stdin)
        frames = Frames(high(os.dup(1)), bytes.fromhex(job.pop("key")))
        os.dup2(2, 1)  # nothing but frames goes out that way
        keep = {frames._fd}
        if "fd" in job["tracer"]:
            keep.add(int(job["tracer"]["fd"]))
        close_others(keep)
        prctl(code_process.PR_SET_NO_NEW_PRIVS, 1)
        prctl(code_process.PR_SET_CHILD_SUBREAPER, 1)
        (size,) = struct.unpack(">Q", exactly(stdin, 8))
        user = job["tracer"].get("user")
        tunnel = tun.Tunnel(high) if job["tracer"].get("tunnel") else None
        if user is not None:
            code_process.cover(job["tracer"]["cover"])
            code_process.show_machine()
            code_process.keep_capabilities(code_process.KEPT_CAPABILITIES)
        with code_process.acting_as(user):  # what is unpacked belongs to the code
            Unpacker(job["tree_root"]).unpack(stdin, size)
            write_files(job.get("files", {}))
        frames.say(b"X", Run(job, frames, tunnel).go())
    except Exception as error:
        text = str(error) if isinstance(error, LauncherError) else f"{type(error).__name__}: {error}"
        if frames is None:
            sys.stderr.write(f"launch: {text}\n")
        else:
            frames.say(b"F", {"what": text[:2000]})
        return 3
    return 0


def end() -> None:
    """Serve one job and leave, with nothing of Python's own end."""
    os._exit(main())
