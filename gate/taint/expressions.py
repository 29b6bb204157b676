"""Reads expressions: what a value may hold, and what is known of it at this place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from gate.taint.checks import Conditions, Facts, all_of
from gate.taint.judged import judged
from gate.taint.program import SPREAD, Node
from gate.taint.state import Open, State
from gate.taint.texts import built
from gate.taint.values import ALL, NOTHING, Atom, Tags, Value, joined

if TYPE_CHECKING:
    from gate.taint.calls import Calls
    from gate.taint.language import Language

DEEP: Final = 60
_FOR_PATHS: Final = frozenset({"path", ALL})


class Expressions:
    """Of one walk, which has the statements."""

    language: Language
    bodies: dict[str, Node]
    judging: int
    checked: set[tuple[int, Atom]]
    """By function, what was checked as a path anywhere in it."""
    present: set[Atom]
    """What is not missing, since its absence was refused."""
    closed: set[str]
    """Members that hold a text which ends with a separator."""
    state: State
    calling: Calls
    open: list[Open]
    depth: int

    def exec(self, node: Node) -> Value:
        """One statement."""
        raise NotImplementedError

    def function(self, node: Node, given: list[Value] | None = None) -> Value:
        """Reads a function."""
        raise NotImplementedError

    def later(self, node: Node) -> None:
        """Reads a named function when its file is read."""
        raise NotImplementedError

    def value(self, node: Node) -> Value:
        """What an expression may hold."""
        made = _VALUES.get(node.kind)
        if made is None:
            return self.exec(node)
        self.depth += 1
        if self.depth > DEEP * 3:
            self.depth -= 1
            return NOTHING
        found = made(self, node)
        self.depth -= 1
        return found

    def constant(self, node: Node) -> Value:
        """A literal."""
        return Value(const=node.text.strip("'\"") if node.text else None)

    def name(self, node: Node) -> Value:
        """A variable, an import or what the language gives."""
        found = self.state.env.get(node.text)
        if found is not None:
            return found
        return self.calling.bare(node)

    def member(self, node: Node) -> Value:
        """``a.b``."""
        base = self.value(node.parts[0])
        return self.calling.member(base, node.text, node)

    def index(self, node: Node) -> Value:
        """``a[b]``: an entry of what is known, part of what is not."""
        base, key = self.value(node.parts[0]), self.value(node.parts[1])
        if key.const is not None:
            return self.calling.member(base, key.const.lstrip(":"), node)
        if base.fields:
            return joined([*base.fields.values(), Value(base.atoms)])
        return self.calling.item_of(base)

    def concat(self, node: Node) -> Value:
        """A text put together."""
        return built([self.value(part) for part in node.parts])

    def any_(self, node: Node) -> Value:
        """One of its parts."""
        return joined([self.value(part) for part in node.parts])

    def choice(self, node: Node) -> Value:
        """``a ? b : c``, each with what its condition says."""
        test, then, other = node.parts
        self.value(test)
        truth = self.truth(test)
        conditions = self.conditions()
        values = []
        for holds, part in ((True, then), (False, other)):
            if truth is None or truth is holds:
                before = self.state
                self.state = before.copy()
                self.learn(conditions.facts(test, holds))
                values.append(self.safe(self.value(part)))
                before.ended = before.ended or (self.state.ended and truth is not None)
                self.state = before
        return joined(values)

    def both(self, node: Node) -> Value:
        """``a && b``, ``a || b``: the right side with what the left one says."""
        left, right = node.parts
        value = self.value(left)
        holds = node.kind == "and"
        facts = self.conditions().facts(left, holds)
        before = self.state
        self.state = before.copy()
        self.learn(facts)
        other = self.safe(self.value(right))
        ended, self.state = self.state.ended, before
        if ended:  # `x or return`
            self.learn(self.conditions().facts(left, not holds))
        return joined([value, other]) if node.kind == "or" else other

    def test(self, node: Node) -> Value:
        """An answer has no text."""
        for part in node.parts:
            self.value(part)
        return NOTHING

    def list_(self, node: Node) -> Value:
        """Items, of which any may be taken."""
        return Value(joined([Value(self.value(part).whole()) for part in node.parts]).atoms, kind="[]")

    def object_(self, node: Node) -> Value:
        """Entries by their keys."""
        fields: dict[str, Value] = {}
        spread: list[Value] = []
        known = True
        for key, part in zip(node.keys, node.parts, strict=True):
            value = self.value(part)
            if key in (SPREAD, "?", "+", ""):
                known = known and value.fields is not None and key == SPREAD
                spread.append(Value(value.whole()))
                fields.update(value.fields or {} if key == SPREAD else {})
            else:
                fields[key] = value
        rest = joined(spread).atoms if spread and not known else {}
        return Value(dict(rest), kind=node.text, fields=fields)

    def lambda_(self, node: Node) -> Value:
        """A function as a value: read where it stands."""
        if node.text and len(self.open) == 1:
            self.later(node)
        else:
            self.function(node)
        return Value(function=node)

    def call(self, node: Node) -> Value:
        """A call of anything."""
        return self.calling.call(node)

    # What is known.

    def conditions(self) -> Conditions:
        """Reads conditions at this place without telling anything of what they hold."""
        return Conditions(
            self.quiet, self.state.known, self.language.name, self.closed, partial(judged, self)
        )

    def quiet(self, node: Node) -> Value:
        """The value of an expression that was told of before."""
        self.calling.silent += 1
        try:
            return self.value(node)
        finally:
            self.calling.silent -= 1

    def learn(self, facts: Facts) -> None:
        """From here on these hold."""
        if facts:
            self.state.facts = all_of([self.state.facts, facts])
            function = self.open[-1].number if self.open else 0
            self.checked.update((function, a) for a, safe in facts.items() if not safe.isdisjoint(_FOR_PATHS))

    def safe(self, value: Value) -> Value:
        """The value with what is known of its origins here."""
        if not self.state.facts or not (value.atoms or value.fields):
            return value
        atoms = {atom: tags | self.known_of(atom) for atom, tags in value.atoms.items()}
        fields = {k: self.safe(v) for k, v in value.fields.items()} if value.fields is not None else None
        return replace(value, atoms=atoms, fields=fields)

    def known_of(self, atom: Atom) -> Tags:
        """What is known of an origin, or of what it is a member of."""
        facts = self.state.facts
        found = facts.get(atom)
        text = atom[3]
        while "." in text:
            text = text.rpartition(".")[0]
            more = facts.get((atom[0], atom[1], atom[2], text))
            if more is not None:
                found = more if found is None else found | more
        return found or frozenset()

    def truth(self, node: Node) -> bool | None:
        """Of a constant condition, which way it goes."""
        if node.kind == "not":
            inner = self.truth(node.parts[0])
            return None if inner is None else not inner
        if node.kind == "const":
            return {"true": True, "false": False, "0": False, "1": True}.get(node.text.lower())
        if node.kind == "test" and len(node.parts) == 2 and all(part.kind == "const" for part in node.parts):
            left, right = (part.text.strip("'\"") for part in node.parts)
            if node.text in ("==", "===") and left and right:
                return left == right
            if node.text in ("!=", "!==") and left and right:
                return left != right
            if node.text in ("<", ">") and left.isdigit() and right.isdigit():
                return int(left) < int(right) if node.text == "<" else int(left) > int(right)
        if node.kind == "name":
            known = self.state.env.get(node.text)
            if known is not None and known.const is not None and not known.atoms:
                return {"true": True, "false": False}.get(known.const.lower())
        return None


_VALUES: Final[dict[str, Callable[[Expressions, Node], Value]]] = {
    "const": Expressions.constant, "name": Expressions.name, "member": Expressions.member,
    "index": Expressions.index, "concat": Expressions.concat,
    "any": Expressions.any_, "cond": Expressions.choice, "and": Expressions.both,
    "or": Expressions.both, "test": Expressions.test, "not": Expressions.test,
    "list": Expressions.list_, "object": Expressions.object_, "function": Expressions.lambda_,
    "call": Expressions.call, "new": Expressions.call,
    "param": Expressions.constant, "case": Expressions.any_,
}  # fmt: skip
