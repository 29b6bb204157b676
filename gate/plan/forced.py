"""Which lines are forced, and the probes for that: sensitive calls of changed code that did not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.model.change import ChangedFile, Side
from gate.model.exercised import Exercised
from gate.model.forced import Condition, ForcedTarget, GuardKind
from gate.model.run import NotExercised, Probe
from gate.model.sensitive import SensitiveCall, SensitiveKind
from gate.plan.forced_copies import LANGUAGES, Copies, base_path, copy_items
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
_EACH_COPY: Final = 4.0
"""The same for one way of running an instrumented copy."""
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
        if file.language not in LANGUAGES | {"python"}:
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
                receivers=call.receivers,
            )
            known.add(unrun.first)
            rank = (unrun.in_tests, counts[call.function], _WEIGHT[call.kind], file.path, call.first)
            counts[call.function] += 1
            ranked.append((rank, target))
    ordered = [target for _, target in sorted(ranked, key=lambda pair: pair[0])]
    if len(ordered) > MOST:
        guards = conditions_of(ordered, readings.texts, {f.path: f.language for f in files})
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
    group: Sequence[ForcedTarget],
    file: ChangedFile,
    paths: frozenset[str],
    seed: int,
    side: Side,
    mark: str,
    copies: Copies | None = None,
) -> Probe | None:
    """One run of a group with one seed. ``paths``: all files of that side's tree; ``mark``: the text by which
    made-up values are known; ``copies``: of files in other languages than Python. None where nothing of the
    group can be forced.
    """
    path = base_path(file) if side == "base" else file.path
    places = [(t.line, t.column) for t in group]
    if side == "base":
        places = list(dict.fromkeys(place for t in group for place in t.before))
    places = places[:_TOGETHER]
    if file.language in LANGUAGES:
        made = [copies.of(side, path, *place) for place in places] if copies is not None else []
        items = [
            item for c in made if c is not None for item in copy_items(path, file.language, c, seed, mark)
        ]
        if not items or (side == "head" and None in made):
            return None
        watched = {}
        seconds = _START + _EACH_COPY * len(items)
    else:
        items = _python_items(path, places, paths, seed, mark)
        if receivers := _receivers(group, paths):
            items = [{**item, "receivers": receivers} for item in items]
        watched = {path: tuple((line, line) for line, _ in places)}
        seconds = _START + _EACH * len(items)
    lines = ", ".join(str(t.line) for t in group)
    return probe_of(
        [
            DriverItem(
                phase="call",
                target=f"force line {lines} of {file.path}, seed {seed}",
                file=file,
                item=item,
                sides=(side,),
                lines=watched,
            )
            for item in items
        ],
        seconds,
        {"grace": 0.5},
    )


def _python_items(
    path: str, places: Sequence[tuple[int, int]], paths: frozenset[str], seed: int, mark: str
) -> list[dict[str, Any]]:
    module = module_of(path, paths)
    return [
        {
            "do": "force",
            "path": path,
            "roots": list(module.roots),
            "targets": [list(place)],
            "seed": seed,
            "mark": mark,
        }
        | ({"module": module.name} if module.name else {})
        for place in places
    ]


def _receivers(group: Sequence[ForcedTarget], paths: frozenset[str]) -> dict[str, list[list[str]]]:
    """For the names of methods the classes that have them: module and name. Alike on both sides, so that base
    is asked with the same objects.
    """
    found: dict[str, list[list[str]]] = {}
    for path, name in dict.fromkeys(each for target in group for each in target.receivers):
        owner, _, method = name.rpartition(".")
        module = module_of(path, paths).name if path in paths else None
        if module and owner:
            found.setdefault(method, []).append([module, owner])
    return found


def conditions_of(
    targets: Sequence[ForcedTarget], texts: Mapping[str, bytes], languages: Mapping[str, str | None]
) -> dict[tuple[str, int], tuple[tuple[str, ...], GuardKind]]:
    """For each line the conditions that have to hold for it to run, the innermost first, and what the first
    of them that is no ordinary one asks for. ``languages``: of files that are not Python.
    """
    wanted = {path: texts[path] for path in dict.fromkeys(t.path for t in targets) if path in texts}
    scripts = {path for path in wanted if languages.get(path) in LANGUAGES}
    found: dict[str, tuple[Condition, ...]] = {}
    for reader, paths in (
        ("gate.prescreen.conditions:read_conditions", [p for p in wanted if p not in scripts]),
        ("gate.languages.forcing.copies:read_conditions", [p for p in wanted if p in scripts]),
    ):
        if not paths:
            continue
        results = scan_isolated(
            Reader(reader, tuple[Condition, ...], parses=True),
            [(path, wanted[path]) for path in paths],
            options={"shell": [path for path in paths if languages.get(path) == "shell"]},
            deadline=_READING,
        )
        found |= {result.path: result.value or () for result in results}
    out: dict[tuple[str, int], tuple[tuple[str, ...], GuardKind]] = {}
    for target in targets:
        around = [c for c in found.get(target.path, ()) if c.first <= target.line <= c.last]
        around.sort(key=lambda c: (c.last - c.first, c.first))
        kind: GuardKind = next((c.kind for c in around if c.kind), "")
        texts_of = tuple(dict.fromkeys(c.text for c in sorted(around, key=lambda c: not c.kind)))
        out[target.path, target.line] = (texts_of[:3], kind)
    return out
