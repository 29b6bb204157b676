"""Who asks for what in a lock: new packages that nothing explains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gate.supply.inputs.model import Input


def is_graph(inputs: Iterable[Input]) -> bool:
    """Does this lock tell what needs what?"""
    return any(one.needs for one in inputs)


def unasked(
    old: Sequence[Input], new: Sequence[Input], asks: Callable[[str], bool], *, manifest_changed: bool
) -> Iterator[tuple[Input, str, bool]]:
    """New names that neither what was there, nor what a manifest names, leads to; and those that only a
    package of an unchanged version newly leads to, where no manifest changed. ``(input, why, grave)``.
    """
    had = {one.name for one in old}
    added = [one for one in new if one.name not in had and one.kind != "path"]
    if not added or not is_graph(new):
        return
    roots = {one.name for one in new if one.name in had or asks(one.name)}
    before = {(one.name, one.version): frozenset(one.needs) for one in old}
    explained = _reached(roots, _edges(new, {}))
    plainly = explained if manifest_changed else _reached(roots, _edges(new, before))
    grew = {(one.name, one.version) for one in old} <= {(one.name, one.version) for one in new}
    for one in added:
        if one.name not in explained:
            yield one, "neither a manifest nor another package asks for it", True
        elif one.name not in plainly:
            yield one, "only packages ask for it whose versions did not change", grew


def _edges(inputs: Iterable[Input], before: Mapping[tuple[str, str], frozenset[str]]) -> dict[str, set[str]]:
    """Name to needs; of a version that was there before only what it needed then."""
    found: dict[str, set[str]] = {}
    for one in inputs:
        needs = before.get((one.name, one.version))
        found.setdefault(one.name, set()).update(one.needs if needs is None else needs)
    return found


def _reached(roots: Iterable[str], needs: Mapping[str, set[str]]) -> set[str]:
    reached = set(roots)
    waiting = list(reached)
    while waiting:
        for name in needs.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached
