"""What one unit loses against its partner of base, other than guards that are gone (compare.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.protections.facts import WHO, Guard, Unit, Weakness
from gate.protections.matching import Placed, Side
from gate.protections.strengths import weakened
from gate.protections.vocabulary import family_of, is_opening

How = Literal["removed", "loosened", "inverted", "opened", "weakened", "missing"]
_FORMS_OF_PATHS: Final = (
    "endswith(",
    "hassuffix(",
    "includes(",
    "contains(",
    "' in ",
    ".match(",
    ".test(",
    "search(",
)
_GOES_ON: Final = frozenset({
    "return", "return None", "return nil", "return null", "return next()", "return true", "return True",
})  # fmt: skip
"""How what was asked for goes on, where a hook ends early."""
_OVERRIDDEN: Final = frozenset({
    "has_permission", "has_object_permission", "test_func", "check_permissions", "check_object_permissions",
    "process_request", "process_view", "get_permissions", "get_queryset", "initial", "dispatch", "prepare",
    "has_add_permission", "has_change_permission", "has_delete_permission", "has_view_permission",
    "authenticate", "canActivate",
})  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """What one unit of head no longer refuses. ``line`` is head's; ``before`` and ``after`` are source lines.

    ``open``: it answers requests, and nothing that the change shows asks any more who sends them.
    ``mild``: it is often in order, as a check that now stands under a condition of the program's own.
    ``bare``: the unit is as it was but for this loss, and it decides who may do what it does.
    ``modest``: medium at most. ``key``: of what opens, its name.
    """

    how: How
    family: str
    path: str
    line: int
    unit: str
    before: tuple[str, ...]
    before_at: str
    after: str
    open: bool = False
    mild: bool = False
    bare: bool = False
    modest: bool = False
    key: str = ""


def is_as_before(old: Unit, new: Unit, *told: str, spare: int = 1) -> bool:
    """Is nothing in the unit new but what ``told`` (source lines of the loss) holds and ``spare`` words?

    Whoever takes a check out for a reason changes what it guarded, too; whoever takes it out alone does not.
    """
    lines = " ".join(told)
    words = [w for w in {*new.mentions} - {*old.mentions} if w not in lines]
    calls = [c for c in {*new.calls} - {*old.calls} if c not in lines]
    return len(words) <= spare and len(calls) <= spare and old.kind == new.kind


def decides(unit: Unit) -> bool:
    """Does it answer requests, decide about others, or guard all that stands below it?"""
    named = family_of(unit.name.rpartition(".")[2]) in (*WHO, "integrity")
    wide = unit.kind == "class" or any(g.form == "wide" for g in unit.guards)
    return unit.route or unit.check or named or wide


def weaker(old: Placed, new: Placed) -> Iterator[Loss]:
    """Quantities that protect, far less of them: shorter tokens, cheaper hashes, sessions without an end."""
    for before, after in weakened(old.unit.strengths, new.unit.strengths):
        yield Loss(
            how="weakened",
            family=before.what.partition(": ")[0],
            path=new.path,
            line=after.line,
            unit=new.unit.name,
            before=(before.text,),
            before_at=f"{old.path}:{before.line}",
            after=after.text,
        )


def dropped(old: Placed, base: Side, head: Side, now_at: Mapping[str, str]) -> Iterator[Loss]:
    """A method that decides who may, deleted from a class that is still there: the base class's says yes."""
    owner, _, method = old.unit.name.rpartition(".")
    telling = [g for g in old.unit.guards if g.family != "other" and g.form != "branch"]
    if not owner or method not in _OVERRIDDEN or not telling:
        return
    path = now_at.get(old.path, old.path)
    left = [one for one in head.classes.get(owner.rpartition(".")[2], ()) if one.path == path]
    had = {g.must for one in base.classes.get(owner.rpartition(".")[2], ()) for g in one.unit.guards}
    for one in left[:1]:
        if all(g.must in had for g in one.unit.guards) and one.unit.bases:
            yield Loss(
                how="removed",
                family=telling[0].family,
                path=one.path,
                line=one.unit.line,
                unit=one.unit.name,
                before=(f"def {method}: {telling[0].text}",),
                before_at=f"{old.path}:{old.unit.line}",
                after="",
            )


