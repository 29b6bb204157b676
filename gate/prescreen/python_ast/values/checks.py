"""What a condition says of a text: it is one of some constants, has only letters, leads to a known host.

A check that holds makes the text harmless, for all classes or for some, on the way where it holds.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from gate.prescreen.python_ast.constants import NOT_CONST
from gate.prescreen.python_ast.values.calls import Calls
from gate.prescreen.python_ast.values.domain import CLEAN, UNSURE, State, Value, merged
from gate.prescreen.python_ast.values.expressions import Frame
from gate.prescreen.python_ast.values.holding import constants_of
from gate.prescreen.python_ast.values.library import DANGEROUS, EVERY, LETTERS, RESOLVED

_HOST: Final = frozenset({"redirect", "address"})
_PATTERNS: Final = {"re.fullmatch": True, "re.match": False}
_WIDE: Final = 200


class Checks(Calls):
    """The part of the reading that looks at conditions."""

    def narrowed(self, test: ast.expr, state: State, frame: Frame) -> tuple[State | None, State | None]:
        """The states where the condition holds, and where it does not; None where that cannot be."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yes, no = self.narrowed(test.operand, state, frame)
            return no, yes
        if isinstance(test, ast.BoolOp):
            return self._several(test, state, frame)
        decided = self.truth(test, state, frame)
        if decided is not None:
            return (state.copy(), None) if decided else (None, state.copy())
        yes, no = state.copy(), state.copy()
        for value, holds, safe in self._said(test, state, frame):
            _mark(yes if holds else no, value, safe)
        return yes, no

    def _several(self, test: ast.BoolOp, state: State, frame: Frame) -> tuple[State | None, State | None]:
        going: State | None = state
        ends: list[State | None] = []
        conjunction = isinstance(test.op, ast.And)
        for value in test.values:
            if going is None:
                break
            yes, no = self.narrowed(value, going, frame)
            going = yes if conjunction else no
            ends.append(no if conjunction else yes)
        other = merged(ends)
        return (going, other) if conjunction else (other, going)

    def _said(
        self, test: ast.expr, state: State, frame: Frame
    ) -> Iterator[tuple[Value, bool, frozenset[str]]]:
        """A value, the outcome of the test that says something, and the classes it then is safe for."""
        if isinstance(test, ast.NamedExpr):
            yield from self._said(test.value, state, frame)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            yield from self._compared(test, state, frame)
        elif isinstance(test, ast.Call):
            yield from self._called(test, state, frame)
        elif isinstance(test, ast.Attribute | ast.Name):
            value = self._look(test, state, frame)
            if value.part is not None and value.part[0] == "host":
                yield Value(ident=value.part[1]), False, _HOST

    def _compared(  # noqa: C901 - one case a kind of comparison
        self, test: ast.Compare, state: State, frame: Frame
    ) -> Iterator[tuple[Value, bool, frozenset[str]]]:
        op = test.ops[0]
        left, right = self._look(test.left, state, frame), self._look(test.comparators[0], state, frame)
        if isinstance(op, ast.Is | ast.IsNot):
            if isinstance(test.left, ast.Call):
                for value, holds, safe in self._called(test.left, state, frame):
                    none = right.const is None
                    yield value, (holds != isinstance(op, ast.Is)) if none else holds, safe
            return
        holds = isinstance(op, ast.Eq | ast.In)
        if not isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            return
        if isinstance(op, ast.In | ast.NotIn):
            yield from self._below(test.comparators[0], holds, state, frame)
            thing = state.heap.get(right.ref) if right.ref is not None else None
            known = constants_of(thing, state) is not NOT_CONST
            bag = thing is not None and thing.kind == "bag" and not thing.rest.taint
            chosen = not right.taint or (right.taint <= {UNSURE} and _is_setting(test.comparators[0]))
            if known or bag or isinstance(right.const, tuple | frozenset) or chosen:
                yield from self._fixed(left, holds)
            elif isinstance(left.const, str) and right.ident:
                missing = frozenset(
                    name for name, signs in DANGEROUS.items() if name == "path" and left.const == ".."
                )
                yield right, not holds, missing
            return
        for side in (test.left, test.comparators[0]):
            if isinstance(side, ast.Call) and "os.path.commonpath" in frame.module.names_of(side.func):
                for item in self._inside(side, state, frame):
                    yield item, holds, frozenset({"path"})
        for one, other in ((left, right), (right, left)):
            if not other.taint and one.taint:
                yield from self._fixed(one, holds)

    def _below(
        self, node: ast.expr, holds: bool, state: State, frame: Frame
    ) -> Iterator[tuple[Value, bool, frozenset[str]]]:
        """``folder in place.parents``: the place is below it, where it is resolved."""
        if isinstance(node, ast.Attribute) and node.attr == "parents":
            place = self._look(node.value, state, frame)
            if RESOLVED in place.safe:
                yield place, holds, frozenset({"path"})

    def _fixed(self, value: Value, holds: bool) -> Iterator[tuple[Value, bool, frozenset[str]]]:
        if value.part is not None:
            if value.part[0] == "host":
                yield Value(ident=value.part[1]), holds, _HOST
        elif value.taint:
            yield value, holds, EVERY

    def _inside(self, call: ast.Call, state: State, frame: Frame) -> Iterator[Value]:
        for argument in call.args:
            items = argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument]
            yield from (self._look(item, state, frame) for item in items)

    def _called(
        self, test: ast.Call, state: State, frame: Frame
    ) -> Iterator[tuple[Value, bool, frozenset[str]]]:
        names = frame.module.names_of(test.func)
        first = self._look(test.args[0], state, frame) if test.args else CLEAN
        if any(name.endswith("url_has_allowed_host_and_scheme") for name in names) and test.args:
            yield first, True, _HOST
        strict = next((_PATTERNS[name] for name in names if name in _PATTERNS), None)
        if strict is not None and len(test.args) >= 2 and isinstance(first.const, str):
            yield self._look(test.args[1], state, frame), True, kept_out(first.const, whole=strict)
        if not isinstance(test.func, ast.Attribute):
            return
        owner = self._look(test.func.value, state, frame)
        method = test.func.attr
        if method in LETTERS:
            yield owner, True, EVERY
        elif method in ("match", "fullmatch"):
            pattern = _compiled(frame, test.func.value)
            if pattern is not None and test.args:
                yield first, True, kept_out(pattern, whole=method == "fullmatch")
        elif method in ("startswith", "is_relative_to", "relative_to") and not first.taint:
            if RESOLVED in owner.safe:
                yield owner, True, frozenset({"path"})
            if isinstance(first.const, str) and _fixes_host(first.const):
                yield owner, True, _HOST

    def _look(self, node: ast.expr, state: State, frame: Frame) -> Value:
        """The value of a part of a condition that was evaluated before, on a copy of the state."""
        return (
            self.evaluate(node, state.copy(), frame)
            if not isinstance(node, ast.Name)
            else (state.env[node.id] if node.id in state.env else self.free_name(node, frame))
        )


