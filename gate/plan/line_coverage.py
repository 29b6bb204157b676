"""Which lines ran at head, from two observers: the driver says, and the trace has to bear it out.

The code under test shares a process with part of the driver and can say of any line that it ran. So a line
counts only where a run of head was whole, the item that told of it came to its end on its own imports (no
stand-in, no failed import, no tests that could not be collected), and the trace of that run shows that the
file was opened, and not written: lines are told of a file as the change has it. Sensitive calls need more:
each of them must have been made by itself (``made``), and where a system call shows it, the trace must
have one of that kind while the line was on the stack (``shown``).
Scripts and build files tell nothing of lines; there a command ran when the trace has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from gate.dataclass import dataclass
from gate.model.exercised import UnrunReason
from gate.model.run import ActingCommand, ExecutionPlan, RunRecord
from gate.model.sensitive import SensitiveCall, SensitiveKind
from gate.plan.item_outcomes import (
    Item,
    items_of,
    names_put_off,
    paths_of,
    tests_left,
    uncollected_files,
    unrun_reason,
)
from gate.plan.script_lines import vouched
from gate.plan.shell_commands import NOT_FOUND, Started
from gate.tracing.behaviour.paths import path_as_replaced, path_as_told, path_in_tree
from gate.tracing.codec import read_trace
from gate.tracing.events import Event, Exec, File, Fork, Net, Open, Signal

Lines = Mapping[str, frozenset[int]]
Why = tuple[UnrunReason, str]
Place = tuple[int, int, int, int]
_OURS: Final = "/opt/gate/"
_INTERNET: Final = frozenset({"AF_INET", "AF_INET6"})
_DELETES: Final = frozenset({
    "unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2", "truncate", "ftruncate",
})  # fmt: skip
_MOVES: Final = frozenset({"rename", "renameat", "renameat2", "link", "linkat", "truncate", "ftruncate"})
_JAVASCRIPT: Final = frozenset({"javascript", "javascript_main", "lifecycle"})
_MOST_PATHS: Final = 100_000
_MOST_LINES: Final = 100_000
_HIGHEST: Final = 10_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """What is known of the runs of head. ``acted``: of JavaScript, lines of which nothing stayed dark;
    ``made``: of Python, the places of calls that were made (SensitiveCall.place); ``played``: those of
    methods of unknown objects that were made with made-up values, which may have stood for the objects.
    ``shown``: lines that were seen to do something of that kind: of Python those on the stack when it
    happened, else those of a run whose trace has it; ``beside``: files that ran in a run whose trace has
    it. ``why``: of a file, why its other lines did not run.
    """

    ran: Lines = field(default_factory=dict)
    acted: Lines = field(default_factory=dict)
    made: Mapping[str, frozenset[Place]] = field(default_factory=dict)
    played: Mapping[str, frozenset[Place]] = field(default_factory=dict)
    shown: Mapping[SensitiveKind, Lines] = field(default_factory=dict)
    beside: Mapping[SensitiveKind, frozenset[str]] = field(default_factory=dict)
    why: Mapping[str, Why] = field(default_factory=dict)


def coverage(runs: Iterable[RunRecord], plan: ExecutionPlan) -> Coverage:
    """The coverage of the head's runs. Their traces must exist; raises nothing for what they contain."""
    heads = [run for run in runs if run.side == "head" and run.probe.phase != "idle"]
    ran, acted = _Table(), _Table()
    made: dict[str, set[Place]] = defaultdict(set)
    played: dict[str, set[Place]] = defaultdict(set)
    shown = {kind: _Table() for kind in SHOWN}
    beside: dict[SensitiveKind, set[str]] = defaultdict(set)
    reasons = _Reasons()
    for run in heads:
        trace = _Trace(run)
        for item, answer in items_of(run):
            why = unrun_reason(item, answer, run)
            reasons.item(run, item, answer, why)
            for part in _counting(answer, why) if answer is not None and _whole(run) else ():
                told = _told(part, "lines")
                own = {path: lines for path, lines in told.items() if trace.saw(path)}
                for path in told.keys() - own.keys():
                    reasons.doubted(path)
                ran.add(own)
                told_made = _told(part, "acted")
                acted.add({p: n for p, n in told_made.items() if p in own and p not in plan.asked})
                asked = {p: plan.asked[p] for p in told_made.keys() & own.keys() & plan.asked.keys()}
                for path, call in _made(told_made, asked, put_off=part is not answer):
                    (played if call.way == "method" and item.get("calls") else made)[path].add(call.place)
                python = item.get("do") not in _JAVASCRIPT
                for kind, table in shown.items():
                    if trace.shows(kind):
                        beside[kind] |= own.keys()
                        table.add(_witnessed(part, kind, own) if python else own)
    commands, whole = _commands(heads, plan)
    ran.add(commands)
    acted.add(whole)
    for table in shown.values():
        table.add(whole)
    for path, program in sorted(_missing(heads)):
        reasons.lacks(path, program)
    for left in plan.not_exercised:
        if left.kind is UnrunReason.LEFT_OUT:
            reasons.left_out(left.path)
    return Coverage(
        ran=ran.frozen(),
        acted=acted.frozen(),
        made={path: frozenset(places) for path, places in sorted(made.items())},
        played={path: frozenset(places) for path, places in sorted(played.items())},
        shown={kind: table.frozen() for kind, table in shown.items()},
        beside={kind: frozenset(paths) for kind, paths in beside.items()},
        why=reasons.all(),
    )


