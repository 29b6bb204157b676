"""Decides what to run for a change: docs/probes.md is this file in words.

Everything is judged from tree objects as data. Nothing of the change is imported here, and what is
not run is said (``NotExercised``), never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

from gate.languages.path_roles import is_test
from gate.model.change import Change, ChangedFile, Side, Tree
from gate.model.run import ExecutionPlan, NotExercised, Probe, RunRecord
from gate.plan import conditions, coverage
from gate.plan.call_targets import changed_names
from gate.plan.dependents import acted_on
from gate.plan.doctests import doctest_items
from gate.plan.items import items_for
from gate.plan.javascript.tests import javascript_test_items, without_imports_of_tests
from gate.plan.module_layout import module_of
from gate.plan.probes import AskedPlaces, DriverItem, idle_probe, job_of, probe_of
from gate.plan.programs import entry_items
from gate.plan.project_layout import example_of, folder_of, manage_of
from gate.plan.python_source import BIGGEST, Facts, read_facts
from gate.plan.related_tests import related_tests
from gate.plan.sensitive_lines import acting, asked_calls
from gate.plan.shell_commands import acting_commands, steps_of
from gate.plan.source_readings import Readings, read_python
from gate.plan.sourced_files import as_scripts
from gate.plan.tree_context import TreeContext, changed_statements, left_out, watched_spans

ALONE: Final = {"import": 2, "call": 4}
"""Up to this many items of a phase get a sandbox each; more share one by groups of GROUP. Each still
has a process of its own inside."""
GROUP: Final = {"import": 8, "call": 4}
IMPORT_PROBES: Final = 20
"""So many probes import; in a bigger change each imports more, up to BIGGEST_GROUP."""
BIGGEST_GROUP: Final = 40
MOST_LIGHT: Final = 40
MOST_DEEP: Final = 120
"""Probes in one plan, the idle one not counted. Imports and installations may be more."""
_NAMES: Final = 200
TIMES: Final = {"test": 2.0}
"""How many times the deadline of a probe: tests come with fixtures, and reach more than anything else."""
MOST_TIMES: Final = 2.0
TESTS_LIGHT: Final = 16
TESTS_DEEP: Final = 60
RUNNER_PATIENCE: Final = 3.0
_GLANCE: Final = 0.5
RUNNER_TESTS: Final = 6
"""Files of JavaScript's tests, light."""
_JAVASCRIPT: Final = frozenset({"javascript", "javascript_main", "javascript_test", "lifecycle"})
_TYPED: Final = (".ts", ".mts", ".cts", ".tsx", ".jsx")
_PROSE: Final = (".md", ".rst")
_FACTS: Final = 400
"""Changed Python files that are parsed for functions to call."""


def make_plan(
    change: Change,
    base: Tree,
    head: Tree,
    *,
    deadline: float,
    deep: bool,
    readings: Callable[[], Readings] | None = None,
) -> ExecutionPlan:
    """The probes for a change, riskiest first, and what no probe reaches.

    ``deadline`` is seconds of wall time for one probe. ``deep`` widens the choice of tests and the
    number of probes. ``readings`` waits for what was read of the changed files, where another thread reads.
    A change with nothing to run gives an empty plan. Raises nothing for what the trees hold.
    """
    files, around = _files_and_surroundings(change, base, head)
    texts_only = all(_is_prose(f) or around.same(f, "bare") for f in change.files)
    wanted, left = _items(files, base, head, around, deep=deep)
    found = readings() if readings is not None else read_python(change.files, base, head)
    asked = asked_calls(change.files, found)
    places = {path: [(*call.place, call.way) for call in calls] for path, calls in asked.items()}
    probes = _probes(wanted, deadline, places, texts_only=texts_only)
    most = MOST_DEEP if deep else MOST_LIGHT
    kept = _kept(probes, most)
    left += [
        left_out(p.path or "", p.target, f"the change is big: only {most} probes are run")
        for p in probes
        if p not in kept
    ]
    acts, unread = acting(files, found, head)
    left += unread
    commands, unread = acting_commands(files, head)
    left += unread
    # At base always: what it does is subtracted from everybody's, so nothing of head may come near it.
    idle = [idle_probe(deadline, ("base",)), *_idle_runtimes(kept, deadline)] if kept else []
    return ExecutionPlan(
        probes=(*idle, *kept),
        not_exercised=tuple(left),
        acts=acts,
        asked=asked,
        commands=commands,
        statements={
            f.path: changed_statements(f, around.facts.get(f.path)) for f in files if around.facts.get(f.path)
        },
        steps=steps_of(files, head),
        same_code=around.same_code,
        texts_only=texts_only,
        imports=frozenset(n.partition(".")[0] for f in around.facts.values() if f for n in f.imports),
    )


def _is_prose(file: ChangedFile) -> bool:
    return file.status == "modified" and file.path.endswith(_PROSE)


