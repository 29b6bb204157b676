"""Sets a check up with the project's dependencies: what base needs for both sides, what head adds for head.

Base's files say what is installed for base; head's, where they differ, for head, into a layer of its own. A
new or updated package gets a probe of its own, so that what its import does is told as the package's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from gate.dataclass import dataclass
from gate.model.change import Change, Side, Tree
from gate.model.run import NotExercised, Probe, RunRecord
from gate.plan.probes import dependency_probe
from gate.sandbox.dependencies import layers
from gate.sandbox.dependencies.install import InstallContext, Installed, install
from gate.sandbox.dependencies.requirements import RequirementSet, Setup, read_requirements
from gate.sandbox.dependencies.result_archive import Distribution

MOST_PROBED: Final = 20
"""New packages that get a probe of their own."""
NOTHING: Final = "nothing to install"
_NEW: Final = "dependencies that the change adds"


@dataclass(frozen=True, kw_only=True)
class Order:
    """What the settings ask for: ``files`` names requirements files (empty: those at the root), ``head``
    whether head's additions are installed, ``builds`` whether packages may be built; ``deadline`` of one
    probe, seconds.
    """

    setup: Setup
    files: tuple[str, ...] = ()
    head: bool = True
    builds: bool = False
    deadline: float = 20.0


@dataclass(frozen=True, kw_only=True)
class SetUp:
    """What came of it. ``layers``: Python's; ``modules``: JavaScript's, with ``links``, which are laid
    into each side's tree (place, target). ``problems`` are reasons why the look is not what was asked for;
    ``summary`` is one line for people. ``runs`` keep their traces in the context's folder.
    """

    layers: dict[Side, Path] = field(default_factory=dict)
    modules: dict[Side, Path] = field(default_factory=dict)
    links: dict[Side, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    runs: tuple[RunRecord, ...] = ()
    probes: tuple[Probe, ...] = ()
    not_exercised: tuple[NotExercised, ...] = ()
    problems: tuple[str, ...] = ()
    summary: str = ""


def set_up(context: InstallContext, change: Change, base: Tree, head: Tree, *, order: Order) -> SetUp:
    """Install what each side needs.

    Raises InconclusiveError where no sandbox can be put up, or nothing can be kept.
    """
    context.store.sweep()
    needs: dict[Side, RequirementSet] = {
        "base": _wanted(base, order),
        "head": _wanted(head, order),
    }
    path = _path(change, needs)
    same = needs["base"].files == needs["head"].files and needs["base"].roots == needs["head"].roots
    done: dict[Side, Installed] = {}
    left = [NotExercised(path=p, target="a line of it", reason=why) for p, why in _left(needs["head"])]
    if needs["base"]:
        done["base"] = install(context, needs["base"], "base", path=path)
    if same and "base" in done:
        done["head"] = for_head(done["base"])
    elif needs["head"] and order.head:
        done["head"] = install(context, needs["head"], "head", path=path)
    elif needs["head"]:
        reason = "sandbox.setup_head is off: only base's are installed"
        left.append(NotExercised(path=path, target=_NEW, reason=reason))
    problems = []
    for side, what in done.items():
        problem = what.problem
        if problem is None or (side == "head" and same):
            continue
        if side == "base" or problem.ours:
            problems.append(f"dependencies of {side}: {problem.text}")
        else:
            left.append(NotExercised(path=path, target=_NEW, reason=problem.text))
    laid: dict[Side, Path] = {side: of.layer.tar for side, of in done.items() if of.layer is not None}
    if "head" not in laid and "base" in laid and needs["head"]:
        laid["head"] = laid["base"]  # what head adds is missing, and told
    return SetUp(
        layers=laid,
        runs=tuple(what.record for what in done.values() if what.record is not None),
        probes=probes_of_new(done, same=same, path=path, deadline=order.deadline),
        not_exercised=tuple(left),
        problems=tuple(problems),
        summary=summary(done, same=same),
    )


def asks_otherwise(change: Change, base: Tree, head: Tree, order: Order) -> bool:
    """True when head needs something else than base."""
    before, after = (_wanted(tree, order) for tree in (base, head))
    return (before.files, before.roots) != (after.files, after.roots) and bool(change.files)


def for_head(base: Installed) -> Installed:
    """Base's installation as head's, which needs the same."""
    return base if base.record is None else replace(base, record=replace(base.record, side="head"))


def _wanted(tree: Tree, order: Order) -> RequirementSet:
    return read_requirements(tree, order.setup, order.files, builds=order.builds)


def _path(change: Change, needs: dict[Side, RequirementSet]) -> str:
    """The file that installing is told to be about: the one that the change touches, where it touches one."""
    paths = [*needs["head"].paths, *needs["base"].paths]
    changed = {file.path for file in change.files}
    return next((path for path in paths if path in changed), paths[0] if paths else "")


def _left(of: RequirementSet) -> Iterable[tuple[str, str]]:
    for line in of.left:
        path, _, text = line.partition(": ")
        yield path, f"not installed: {text}"


def _packages(of: Installed | None) -> dict[str, Distribution]:
    return {d.key: d for d in of.layer.distributions} if of is not None and of.layer is not None else {}


def _new(done: dict[Side, Installed], *, same: bool) -> list[tuple[Distribution, tuple[Side, ...]]]:
    """Packages that head has and base has not, or in another version; and the sides that have one."""
    before, after = _packages(done.get("base")), _packages(done.get("head"))
    if same:
        return []
    return [
        (package, ("base", "head") if key in before else ("head",))
        for key, package in sorted(after.items())
        if key not in before or before[key].version != package.version
    ]


def probes_of_new(
    done: dict[Side, Installed], *, same: bool, path: str, deadline: float
) -> tuple[Probe, ...]:
    """A probe for each package that head has and base has not, or in another version."""
    return tuple(
        dependency_probe(
            str(package),
            package.modules,
            path=path,
            deadline=deadline,
            sides=sides,
            folder=layers.FOLDER,
            at_start=package.at_start,
        )
        for package, sides in _new(done, same=same)[:MOST_PROBED]
        if package.modules or package.at_start
    )


def summary(done: dict[Side, Installed], *, same: bool) -> str:
    """One line for people: how many packages, and which are new."""
    words = []
    for side, what in done.items():
        if what.layer is not None and not (side == "head" and same):
            count, kept = len(what.layer.distributions), ", kept from before" if what.layer.cached else ""
            words.append(f"{count} package{'' if count == 1 else 's'} for {side}{kept}")
    new = [str(package) for package, _ in _new(done, same=same)]
    if new:
        words.append(f"new: {', '.join(new[:5])}" + (f" and {len(new) - 5} more" if new[5:] else ""))
    return "; ".join(words) or NOTHING
