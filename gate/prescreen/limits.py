"""Runs a parser over many untrusted files in a child with limits: one bad file never costs the others.

The child (worker.py) takes files one after another from its standard input and writes one answer per
file. A file that kills it (nesting bomb, out of memory, crash in C code, its own deadline) gets an
outcome with the reason; a fresh child goes on with the file after it.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from gate import proc

FileOutcome = Literal["done", "timed-out", "out-of-memory", "crashed", "not-reached", "too-large"]
T = TypeVar("T")

PER_FILE: Final = 3.0
"""Seconds of processor time one file may cost one scanner, so that a busy machine is not taken for a hostile
file. Wall time ends it too: three times as much, for a large file 1.4 times (worker.py)."""
PARSED: Final = 4 << 20
"""Bytes of text given to a parser. More is refused unread: no parser here gets through it in its time, and
trying would cost every check that time several times over."""
FEW: Final = 40
"""Files up to which a scanner takes base and head in one go; beyond, base only where head has findings."""
MEMORY: Final = 1 << 30
"""Bytes of address space a child may take."""
STACK: Final = 64 << 20
"""Bytes of stack: CPython's own parser recurses in C."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileResult(Generic[T]):
    """What came of one file. ``value`` is set only when ``outcome`` is ``done``.

    ``reason`` is for people and holds no text from the file.
    """

    path: str
    outcome: FileOutcome
    value: T | None = None
    reason: str = ""


def too_large(size: int) -> str:
    """Why a text of ``size`` bytes is not given to a parser; empty when it is."""
    return f"larger than the {PARSED >> 20} MiB a parser is given" if size > PARSED else ""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """One line the child writes: a file is begun (``value`` unset), or ended."""

    index: int
    state: Literal["begun", "done", "out-of-memory", "crashed"]
    value: Any = None
    reason: str = ""


def scan_isolated(
    function: str,
    files: Sequence[tuple[str, bytes]],
    result_type: Any,
    *,
    options: Mapping[str, Any] | None = None,
    deadline: float = 120.0,
    per_file: float = PER_FILE,
    memory: int = MEMORY,
    parses: bool = False,
) -> list[FileResult[Any]]:
    """Call ``function`` for every file, in a child process with limits, and return one result each.

    ``function`` is ``"package.module:name"``; it is called as ``name(path, data, options)`` and returns
    anything msgspec can write as JSON (findings, dataclasses, lists ...), which is read back here as
    ``result_type``, strictly. It may raise: that file's outcome is then ``crashed`` with the
    exception's type, and the other files go on. ``deadline`` bounds the whole call (seconds of wall
    time), ``per_file`` one file (seconds of processor time, with some patience of wall time), ``memory`` the
    child's address space in bytes. Results come in the order of ``files``; what the deadline did not
    leave time for is ``not-reached``. With ``parses``, data past PARSED is ``too-large`` and never sent.

    Raises CouldNotLook when no child can be started.
    """
    until = time.monotonic() + deadline
    results: list[FileResult[Any] | None] = [None] * len(files)
    if parses and any(too_large(len(data)) for _, data in files):
        return _within_size(function, files, result_type, options, deadline, per_file, memory)
    start = 0
    while start < len(files):
        left = until - time.monotonic()
        if left <= 0:
            break
        start = _one_child(
            function, files, start, results, result_type, options or {}, left, per_file, memory
        )
    return [
        result or FileResult(path=path, outcome="not-reached", reason="the scanner's deadline had passed")
        for result, (path, _) in zip(results, files, strict=True)
    ]


def _within_size(
    function: str,
    files: Sequence[tuple[str, bytes]],
    result_type: Any,
    options: Mapping[str, Any] | None,
    deadline: float,
    per_file: float,
    memory: int,
) -> list[FileResult[Any]]:
    """The files a parser is given through the child, the others refused, in the order they came."""
    small = [file for file in files if not too_large(len(file[1]))]
    looked = iter(
        scan_isolated(
            function,
            small,
            result_type,
            options=options,
            deadline=deadline,
            per_file=per_file,
            memory=memory,
        )
    )
    return [
        FileResult(path=path, outcome="too-large", reason=why)
        if (why := too_large(len(data)))
        else next(looked)
        for path, data in files
    ]