def _files_and_surroundings(change: Change, base: Tree, head: Tree) -> tuple[list[ChangedFile], TreeContext]:
    """What can be run of a change, with what acts on its data in its place; and what both trees say of it."""
    files = [f for f in change.files if f.status != "deleted" and f.new_mode is not None]
    files = as_scripts(files, head)
    with ThreadPoolExecutor(1, thread_name_prefix="facts") as beside:  # each is a child that parses
        before = beside.submit(_facts_before, files, base)
        facts = _facts(files, head)
        around = TreeContext(
            base=frozenset(e.path for e in base.entries()),
            head=frozenset(e.path for e in head.entries()),
            facts=facts,
            before=before.result(),
        )
    same = frozenset(f.path for f in files if around.same(f, "code"))
    behind = acted_on([f for f in files if f.path not in same], head)
    replaced = {f.path for f in behind}
    files = [f for f in files if f.path not in replaced] + behind
    more = _facts([f for f in behind if f.path not in facts], head)
    around = replace(around, head=around.head | replaced, facts={**facts, **more}, same_code=same - replaced)
    return [f for f in files if f.path not in around.same_code], around


def _items(
    files: list[ChangedFile], base: Tree, head: Tree, around: TreeContext, *, deep: bool
) -> tuple[list[DriverItem], list[NotExercised]]:
    """What is to be run, and what of the files cannot be."""
    wanted: list[DriverItem] = []
    left: list[NotExercised] = []
    for outcome in (*_own_items(files, head, around), *entry_items(files, base, head, around)):
        if isinstance(outcome, DriverItem):
            wanted.append(outcome)
        else:
            left.append(outcome)
    wanted += _tests(files, head, around, deep=deep)
    tests = list(javascript_test_items(files, head, around, most=TESTS_DEEP if deep else RUNNER_TESTS))
    wanted = [*without_imports_of_tests(wanted, tests, head), *tests]
    wanted += doctest_items(files, head, around)
    return wanted, left


def _own_items(
    files: list[ChangedFile], head: Tree, around: TreeContext
) -> Iterator[DriverItem | NotExercised]:
    for file in files:
        yield from items_for(file, head, around)


def runtimes_of(plan: ExecutionPlan) -> tuple[str, ...]:
    """What the sandboxes of this plan need beside Python, for SandboxSpec.runtimes."""
    verbs = {item["do"] for probe in plan.probes if probe.driver for item in job_of(probe)["items"]}
    return ("javascript",) if verbs & _JAVASCRIPT else ()


def needs_room(plan: ExecutionPlan) -> bool:
    """Does a probe start more than one big program?"""
    return any(
        item["do"] == "javascript_test" for p in plan.probes if p.driver for item in job_of(p)["items"]
    )


def _idle_runtimes(probes: Sequence[Probe], deadline: float) -> Iterator[Probe]:
    """What a runtime does at its start by itself, once for each way in which the probes start it."""
    ways = {
        bool(item.get("typed")) or str(item.get("path")).endswith(_TYPED)
        for probe in probes
        for item in job_of(probe)["items"]
        if item["do"] in _JAVASCRIPT
    }
    for typed in sorted(ways):
        yield idle_probe(deadline, ("base",), {"do": "javascript"} | ({"typed": True} if typed else {}))


def _kept(probes: Sequence[Probe], most: int) -> list[Probe]:
    """What runs unasked is never left out, however big the change: the time budget tells when it is too
    much, and the check is then inconclusive. Scripts, calls and tests fill up what remains of ``most``.
    """
    unasked = [p for p in probes if p.phase in ("install", "import")]
    room = max(0, most - len(unasked))
    asked = [p for p in probes if p not in unasked][:room]
    return [p for p in probes if p in unasked or p in asked]


def deepen(plan: ExecutionPlan, reasons: Collection[str]) -> ExecutionPlan:
    """A second plan for what the first look gave a reason to doubt: with another persona and with the
    clock moved. ``reasons`` are probe ids or changed paths; empty means every probe of ``plan``.
    """
    return conditions.second_look(plan, reasons)


def unreached(runs: Iterable[RunRecord], plan: ExecutionPlan | None = None) -> tuple[NotExercised, ...]:
    """What the runs show not to have been exercised: missing dependencies, calls cut short, dark
    lines, and first those of them that the plan knows to be able to act. Belongs behind
    ``plan.not_exercised`` in the report.
    """
    told = tuple(runs)
    if plan is None:
        return coverage.unreached(told)
    return coverage.unreached(told, plan.acts, plan.commands, plan.asked)


def _facts(files: Sequence[ChangedFile], head: Tree) -> dict[str, Facts | None]:
    """Facts of the changed Python files, the biggest and the many left out (None)."""
    python = [f.path for f in files if f.language == "python" and f.new_mode in ("100644", "100755")]
    small = tuple(f.path for f in files if f.path in set(python[:_FACTS]) and f.size <= BIGGEST)
    return dict.fromkeys(python) | read_facts(dict(head.read_many(small)))


