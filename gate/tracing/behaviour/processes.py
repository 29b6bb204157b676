"""Processes: what was executed, signalled, attempted; and attempts on the observation itself."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from gate.inside.observer.text import bytes_of
from gate.model.behaviour import BehaviourKind as Kind
from gate.model.probing import SCRATCH
from gate.model.run import Phase
from gate.regex import regex
from gate.tracing.behaviour.accumulator import Cell, Cells
from gate.tracing.behaviour.files import FileView
from gate.tracing.behaviour.normalise import command_shape, program_name
from gate.tracing.behaviour.outgoing_data import Channels
from gate.tracing.behaviour.paths import classify_path
from gate.tracing.behaviour.program_chains import Actors
from gate.tracing.events import Attempt, Control, Exec, Fork, Signal

_ENDING: Final = frozenset(
    (
        "SIGKILL",
        "SIGSTOP",
        "SIGTERM",
        "SIGINT",
        "SIGABRT",
        "SIGQUIT",
        "SIGHUP",
        "SIGTSTP",
        "SIGSEGV",
        "SIGBUS",
        "SIGTRAP",
    )
)
_BIN = regex(r"(?:.*/)?s?bin/[^/]+\Z")
_NAMESPACES = regex(r"CLONE_NEW[A-Z]+")
_CLOCK = regex(r"(?:/usr/lib(?:64)?(?:/[\w-]+)?|/usr/local/lib)/faketime/libfaketime\.so\.1")
_NO_COPY: Final = regex(r"CLONE_(?:THREAD|VFORK)")
_COMMANDS: Final = 2_000
_ITEMS: Final = ("script", "test", "install")
FLOOD: Final = 100
"""Processes and threads, beyond those that became another program, that a run starts before it counts as a
flood; a sandbox holds 128 at a time by default, and a start that is refused raises an error and no alarm."""
_NEARLY: Final = FLOOD // 2
"""From here on they are counted for the comparison: how many threads a run starts differs by chance, and a
main that is close to a flood does what the change does.
"""
_STORM: Final = 64
"""Processes that the code has going at once, or asks for: nobody's machine has so many hands."""


def _goes_on(before: Exec, now: Exec) -> bool:
    """The same command from the next folder of PATH: the one before was not there. One that was there made
    its process that program, which is told in between (``Actors.asking`` is empty then).
    """
    return (
        before.path != now.path
        and before.argv == now.argv
        and not before.denied
        and posixpath.basename(before.asked or before.path) == posixpath.basename(now.asked or now.path)
    )


_HEAD_LAYER: Final = "/opt/deps/head"
_BASE_LAYER: Final = "/opt/deps/base"
_OUR_OPTION: Final = regex(
    r"--no-warnings|--max-old-space-size=[0-9]{1,5}|--import=/opt/gate/driver/javascript/(?:watch|hooks)\.mjs"
)
"""Of driver/javascript/tests.py."""


