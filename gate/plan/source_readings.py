"""What is read of the changed files: the one list of sensitive calls, for the plan and for the share of
changed code that ran.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.languages.path_roles import is_no_product
from gate.languages.sensitive_calls.moved import came_along
from gate.languages.sensitive_calls.newness import fed_before, is_fed_as_before, new_sensitive_calls
from gate.languages.sensitive_calls.reading import read_sources
from gate.model.change import ChangedFile, Tree
from gate.model.sensitive import SensitiveCall, SensitiveKind, SourceReading, SourceText
from gate.plan.fed_constants import Kinds, fed_constants, with_fed_constants
from gate.plan.sourced_files import as_scripts
from gate.plan.wrapper_calls import Wrappers, asked_names, with_wrapper_calls

DEADLINE: Final = 60.0
"""Seconds for reading both sides of all changed files."""
_PLAIN: Final = ("100644", "100755")


@dataclass(frozen=True, kw_only=True, slots=True)
class Readings:
    """What was read of the changed files, by the head's path, with the texts of head. ``removed``: of
    deleted files at base.
    """

    head: Mapping[str, SourceReading] = field(default_factory=dict)
    base: Mapping[str, SourceReading] = field(default_factory=dict)
    texts: Mapping[str, bytes] = field(default_factory=dict)
    removed: Mapping[str, SourceReading] = field(default_factory=dict)


def read_change(files: Sequence[ChangedFile], base: Tree, head: Tree) -> Readings:
    """Read both sides of the changed files. Raises InconclusiveError when nothing can be read at all."""
    now = {f.path: f for f in files if f.new_mode in _PLAIN}
    before = {f.old_path or f.path: f for f in files if f.old_mode in _PLAIN}
    texts = dict(head.read_many(tuple(now)))
    old = dict(base.read_many(tuple(before)))
    sourced = frozenset(file.path for file in as_scripts(files, head) if file.language == "shell")
    found = read_sources(_sources(texts, sourced), deadline=DEADLINE)
    was_sourced = frozenset(path for path, file in before.items() if file.path in sourced)
    was = read_sources(_sources(old, was_sourced), deadline=DEADLINE)
    if any(reading.references or reading.strings for reading in found.values()):
        here = {before[path].path: reading for path, reading in was.items()}
        wrappers = Wrappers(head, found, _added_methods(found, here))
        wrappers.read_for(asked_names(found, files))
        fed = fed_constants(found, here, head, wrappers)
        found = {path: _behind(path, reading, wrappers, fed) for path, reading in found.items()}
        was = {path: _behind(before[path].path, reading, wrappers, fed) for path, reading in was.items()}
    return Readings(
        head=found,
        base={before[path].path: reading for path, reading in was.items() if before[path].path in now},
        texts={path: texts[path] for path in found},
        removed={path: was[path] for path in sorted(was) if before[path].path not in now},
    )


def _added_methods(
    head: Mapping[str, SourceReading], base: Mapping[str, SourceReading]
) -> frozenset[tuple[str, str]]:
    """The methods of head's files that their base has not."""
    return frozenset(
        (path, name)
        for path, reading in head.items()
        for name in {*reading.methods} - {*(base[path].methods if path in base else ())}
    )


def _behind(path: str, reading: SourceReading, wrappers: Wrappers, fed: Kinds) -> SourceReading:
    """The reading with what other files make of its calls and constants."""
    return with_fed_constants(path, with_wrapper_calls(path, reading, wrappers), fed)


def read_python(files: Sequence[ChangedFile], base: Tree, head: Tree) -> Readings:
    """The same of the Python alone; nothing where it cannot be read: the stage that needs it says so."""
    try:
        return read_change([file for file in files if file.language == "python"], base, head)
    except InconclusiveError:
        return Readings()


def _sources(texts: Mapping[str, bytes], sourced: Collection[str]) -> list[SourceText]:
    return [SourceText(path=path, text=text, shell=path in sourced) for path, text in sorted(texts.items())]


def new_calls(files: Sequence[ChangedFile], readings: Readings) -> dict[str, tuple[SensitiveCall, ...]]:
    """The sensitive calls of each file that base has nowhere in the change: what moved elsewhere is not
    new.
    """
    new = {}
    kept: Counter[tuple[SensitiveKind, str]] = Counter()
    for file in files:
        reading = readings.head.get(file.path)
        if reading is None or not reading.readable:
            continue
        if file.old_path and is_no_product(file.old_path) and not is_no_product(file.path):
            calls = reading.calls  # out of tests or tools: nobody but their own users had it
        else:
            calls = new_sensitive_calls(readings.base.get(file.path), reading, changed_lines(file))
        new[file.path] = calls
        kept.update(_same(call) for call in reading.calls if call not in calls)
    homes = {file.path: file.old_path or file.path for file in files}
    before = [(homes[path], call, False) for path, reading in readings.base.items() for call in reading.calls]
    before += [(path, call, True) for path, reading in readings.removed.items() for call in reading.calls]
    spare = Counter(_same(call) for _, call, _ in before) - kept
    fed = fed_before(call for _, call, _ in before)
    left: dict[str, tuple[SensitiveCall, ...]] = {}
    for path, calls in sorted(new.items()):
        # What stood in tests and tools was not for users: it is no excuse for the product.
        origins = [
            (was, gone) for home, was, gone in before if is_no_product(path) or not is_no_product(home)
        ]
        fresh = []
        for call in calls:
            if spare[_same(call)] > 0 and is_fed_as_before(call, fed) and came_along(call, origins):
                spare[_same(call)] -= 1
            else:
                fresh.append(call)
        left[path] = tuple(fresh)
    return left


def _same(call: SensitiveCall) -> tuple[SensitiveKind, str]:
    return call.kind, call.statement or call.call


def changed_lines(file: ChangedFile) -> frozenset[int]:
    """Numbers of the lines of head that the change touched."""
    return frozenset(n for h in file.hunks for n in range(h.new_start, h.new_start + h.new_count))