def _facts_before(files: Sequence[ChangedFile], base: Tree) -> dict[str, Facts | None]:
    """Facts of what the changed Python files were at base, by their path at head."""
    old = {f.old_path or f.path: f.path for f in files[:_FACTS] if f.language == "python" and f.old_blob}
    sources = {path: data for path, data in base.read_many(tuple(old)) if len(data) <= BIGGEST}
    return {old[path]: facts for path, facts in read_facts(sources).items()}


def _tests(files: Sequence[ChangedFile], head: Tree, around: TreeContext, *, deep: bool) -> list[DriverItem]:
    """One item for the changed tests and one for tests that have to do with the changed modules."""
    changed = [f for f in files if f.language == "python" and is_test(f.path)]
    others = [f for f in files if f.language == "python" and not is_test(f.path)]
    watched = {f.path: watched_spans(f, around.facts.get(f.path)) for f in (*others, *changed)}
    names = {name for f in others for name in changed_names(f, around.facts.get(f.path))}
    out = _test_items([f.path for f in changed], changed, around, watched, names)
    most = TESTS_DEEP if deep else TESTS_LIGHT
    modules = [module_of(f.path, around.head) for f in others]
    found = related_tests(head, modules, frozenset(f.path for f in changed), most=most, names=names)
    return out + _test_items(found, others, around, watched, names)


def _test_items(
    paths: Sequence[str],
    of: Sequence[ChangedFile],
    around: TreeContext,
    watched: dict[str, tuple[tuple[int, int], ...]],
    names: Collection[str],
) -> list[DriverItem]:
    """One item for each project that the test files belong to. ``of``: for whose sake they are run;
    ``names`` of what changed.
    """
    projects: dict[tuple[str, str | None], list[str]] = {}
    for path in paths:
        key = folder_of(path, around.head), manage_of(path, around.head)
        projects.setdefault(key, []).append(path)
    items = []
    for (folder, manage), mine in projects.items():
        file = next((f for f in of if f.path in mine), of[0])
        items.append(_test_item(file, mine, around, watched, folder=folder, manage=manage, names=names))
    return items


def _test_item(
    file: ChangedFile,
    paths: list[str],
    around: TreeContext,
    watched: dict[str, tuple[tuple[int, int], ...]],
    *,
    folder: str,
    manage: str | None,
    names: Collection[str],
) -> DriverItem:
    sides: list[Side] = ["base"] if any(p in around.base for p in paths) else []
    roots = module_of("x.py", around.head).roots
    if folder != ".":
        roots = tuple(dict.fromkeys((folder, *roots)))
    item: dict[str, Any] = {"do": "test", "paths": paths, "roots": list(roots)}
    if folder != ".":
        item["folder"] = folder
    if manage is not None:
        item["django"] = manage
    example = example_of(paths[0], around.head)
    if example is not None:
        item["env"] = example
    if names:
        item["names"] = sorted(names)[:_NAMES]
    return DriverItem(
        phase="test",
        target="test " + " ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else ""),
        file=file,
        item=item,
        sides=(*sides, "head"),
        lines=watched,
    )


def _probes(
    wanted: Iterable[DriverItem], deadline: float, acts: Mapping[str, AskedPlaces], *, texts_only: bool
) -> list[Probe]:
    """Probes in the order of their risk; cheap ones share a sandbox when there are many. ``acts``: where
    calls stand of which it matters whether they were made. ``texts_only``: no code changed.
    """
    ordered = sorted(wanted, key=lambda w: (-w.rank[0], -w.rank[1], w.file.path, w.target))
    together: dict[tuple[str, str], list[DriverItem]] = {}
    for item in ordered:
        if item.groupable:
            one_file = item.file.path if item.item["do"] == "shell" else ""  # its words, in its own tree
            together.setdefault((item.phase, one_file), []).append(item)
    groups: list[list[DriverItem]] = []
    for items in together.values():
        phase = items[0].phase
        size = 1 if len(items) <= ALONE.get(phase, 2) else GROUP.get(phase, 8)
        if phase == "import":
            size = max(size, min(BIGGEST_GROUP, -(-len(items) // IMPORT_PROBES)))
        groups += [items[n : n + size] for n in range(0, len(items), size)]
    groups += [[item] for item in ordered if not item.groupable]
    groups.sort(key=lambda g: (-g[0].rank[0], -g[0].rank[1], g[0].file.path, g[0].target))
    return [
        probe_of(group, deadline * _patience(group[0], texts_only) * _times_for(len(group)), acts=acts)
        for group in groups
    ]


def _times_for(items: int) -> float:
    """How many times as long a group may take as one item: each imports its application anew, which takes
    seconds for a large one. Never more than MOST_TIMES, which an endless import uses up.
    """
    return min(MOST_TIMES, 1 + (items - 1) / 4)


def _patience(item: DriverItem, texts_only: bool) -> float:
    """How many times as long a probe may take: a runner of JavaScript's tests starts several programs. Where
    nothing but documentation changed, tests can show next to nothing, and get a look.
    """
    if texts_only and item.phase == "test":
        return _GLANCE
    return RUNNER_PATIENCE if item.item["do"] == "javascript_test" else TIMES.get(item.phase, 1)