def _made(
    told: Mapping[str, set[int]], asked: Mapping[str, Sequence[SensitiveCall]], *, put_off: bool
) -> Iterator[tuple[str, SensitiveCall]]:
    """The calls that were made of those that were asked of, each with its path. ``put_off``: with an import
    that was put off.
    """
    for path, calls in asked.items():
        for call in (calls[n] for n in told[path] if n < len(calls)):
            if not put_off or call.kind in _SEEN_OUTSIDE:
                yield path, call


def _counting(answer: Item, why: Why | None) -> Iterator[Item]:
    """The parts of what an item told that count: what ran on its own imports, and what ran where the import
    of a package that cannot be loaded was put off (less the lines that used it, put_off_imports.py). Of the
    calls of that those count that something outside of the process shows: ``exec(name)`` with a name that is
    put off is made, and runs nothing.
    """
    if why is None:
        yield answer
    part = answer.get("put_off")
    if isinstance(part, Mapping):
        yield part


def _commands(
    heads: Sequence[RunRecord], plan: ExecutionPlan
) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """Lines of scripts and build files of which a program was started, and those of which every one is known
    to have been: in ``test -f x && rm -rf y`` one command says nothing of the other, and a program that
    another line may have started says nothing of this one.
    """
    if not plan.steps:
        return {}, {}
    started = Started([run for run in heads if run.trace is not None])
    sure = vouched(heads, plan.steps)
    found: dict[str, set[int]] = {}
    whole: dict[str, set[int]] = {}
    for path, steps in plan.steps.items():
        lacking = {program for where, program in _missing(heads) if where == path}
        every = (*steps, *plan.commands.get(path, ()))
        made = [s.program not in lacking and started.started(path, s) for s in every]
        found[path] = {n for s, ran in zip(every, made, strict=True) if ran for n in _lines(s)}
        dark = {n for s, ran in zip(every, made, strict=True) if not ran for n in _lines(s)}
        unsure = {n for s in steps if s not in sure.get(path, ()) for n in _lines(s)}
        whole[path] = found[path] - dark - unsure
    return found, whole


def _lines(step: ActingCommand) -> range:
    return range(step.first, step.last + 1)


def _missing(heads: Sequence[RunRecord]) -> set[tuple[str, str]]:
    """Scripts and the programs that they looked for in vain: what those would do was not seen."""
    return {
        (run.probe.path or "", program)
        for run in heads
        for _, _, program in NOT_FOUND.findall(run.stderr.decode("utf-8", "replace"))
    }


def _whole(run: RunRecord) -> bool:
    return run.fault is None and run.trace is not None and run.completeness.whole


def _told(answer: Item, key: str) -> dict[str, set[int]]:
    table = answer.get(key)
    pairs = table.items() if isinstance(table, Mapping) else ()
    return {path_as_told(str(path)[:4096]): _numbers(numbers) for path, numbers in list(pairs)[:_MOST_PATHS]}


def _numbers(value: Any) -> set[int]:
    numbers = value[:_MOST_LINES] if isinstance(value, list) else ()
    return {n for n in numbers if type(n) is int and 0 <= n < _HIGHEST}


def _witnessed(answer: Item, kind: SensitiveKind, own: Mapping[str, set[int]]) -> dict[str, set[int]]:
    """Lines that were on the stack when something of the kind happened, as the driver's audit hook says."""
    tables = answer.get("witnessed")
    table = tables.get(kind.value) if isinstance(tables, Mapping) else None
    return {p: n for p, n in _told({"lines": table}, "lines").items() if p in own}


SHOWN: Final = (
    SensitiveKind.PROCESS,
    SensitiveKind.NETWORK,
    SensitiveKind.DELETION,
    SensitiveKind.DYNAMIC_CODE,
    SensitiveKind.NATIVE_CODE,
)
"""Kinds that are witnessed. The first three cannot happen without a system call that is watched."""


_SEEN_OUTSIDE: Final = frozenset(SHOWN[:3])


class _Table:
    """Line numbers by path that grow."""

    def __init__(self) -> None:
        self._lines: dict[str, set[int]] = defaultdict(set)

    def add(self, more: Mapping[str, set[int]]) -> None:
        for path, numbers in more.items():
            self._lines[path] |= numbers

    def frozen(self) -> dict[str, frozenset[int]]:
        return {path: frozenset(lines) for path, lines in sorted(self._lines.items())}