class CallView:
    """Keeps the commands seen (bounded) and which processes are the probe itself."""

    def __init__(
        self, cells: Cells, actors: Actors, channels: Channels, files: FileView, phase: Phase
    ) -> None:
        self._cells, self._actors, self._channels, self._files = cells, actors, channels, files
        self._phase = phase
        self._commands: set[str] = set()
        self._started: set[int] = set()
        self._forks = 0
        self._flood: Cell | None = None
        self._going = 0
        self._became: set[int] = set()
        self._last: dict[int, Cell] = {}

    def exec(self, event: Exec) -> None:
        """A program is executed, or looked for along PATH: then what came of the last place counts."""
        before = self._actors.asking(event.pid)
        if before is not None and _goes_on(before, event) and (last := self._last.get(event.pid)):
            last.count -= 1
        self._actors.remember_request(event)
        event = _on_either_side(event)
        if event.pid not in self._became:
            self._became.add(event.pid)
            self._forks -= 1
        if self._is_the_probe(event.pid):
            return
        chain = self._actors.chain(event.pid)
        if event.abi != "native":
            self._foreign(event.abi, chain)
        path = posixpath.normpath(event.path)
        where = classify_path(path)
        program = program_name(event.path)
        self._files.executed.add(posixpath.basename(path))
        dropped = self._files.is_written(path) or event.path.startswith("/memfd:")
        ordinary = where.kind == "own" or (_BIN.match(path) is not None and not dropped)
        subject = self._subject(event, program if ordinary or program == "memfd" else where.shown)
        env = sorted(event.env.items())
        preload = " ".join(f"{key}={value}" for key, value in env if _rewires(key, value))
        detail = {
            "program": program,
            "path": where.shown,
            "argv": " ".join(event.argv),
            "dropped": "yes" if dropped else "",
            "environment": "yes" if dropped and self._files.is_laid(path) else "",
            "given": "yes" if path.startswith(SCRATCH + "/") else "",
            "script": self._fresh_script(event),
            "env": preload,
        }
        actor = f"{chain}>{program}" if chain else program
        cell = self._cells.get(Kind.EXEC, subject, actor, detail, denied=event.denied)
        cell.count += 1
        if len(self._last) < _COMMANDS or event.pid in self._last:
            self._last[event.pid] = cell
        if cell.count > 1:
            _as_bad(cell.detail, detail)
        self._channels.add("argv", "", b" ".join(map(bytes_of, event.argv)), chain)

    def _subject(self, event: Exec, name: str) -> str:
        """The command's shape; past many different ones the program alone."""
        subject = command_shape(name, event.argv, event.argc)
        if subject not in self._commands:
            if len(self._commands) >= _COMMANDS:
                subject = f"{name} …"
            self._commands.add(subject)
        return subject

    def _fresh_script(self, event: Exec) -> str:
        """``yes`` when the first argument that is a path is a file this run wrote."""
        for word in event.argv[1:8]:
            if word.startswith("-") or not word:
                continue
            path = word if word.startswith("/") else posixpath.join(event.cwd or "/", word)
            return "yes" if self._files.is_written(path) else ""
        return ""

    def _is_the_probe(self, pid: int) -> bool:
        """The first program of the root, and what our driver starts as an item's own program."""
        if pid in self._started:
            return False
        ours = pid == self._actors.root or self._actors.root is None
        ours = ours or (self._phase in _ITEMS and self._actors.is_driver_child(pid))
        if ours:
            self._started.add(pid)
        return ours

    def fork(self, event: Fork) -> None:
        """New namespaces by clone, and a flood of processes; ordinary forks are no behaviour."""
        self._forks += 1
        if self._flood is None and self._forks == _NEARLY:
            self._flood = self._cells.get(Kind.LIMIT, "processes", self._actors.chain(event.pid))
        if self._flood is not None:
            self._flood.count = max(self._flood.count, self._forks)
        # Who forks by vfork waits until that has become another program: no storm of copies.
        if not event.thread and not event.denied and not _NO_COPY.search(event.flags):
            self._going += 1
            if self._going == _STORM:
                self._cells.add(Kind.LIMIT, "process-storm", self._actors.chain(event.pid))
        spaces = " ".join(_NAMESPACES.findall(event.flags))
        if spaces:
            self._cells.add(
                Kind.DENIED, f"clone {spaces}", self._actors.chain(event.pid), denied=event.denied
            )

    def exit(self) -> None:
        """A process ended."""
        self._going = max(0, self._going - 1)

    def signal(self, event: Signal) -> None:
        """Signals to processes that are not the sender's own."""
        if event.sig == "0" or event.scope in ("self", "child") or self._actors.is_driver(event.pid):
            return
        chain = self._actors.chain(event.pid)
        ours = event.scope == "init" or self._actors.inner_is_driver(event.target)
        ours = ours or (event.scope == "parent" and self._actors.is_driver_child(event.pid))
        if ours:
            if event.sig in _ENDING:
                self._cells.add(
                    Kind.EVADE, f"{event.sig} to the gate's driver", chain, {"target": event.scope}
                )
            return
        if event.scope in ("parent", "group") and event.sig not in _ENDING:
            return
        self._cells.add(Kind.SIGNAL, event.sig, chain, {"target": event.scope}, denied=event.denied)

    def control(self, event: Control) -> None:
        """Standing that hides from an observer, or asks for more rights."""
        chain = self._actors.chain(event.pid)
        if event.op == "PR_SET_DUMPABLE" and event.value.strip() in ("0", "0x0", "SUID_DUMP_DISABLE"):
            self._cells.add(Kind.PROBE, "not-dumpable", chain, denied=event.denied)
        elif event.call.startswith(("setuid", "setgid", "setreuid", "setresuid", "setresgid", "setregid")):
            if re.search(r"(?<!\d)0(?!\d)", event.value):
                self._cells.add(Kind.DENIED, f"{event.call} to root", chain, denied=event.denied)
        elif event.call == "seccomp" or event.op == "PR_SET_SECCOMP":
            self._cells.add(Kind.PROBE, "own-seccomp-filter", chain, denied=event.denied)

    def attempt(self, event: Attempt) -> None:
        """Calls that nothing ordinary makes."""
        chain = self._actors.chain(event.pid)
        if event.abi != "native":
            self._foreign(event.abi, chain)
            return
        if event.call.startswith("io_uring"):
            self._cells.add(Kind.EVADE, "io_uring", chain, {"call": event.call}, denied=event.denied)
        elif "TRACEME" in event.detail:
            self._cells.add(Kind.PROBE, "ptrace-traceme", chain, denied=event.denied)
        else:
            detail = {"call": event.call, "arguments": event.detail}
            what = event.call or f"call {event.number}"
            if event.call == "socket":
                what = " ".join(["socket", *re.findall(r"AF_[A-Z0-9]+", event.detail)[:1]])
            self._cells.add(Kind.DENIED, what, chain, detail, denied=event.denied)

    def _foreign(self, abi: str, chain: str) -> None:
        self._cells.add(Kind.EVADE, f"foreign-abi {abi}", chain, denied=True)


def _as_bad(known: dict[str, str], again: Mapping[str, str]) -> None:
    """What is known of a command that is run once more: the worse of both."""
    known.update({name: again[name] for name in ("dropped", "script") if again[name]})
    if again["dropped"] and not again["environment"]:
        known.pop("environment", None)


def _on_either_side(event: Exec) -> Exec:
    """The same with base's name for the folder of installed packages: where head has its own, that is no
    difference in what is done.
    """
    if not any(_HEAD_LAYER in word for word in (event.path, *event.argv)):
        return event
    argv = tuple(word.replace(_HEAD_LAYER, _BASE_LAYER) for word in event.argv)
    return msgspec.structs.replace(event, path=event.path.replace(_HEAD_LAYER, _BASE_LAYER), argv=argv)


def _rewires(name: str, value: str) -> bool:
    """Variables that make another program's loader run something else. The library with which we move the
    clock is not something else: it is the distribution's, and nothing inside can write it. Nor are the
    options with which we start a runner of tests, as long as nothing was added to them.
    """
    if name == "LD_PRELOAD" and _CLOCK.fullmatch(value):
        return False
    if name == "NODE_OPTIONS" and all(_OUR_OPTION.fullmatch(word) for word in value.split()):
        return False
    return name.startswith(
        ("LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "PYTHONSTARTUP", "BASH_ENV", "NODE_OPTIONS", "PERL5OPT")
    )
