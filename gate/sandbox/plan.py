"""Decides what to run for a change: docs/probes.md is this file in words.

Everything is judged from tree objects as data. Nothing of the change is imported here, and what is
not run is said (``NotExercised``), never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from gate.model.change import Change, ChangedFile, Side, Tree
from gate.model.run import ExecutionPlan, NotExercised, Probe, RunRecord
from gate.sandbox.planning import deeper, reached
from gate.sandbox.planning.acting import acting, places
from gate.sandbox.planning.behind import acted_on
from gate.sandbox.planning.doctests import doctest_items
from gate.sandbox.planning.items import items_for
from gate.sandbox.planning.layout import is_test, module_of
from gate.sandbox.planning.probes import Places, Wanted, idle_probe, job_of, probe_of
from gate.sandbox.planning.programs import entry_items
from gate.sandbox.planning.related import related_tests
from gate.sandbox.planning.shell_acts import acting_commands
from gate.sandbox.planning.source import BIGGEST, Facts, read_facts
from gate.sandbox.planning.sourced import as_scripts
from gate.sandbox.planning.surroundings import Surroundings, changed_spans

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
TESTS_LIGHT: Final = 6
TESTS_DEEP: Final = 60
_JAVASCRIPT: Final = frozenset({"javascript", "javascript_main", "lifecycle"})
_TYPED: Final = (".ts", ".mts", ".cts", ".tsx", ".jsx")
_FACTS: Final = 400
"""Changed Python files that are parsed for functions to call."""


def make_plan(change: Change, base: Tree, head: Tree, *, deadline: float, deep: bool) -> ExecutionPlan:
    """The probes for a change, riskiest first, and what no probe reaches.

    ``deadline`` is seconds of wall time for one probe. ``deep`` widens the choice of tests and the
    number of probes. A change with nothing to run gives an empty plan. Raises nothing for what
    the trees hold.
    """
    files = [f for f in change.files if f.status != "deleted" and f.new_mode is not None]
    files = as_scripts(files, head)
    behind = acted_on(files, head)
    replaced = {f.path for f in behind}
    files = [f for f in files if f.path not in replaced] + behind
    around = Surroundings(
        base=frozenset(e.path for e in base.entries()),
        head=frozenset(e.path for e in head.entries()) | {f.path for f in behind},
        facts=_facts(files, head),
        before=_facts_before(files, base),
    )
    wanted: list[Wanted] = []
    left: list[NotExercised] = []
    for file in files:
        for outcome in items_for(file, head, around):
            if isinstance(outcome, Wanted):
                wanted.append(outcome)
            else:
                left.append(outcome)
    for outcome in entry_items(files, base, head, around):
        if isinstance(outcome, Wanted):
            wanted.append(outcome)
        else:
            left.append(outcome)
    wanted += _tests(files, head, around, deep=deep)
    wanted += doctest_items(files, head, around)
    probes = _probes(wanted, deadline, places(files, around.facts))
    most = MOST_DEEP if deep else MOST_LIGHT
    kept = _kept(probes, most)
    left += [
        NotExercised(
            path=p.path or "", target=p.target, reason=f"the change is big: only {most} probes are run"
        )
        for p in probes
        if p not in kept
    ]
    acts, unread = acting(files, around.facts, head)
    left += unread
    commands, unread = acting_commands(files, head)
    left += unread
    if not kept:
        return ExecutionPlan(probes=(), not_exercised=tuple(left), acts=acts, commands=commands)
    # At base always: what it does is subtracted from everybody's, so nothing of head may come near it.
    idle = [idle_probe(deadline, ("base",)), *_idle_runtimes(kept, deadline)]
    return ExecutionPlan(probes=(*idle, *kept), not_exercised=tuple(left), acts=acts, commands=commands)


def runtimes_of(plan: ExecutionPlan) -> tuple[str, ...]:
    """What the sandboxes of this plan need beside Python, for SandboxSpec.runtimes."""
    verbs = {item["do"] for probe in plan.probes if probe.driver for item in job_of(probe)["items"]}
    return ("javascript",) if verbs & _JAVASCRIPT else ()


def _idle_runtimes(probes: Sequence[Probe], deadline: float) -> Iterator[Probe]:
    """What a runtime does at its start by itself, once for each way in which the probes start it."""
    ways = {
        bool(item.get("typed")) or str(item["path"]).endswith(_TYPED)
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
    return deeper.second_look(plan, reasons)


def unreached(runs: Iterable[RunRecord], plan: ExecutionPlan | None = None) -> tuple[NotExercised, ...]:
    """What the runs show not to have been exercised: missing dependencies, calls cut short, dark
    lines, and first those of them that the plan knows to be able to act. Belongs behind
    ``plan.not_exercised`` in the report.
    """
    told = tuple(runs)
    return reached.unreached(told, plan.acts if plan else {}, plan.commands if plan else {})


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


def _tests(files: Sequence[ChangedFile], head: Tree, around: Surroundings, *, deep: bool) -> list[Wanted]:
    """One item for the changed tests and one for tests that have to do with the changed modules."""
    changed = [f for f in files if f.language == "python" and is_test(f.path)]
    others = [f for f in files if f.language == "python" and not is_test(f.path)]
    out = []
    roots = list(module_of("x.py", around.head).roots)
    watched = {f.path: changed_spans(f) for f in (*others, *changed)}
    if changed:
        out.append(_test_item(changed[0], [f.path for f in changed], roots, around, watched))
    most = TESTS_DEEP if deep else TESTS_LIGHT
    modules = [module_of(f.path, around.head) for f in others]
    found = related_tests(head, modules, frozenset(f.path for f in changed), most=most)
    if found:
        out.append(_test_item(others[0], found, roots, around, watched))
    return out


def _test_item(
    file: ChangedFile,
    paths: list[str],
    roots: list[str],
    around: Surroundings,
    watched: dict[str, tuple[tuple[int, int], ...]],
) -> Wanted:
    sides: list[Side] = ["base"] if any(p in around.base for p in paths) else []
    return Wanted(
        phase="test",
        target="test " + " ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else ""),
        file=file,
        item={"do": "test", "paths": paths, "roots": roots},
        sides=(*sides, "head"),
        lines=watched,
    )


def _probes(wanted: Iterable[Wanted], deadline: float, acts: Mapping[str, Places]) -> list[Probe]:
    """Probes in the order of their risk; cheap ones share a sandbox when there are many. ``acts``: where
    calls stand of which it matters whether they were made.
    """
    ordered = sorted(wanted, key=lambda w: (-w.rank[0], -w.rank[1], w.file.path, w.target))
    together: dict[tuple[str, str], list[Wanted]] = {}
    for item in ordered:
        if item.groupable:
            one_file = item.file.path if item.item["do"] == "shell" else ""  # its words, in its own tree
            together.setdefault((item.phase, one_file), []).append(item)
    groups: list[list[Wanted]] = []
    for items in together.values():
        phase = items[0].phase
        size = 1 if len(items) <= ALONE.get(phase, 2) else GROUP.get(phase, 8)
        if phase == "import":
            size = max(size, min(BIGGEST_GROUP, -(-len(items) // IMPORT_PROBES)))
        groups += [items[n : n + size] for n in range(0, len(items), size)]
    groups += [[item] for item in ordered if not item.groupable]
    groups.sort(key=lambda g: (-g[0].rank[0], -g[0].rank[1], g[0].file.path, g[0].target))
    return [probe_of(group, deadline, acts=acts) for group in groups]