def _one_child(
    function: str,
    files: Sequence[tuple[str, bytes]],
    start: int,
    results: list[FileResult[Any] | None],
    result_type: Any,
    options: Mapping[str, Any],
    left: float,
    per_file: float,
    memory: int,
) -> int:
    """Feed one child from ``start`` on; the index to go on with (past the file that ended it)."""
    head = {"function": function, "per_file": per_file, "options": dict(options)}
    frames = [msgspec.json.encode(head), b"\n"]
    for index in range(start, len(files)):
        path, data = files[index]
        name = path.encode("utf-8", "surrogateescape")
        frames += [b"%d %d %d\n" % (index, len(name), len(data)), name, data]
    done = proc.run(
        [sys.executable, "-I", "-m", "gate.prescreen.worker"],
        stdin=b"".join(frames),
        deadline=left,
        preexec=limited(memory=memory, cpu=left + 5),
        cap=256 << 20,
    )
    begun = start
    ended = start - 1
    for line in done.stdout.splitlines():
        try:
            answer = _answer(line)
            if answer.state == "begun":
                begun = answer.index
                continue
            results[answer.index] = _result(files[answer.index][0], answer, result_type)
            ended = answer.index
        except (msgspec.MsgspecError, ValueError, IndexError):
            break
    if ended == len(files) - 1:
        return len(files)
    if done.timed_out:
        results[begun] = FileResult(
            path=files[begun][0], outcome="timed-out", reason="the scanner's deadline passed in this file"
        )
        return len(files)
    culprit = max(begun, ended + 1)
    results[culprit] = _fatal(files[culprit][0], done, per_file)
    return culprit + 1


# msgspec has crashed when two threads met a type for the first time at once.
_ANSWER: Final = msgspec.json.Decoder(Answer)
_ONE_AT_A_TIME: Final = threading.Lock()


def _answer(line: bytes) -> Answer:
    try:
        return _ANSWER.decode(line)
    except msgspec.DecodeError:
        # Paths that are not UTF-8 hold lone surrogates, which only the standard library's JSON reads.
        return msgspec.convert(json.loads(line), Answer)


def _result(path: str, answer: Answer, result_type: Any) -> FileResult[Any]:
    if answer.state == "done":
        with _ONE_AT_A_TIME:
            value = msgspec.convert(answer.value, result_type)
        return FileResult(path=path, outcome="done", value=value)
    outcome: FileOutcome = "out-of-memory" if answer.state == "out-of-memory" else "crashed"
    return FileResult(path=path, outcome=outcome, reason=answer.reason)


def _fatal(path: str, done: proc.Done, per_file: float) -> FileResult[Any]:
    if done.code in (-signal.SIGPROF, -signal.SIGALRM):
        return FileResult(path=path, outcome="timed-out", reason=f"took longer than {per_file:g} s")
    if done.code < 0:
        name = signal.Signals(-done.code).name
        return FileResult(path=path, outcome="crashed", reason=f"the parser's process died of {name}")
    return FileResult(
        path=path, outcome="crashed", reason=f"the parser's process ended with code {done.code}"
    )


def limited(*, memory: int = MEMORY, cpu: float = 120.0, stack: int = STACK) -> Callable[[], None]:
    """A ``preexec`` for proc.run: address space and stack in bytes, processor time in seconds, no cores."""

    def apply() -> None:
        for what, value in (
            (resource.RLIMIT_AS, memory),
            (resource.RLIMIT_CPU, max(1, int(cpu))),
            (resource.RLIMIT_STACK, stack),
            (resource.RLIMIT_CORE, 0),
        ):
            hard = resource.getrlimit(what)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(what, (bound, bound))

    return apply