class _Trace:
    """What the trace of one run shows: which files of the tree were opened, and which kinds of calls were
    made.
    """

    def __init__(self, run: RunRecord) -> None:
        self._opened: set[str] = set()
        self._written: set[str] = set()
        """Files of the tree that were written: what ran of them then is not what the change has."""
        self._first: int | None = None
        self._shown: set[SensitiveKind] = set()
        if run.trace is not None:
            read_trace(run.trace, self._event)

    def saw(self, path: str) -> bool:
        """True where the file of the tree was opened, and never written."""
        return any(
            name in self._opened and name not in self._written for name in {path, path_as_replaced(path)}
        )

    def shows(self, kind: SensitiveKind) -> bool:
        return kind in self._shown or kind in (SensitiveKind.DYNAMIC_CODE, SensitiveKind.NATIVE_CODE)

    def _event(self, event: Event) -> None:
        if isinstance(event, (Open, Exec)):
            path = path_in_tree(event.path)
            if path is not None and len(self._opened) < _MOST_PATHS:
                self._opened.add(path)
                if isinstance(event, Open) and event.writes:
                    self._written.add(path)
            if isinstance(event, Open) and ("O_TRUNC" in event.flags or event.access in ("w", "rw")):
                self._shown.add(SensitiveKind.DELETION)
            if isinstance(event, Exec) and not any(word.startswith(_OURS) for word in event.argv):
                self._shown.add(SensitiveKind.PROCESS)
        elif isinstance(event, Fork):
            # The driver's parent forks once for every item; whoever else does, is the code.
            self._first = event.pid if self._first is None else self._first
            if event.pid != self._first and not event.thread:
                self._shown.add(SensitiveKind.PROCESS)
        elif isinstance(event, Net):
            if event.family in _INTERNET and event.call != "bind":
                self._shown.add(SensitiveKind.NETWORK)
        elif isinstance(event, Signal):
            self._shown.add(SensitiveKind.PROCESS)
        elif isinstance(event, File):
            self._file(event)

    def _file(self, event: File) -> None:
        if event.call in _DELETES:
            self._shown.add(SensitiveKind.DELETION)
        moved = path_in_tree(event.path) if event.call in _MOVES else None
        if moved is not None:
            self._written.add(moved)


class _Reasons:
    """Why lines of a file did not run. What is known of the file itself stands before what a probe came
    to.
    """

    def __init__(self) -> None:
        self._failed: dict[str, Why] = {}
        self._ran: set[str] = set()
        self._late: set[str] = set()
        """Test files some of whose tests there was no time for."""
        self._known: dict[str, Why] = {}
        self._needs: dict[str, Why] = {}
        self._doubted: dict[str, Why] = {}
        self._of_tests = ""

    def item(self, run: RunRecord, item: Item, answer: Item | None, why: Why | None) -> None:
        """What an item came to; ``why``: the reason for which it is no look, None where it is one."""
        paths = paths_of(item) or ((run.probe.path,) if run.probe.path else ())
        uncollected = uncollected_files(answer or {})
        of_tests = item.get("do") in ("test", "javascript_test")
        late = not run.probe.condition and tests_left(answer or {}) > 0
        for path in paths:
            if why is None:
                self._ran.add(path)
                if late:
                    self._late.add(path)
            elif of_tests and why[0] is not UnrunReason.NOT_REACHED:
                self._failed[path] = why  # not that it cannot be imported without its runner
            else:
                self._failed.setdefault(path, why)
            if (needs := names_put_off(answer or {})) and (of_tests or why is not None):
                self._needs[path] = (UnrunReason.DEPENDENCY_MISSING, needs)
            if path in uncollected:
                self._known[path] = (UnrunReason.COLLECTION_FAILED, uncollected[path])
            if answer is not None and isinstance(answer.get("unwatched"), str):
                self._known[path] = (UnrunReason.NOT_CONFIRMED, str(answer["unwatched"])[:200])
        if late and why is None:
            why = (UnrunReason.OUT_OF_TIME, "")
        if of_tests and why is not None:
            self._of_tests = f"of its tests: {why[0].text}{f': {why[1]}' if why[1] else ''}"

    def doubted(self, path: str) -> None:
        """A file of which lines are said to have run in a run that never opened it."""
        self._doubted.setdefault(
            path, (UnrunReason.NOT_CONFIRMED, "the run that says so never opened the file")
        )

    def lacks(self, path: str, program: str) -> None:
        """A script that looked for a program in vain."""
        self._known.setdefault(path, (UnrunReason.DEPENDENCY_MISSING, program))

    def left_out(self, path: str) -> None:
        """A file of which a part was not planned."""
        self._failed.setdefault(path, (UnrunReason.LEFT_OUT, ""))

    def all(self) -> dict[str, Why]:
        """The reason of each file that a probe was for."""
        ran = dict.fromkeys(sorted(self._ran), (UnrunReason.NOT_REACHED, self._of_tests))
        late = dict.fromkeys(sorted(self._late), (UnrunReason.OUT_OF_TIME, ""))
        return {**self._failed, **ran, **late, **self._known, **self._needs, **self._doubted}
