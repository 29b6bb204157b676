"""Values that were changed and then checked, and that are checked and then changed. Pure.

A check of a path that is cleaned behind it, or of a sum that is converted behind it, looks at another value
than the one that is used (CWE-180, CWE-367).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.languages.naming import snake
from gate.protections.facts import Asked, FileFacts
from gate.protections.sequence.steps import changes, makes_plain
from gate.protections.unit_losses import Loss

_CALLERS: Final = 20
_Placed = tuple[str, Asked]


def order_losses(base: Mapping[str, FileFacts], head: Mapping[str, FileFacts]) -> Iterator[Loss]:
    """Each check of base whose value went through a change first, and does so no more where head asks it."""
    had, has = _by_key(base), _by_key(head)
    passed = _by_call(head)
    called = {call for facts in head.values() for unit in facts.units for call in unit.calls}
    plain = {snake(call) for call in called}
    own = {snake(u.name.rpartition(".")[2]) for side in (base, head) for f in side.values() for u in f.units}
    told: set[tuple[str, str]] = set()
    for key in sorted(had.keys() & has.keys()):
        for old_path, old in had[key]:
            before = {call for call in old.through if changes(call) or call in own}
            if not before:
                continue
            now = _same(old_path, old, has[key])
            ways = [(path, new, *_deeper(new, passed)) for path, new in now]
            if any(before <= through for _, _, through, _ in ways):
                continue
            for path, new, through, behind in ways:
                lost = before - through
                gone = sorted(c for c in lost if c in behind or (makes_plain(c) and c in plain))
                if gone and (old.within, gone[0]) not in told:
                    told.add((old.within, gone[0]))
                    yield _loss(path, new, old_path, old, gone[0])
                    break


def _by_key(files: Mapping[str, FileFacts]) -> dict[str, list[_Placed]]:
    found: dict[str, list[_Placed]] = {}
    for path, facts in files.items():
        for one in facts.asked:
            if one.key:
                found.setdefault(one.key, []).append((path, one))
    return found


def _by_call(files: Mapping[str, FileFacts]) -> dict[str, list[Asked]]:
    found: dict[str, list[Asked]] = {}
    for facts in files.values():
        for one in facts.asked:
            if one.passed:
                found.setdefault(one.passed, []).append(one)
    return found


def _same(path: str, old: Asked, has: list[_Placed]) -> list[_Placed]:
    """The same check at head: in its function, else in its file, else anywhere."""
    here = [one for one in has if one[1].within == old.within and one[0] == path]
    named = [one for one in has if one[1].within == old.within]
    return here or named or [one for one in has if one[0] == path] or has


def _deeper(new: Asked, passed: Mapping[str, list[Asked]]) -> tuple[set[str], set[str]]:
    """What a check's value went through, and goes through behind it, with one call above."""
    through, behind = {*new.through}, {*new.behind}
    callers = passed.get(snake(new.within), [])[:_CALLERS]
    if callers:
        through |= set.intersection(*({*one.through} for one in callers))
        behind |= {call for one in callers for call in one.behind}
    return through, behind


def _loss(path: str, new: Asked, old_path: str, old: Asked, changed: str) -> Loss:
    return Loss(
        how="weakened",
        family="values that are changed before they are checked",
        path=path,
        line=new.line,
        unit=new.within,
        before=(f"{old.text}, behind {changed}",),
        before_at=f"{old_path}:{old.line}",
        after=f"{new.text}, before {changed}",
    )
