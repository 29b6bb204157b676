"""Runs a parser over many untrusted files in a child with limits: one bad file never costs the others.

The child (child_worker.py, forked from a template where there can be one: warm_child.py) takes files one
after another from its standard input and writes one answer per file. A file that kills it (nesting bomb, out
of memory, crash in C code, its own deadline) gets an outcome with the reason; a fresh child goes on with the
file after it.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import sys
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from gate import process
from gate.cache import active
from gate.cache.store import Store
from gate.dataclass import dataclass
from gate.languages import warm_child
from gate.languages.child_worker import share

FileOutcome = Literal["done", "timed-out", "out-of-memory", "crashed", "not-reached", "too-large"]
T = TypeVar("T")

FEW: Final = 40
"""Files up to which a scanner takes base and head in one go; beyond, base only where head has findings."""
PER_FILE: Final = 3.0
"""Seconds of processor time a small file may cost one scanner, so that a busy machine is not taken for a
hostile file; a large one gets more. Wall time ends it too, several times as much (child_worker.py)."""
PARSED: Final = 4 << 20
"""Bytes of text given to a parser. More is refused unread: no parser here gets through it in its time, and
trying would cost every check that time several times over."""
MEMORY: Final = 1 << 30
"""Bytes of address space a child may take."""
STACK: Final = 64 << 20
"""Bytes of stack: CPython's own parser recurses in C."""
_ANSWERS: Final = 256 << 20
"""Bytes that one child may answer."""


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


class ChildAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """One line the child writes: a file is begun (``value`` unset), or ended."""

    index: int
    state: Literal["begun", "done", "out-of-memory", "crashed"]
    value: Any = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """A function that reads one file, and what it is allowed.

    ``function`` is ``"package.module:name"``; it is called as ``name(path, data, options)`` and returns
    anything msgspec can write as JSON (findings, dataclasses, lists ...), which is read back as
    ``result_type``, strictly. With ``parses``, data past PARSED is ``too-large`` and never sent. ``pure``
    says that the answer depends on path, data and options alone: it is kept for the same file (gate/cache),
    unless it has an ``unfinished`` that is not empty.
    ``per_file`` bounds one file: seconds of processor time, with some patience of wall time.
    """

    function: str
    result_type: object
    parses: bool = False
    pure: bool = False
    per_file: float = PER_FILE


def scan_isolated(
    reader: Reader,
    files: Sequence[tuple[str, bytes]],
    *,
    options: Mapping[str, Any] | None = None,
    deadline: float = 120.0,
    seen: Sequence[bytes] | None = None,
) -> list[FileResult[Any]]:
    """Call the reader's function for every file, in a child with limits, and return one result each.

    It may raise: that file's outcome is then ``crashed`` with the exception's type, and the others go on.
    ``deadline`` bounds the whole call (seconds of wall time); the child's address space is bounded by MEMORY.
    Results come in the order of ``files``; what the deadline did not leave time for is ``not-reached``. Where
    ``data`` only names what is read, ``seen`` holds that, file by file.

    Raises InconclusiveError when no child can be started.
    """
    until = time.monotonic() + deadline
    refused = {n: why for n, (_, data) in enumerate(files) if reader.parses and (why := too_large(len(data)))}
    kept = KeptAnswers.of(reader, options or {}, files, seen) if reader.pure else None
    known = kept.find(refused) if kept is not None else {}
    order = [n for n in range(len(files)) if n not in refused and n not in known]
    scan = _Scan(reader, order, files, kept, known)
    start = 0
    while start < len(scan.order) and (left := until - time.monotonic()) > 0:
        start = scan.one_child(start, options or {}, left)
    late = "the scanner's deadline had passed"
    return [
        FileResult(path=path, outcome="too-large", reason=refused[n])
        if n in refused
        else scan.results.get(n) or FileResult(path=path, outcome="not-reached", reason=late)
        for n, (path, _) in enumerate(files)
    ]


@dataclass
class _Scan:
    """One call over several files. ``order`` says which of them are looked at; ``results`` goes by the same
    numbers.
    """

    reader: Reader
    order: Sequence[int]
    files: Sequence[tuple[str, bytes]]
    kept: KeptAnswers | None = None
    results: dict[int, FileResult[Any]] = field(default_factory=dict)

    def one_child(self, start: int, options: Mapping[str, object], left: float) -> int:
        """Feed one child from ``start`` of the order on; where to go on (past the file that ended it)."""
        done = self._run(self._request(start, options), left)
        begun, ended = start, start - 1
        for line in done.stdout.splitlines():
            try:
                answer = _answer(line)
                path, _ = self.files[self.order[answer.index]]
                if answer.state == "begun":
                    begun = answer.index
                    continue
                result = _result(path, answer, self.reader.result_type)
                self.results[self.order[answer.index]] = result
                partly = getattr(result.value, "unfinished", ())  # says more of the machine than of the file
                if self.kept is not None and result.outcome == "done" and not partly:
                    self.kept.add(self.order[answer.index], answer.value)
                ended = answer.index
            except (msgspec.MsgspecError, ValueError, IndexError):
                break
        if ended == len(self.order) - 1:
            return len(self.order)
        culprit = self.order[begun if done.timed_out else max(begun, ended + 1)]
        path, data = self.files[culprit]
        if done.timed_out:
            why = "the scanner's deadline passed in this file"
            self.results[culprit] = FileResult(path=path, outcome="timed-out", reason=why)
            return len(self.order)
        self.results[culprit] = _fatal(path, done, share(self.reader.per_file, len(data)))
        return max(begun, ended + 1) + 1

    def _run(self, request: bytes, left: float) -> process.Done:
        until = time.monotonic() + left
        limits = limited(memory=MEMORY, cpu=left + 5)
        module = self.reader.function.partition(":")[0]
        return warm_child.run(
            module, stdin=request, deadline=left, limits=limits, cap=_ANSWERS
        ) or process.run(
            [sys.executable, "-I", "-m", "gate.languages.child_worker"],
            stdin=request,
            deadline=max(0.0, until - time.monotonic()),
            limits=limits,
            cap=_ANSWERS,
        )

    def _request(self, start: int, options: Mapping[str, object]) -> bytes:
        head = {"function": self.reader.function, "per_file": self.reader.per_file, "options": dict(options)}
        frames = [msgspec.json.encode(head), b"\n"]
        for index in range(start, len(self.order)):
            path, data = self.files[self.order[index]]
            name = path.encode("utf-8", "surrogateescape")
            frames += [b"%d %d %d\n" % (index, len(name), len(data)), name, data]
        return b"".join(frames)


