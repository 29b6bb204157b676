"""Checks that are still called, and whose answer nobody hears any more. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.protections.facts import FileFacts, Heard
from gate.protections.heard.names import is_question
from gate.protections.unit_losses import Loss

_HEARD: Final = ("awaited", "used", "bare")
_Placed = tuple[str, Heard]


def unheard_losses(base: Mapping[str, FileFacts], head: Mapping[str, FileFacts]) -> Iterator[Loss]:
    """Each call of a check that is heard less than the one of base that it stands for.

    Compared over the whole change by name, as many of each kind as both have left out: what moved is no
    loss, and one more call in the background takes nothing away.
    """
    had, has = _by_name(base), _by_name(head)
    for name in sorted(had.keys() & has.keys()):
        defined = {one.how for _, one in has[name] if one.how.startswith("defined")}
        before = [one for one in had[name] if one[1].how in _HEARD]
        after = [one for one in has[name] if not one[1].how.startswith("defined")]
        for one in [*before]:
            same = next((x for x in after if x[1].how == one[1].how), None)
            if same is not None:
                before.remove(one)
                after.remove(same)
        yield from _answers_only(name, had[name], has[name])
        for path, new in after:
            old = next((x for x in before if _is_less(x[1], new, defined)), None)
            if old is not None:
                before.remove(old)
                yield _loss(name, path, new, *old)


def _answers_only(name: str, had: list[_Placed], has: list[_Placed]) -> Iterator[Loss]:
    """A check that raised, and only answers now, while whoever calls it in the change asks no answer."""
    before = [one for one in had if one[1].how.startswith("defined")]
    after = [one for one in has if one[1].how.startswith("defined")]
    if len(before) != 1 or len(after) != 1 or not before[0][1].raises or after[0][1].raises:
        return
    ways = {one.how for _, one in has}
    if not is_question(after[0][1].text) and ways & {"bare", "awaited"} and "used" not in ways:
        yield _loss(name, *after[0], *before[0])


def _is_less(old: Heard, new: Heard, defined: set[str]) -> bool:
    if new.how == "apart":
        return old.how in _HEARD
    if new.how != "bare":
        return False
    if old.how == "awaited":
        return new.awaits and "defined sync" not in defined
    return old.how == "used" and (new.errors or is_question(new.name)) and "defined" not in "".join(defined)


def _by_name(files: Mapping[str, FileFacts]) -> dict[str, list[_Placed]]:
    found: dict[str, list[_Placed]] = {}
    for path, facts in files.items():
        for one in facts.heard:
            found.setdefault(one.name, []).append((path, one))
    return found


def _loss(name: str, path: str, new: Heard, old_path: str, old: Heard) -> Loss:
    return Loss(
        how="weakened",
        family=f"checks whose answer somebody waits for: {name}",
        path=path,
        line=new.line,
        unit=new.within,
        before=(old.text,),
        before_at=f"{old_path}:{old.line}",
        after=new.text,
    )
