"""Reads a program forwards and follows what its values come from: statements, expressions, functions.

Nothing is run. Branches are read one after another and joined; a condition makes values safe where it holds.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from gate.taint.checks import Conditions, Facts, all_of, any_of
from gate.taint.facts import Call, FileFlows, Function, Hit
from gate.taint.language import Language
from gate.taint.program import SPREAD, Node
from gate.taint.values import ALL, BUILT, HTML, NOTHING, SQL, TAIL, Atom, Tags, Value, joined, taints

_DEEP: Final = 60
_WAYS: Final = 4
"""Names that one origin is followed through by its members."""


@dataclass
class State:
    """What is known at one place."""

    env: dict[str, Value] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)
    known: dict[str, tuple[Facts, Facts]] = field(default_factory=dict)
    ended: bool = False

    def copy(self) -> State:
        """The same, to be changed by one branch."""
        return State(dict(self.env), dict(self.facts), dict(self.known), self.ended)


@dataclass
class Open:
    """A function that is being read."""

    number: int
    name: str
    owner: str
    line: int
    parameters: list[str]
    returns: list[Value] = field(default_factory=list)
    is_entry: bool = False


class Late(Exception):
    """No time is left for this file."""


class Walk:
    """One file. ``until``: processor seconds."""

    def __init__(self, language: Language, text: str, until: float) -> None:
        self.language = language
        self.text = text
        self.lines = text.split("\n")
        self.until = until
        self.state = State()
        self.functions: list[Open] = []
        self.open: list[Open] = []
        self.hits: dict[tuple[str, int, str], tuple[Node, dict[Atom, Tags], int, str]] = {}
        self.calls: dict[tuple[int, int, str], int] = {}
        self.told: list[Call] = []
        self.imports: list[tuple[str, str, str]] = []
        self.sources: dict[str, int] = {}
        self.owners: list[str] = []
        self.waiting: list[tuple[Callable[[], None]]] = []
        self.depth = 0
        self.looping = 0
        self.steps = 0
        from gate.taint.calls import Calls

        self.calling = Calls(self)

    def read(self, program: Node) -> FileFlows:
        """All of a file's flows."""
        unfinished: list[str] = []
        self.enter("", program.line or 1, [])
        try:
            self.exec(program)
            while self.waiting:
                self.waiting.pop(0)[0]()
        except Late:
            unfinished.append("no time left")
        while self.open:
            self.open.pop()
        told = [
            Function(
                f.number,
                f.name,
                f.owner,
                f.line,
                f.parameters,
                taints(joined(f.returns).whole(), self.sources),
            )
            for f in self.functions
        ]
        hits = [
            Hit(rule, node.line, node.line, function, sink, taints(atoms, self.sources))
            for (rule, _, _), (node, atoms, function, sink) in self.hits.items()
            if atoms
        ]
        return FileFlows(told, self.told, hits, self.imports, unfinished)

    # Functions.

    def enter(self, name: str, line: int, parameters: list[str]) -> Open:
        """Begins a function."""
        made = Open(len(self.functions), name, self.owners[-1] if self.owners else "", line, parameters)
        self.functions.append(made)
        self.open.append(made)
        return made

    def function(self, node: Node, given: list[Value] | None = None) -> Value:
        """Reads a function's body; what it gives back. ``given``: what its parameters hold, where that is known."""
        if self.depth > _DEEP:
            return NOTHING
        params = [part for part in node.parts if part.kind == "param"]
        opened = self.enter(node.text, node.line, [one.text for one in params])
        before, self.state = self.state, self.state.copy()
        self.state.ended = False
        is_entry = self.calling.is_entry(node, opened.owner)
        opened.is_entry = is_entry
        for index, param in enumerate(params):
            own = given[index] if given is not None and index < len(given) else None
            self.parameter(opened, index, param, own, is_entry)
        self.depth += 1
        looping, self.looping = self.looping, 0
        if node.parts and node.parts[-1].kind != "param":
            self.exec(node.parts[-1])
        self.looping = looping
        self.depth -= 1
        self.open.pop()
        after, self.state = self.state, before
        for name, value in after.env.items():  # what it changed of the names around it
            had = before.env.get(name)
            if had is not None and had is not value and name not in opened.parameters and given is not None:
                before.env[name] = joined([had, value])
        return joined(opened.returns)

    def parameter(self, opened: Open, index: int, param: Node, own: Value | None, is_entry: bool) -> None:
        """Binds one parameter."""
        kind = param.keys[0] if param.keys else ""
        value = self.calling.parameter(param, kind, is_entry)
        if value is None:
            if own is not None:
                value = Value(own.atoms, path=param.text, kind=own.kind or kind, fields=own.fields)
            elif kind.lower() in self.language.numbers:
                value = Value(path=param.text, kind=kind)
            else:
                atom: Atom = ("p", opened.number, index, param.text)
                value = Value({atom: frozenset()}, path=param.text, kind=kind)
        if param.text:
            self.state.env[param.text] = value
            self.state.known.pop(param.text, None)
        for pattern in param.parts:
            self.bind(pattern, value)

    # Statements.

    def exec(self, node: Node) -> Value:
        """One statement, or an expression."""
        self.steps += 1
        if self.steps % 256 == 0 and time.process_time() > self.until:
            raise Late
        made = _STATEMENTS.get(node.kind)
        return made(self, node) if made is not None else self.value(node)

    def block(self, node: Node) -> Value:
        """Statements in their order; functions of a file or a class after what stands beside them."""
        last = NOTHING
        for part in node.parts:
            if self.state.ended:
                if part.kind == "function":
                    self.state.ended = False
                    self.later(part)
                    self.state.ended = True
                continue
            if part.kind == "function" and part.text:
                self.later(part)
            else:
                last = self.exec(part)
        return last

    def later(self, node: Node) -> None:
        """Reads a named function: at once within another, else when its file or class is read."""
        if len(self.open) > 1:
            self.function(node)
            return
        owner = self.owners[-1] if self.owners else ""
        state = self.state

        def run() -> None:
            self.owners.append(owner)
            before, self.state = self.state, state.copy()
            self.state.env = {**before.env, **state.env}
            self.state.ended = False
            self.function(node)
            self.state = before
            self.owners.pop()

        self.waiting.append((run,))

    def class_(self, node: Node) -> Value:
        """A class: its fields, then its methods."""
        self.owners.append(node.text)
        self.calling.enter_class(node)
        before, self.state = self.state, self.state.copy()
        for part in node.parts:
            if part.kind != "function":
                self.exec(part)
            elif part.text in ("constructor", "__construct"):
                for one in part.parts:
                    if one.kind == "param" and one.keys and one.keys[0]:
                        path = f"this.{one.text}"
                        self.state.env[path] = Value(path=path, kind=one.keys[0])
        for part in node.parts:
            if part.kind == "function":
                self.later(part)
        self.state = before
        self.calling.leave_class()
        self.owners.pop()
        return NOTHING

    def if_(self, node: Node) -> Value:
        """Both branches of what is not decided."""
        test, then, other = node.parts
        self.value(test)
        truth = self.truth(test)
        conditions = self.conditions()
        before = self.state
        branches: list[State] = []
        values: list[Value] = []
        for holds, part in ((True, then), (False, other)):
            if truth is not None and truth is not holds:
                continue
            self.state = before.copy()
            self.learn(conditions.facts(test, holds))
            values.append(self.exec(part))
            branches.append(self.state)
        self.state = _joined_states(branches)
        return joined(values)

    def loop(self, node: Node) -> Value:
        """The body once or twice, or not at all."""
        target, over, body = node.parts
        items = self.value(over)
        before = self.state.copy()
        if node.text == "each":
            inner = self.calling.item_of(items)
            targets = target.parts if target.kind in ("block", "list") else [target]
            for one in targets:
                self.bind(one, inner)
        elif over.kind != "const":
            self.learn(self.conditions().facts(over, True))
        self.looping += 1
        self.exec(body)
        if self.looping == 1 and not self.state.ended:
            self.exec(body)
        self.looping -= 1
        self.state.ended = False
        self.state = _joined_states([before, self.state])
        return NOTHING

    def switch(self, node: Node) -> Value:
        """Every case; in one of constants the subject is one of them."""
        subject = self.value(node.parts[0]) if node.parts else NOTHING
        before = self.state
        branches, values = [], []
        has_default = False
        passed: State | None = None
        for case in node.parts[1:]:
            self.state = before.copy()
            *asked, body = case.parts
            has_default = has_default or not asked
            known = [self.value(one) for one in asked]
            if asked and subject.atoms and all(not one.atoms for one in known):
                self.learn(dict.fromkeys(subject.atoms, frozenset({ALL})))
            elif asked and not subject.atoms:
                for one in asked:
                    self.learn(self.conditions().facts(one, True))
            if passed is not None:
                self.state = _joined_states([self.state, passed])
                passed = None
            jumps = bool(body.parts) and _jumps(body)
            values.append(self.exec(body))
            if not self.state.ended and not jumps and not body.parts:
                passed = self.state
                continue
            if jumps and self.state.ended:
                self.state.ended = not _breaks(body)
            branches.append(self.state)
        if not has_default:
            branches.append(before)
        self.state = _joined_states(branches or [before])
        return joined(values)

    def returned(self, node: Node) -> Value:
        """What goes back."""
        value = joined([self.value(part) for part in node.parts]) if node.parts else NOTHING
        if not self.state.ended:
            self.open[-1].returns.append(self.safe(value))
            self.calling.gives_back(node, value)
        self.state.ended = True
        return value

    def thrown(self, node: Node) -> Value:
        """The end of a way."""
        for part in node.parts:
            self.value(part)
        self.state.ended = True
        return NOTHING

    def jump(self, _: Node) -> Value:
        """The same, within a loop."""
        self.state.ended = True
        return NOTHING

    def tried(self, node: Node) -> Value:
        """The block, and what follows from any place within it."""
        before = self.state.copy()
        last = self.exec(node.parts[0]) if node.parts else NOTHING
        ends = [self.state]
        for part in node.parts[1:]:
            middle = _joined_states([before.copy(), self.state.copy()])
            middle.ended = False
            self.state, kept = middle, self.state
            self.exec(part)
            ends.append(self.state)
            self.state = kept
        self.state = _joined_states(ends)
        return last

    def imported(self, node: Node) -> Value:
        """A name of another module."""
        module, name = node.keys[0], node.keys[1]
        self.imports.append((node.text, module, name))
        path = f"{module}.{name}" if name not in ("", "*", "default") else module
        self.state.env[node.text] = Value(path=path.removeprefix("node:"), kind="@import")
        return NOTHING

    def assign(self, node: Node) -> Value:
        """A name, a member or several get a value."""
        if len(node.parts) < 2:
            return NOTHING
        target, given = node.parts
        kind = node.keys[0] if node.keys else ""
        if node.text == ":":
            if target.kind == "name":
                self.state.env[target.text] = Value(path=target.text, kind=kind)
                if self.owners and len(self.open) == 1:
                    self.state.env[f"this.{target.text}"] = Value(path=f"this.{target.text}", kind=kind)
            return NOTHING
        value = self.calling.lazy(target, given) or self.value(given)
        if node.text == "+=":
            had = self.value(target)
            value = self.built([had, value], [target, given])
        if kind and kind.lower() in self.language.numbers:
            value = NOTHING
        if (
            kind
            and kind.lower() not in ("var", "val", "string", "object", "let", "final", "auto")
            and not value.kind
        ):
            value = Value(value.atoms, value.path, kind, value.const, value.fields, value.function)
        self.bind(target, value, given)
        return value

    def bind(self, target: Node, value: Value, given: Node | None = None) -> None:
        """Puts a value where it is assigned to."""
        state = self.state
        if target.kind == "name":
            state.env[target.text] = value
            state.known.pop(target.text, None)
            if given is not None and given.kind in ("call", "test", "and", "or", "not", "index", "assign"):
                conditions = self.conditions()
                facts = conditions.facts(given, True), conditions.facts(given, False)
                if any(facts):
                    state.known[target.text] = facts
        elif target.kind in ("list", "object"):
            answers = given is not None and given.kind in ("call", "index") and target.kind == "list"
            for index, part in enumerate(target.parts):
                key = target.keys[index] if index < len(target.keys) else ""
                if target.kind == "object" and key not in (SPREAD, ""):
                    inner = self.calling.member(value, key, part)
                elif given is not None and given.kind == "list" and len(given.parts) == len(target.parts):
                    inner = self.value(given.parts[index])
                else:
                    inner = self.calling.item_of(value)
                is_answer = answers and index and index == len(target.parts) - 1
                if is_answer and part.kind == "name" and self.language.name == "go":
                    state.env[part.text] = NOTHING
                    conditions = self.conditions()
                    positive, negative = conditions.facts(given, True), conditions.facts(given, False)  # type: ignore[arg-type]
                    pair = (negative, positive) if part.text.startswith("err") else (positive, negative)
                    if any(pair):
                        state.known[part.text] = pair
                    continue
                self.bind(part, inner)
        elif target.kind == "member":
            self.calling.assigned(target, value)
            base = self.value(target.parts[0]) if target.parts else NOTHING
            path = f"{base.path}.{target.text}" if base.path else ""
            if path:
                state.env[path] = value
            self.extend(target.parts[0], target.text, value)
        elif target.kind == "index":
            key = self.value(target.parts[1]).const
            self.calling.index_assigned(target, value)
            self.extend(target.parts[0], key, value)

    def extend(self, holder: Node, key: str | None, value: Value) -> None:
        """What an object holds since an entry was put into it."""
        if holder.kind != "name" or holder.text == "this":
            return
        had = self.state.env.get(holder.text)
        if had is None:
            return
        if key is not None:
            fields = {**(had.fields or {}), key: value}
            self.state.env[holder.text] = Value(had.atoms, had.path, had.kind, None, fields, had.function)
        elif value.whole():
            whole = joined([Value(had.whole()), Value(value.whole())])
            self.state.env[holder.text] = Value(whole.atoms, had.path, had.kind, None, None, had.function)

    # Expressions.

    def value(self, node: Node) -> Value:
        """What an expression may hold."""
        made = _VALUES.get(node.kind)
        if made is None:
            return self.exec(node)
        self.depth += 1
        if self.depth > _DEEP * 3:
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
        return self.built([self.value(part) for part in node.parts], node.parts)

    def built(self, values: list[Value], nodes: list[Node]) -> Value:
        """A text of these pieces, in their order."""
        return built(values)

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
        return Conditions(self.quiet, self.state.known)

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

    def safe(self, value: Value) -> Value:
        """The value with what is known of its origins here."""
        if not self.state.facts or not (value.atoms or value.fields):
            return value
        atoms = {atom: tags | self.known_of(atom) for atom, tags in value.atoms.items()}
        fields = {k: self.safe(v) for k, v in value.fields.items()} if value.fields is not None else None
        return Value(atoms, value.path, value.kind, value.const, fields, value.function)

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
        if node.kind in ("name",):
            known = self.state.env.get(node.text)
            if known is not None and known.const is not None and not known.atoms:
                return {"true": True, "false": False}.get(known.const.lower())
        return None