@dataclass(frozen=True)
class KeptAnswers:
    """Answers of a function that sees nothing but a file's path and content, and its options. What ran out of
    time, or crashed, is asked again. ``seen``: the contents, by the number of the file.
    """

    store: Store
    asked: bytes
    result_type: object
    paths: Sequence[str]
    seen: Sequence[bytes]

    @classmethod
    def of(
        cls,
        reader: Reader,
        options: Mapping[str, object],
        files: Sequence[tuple[str, bytes]],
        seen: Sequence[bytes] | None,
    ) -> KeptAnswers | None:
        """Those of the check that goes on (gate/cache/active.py); none outside of one."""
        store = active.current()
        if store is None:
            return None
        told = json.dumps([reader.function, options], sort_keys=True, default=str).encode()
        contents = seen if seen is not None else [data for _, data in files]
        return cls(store, told, reader.result_type, [path for path, _ in files], contents)

    def find(self, but: Collection[int]) -> dict[int, FileResult[Any]]:
        """What was said of the files before, by number; nothing of ``but``."""
        found = {}
        for number, path in enumerate(self.paths):
            raw = self.store.get("file", self._name(number)) if number not in but else None
            if raw is not None:
                with contextlib.suppress(msgspec.MsgspecError, ValueError, RecursionError):
                    answer = ChildAnswer(index=0, state="done", value=msgspec.json.decode(raw))
                    found[number] = _result(path, answer, self.result_type)
        return found

    def add(self, number: int, value: object) -> None:
        """Keep what was said of a file. What JSON cannot hold (names that are no UTF-8) is not kept."""
        with contextlib.suppress(ValueError, TypeError, msgspec.MsgspecError, RecursionError):
            self.store.put("file", self._name(number), msgspec.json.encode(value))

    def _name(self, number: int) -> bytes:
        path = self.paths[number].encode("utf-8", "surrogateescape")
        return b"\0".join((self.asked, path, self.seen[number]))


# msgspec has crashed when two threads met a type for the first time at once.
_ANSWER: Final = msgspec.json.Decoder(ChildAnswer)
_ONE_AT_A_TIME: Final = threading.Lock()


def _answer(line: bytes) -> ChildAnswer:
    try:
        return _ANSWER.decode(line)
    except msgspec.DecodeError:
        # Paths that are not UTF-8 hold lone surrogates, which only the standard library's JSON reads.
        return msgspec.convert(json.loads(line), ChildAnswer)


def _result(path: str, answer: ChildAnswer, result_type: object) -> FileResult[Any]:
    if answer.state == "done":
        with _ONE_AT_A_TIME:
            value = msgspec.convert(answer.value, result_type)
        return FileResult(path=path, outcome="done", value=value)
    outcome: FileOutcome = "out-of-memory" if answer.state == "out-of-memory" else "crashed"
    return FileResult(path=path, outcome=outcome, reason=answer.reason)


_TOLD: Final = 300


def _fatal(path: str, done: process.Done, per_file: float) -> FileResult[Any]:
    if done.code in (-signal.SIGPROF, -signal.SIGALRM):
        return FileResult(path=path, outcome="timed-out", reason=f"took longer than {per_file:.3g} s")
    if done.code < 0:
        name = signal.Signals(-done.code).name
        return FileResult(path=path, outcome="crashed", reason=f"the parser's process died of {name}")
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    if done.code == 0:  # it ended as if all were well, but its answer for this file is missing or broken
        why = "the parser's process gave no answer that can be read"
    else:
        why = f"the parser's process ended with code {done.code}"
    return FileResult(path=path, outcome="crashed", reason=": ".join([why, *said])[:_TOLD])


def limited(*, memory: int = MEMORY, cpu: float = 120.0, stack: int = STACK) -> dict[int, int]:
    """``limits`` for process.run: address space and stack in bytes, processor time in seconds, no cores."""
    return {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: max(1, int(cpu)),
        resource.RLIMIT_STACK: stack,
        resource.RLIMIT_CORE: 0,
    }