def let_by(old: Placed, new: Placed) -> Iterator[Loss]:
    """A hook that asks who somebody is, and now ends early for paths of a form: ``.json``, ``?x=/static/``.

    How a path ends, or what is in it, whoever asks writes as they like.
    """
    if not any(g.family in WHO and g.form in ("refusal", "wide") for g in new.unit.guards):
        return
    had = {atom for g in old.unit.guards for atom in g.must}
    for g in new.unit.guards:
        fresh = [atom for atom in g.must if atom not in had and atom.startswith("+") and _is_form(atom)]
        ends = g.text.rpartition("... ")[2].strip("; ") in _GOES_ON
        if ends and g.family == "other" and g.form == "refusal" and len(g.must) == 1 and fresh:
            yield Loss(
                how="weakened",
                family="paths that a check lets by",
                path=new.path,
                line=g.line,
                unit=new.unit.name,
                before=tuple(h.text for h in new.unit.guards if h.family in WHO)[:1],
                before_at=f"{old.path}:{old.unit.line}",
                after=g.text,
            )
            return


def _is_form(atom: str) -> bool:
    """Does a condition ask how a path ends, or what is in it?"""
    plain = atom.lower().replace("_", "")
    about = any(word in plain for word in ("path", "url", "uri"))
    return about and any(word in plain for word in _FORMS_OF_PATHS)


def late(old: Placed, new: Placed) -> Iterator[Loss]:
    """A check that stood before an act, and stands behind it at head: too late."""
    if not set(old.unit.acts) & set(new.unit.acts):
        return
    for g in old.unit.guards:
        if g.family not in (*WHO, "integrity", "place") or g.form not in ("refusal", "call"):
            continue
        same = [h for h in new.unit.guards if (h.must, h.form) == (g.must, g.form)]
        acts = set(old.unit.acts[g.behind :]) - set(old.unit.acts[: g.behind])
        if same and all(acts & set(new.unit.acts[: h.behind]) for h in same):
            yield Loss(
                how="loosened",
                family=g.family,
                path=new.path,
                line=same[0].line,
                unit=new.unit.name,
                before=(g.text,),
                before_at=f"{old.path}:{g.line}",
                after=f"behind what it guards: {same[0].text}",
                bare=decides(new.unit) and is_as_before(old.unit, new.unit),
            )
            return


def opened(old: Placed, new: Placed, guards: Iterable[Guard]) -> Iterator[Loss]:
    """What takes a protection away by being there, and was not there at base. ``guards``: base's, effective.
    A word such as ``login_not_required`` takes nothing away that is seen, where base asked nobody here.
    """
    asked = any(g.family in WHO for g in guards)
    had = Counter(w.key for w in old.unit.weaknesses)
    known = {*old.unit.mentions, *(atom for g in old.unit.guards for atom in g.must)}
    for w in new.unit.weaknesses:
        if w.needs and known.isdisjoint(w.needs):
            continue
        had[w.key] -= 1
        if had[w.key] < 0:
            alone = w.family in WHO and not w.modest and is_as_before(old.unit, new.unit, w.text)
            alone = alone and (asked or not is_opening(w.key))
            found = replace(_opening(w, new), before_at=f"{old.path}:{old.unit.line}", bare=alone)
            # Where base asked nobody, saying so aloud opens nothing that is seen.
            yield replace(found, modest=True) if is_opening(w.key) and not asked else found


def opened_anew(new: Placed) -> Iterator[Loss]:
    """The same of a function that base had not, where it counts whatever stood there before."""
    return (_opening(w, new) for w in new.unit.weaknesses if w.anew)


def _opening(w: Weakness, new: Placed) -> Loss:
    return Loss(
        how="opened",
        family=w.family,
        path=new.path,
        line=w.line,
        unit=new.unit.name,
        before=(),
        before_at="",
        after=w.text,
        mild=w.mild,
        modest=w.modest,
        key=w.key,
    )