def _mark(state: State, value: Value, safe: frozenset[str]) -> None:
    """All that is the same text is safe for these classes from here on."""
    if not value.ident or not safe:
        return
    whole = safe >= EVERY
    state.marks[value.ident] = state.marks.get(value.ident, frozenset()) | safe

    def marked(held: Value) -> Value:
        if held.ident != value.ident:
            return held
        return CLEAN if whole else replace(held, safe=held.safe | safe)

    for name, held in state.env.items():
        if held.ident == value.ident:
            state.env[name] = marked(held)
    for ref, thing in state.heap.items():
        if any(held.ident == value.ident for held in thing.items.values()):
            state.heap[ref] = replace(thing, items={k: marked(v) for k, v in thing.items.items()})


def _is_setting(node: ast.expr) -> bool:
    """``settings.HOSTS``, ``app.config["HOSTS"]``: whoever runs the program chooses it. A name that nobody
    knows may be anything, a text of the request's among it.
    """
    if isinstance(node, ast.Subscript):
        key = node.slice
        named = isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isupper()
        return named and isinstance(node.value, ast.Attribute | ast.Name) and "config" in _last(node.value)
    return isinstance(node, ast.Attribute) and node.attr.isupper() and "settings" in _last(node.value)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _fixes_host(text: str) -> bool:
    """``https://host/``: what starts so leads there."""
    scheme, found, rest = text.partition("://")
    return bool(found and scheme) and "/" in rest[1:]


def _compiled(frame: Frame, owner: ast.expr) -> str | None:
    """The pattern's text, for a name of the file that one was compiled under."""
    if not isinstance(owner, ast.Name):
        return None
    bindings = frame.module.bindings_of(owner)
    call = bindings[0].value if len(bindings) == 1 else None
    if isinstance(call, ast.Call) and "re.compile" in frame.module.names_of(call.func) and call.args:
        text = frame.module.const(call.args[0])
        return text if isinstance(text, str) else None
    return None


def kept_out(pattern: str, *, whole: bool) -> frozenset[str]:
    """The classes for which a text that fits the pattern has none of the characters that do harm."""
    from re import _constants as constants  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = list(parser.parse(pattern))
    except (re.error, ValueError, OverflowError, RecursionError):
        return frozenset()
    ends = [(constants.AT, constants.AT_END), (constants.AT, constants.AT_END_STRING)]
    if not whole and (not parsed or parsed[-1] not in ends):
        return frozenset()
    letters = _letters(parsed, constants)
    if letters is None:
        return frozenset()
    return frozenset(name for name, signs in DANGEROUS.items() if not letters & set(signs)) | (
        EVERY if letters <= _HARMLESS else frozenset()
    )


_HARMLESS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def _letters(parsed: list[Any], constants: Any) -> set[str] | None:
    """Every character that a text fitting the pattern may have; None where nobody knows."""
    out: set[str] = set()
    todo: list[tuple[Any, Any]] = list(parsed)
    while todo:
        kind, value = todo.pop()
        if kind is constants.LITERAL:
            out.add(chr(value))
        elif kind is constants.AT:
            continue
        elif kind is constants.IN:
            todo.extend(value)
        elif kind is constants.RANGE:
            if value[1] - value[0] > _WIDE:
                return None
            out |= {chr(c) for c in range(value[0], value[1] + 1)}
        elif kind is constants.CATEGORY and value in (constants.CATEGORY_DIGIT, constants.CATEGORY_WORD):
            out |= set(_HARMLESS - {"-"})
        elif kind in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
            todo.extend(value[2])
        elif kind is constants.SUBPATTERN:
            todo.extend(value[3])
        elif kind is constants.BRANCH:
            todo.extend(part for branch in value[1] for part in branch)
        else:
            return None
    return out
