"""Which lines are forced, and the probes for that: sensitive calls of changed Python that did not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gate.languages.limited_child import scan_isolated
from gate.model.change import ChangedFile, Side
from gate.model.exercised import Exercised
from gate.model.forced import Condition, ForcedTarget, GuardKind
from gate.model.run import NotExercised, Probe
from gate.model.sensitive import SensitiveCall, SensitiveKind
from gate.plan.module_layout import module_of
from gate.plan.probes import DriverItem, probe_of
from gate.plan.source_readings import Readings, new_calls

MOST: Final = 16
"""Lines of one change that are forced."""
SEEDS: Final = (0, 1)
_TOGETHER: Final = 4
"""Lines of one function that share a probe."""
_START: Final = 5.0
_EACH: Final = 7.0
"""Seconds of a probe: to start and import, and for each line (two ways of three seconds at most)."""
_WEIGHT: Final = {
    kind: number
    for number, kind in enumerate((
        SensitiveKind.NETWORK, SensitiveKind.PROCESS, SensitiveKind.DYNAMIC_CODE, SensitiveKind.CREDENTIALS,
        SensitiveKind.ENVIRONMENT, SensitiveKind.NATIVE_CODE, SensitiveKind.PERSISTENCE,
        SensitiveKind.DELETION,
    ))
}  # fmt: skip
_READING: Final = 10.0
_Rank = tuple[bool, int, int, str, int]


def forced_targets(
    files: Sequence[ChangedFile], readings: Readings, exercised: Exercised
) -> tuple[tuple[ForcedTarget, ...], tuple[NotExercised, ...]]:
    """The lines to force, and those that are left out: product code first, of each function one line before
    a second of any, the gravest kinds first. Where there are too many, those behind an unusual condition are
    ahead of all others: a heap of harmless lines must not push the one line out.
    """
    new = new_calls(files, readings)
    ranked: list[tuple[_Rank, ForcedTarget]] = []
    for file in exercised.files:
        if file.language != "python":
            continue
        calls = {(c.first, c.last, c.kind): c for c in new.get(file.path, ())}
        before = readings.base.get(file.path)
        known: set[int] = set()
        counts: Counter[str] = Counter()
        for unrun in file.calls:
            call = calls.get((unrun.first, unrun.last, unrun.kind))
            if call is None or unrun.first in known:
                continue
            target = ForcedTarget(
                path=file.path,
                line=call.first,
                column=call.column,
                function=call.function,
                in_tests=unrun.in_tests,
                before=_before(call, before.calls if before is not None else ()),
            )
            known.add(unrun.first)
            rank = (unrun.in_tests, counts[call.function], _WEIGHT[call.kind], file.path, call.first)
            counts[call.function] += 1
            ranked.append((rank, target))
    ordered = [target for _, target in sorted(ranked, key=lambda pair: pair[0])]
    if len(ordered) > MOST:
        guards = conditions_of(ordered, readings.texts)
        ordered.sort(key=lambda t: (t.in_tests, not guards[t.path, t.line][1]))
    left = tuple(
        NotExercised(path=t.path, target=f"line {t.line}", reason=f"only {MOST} lines of a change are forced")
        for t in ordered[MOST:]
    )
    return tuple(ordered[:MOST]), left


def _before(call: SensitiveCall, calls: Iterable[SensitiveCall]) -> tuple[tuple[int, int], ...]:
    """What base has of the kind: in the same function, else anywhere in the file."""
    same = [c for c in calls if c.function == call.function] or [c for c in calls if c.kind is call.kind]
    return tuple((c.first, c.column) for c in same[:_TOGETHER])


def grouped(targets: Sequence[ForcedTarget]) -> list[tuple[ForcedTarget, ...]]:
    """Targets of one function together, four at most: each group has sandboxes of its own."""
    groups: dict[tuple[str, str], list[ForcedTarget]] = {}
    for target in targets:
        groups.setdefault((target.path, target.function), []).append(target)
    return [
        tuple(group[n : n + _TOGETHER]) for group in groups.values() for n in range(0, len(group), _TOGETHER)
    ]


def forced_probe(
    group: Sequence[ForcedTarget], file: ChangedFile, paths: frozenset[str], seed: int, side: Side, mark: str
) -> Probe:
    """One run of a group with one seed. ``paths``: all files of that side's tree; ``mark``: the text by which
    made-up values are known.
    """
    path = (file.old_path or file.path) if side == "base" else file.path
    module = module_of(path, paths)
    targets = [[t.line, t.column] for t in group]
    if side == "base":
        targets = [list(place) for place in dict.fromkeys(p for t in group for p in t.before)]
    items: list[dict[str, Any]] = [
        {
            "do": "force",
            "path": path,
            "roots": list(module.roots),
            "targets": [target],
            "seed": seed,
            "mark": mark,
        }
        | ({"module": module.name} if module.name else {})
        for target in targets[:_TOGETHER]
    ]
    lines = ", ".join(str(t.line) for t in group)
    return probe_of(
        [
            DriverItem(
                phase="call",
                target=f"force line {lines} of {file.path}, seed {seed}",
                file=file,
                item=item,
                sides=(side,),
                lines={path: tuple((line, line) for line, _ in targets)},
            )
            for item in items
        ],
        _START + _EACH * len(items),
        {"grace": 0.5},
    )


def conditions_of(
    targets: Sequence[ForcedTarget], texts: Mapping[str, bytes]
) -> dict[tuple[str, int], tuple[tuple[str, ...], GuardKind]]:
    """For each line the conditions that have to hold for it to run, the innermost first, and what the first
    of them that is no ordinary one asks for.
    """
    wanted = [(path, texts[path]) for path in dict.fromkeys(t.path for t in targets) if path in texts]
    found = {
        result.path: result.value or ()
        for result in scan_isolated(
            "gate.prescreen.conditions:read_conditions", wanted, tuple[Condition, ...], deadline=_READING
        )
    }
    out: dict[tuple[str, int], tuple[tuple[str, ...], GuardKind]] = {}
    for target in targets:
        around = [c for c in found.get(target.path, ()) if c.first <= target.line <= c.last]
        around.sort(key=lambda c: (c.last - c.first, c.first))
        kind: GuardKind = next((c.kind for c in around if c.kind), "")
        texts_of = tuple(dict.fromkeys(c.text for c in sorted(around, key=lambda c: not c.kind)))
        out[target.path, target.line] = (texts_of[:3], kind)
    return out
