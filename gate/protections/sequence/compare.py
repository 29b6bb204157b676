"""Values that were changed and then checked, and that are checked and then changed. Pure.

A check of a path that is cleaned behind it, or of a sum that is converted behind it, looks at another value
than the one that is used (CWE-180, CWE-367).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gate.languages.naming import snake
from gate.protections.facts import Asked, FileFacts
from gate.protections.sequence.steps import changes, makes_plain, uses
from gate.protections.unit_losses import Loss
from gate.regex import regex

_CALLERS: Final = 20
_MAKING: Final = regex(
    r"[#_]*(?:get|load|find|fetch|read|create|make|new|build|init|open|is|has|check|list|query|select|on|set|handle)(?:_|$)"
)
"""Functions of the program's own that bring a value from elsewhere, and change none."""
_Placed = tuple[str, Asked]


def order_losses(base: Mapping[str, FileFacts], head: Mapping[str, FileFacts]) -> Iterator[Loss]:
    """Each check of base whose value went through a change first, and does so no more where head asks it."""
    had, has = _by_key(base), _by_key(head)
    passed = _by_call(head)
    inner = _calls_of(head)
    called = {call for facts in head.values() for unit in facts.units for call in unit.calls}
    plain = {snake(call) for call in called}
    own = {snake(u.name.rpartition(".")[2]) for side in (base, head) for f in side.values() for u in f.units}
    told: set[tuple[str, str]] = set()
    for key in sorted(had.keys() & has.keys()):
        for old_path, old in had[key]:
            before = {
                call for call in old.through if changes(call) or (call in own and not _MAKING.match(call))
            }
            if not before:
                continue
            now = _same(old_path, old, has[key], inner)
            ways = [(path, new, *_deeper(new, passed, inner)) for path, new in now]
            lost = before.difference(*(through for _, _, through, _ in ways))
            for path, new, _, behind in ways:
                gone = sorted(c for c in lost if c in behind or (makes_plain(c) and c in plain))
                if gone and (old.within, gone[0]) not in told:
                    told.add((old.within, gone[0]))
                    yield _loss(path, new, old_path, old, gone[0])
                    break


def other_value_losses(base: Mapping[str, FileFacts], head: Mapping[str, FileFacts]) -> Iterator[Loss]:
    """Functions that check a value in its plain form and used it in that form, and use it as it came now."""
    inner = _calls_of(head)
    for path in base.keys() & head.keys():
        old, new = _by_function(base[path]), _by_function(head[path])
        for name in sorted(old.keys() & new.keys()):
            yield from _other_value(path, old[name], new[name], inner)


def _other_value(
    path: str, old: list[Asked], new: list[Asked], inner: Mapping[str, set[str]]
) -> Iterator[Loss]:
    for check in (one for one in new if one.key):
        same = next((one for one in old if one.key == check.key), None)
        if same is None:
            continue
        for change in sorted({*same.through} & {*check.through}):
            for act in sorted({one.passed for one in old if uses(one.passed)}) if makes_plain(change) else ():
                before = [one for one in old if one.passed == act]
                after = [one for one in new if one.passed == act]
                was = bool(before) and all(change in one.through for one in before)
                if (
                    was
                    and len(after) == len(before)
                    and not any(change in _with_inner(one.through, inner) for one in after)
                ):
                    yield _loss(path, after[0], path, before[0], change)
                    return


def _by_function(facts: FileFacts) -> dict[str, list[Asked]]:
    found: dict[str, list[Asked]] = {}
    for one in facts.asked:
        found.setdefault(one.within, []).append(one)
    return found


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


def _same(path: str, old: Asked, has: list[_Placed], inner: Mapping[str, set[str]]) -> list[_Placed]:
    """The same check at head: in its function, or in one that this function calls."""
    here = [one for one in has if one[1].within == old.within and one[0] == path]
    named = [one for one in has if one[1].within == old.within]
    called = inner.get(snake(old.within), set())
    return here or named or [one for one in has if snake(one[1].within) in called]


def _calls_of(files: Mapping[str, FileFacts]) -> dict[str, set[str]]:
    """What the functions of the change call, by their last names."""
    found: dict[str, set[str]] = {}
    for unit in (u for facts in files.values() for u in facts.units if u.kind == "function"):
        found.setdefault(snake(unit.name.rpartition(".")[2]), set()).update(map(snake, unit.calls))
    return found


def _with_inner(through: Iterable[str], inner: Mapping[str, set[str]]) -> set[str]:
    """What a value went through, with what is called by functions of the change that it went through."""
    return {*through}.union(*(inner.get(call, set()) for call in through))


def _deeper(
    new: Asked, passed: Mapping[str, list[Asked]], inner: Mapping[str, set[str]]
) -> tuple[set[str], set[str]]:
    """What a check's value went through, and goes through behind it, with one call above and one below."""
    through, behind = _with_inner(new.through, inner), {*new.behind}
    callers = passed.get(snake(new.within), [])[:_CALLERS]
    if callers:
        through |= set.intersection(*(_with_inner(one.through, inner) for one in callers))
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
        after=f"{new.text}, without {changed}",
    )