def built(values: list[Value]) -> Value:
    """A text of these pieces: those behind a beginning that names a host or a folder cannot change it."""
    if all(value.const is not None and not value.atoms for value in values):
        return Value(const="".join(value.const or "" for value in values)) if values else NOTHING
    start = ""
    for value in values:
        if value.const is None or value.atoms:
            break
        start += value.const
    text = " ".join(value.const for value in values if value.const)
    marks = {BUILT} | ({HTML} if _is_markup(text) else set()) | ({SQL} if _QUERY.search(text) else set())
    found: list[Value] = []
    fixed = _is_fixed(start)
    opened = False
    for index, value in enumerate(values):
        own = set(marks)
        if index and (fixed or (opened and not values[0].atoms)):
            own.add(TAIL)
        if value.const is not None and index and "/" in value.const and values[0].const is None:
            opened = True
        if value.whole():
            found.append(Value(value.whole()).tagged(*own))
    return Value(joined(found).atoms, const=None) if found else NOTHING


_QUERY: Final = re.compile(
    r"\b(?:select|insert\s+into|update|delete\s+from|where|from|order\s+by|values|like|limit|union|join|set|drop|alter)\b"
    r"|=\s*'?\Z|[<>]=?\s*'?\Z",
    re.IGNORECASE,
)


