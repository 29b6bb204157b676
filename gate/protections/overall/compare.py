"""What all files of base have of a protection, against all files of head: what moved is still there. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.protections.facts import FileFacts, Strength
from gate.protections.unit_losses import Loss

_Told = tuple[str, Strength]


def overall_losses(base: Mapping[str, FileFacts], head: Mapping[str, FileFacts]) -> Iterator[Loss]:
    """Each that is worth less at head than the one of base that it stands for.

    What is alike on both sides is left out first, so that a call which only moved, or a new strong one, hides
    nothing and tells nothing; a weak one that is new counts only where a strong one is gone.
    """
    had, has = _by_what(base), _by_what(head)
    for what in sorted(had.keys() & has.keys()):
        before, after = _without_equals(had[what], has[what])
        before.sort(key=lambda one: -one[1].amount)
        after.sort(key=lambda one: one[1].amount)
        for (old_path, old), (path, new) in zip(before, after, strict=False):
            if new.amount < old.amount:
                yield Loss(
                    how="weakened",
                    family=what,
                    path=path,
                    line=new.line,
                    unit="",
                    before=(old.text,),
                    before_at=f"{old_path}:{old.line}",
                    after=new.text,
                )


def _by_what(files: Mapping[str, FileFacts]) -> dict[str, list[_Told]]:
    found: dict[str, list[_Told]] = {}
    for path, facts in files.items():
        for one in facts.overall:
            found.setdefault(one.what, []).append((path, one))
    return found


def _without_equals(had: list[_Told], has: list[_Told]) -> tuple[list[_Told], list[_Told]]:
    """The same lists without as many of each amount as both have; those with the same text go first."""
    before, after = [*had], [*has]
    for same_text in (True, False):
        for one in [*before]:
            match = next(
                (
                    other for other in after
                    if other[1].amount == one[1].amount and (not same_text or other[1].text == one[1].text)
                ),
                None,
            )  # fmt: skip
            if match is not None:
                before.remove(one)
                after.remove(match)
    return before, after
