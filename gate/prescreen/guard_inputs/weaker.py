"""What a changed file does to values that guards may read: changes that can make an answer another one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import structs

from gate.languages.naming import snake
from gate.prescreen.guard_inputs.facts import Declared, Facts, Function
from gate.prescreen.guard_inputs.types import LEFT_OUT
from gate.prescreen.guard_inputs.vocabulary import (
    ENDS,
    EQUALITY,
    EXACT,
    FINITE,
    FOLDS,
    IDENTITY,
    INEXACT,
    KEEPS,
    LOOSE,
    MODULO,
    REPEATS,
    SANITISES,
    SCALED,
    SHARES,
    STRICT,
    STRIPS,
    SUMS,
    UNITS,
    VERIFIER,
    WIDTHS,
)
from gate.regex import regex

_WORD: Final = regex(r"[A-Za-z_]\w*")
_FACTOR: Final = {"seconds": 1.0, "milliseconds": 1e3, "nanoseconds": 1e9}
_KEPT: Final = regex(
    r"\b(?:\w*(?:cache|memo|seen|known|until|kept|remembered|store|answers|results)\w*)\s*(?:\.get|\.has|\[|\.fetch"
    r"|\.Load|\.containsKey|\.TryGetValue)|\bnew (?:Map|WeakMap)\b|\bsync\.Map\b"
)
_MEMBER: Final = regex(r"(?:\.|->|@)([A-Za-z_]\w*)(?!\w*\s*\()")
_TAKES_OFF: Final = regex(r"-\s*\w|-=|\bsub(?:tract)?\b|\bminus\b")


class Weaker(NamedTuple):
    """``name`` is what guards read. ``needs``: the comparison by which it matters (order, equal, any)."""

    kind: str
    owner: str
    name: str
    line: int
    needs: str
    message: str
    direct: bool = False
    """It is told without a guard that is found: the name itself says that it lets somebody in."""


def weaker(base: Facts | None, head: Facts) -> Iterator[Weaker]:
    """Changes of one file. ``base`` None: a new file."""
    old = base or Facts([], [], [], [], [], [])
    before = {(one.owner, one.name): one for one in old.functions if one.name}
    yield from _narrower(old.declared, head.declared, before, head.functions)
    # Overloads share a name; what stands there as it did is none that changed.
    kept: dict[tuple[str, str], list[Function]] = {}
    for one in old.functions:
        kept.setdefault((one.owner, one.name), []).append(structs.replace(one, line=0))
    for one in head.functions:
        if one.name and structs.replace(one, line=0) in kept.get((one.owner, one.name), ()):
            continue
        was = before.get((one.owner, one.name)) if one.name else None
        if was is not None and was.body != one.body:
            yield from _answers(was, one)
        if one.name and (was is None or was.body != one.body):
            yield from _stripped(was, one)
        yield from _decorated(was, one)
        if was is not None:
            yield from _given_up(was, one)
    yield from _equality(old, head, before)
    yield from _left_out(old, head)
    yield from _wrapped(old, head)


def width(kind: str) -> int:
    """Bits of the narrowest number in a type; 0 where it holds none."""
    return next((bits for bits, words in WIDTHS.items() if words.search(kind)), 0)


def _narrower(
    old: list[Declared], new: list[Declared], before: Mapping[tuple[str, str], Function], now: list[Function]
) -> Iterator[Weaker]:
    had = {(one.owner, one.name): one for one in old}
    for one in new:
        was = had.get((one.owner, one.name))
        if was is None or was.type == one.type:
            continue
        a, b = width(was.type), width(one.type)
        if b and b < a and b <= 16:
            message = f"`{one.name}` holds {b} bits instead of {a}: it begins again, or is another number."
            yield Weaker("narrower", one.owner, one.name, one.line, "order", message)
    for function in now:
        was_there = before.get((function.owner, function.name))
        if was_there is None or not function.name or was_there.body == function.body:
            continue
        if MODULO.search(function.body) and not MODULO.search(was_there.body):
            for name in _reduced(function.body):
                message = f"`{name}` is a remainder now: it begins again where it counted on."
                yield Weaker("narrower", function.owner, name, function.line, "order", message)
        a, b = width(was_there.gives), width(function.gives)
        if b and b < a and b <= 16:
            message = f"`{function.name}` gives {b} bits instead of {a}."
            yield Weaker("narrower", function.owner, function.name, function.line, "order", message)


def _reduced(body: str) -> set[str]:
    found: set[str] = set()
    for line in body.split("\n"):
        if MODULO.search(line) and (
            match := re.match(r"\s*(?:(?:let|var|const|int|val)\s+)?([\w.>@$\[\]-]+)\s*[%&:]?=(?!=)", line)
        ):
            words = _WORD.findall(match[1])
            found |= {words[-1]} if words else set()
    return found


def _answers(was: Function, one: Function) -> Iterator[Weaker]:
    before, code = _code(was.body), _code(one.body)
    exact = bool(EXACT.search(was.gives) or EXACT.search(before)) and not INEXACT.search(before)
    types = EXACT.search(was.gives) and INEXACT.search(one.gives) and not INEXACT.search(was.gives)
    now = INEXACT.search(code) and not EXACT.search(code)
    if exact and (types or now) and INEXACT.search(code) and not FINITE.search(code):
        message = f"`{one.name}` gives a number that may be nan or infinite, which no comparison refuses."
        yield Weaker("inexact", one.owner, one.name, one.line, "order", message)
    a, b = unit_of(was.body), unit_of(one.body)
    if a and b and a != b:
        message = f"`{one.name}` counts {b} instead of {a}; what reads it is as it was."
        yield Weaker("unit", one.owner, one.name, one.line, "order", message)
    summed = SHARES.search(code) and SUMS.search(code) and not SUMS.search(before)
    if summed and not ENDS.search(code) and _TAKES_OFF.search(code):
        message = f"`{one.name}` takes off a sum of shares that has no end: it may be more than all."
        yield Weaker("endless", one.owner, one.name, one.line, "any", message, direct=True)


def _code(body: str) -> str:
    """A body without its texts and comments."""
    plain = re.sub(r'"""[\s\S]*?"""', "", body)
    return re.sub(r"//[^\n]*|#[^\n]*|\"[^\"\n]*\"|'[^'\n]*'", "", plain)


def unit_of(body: str) -> str:
    """The unit of the clock that a short function gives; empty where it reads none, or several."""
    code = _code(body)
    units = [unit for unit, pattern in UNITS.items() if pattern.search(code)]
    if len(units) != 1 or len(code) > 800:
        return ""
    factor = _FACTOR[units[0]]
    for operator, number in SCALED.findall(code):
        by = float(number.replace("_", ""))
        factor = factor * by if operator == "*" else factor / by
    return next((unit for unit, value in _FACTOR.items() if value == factor), "")


def _stripped(was: Function | None, one: Function) -> Iterator[Weaker]:
    """A function that says it makes safe, and takes a sequence out in one pass."""
    code = re.sub(r"//[^\n]*", "", one.body) if "//" in one.body else one.body
    if not SANITISES.search(snake(one.name)) or not STRIPS.search(code) or REPEATS.search(code):
        return
    if was is not None and STRIPS.search(was.body) and not REPEATS.search(was.body):
        return
    message = f"`{one.name}` takes a sequence out once: what is left may form it again (`....//`)."
    yield Weaker("once", one.owner, one.name, one.line, "any", message, direct=True)


def _decorated(was: Function | None, one: Function) -> Iterator[Weaker]:
    fresh = set(_WORD.findall(one.marks)) - set(_WORD.findall(was.marks if was else ""))
    if was is not None and VERIFIER.search(snake(one.name)) and any(KEEPS.search(snake(w)) for w in fresh):
        message = f"The answer of `{one.name}` is kept: it holds although what it was given for has ended."
        yield Weaker("kept", one.owner, one.name, one.line, "any", message, direct=True)


def _equality(old: Facts, head: Facts, before: Mapping[tuple[str, str], Function]) -> Iterator[Weaker]:
    fields: dict[str, set[str]] = {}
    for declared in head.declared:
        fields.setdefault(declared.owner, set()).add(declared.name)
    bodies = {(one.owner, one.name): one.body for one in head.functions}
    known = {one.owner for one in old.declared} | {one.owner for one in old.functions}
    for one in head.functions:
        if one.name not in EQUALITY or not one.owner or one.owner not in known:
            continue
        was = before.get((one.owner, one.name))
        whole = _with_helpers(one, bodies)
        if was is not None and whole == _with_helpers(
            was, {(f.owner, f.name): f.body for f in old.functions}
        ):
            continue
        own = fields.get(one.owner, set())
        read = own & set(_WORD.findall(whole))
        folds = set(FOLDS.findall(_code(whole)))
        if was is not None:
            lost = set(_MEMBER.findall(was.body)) - set(_MEMBER.findall(whole)) - {one.name}
            more = folds - set(FOLDS.findall(_code(was.body)))
        else:
            lost = own - read if one.owner in old.structural and read else set()
            more = folds if one.owner in old.structural or one.name in ("__eq__", "==", "Equal") else set()
        if lost or more:
            less = (
                f"without {', '.join(sorted(lost)[:4])}" if lost else f"after {', '.join(sorted(more)[:3])}"
            )
            message = f"Two of `{one.owner}` are equal {less}, where all of them was compared."
            yield Weaker("equality", one.owner, one.owner, one.line, "equal", message)


def _left_out(old: Facts, head: Facts) -> Iterator[Weaker]:
    had = {(one.owner, one.name): one.type for one in old.declared}
    for one in head.declared:
        was = had.get((one.owner, one.name))
        if was is not None and LEFT_OUT in one.type and LEFT_OUT not in was:
            message = f"Two of `{one.owner}` are equal without {one.name}, where all of them was compared."
            yield Weaker("equality", one.owner, one.owner, one.line, "equal", message)


def _given_up(was: Function, one: Function) -> Iterator[Weaker]:
    """What is true of a call that says nothing of it: less strict, or more is let through."""
    for name, value in one.defaults.items():
        before, now = was.defaults.get(name, "").lower(), value.lower()
        strict = STRICT.search(snake(name)) and (before, now) in (("true", "false"), ("true", "none"))
        if strict or (LOOSE.search(snake(name)) and (before, now) == ("false", "true")):
            message = f"`{one.name}` has `{name}={value}` where a call says nothing; it was {before}."
            yield Weaker("default", one.owner, one.name, one.line, "any", message, direct=True)


def elsewhere(old: Facts | None, head: Facts) -> Iterator[tuple[Weaker, str]]:
    """Verifiers that come from another module than before, with the module that they came from."""
    had = {name: module for name, module, _ in (old.imports if old is not None else ())}
    for name, module, line in head.imports:
        was = had.get(name)
        if was is not None and was != module and VERIFIER.search(snake(name)):
            message = f"`{name}` comes from `{module}` instead of `{was}`, which is still there."
            yield Weaker("import", "", name, line, "any", message, direct=True), was


def _with_helpers(one: Function, bodies: Mapping[tuple[str, str], str]) -> str:
    """A body with those of the own methods that it calls, two steps far."""
    whole, seen = one.body, {one.name}
    for _ in range(2):
        for name in {*_WORD.findall(whole)} - seen:
            if (one.owner, name) in bodies:
                seen.add(name)
                whole += "\n" + bodies[one.owner, name]
    return whole


def _wrapped(old: Facts, head: Facts) -> Iterator[Weaker]:
    """A verifier that is newly handed to a function which keeps answers."""
    had = {(called, name) for called, name, _, _ in old.wrapped}
    bodies = {one.name: one.body for one in head.functions if one.name}
    for called, name, line, _text in head.wrapped:
        if (called, name) in had:
            continue
        keeps = KEEPS.search(snake(called)) or (called in bodies and _KEPT.search(bodies[called]))
        if keeps:
            message = f"Answers of `{name}` are kept by `{called}`: one that was right stays right."
            yield Weaker("kept", "", name, line, "any", message, direct=True)


def shadows(
    head: Facts,
    old: Facts | None,
    embeds: Mapping[str, set[str]],
    members: Mapping[str, set[str]],
    existing: set[str],
) -> Iterator[Weaker]:
    """New methods that stand before one of an embedded or extended type that base's callers reached."""
    had = {(one.owner, one.name) for one in (old.functions if old else ())}
    for one in head.functions:
        if not one.owner or (one.owner, one.name) in had or one.owner not in existing:
            continue
        above = next((t for t in embeds.get(one.owner, ()) if one.name in members.get(t, ())), "")
        if (
            above
            and IDENTITY.match(snake(one.name))
            and not re.search(rf"\bsuper\b|\.{one.name}\(", one.body)
        ):
            message = f"`{one.owner}.{one.name}` stands before `{above}.{one.name}`, which guards called."
            yield Weaker("shadows", one.owner, one.name, one.line, "any", message)
