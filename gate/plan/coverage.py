"""What the probes did not reach, from the driver's reports: hints, read as untrusted text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gate.model.cut_short import cut_short
from gate.model.run import ActingCommand, NotExercised, RunRecord
from gate.model.sensitive import SensitiveCall
from gate.plan.item_outcomes import tests_left
from gate.plan.shell_commands import NOT_FOUND, unreached_commands
from gate.regex import regex
from gate.tracing.behaviour.paths import path_as_told

_MOST: Final = 200
_TEXT: Final = 120
_UNREADABLE: Final = regex(r"^\S+: (?:line )?(\d+): [Ss]yntax error\b", re.MULTILINE)
_GRAVE: Final = regex(
    r"\b(?:start a process|reach the network|run code that it is given|run code that is made while running)\b"
)
_TOLD: Final = {
    "timed-out": "was stopped after its share of the time",
    "out of time": "the time for calls was used up",
    "no way to call it": "nothing there that can be called",
    "out of memory": "needed more memory than a call gets",
    "MemoryError": "needed more memory than a call gets",
}


Acts = Mapping[str, Sequence[tuple[int, int, str]]]
Asked = Mapping[str, Sequence[SensitiveCall]]
Commands = Mapping[str, Sequence[ActingCommand]]


def unreached(
    runs: Iterable[RunRecord],
    acts: Acts | None = None,
    commands: Commands | None = None,
    asked: Asked | None = None,
) -> tuple[NotExercised, ...]:
    """Changed lines that can act and that no probe ran (EV-5), targets that need something the sandbox
    lacks, calls that did not come to an end, and all other changed lines that no probe ran.
    Only what ran at head counts. At most 200 entries, the last says so. ``acts``, ``commands``,
    ``asked``: those of ExecutionPlan.
    """
    heads = [run for run in runs if run.side == "head" and run.repeat == 0 and run.probe.phase != "idle"]
    found: dict[tuple[str, str], NotExercised] = {}
    for entry in _worst_first(
        (*_idle_acts(heads, acts or {}, asked or {}), *unreached_commands(heads, commands or {}))
    ):
        found[(entry.path, entry.target)] = entry
    lacking: set[tuple[str, str]] = set()
    for run in heads:
        if (why := cut_short(run)) and not run.probe.condition:
            entry = NotExercised(
                path=run.probe.path or "", target=f"the rest of {run.probe.target}", reason=why
            )
            found.setdefault((entry.path, entry.target), entry)
        for entry in [e for item in _items(run) for e in _of_item(run, item)] + _no_program(run):
            if entry.reason.startswith("needs "):  # once for a file is enough, whatever the phase
                if (entry.path, entry.reason) in lacking:
                    continue
                lacking.add((entry.path, entry.reason))
            found.setdefault((entry.path, entry.target), entry)
    unwatched = _ran_unwatched(heads)
    for path, dark in unreached_lines(heads).items():
        target = ("line " if len(dark) == 1 else "lines ") + _spans(dark)
        reason = "no probe reached " + ("it" if len(dark) == 1 else "them")
        if path in unwatched:
            reason = "not reached by import and calls (what ran of it as a program is not watched)"
        found.setdefault((path, target), NotExercised(path=path, target=target, reason=reason))
    entries = list(found.values())
    if len(entries) > _MOST:
        more = NotExercised(path="", target=f"{len(entries) - _MOST} more", reason="left out of this list")
        entries = [*entries[:_MOST], more]
    return tuple(entries)


def _worst_first(entries: Sequence[NotExercised]) -> list[NotExercised]:
    """What reaches out ahead of what stays at home, and of each file one after the other: reports show the
    first few, and a long file would push all others out of sight.
    """
    rank: Counter[tuple[bool, str]] = Counter()
    keys = []
    for entry in entries:
        tame = not _GRAVE.search(entry.reason)
        keys.append((tame, rank[tame, entry.path]))
        rank[tame, entry.path] += 1
    order = sorted(range(len(entries)), key=keys.__getitem__)
    return [entries[n] for n in order]


def _idle_acts(runs: Sequence[RunRecord], acts: Acts, asked: Asked) -> Iterator[NotExercised]:
    """One entry for each line that can act and did not run: "line 41 can start a process"."""
    ran, acted = _lines_by_path(runs, "lines"), _lines_by_path(runs, "acted")
    # Of Python each call was asked for by its number; JavaScript's driver tells lines.
    whole = {p: _whole_lines(asked[p], numbers) if p in asked else numbers for p, numbers in acted.items()}
    unwatched, untold = _ran_unwatched(runs), _ran_untold(runs)
    for path, spans in acts.items():
        end = "and no probe reached it"
        if path in untold:
            end = "and whether a probe reached it is not known"
        elif path in unwatched:
            end = "and import and calls did not reach it (what ran of it as a program is not watched)"
        told: dict[int, list[str]] = {}
        for first, last, what in spans:
            # Where the calls themselves were counted, a line that only ran in part is no excuse.
            made = first in whole[path] if path in whole else _any(ran.get(path, set()), first, last)
            if not made and what not in told.get(first, ()):
                told.setdefault(first, []).append(what)
        for line, whats in sorted(told.items()):
            reason = f"can {' and '.join(whats)}, {end}"
            yield NotExercised(path=path, target=f"line {line}", reason=reason)


def _whole_lines(asked: Sequence[SensitiveCall], made: set[int]) -> set[int]:
    """Lines on which all that was asked of, and that begins there, was made. ``made``: numbers from 0."""
    left = {call.first for number, call in enumerate(asked) if number not in made}
    return {call.first for call in asked} - left


def _any(ran: set[int], first: int, last: int) -> bool:
    return not ran.isdisjoint(range(first, last + 1))


def _lines_by_path(runs: Iterable[RunRecord], key: str) -> dict[str, set[int]]:
    """All the line numbers that the drivers told under ``key``."""
    found: dict[str, set[int]] = {}
    for run in runs:
        for item in _items(run):
            table = item.get(key)
            if isinstance(table, Mapping):
                for path, numbers in table.items():
                    found.setdefault(str(path)[:4096], set()).update(_numbers(numbers))
    return found


def unreached_lines(runs: Iterable[RunRecord]) -> dict[str, list[int]]:
    """Changed lines with code that none of the runs ran, per path. A hint: the code can forge it."""
    told = list(runs)
    ran, code = _lines_by_path(told, "lines"), _lines_by_path(told, "code")
    dark = {path: sorted(lines - ran.get(path, set())) for path, lines in sorted(code.items())}
    return {path: lines for path, lines in dark.items() if lines}


def _ran_unwatched(runs: Iterable[RunRecord]) -> set[str]:
    """JavaScript that also ran as the main program: the runtime is then by itself, without our runner."""
    items = [item for run in runs for item in _items(run)]
    return {str(i.get("path")) for i in items if i.get("do") == "javascript_main"}


def _ran_untold(runs: Iterable[RunRecord]) -> set[str]:
    """JavaScript whose runtime does not tell which of its lines ran."""
    items = [item for run in runs for item in _items(run)]
    return {str(item.get("path")) for item in items if isinstance(item.get("unwatched"), str)}


def _no_program(run: RunRecord) -> list[NotExercised]:
    """Programs that a shell looked for in vain, and where it gave up reading, by what dash and bash say."""
    if run.probe.phase not in ("script", "install"):
        return []
    said = run.stderr.decode("utf-8", "replace")
    names = dict.fromkeys(program for _, _, program in NOT_FOUND.findall(said))
    path, target = run.probe.path or "", run.probe.target
    found = [NotExercised(path=path, target=f"{target}: {n}", reason=f"needs {n}") for n in list(names)[:10]]
    if given_up := _UNREADABLE.search(said):
        reason = f"its shell cannot read it from line {given_up[1][:9]} on"
        found.append(NotExercised(path=path, target=f"{target}: the rest of it", reason=reason))
    return found


def _items(run: RunRecord) -> list[Mapping[str, object]]:
    items = run.driver_report.get("items")
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _of_item(run: RunRecord, item: Mapping[str, Any]) -> Iterator[NotExercised]:
    path = item.get("path")
    path = path_as_told(path) if isinstance(path, str) else run.probe.path or ""
    named = item.get("module") or path
    target = f"{run.probe.phase} {named}"[:_TEXT] if isinstance(named, str) else run.probe.target
    missing = item.get("missing")
    if isinstance(missing, str):
        tried = " (tried with a stand-in)" if item.get("stand_in") is True else ""
        yield NotExercised(path=path, target=target, reason=f"needs {missing[:_TEXT]}{tried}")
    if isinstance(item.get("not_called"), int) and item["not_called"] > 0:
        told = f"{item['not_called']} further calls"
        yield NotExercised(path=path, target=told, reason="the calls before them ended the process too often")
    if item.get("left_running") is True or item.get("threads"):
        yield NotExercised(
            path=path, target=f"the rest of {target}", reason="still running when the look was over"
        )
    if isinstance(item.get("unwatched"), str):
        reason = f"which of them ran is not known: {item['unwatched'][:_TEXT]}"
        yield NotExercised(path=path, target="the changed lines", reason=reason)
    if item.get("by") == "sh":
        yield NotExercised(
            path=path, target=f"make for {target}", reason="needs make (its recipe was run by sh)"
        )
    if item.get("outcome") == "stopped":
        yield NotExercised(
            path=path, target=f"the rest of {target}", reason="a server, stopped after its share"
        )
    if not run.probe.condition and (left := tests_left(item)):
        yield NotExercised(path=path, target=f"{left} tests of {target}", reason="ran out of time")
    calls = item.get("calls")
    for call in calls if isinstance(calls, list) else ():
        if not (isinstance(call, list) and len(call) == 2 and all(isinstance(c, str) for c in call)):
            continue
        name, outcome = call[0][:_TEXT], call[1][:_TEXT]
        if outcome in _TOLD or outcome.startswith("needs "):
            yield NotExercised(path=path, target=f"call {name}", reason=_TOLD.get(outcome, outcome))


def _numbers(value: object) -> list[int]:
    if not isinstance(value, list):
        return []
    return [n for n in value[:100_000] if type(n) is int and 0 <= n < 10_000_000]


def _spans(lines: list[int]) -> str:
    """``3-5, 9`` for 3, 4, 5, 9; the first ten spans."""
    spans: list[list[int]] = []
    for line in lines:
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    shown = [f"{a}-{b}" if a != b else str(a) for a, b in spans[:10]]
    return ", ".join(shown) + (f" and {len(spans) - 10} more places" if len(spans) > 10 else "")