def _is_markup(text: str) -> bool:
    at = text.find("<")
    while at >= 0:
        if text[at + 1 : at + 2].isalpha() or text[at + 1 : at + 2] in "/!":
            return at + 1 < len(text)
        at = text.find("<", at + 1)
    return False


def _is_fixed(start: str) -> bool:
    scheme, sign, rest = start.partition("://")
    if sign and scheme:
        return "/" in rest or "?" in rest
    return len(start) > 1 and start[0] == "/" and start[1] not in "/\\"


def _jumps(body: Node) -> bool:
    return any(
        part.kind in ("jump", "return", "throw") or (part.kind == "block" and _jumps(part))
        for part in body.parts
    )


def _breaks(body: Node) -> bool:
    return any(part.kind == "jump" or (part.kind == "block" and _breaks(part)) for part in body.parts)


def _joined_states(states: list[State]) -> State:
    """What is known behind several ways of which one was taken."""
    going = [one for one in states if not one.ended]
    if not going:
        made = states[0] if states else State()
        made.ended = True
        return made
    if len(going) == 1:
        return going[0]
    env = dict(going[0].env)
    for other in going[1:]:
        for name, value in other.env.items():
            had = env.get(name)
            env[name] = value if had is None or had is value else joined([had, value])
    facts = any_of([one.facts for one in going])
    # a value that is safe on its own way stays so where ways meet
    for one in going:
        for name, value in one.env.items():
            if one.facts and value.atoms and any(other.env.get(name) is not value for other in going):
                atoms = {a: t | one.facts.get(a, frozenset()) for a, t in value.atoms.items()}
                others = [other.env[name] for other in going if other is not one and name in other.env]
                env[name] = joined([Value(atoms, value.path, value.kind, value.const, value.fields), *others])
    known = {
        key: pair for key, pair in going[0].known.items() if all(one.known.get(key) == pair for one in going)
    }
    return State(env, facts, known)


_STATEMENTS: Final[dict[str, Callable[[Walk, Node], Value]]] = {
    "block": Walk.block, "if": Walk.if_, "loop": Walk.loop, "switch": Walk.switch, "return": Walk.returned,
    "throw": Walk.thrown, "jump": Walk.jump, "try": Walk.tried, "import": Walk.imported, "class": Walk.class_,
    "assign": Walk.assign,
}  # fmt: skip
_VALUES: Final[dict[str, Callable[[Walk, Node], Value]]] = {
    "const": Walk.constant, "name": Walk.name, "member": Walk.member, "index": Walk.index, "concat": Walk.concat,
    "any": Walk.any_, "cond": Walk.choice, "and": Walk.both, "or": Walk.both, "test": Walk.test, "not": Walk.test,
    "list": Walk.list_, "object": Walk.object_, "function": Walk.lambda_, "call": Walk.call, "new": Walk.call,
    "param": Walk.constant, "case": Walk.any_,
}  # fmt: skip
