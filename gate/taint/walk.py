"""Reads a program forwards and follows what its values come from: statements, expressions, functions.

Nothing is run. Branches are read one after another and joined; a condition makes values safe where it holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gate.taint.calls import Calls
from gate.taint.expressions import DEEP, Expressions
from gate.taint.facts import Call, FileFlows, Function, Hit
from gate.taint.judged import bodies
from gate.taint.language import Language
from gate.taint.merges import merged
from gate.taint.program import RECEIVER, SPREAD, Node
from gate.taint.skipped import refuses_absent, skipped
from gate.taint.state import Open, State, joined_states
from gate.taint.texts import built, is_closed
from gate.taint.values import ALL, NOTHING, Atom, Tags, Value, joined, taints


class LateError(Exception):
    """No time is left for this file."""


class Walk(Expressions):
    """One file. ``until``: processor seconds."""

    def __init__(self, language: Language, text: str, until: float) -> None:
        self.language = language
        self.text = text
        self.lines = text.split("\n")
        self.until = until
        self.state = State()
        self.functions: list[Open] = []
        self.open: list[Open] = []
        self.hits: dict[tuple[str, int, str], tuple[Node, dict[Atom, Tags], int, str, Tags]] = {}
        self.calls: dict[tuple[int, int, str], int] = {}
        self.told: list[Call] = []
        self.imports: list[tuple[str, str, str]] = []
        self.sources: dict[str, int] = {}
        self.owners: list[str] = []
        self.closed: set[str] = set()
        self.markup: set[tuple[int, str]] = set()
        """Texts that are built of markup, by function and name."""
        self.present: set[Atom] = set()
        self.checked: set[tuple[int, Atom]] = set()
        self.bodies: dict[str, Node] = {}
        self.judging = 0
        self.field_kinds: dict[tuple[str, str], str] = {}
        self.waiting: list[tuple[Callable[[], None]]] = []
        self.depth = 0
        self.looping = 0
        self.steps = 0
        self.calling = Calls(self)

    def read(self, program: Node) -> FileFlows:
        """All of a file's flows."""
        unfinished: list[str] = []
        self.bodies = bodies(program)
        self.enter("", program.line or 1, [])
        try:
            self.exec(program)
            while self.waiting:
                self.waiting.pop(0)[0]()
        except LateError:
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
            Hit(rule, node.line, node.line, function, sink, taints(atoms, self.sources), sorted(needs))
            for (rule, _, _), (node, all_atoms, function, sink, needs) in self.hits.items()
            if (atoms := self.unchecked(all_atoms, function, sink))
        ]
        return FileFlows(told, self.told, hits, self.imports, unfinished)

    def unchecked(self, atoms: dict[Atom, Tags], function: int, sink: str) -> dict[Atom, Tags]:
        """A path as an object is made before it is checked: what its function checks later is checked."""
        if sink != "new File":
            return atoms
        return {atom: tags for atom, tags in atoms.items() if (function, atom) not in self.checked}

    # Functions.

    def enter(self, name: str, line: int, parameters: list[str]) -> Open:
        """Begins a function."""
        made = Open(len(self.functions), name, self.owners[-1] if self.owners else "", line, parameters)
        self.functions.append(made)
        self.open.append(made)
        return made

    def function(self, node: Node, given: list[Value] | None = None) -> Value:
        """Reads a function's body; what it gives back. ``given``: what its parameters hold, where
        that is known.
        """
        if self.depth > DEEP:
            return NOTHING
        params = [part for part in node.parts if part.kind == "param"]
        opened = self.enter(node.text, node.line, [one.text for one in params])
        before, self.state = self.state, self.state.copy()
        self.state.ended = False
        for mark in node.keys:
            if mark.startswith(RECEIVER):
                held, _, opened.owner = mark[len(RECEIVER) :].partition(" ")
                if held:
                    self.state.env[held] = Value(path=held, kind=opened.owner)
        is_entry = self.calling.is_entry(node)
        opened.is_entry = is_entry
        for index, param in enumerate(params):
            own = given[index] if given is not None and index < len(given) else None
            self.parameter(opened, index, param, own, is_entry)
        merge = merged(node, self.text) if self.language.name == "javascript" and len(params) > 1 else None
        if merge is not None and not self.calling.silent:
            entries = self.state.env.get(params[merge[1]].text, NOTHING)
            self.calling.tell("proto", merge[0], entries.whole(), node.text, frozenset())
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
            raise LateError
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
        if not self.calling.silent:
            absent = skipped(self, node)
            if absent is not None:
                self.calling.tell("skipped", node, absent.atoms, "if it is there", frozenset())
            self.present |= refuses_absent(self, node)
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
        self.state = joined_states(branches)
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
        self.state = joined_states([before, self.state])
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
                self.state = joined_states([self.state, passed])
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
        self.state = joined_states(branches or [before])
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
            middle = joined_states([before.copy(), self.state.copy()])
            middle.ended = False
            self.state, kept = middle, self.state
            self.exec(part)
            ends.append(self.state)
            self.state = kept
        self.state = joined_states(ends)
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
                if self.owners and kind:
                    self.field_kinds[self.owners[-1], target.text] = kind
                if self.owners and len(self.open) == 1:
                    self.state.env[f"this.{target.text}"] = Value(path=f"this.{target.text}", kind=kind)
            return NOTHING
        value = self.calling.lazy(target, given) or self.value(given)
        if node.text == "+=":
            had = self.value(target)
            value = built([had, value])
        if kind and kind.lower() in self.language.numbers:
            value = NOTHING
        if (
            kind
            and kind.lower() not in ("var", "val", "object", "let", "final", "auto")
            and (kind.lower() != "string" or self.language.name == "java")
            and not value.kind
        ):
            value = replace(value, kind=kind)
        self.bind(target, value, given)
        return value

    def bind(self, target: Node, value: Value, given: Node | None = None) -> None:  # noqa: C901 - one case a target
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
                elif answers and not index and self.language.name == "go":
                    inner = value
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
            if is_closed(value):
                self.closed.add(target.text)
            base = self.value(target.parts[0]) if target.parts else NOTHING
            path = f"{base.path}.{target.text}" if base.path else ""
            if path:
                state.env[path] = value
            self.extend(target.parts[0], target.text, value)
        elif target.kind == "index":
            at = self.value(target.parts[1]).const
            self.calling.index_assigned(target, value)
            self.extend(target.parts[0], at, value)

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


def _jumps(body: Node) -> bool:
    return any(
        part.kind in ("jump", "return", "throw") or (part.kind == "block" and _jumps(part))
        for part in body.parts
    )


def _breaks(body: Node) -> bool:
    return any(part.kind == "jump" or (part.kind == "block" and _breaks(part)) for part in body.parts)


_STATEMENTS: Final[dict[str, Callable[[Walk, Node], Value]]] = {
    "block": Walk.block, "if": Walk.if_, "loop": Walk.loop, "switch": Walk.switch, "return": Walk.returned,
    "throw": Walk.thrown, "jump": Walk.jump, "try": Walk.tried, "import": Walk.imported, "class": Walk.class_,
    "assign": Walk.assign,
}  # fmt: skip
