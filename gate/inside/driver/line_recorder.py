"""Which changed lines ran, and from which line the code reached for the system. Hints only.

Lines: ``sys.monitoring`` on 3.12 and later (each line costs once), else ``sys.settrace`` restricted to
the changed files and begun with the first code of theirs, both out of sight (hidden_tracing.py). Sites: an
audit hook (PEP 578) that names the innermost frame in a changed file.
The code can silence both; the kernel-level trace is what counts.
"""

from __future__ import annotations

import _thread
import dis
import os
import sys
from collections.abc import Callable
from typing import Any

from . import call_recorder, hidden_tracing, own_code

SITE_LIMIT = 300
_WRAPPERS = frozenset(("pathlib", "pathlib._local", "io", "_io", "_pyio", "codecs", "shutil", "fileinput"))
"""Modules that open what their caller names."""
_get_ident = _thread.get_ident
"""Kept: gevent puts one of its own in its place, in Python, whose events would come back here without end."""
_CODE = type((lambda: None).__code__)
_BEGINS = frozenset(("exec", "function.__new__", "code.__new__", "object.__setattr__"))
"""Without one of these no code of a file can begin to run."""
_SILENT = frozenset(("RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "GEN_START", "CACHE"))
"""Instructions before the first line of a function."""
_EVENTS = {
    "open": 0,
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.bind": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "subprocess.Popen": 0,
    "os.system": 0,
    "os.exec": 0,
    "os.posix_spawn": 0,
    "os.fork": None,
    "os.kill": 0,
    "os.remove": 0,
    "os.rename": 1,
    "os.rmdir": 0,
    "os.chmod": 0,
    "os.symlink": 1,
    "os.link": 1,
    "shutil.rmtree": 0,
    "ctypes.dlopen": 0,
    "pty.spawn": 0,
    "urllib.Request": 0,
}


_WITNESSED = {
    "process": frozenset((
        "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.spawn",
        "pty.spawn", "os.kill", "os.killpg", "signal.pthread_kill",
    )),
    "network": frozenset((
        "socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname",
        "socket.gethostbyaddr", "socket.bind",
    )),
    "deletion": frozenset((
        "os.remove", "os.rmdir", "shutil.rmtree", "os.rename", "os.truncate", "shutil.move", "open",
    )),
    "dynamic-code": frozenset(("exec", "compile", "marshal.loads", "pickle.find_class", "import")),
    "native-code": frozenset(("ctypes.dlopen", "ctypes.call_function", "ctypes.dlsym")),
}  # fmt: skip
"""Events that bear out that a line did what it can do, by the kinds of gate/model/sensitive.py."""
_KINDS = {event: kind for kind, events in _WITNESSED.items() for event in events}


class LineRecorder:
    """Records for one child. ``wanted`` maps tree paths to changed line ranges of the head, ``acts`` to
    places that can act (call_recorder.py): of those it is told which were made. ``witnessed``: by kind,
    the lines of changed files that were on the stack when an event of that kind happened.
    """

    def __init__(self, wanted: dict[str, list[list[int]]], acts: dict[str, Any] | None = None) -> None:
        tree = os.getcwd()
        self.names = {os.path.normpath(os.path.join(tree, path)): path for path in wanted}
        """Changed files by their full path."""
        self._lines: dict[str, set[int]] = {
            path: {n for first, last in spans for n in range(first, last + 1)}
            for path, spans in wanted.items()
        }
        self._own = {path: own_code.OwnCode(full) for full, path in self.names.items()}
        self._witnessed: dict[str, dict[str, set[int]]] = {kind: {} for kind in _WITNESSED}
        self._told_witnessed = 0
        self._ran: dict[str, set[int]] = {path: set() for path in wanted}
        self._told: dict[str, set[int]] = {path: set() for path in wanted}
        self._calls = call_recorder.Calls(
            {path: places for path, places in (acts or {}).items() if path in wanted}
        )
        self._sites: dict[tuple[str, str, str, int], None] = {}
        self._told_sites = 0
        self._on = False
        self._watched: dict[int, Any] = {}
        self._rest: dict[str, set[int]] = {}
        self._trace: hidden_tracing.Trace | None = None
        self._monitoring: Any = None
        self._busy: set[int] = set()
        self.bound = False
        """True once the code bound a socket: what then runs on is a server."""

    def start(self, flush: Callable[[], None]) -> None:
        """Begin. Without changed files nothing is installed at all. ``flush`` is called before what may
        be the last thing this process does.
        """
        self._flush = flush
        if not self.names:
            return
        self._on = True
        sys.addaudithook(self._audit)
        if hasattr(sys, "monitoring"):
            callbacks: dict[str, Callable[..., Any]] = {"LINE": self._monitored}
            events: tuple[str, ...] = ("LINE",)
            if self._calls:
                callbacks |= {"PY_START": self._monitored_start, "INSTRUCTION": self._monitored_instruction}
                events += ("PY_START",)
            self._monitoring = hidden_tracing.Monitoring(callbacks, events)
            self._monitoring.start()
            return
        self._trace = hidden_tracing.Trace(self._tracer())
        self._trace.start()

    def stop(self) -> dict[str, Any]:
        """What ran so far, as report fields."""
        if not self.names:
            return {}
        self._on = False
        if self._trace is not None:
            self._trace.stop()
        return self.fields()

    def fields(self) -> dict[str, Any]:
        """``lines`` and ``sites`` as far as they are known; ``code`` of files of which a line ran (to look
        into the others would put them into the trace as opened).
        """
        return {
            "lines": {path: sorted(ran) for path, ran in self._ran.items() if ran},
            "code": {
                path: _executable(self._own[path].codes(), self._lines[path])
                for full, path in self.names.items()
                if self._ran[path] and full.endswith((".py", ".pyw"))
            },
            "sites": [list(site) for site in self._sites],
            "witnessed": self._witnesses(),
            **self._calls.fields(),
        }

    def news(self) -> dict[str, Any]:
        """What was not told before: said ahead of each call, so that an early end loses little."""
        fields: dict[str, Any] = {}
        lines = {path: sorted(ran - self._told[path]) for path, ran in self._ran.items()}
        if any(lines.values()):
            fields["lines"] = {path: numbers for path, numbers in lines.items() if numbers}
            for path, numbers in lines.items():
                self._told[path].update(numbers)
        fields.update(self._calls.news())
        if self._told_witnessed != (count := self._witness_count()):
            fields["witnessed"], self._told_witnessed = self._witnesses(), count
        if len(self._sites) > self._told_sites:
            fields["sites"] = [list(site) for site in list(self._sites)[self._told_sites :]]
            self._told_sites = len(self._sites)
        return fields

    def _witnesses(self) -> dict[str, dict[str, list[int]]]:
        return {
            kind: {path: sorted(lines) for path, lines in table.items()}
            for kind, table in self._witnessed.items()
            if table
        }

    def _witness_count(self) -> int:
        return sum(len(lines) for table in self._witnessed.values() for lines in table.values())

    def _path_of(self, code: Any) -> str | None:
        """The changed file that a code object is from; None for one that only says so."""
        path = self.names.get(code.co_filename)
        if path is None or code not in self._own[path]:
            return None
        self._calls.learn(path, self._own[path].codes())
        return path

    def _monitored(self, code: Any, line: int) -> Any:
        path = self._path_of(code)
        if path is not None and line in self._lines[path]:
            self._ran[path].add(line)
        return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]

    def _monitored_start(self, code: Any, _: int) -> Any:
        path = self._path_of(code)
        if path is not None and self._calls.within(path, code):
            self._monitoring.watch_instructions(code)
        return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]

    def _monitored_instruction(self, code: Any, offset: int) -> Any:
        path = self._path_of(code)
        if path is not None:
            self._calls.at(path, code, offset)
        return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]

    def _tracer(self) -> Callable[[Any, str, Any], Any]:
        """What is asked at every call of any function: most are in files that did not change, and one look
        into a table, without a further call, is all that they cost.
        """
        names, called = self.names, self._called

        def tracer(frame: Any, event: str, arg: Any) -> Any:
            if frame.f_code.co_filename in names:
                return called(frame, event, arg)
            if self._trace is not None and not self._trace.watching:  # ended in another thread
                self._trace.stop()
            return None

        return tracer

    def _called(self, frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        if not self._on:
            return None
        known = self._watched.get(id(code))
        if known is None:
            known = self._watched[id(code)] = self._watch_of(code)
        _, left, acts, traced = known
        if acts:
            frame.f_trace_opcodes = True
        return traced if acts or left else None  # each further line of a busy file would cost a call

    def _watch_of(self, code: Any) -> tuple[Any, set[int], bool, Callable[[Any, str, Any], Any] | None]:
        """A code object (kept, so that its id stays its own), its changed lines that were not seen so far,
        whether calls in it are asked of, and what is told of its lines; None where it is no changed file's.
        """
        path = self._path_of(code)
        if path is None:
            return code, set(), False, None
        ran, calls, rest = self._ran[path], self._calls, self._rest_of(path)
        left = _told_lines(code) & self._lines[path]

        def traced(frame: Any, event: str, arg: Any) -> Any:
            if event == "line" and frame.f_lineno in left:
                ran.add(frame.f_lineno)
                left.discard(frame.f_lineno)
                rest.discard(frame.f_lineno)
                if not rest:
                    self._rest_when_done()
            elif event == "opcode":
                calls.at(path, frame.f_code, frame.f_lasti)
            return traced

        return code, left, bool(calls.within(path, code)), traced

    def _rest_of(self, path: str) -> set[int]:
        """The changed lines of a file, of which code has begun, that did not run so far."""
        rest = self._rest.get(path)
        if rest is None:
            told = set().union(*map(_told_lines, self._own[path].codes()))
            rest = self._rest[path] = (told & self._lines[path]) - self._ran[path]
        return rest

    def _rest_when_done(self) -> None:
        """Watch no longer where every changed line was seen of each file that has begun: all Python is slow
        meanwhile, and the first code of another file begins it anew.
        """
        if self._trace is not None and not self._calls and not any(self._rest.values()):
            self._trace.unwatch()

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._on:
            return
        kind = _KINDS.get(event)
        if self._trace is not None and event != "sys.settrace":  # that is told before it is done
            self._trace.put_back()
            if not self._trace.watching and event in _BEGINS and self._begins(args):
                self._trace.watch()
        thread = _get_ident()
        if kind is not None and thread not in self._busy and (event != "open" or _writes(args)):
            self._busy.add(thread)  # to compile a file is an event, too
            try:
                self._witness(self._witnessed[kind])
            except Exception:
                pass
            finally:
                self._busy.discard(thread)
        if event not in _EVENTS or len(self._sites) >= SITE_LIMIT:
            return
        self.bound = self.bound or event == "socket.bind"
        try:
            # 0 is this function; the hook is called straight from the frame that did it.
            frame: Any = sys._getframe(1)
            direct = event == "open"
            while frame is not None:
                path = self.names.get(frame.f_code.co_filename)
                if path is not None:
                    at = _EVENTS[event]
                    subject = "" if at is None or at >= len(args) else _plain(args[at])
                    if subject.endswith((".pyc", ".py")) and event == "open":
                        return  # imports
                    named = "open.direct" if direct else event
                    self._sites.setdefault((named, subject, path, frame.f_lineno))
                    if event in ("os.exec", "os.kill"):
                        self._flush()
                    return
                direct = direct and frame.f_globals.get("__name__") in _WRAPPERS
                frame = frame.f_back
        except Exception:
            return

    def _begins(self, args: tuple[Any, ...]) -> bool:
        """True where what is run or made now is code that says it is from a changed file, of which a changed
        line was not seen yet.
        """
        files = (arg.co_filename if type(arg) is _CODE else arg for arg in args)
        paths = [self.names[file] for file in files if type(file) is str and file in self.names]
        return any(self._calls or self._rest.get(path, True) for path in paths)

    def _witness(self, table: dict[str, set[int]]) -> None:
        """Every line of a changed file's own code that is on the stack did what happens now."""
        frame: Any = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename in self.names:
                path = self._path_of(frame.f_code)
                if path is not None and frame.f_lineno:
                    table.setdefault(path, set()).add(frame.f_lineno)
            frame = frame.f_back


def _told_lines(code: Any) -> set[int]:
    """Lines of a code object that a tracer hears of: not that of a ``def`` that only makes ready."""
    starts, line, told = dict(dis.findlinestarts(code)), 0, set()
    for each in dis.get_instructions(code):
        line = starts.get(each.offset) or line
        if each.opname not in _SILENT:
            told.add(line)
    return told


def _executable(codes: set[Any], wanted: set[int]) -> list[int]:
    """Those of the lines that hold code at all."""
    return sorted({line for code in codes for _, line in dis.findlinestarts(code) if line} & wanted)


def _writes(args: tuple[Any, ...]) -> bool:
    """True for an opening that can change the file."""
    return len(args) > 2 and type(args[2]) is int and bool(args[2] & (os.O_WRONLY | os.O_RDWR | os.O_TRUNC))


def _plain(value: Any) -> str:
    """Text for the plain kinds of value that audit events carry; never the code's own ``__str__``."""
    if type(value) is bytes:
        return value[:200].decode("utf-8", "replace")
    if type(value) is str:
        return value[:200]
    if type(value) is int:
        return str(value)
    if type(value) in (tuple, list):
        return ":".join(_plain(v) for v in value[:2])
    return ""
