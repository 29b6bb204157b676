"""What calls and members do with values: sources, sinks, what makes safe, and functions of the project."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gate.taint.filters import leaves_plain
from gate.taint.language import Source
from gate.taint.names import (
    EACH,
    NUMBERS,
    ROUTES,
    TELLS_LITTLE,
)
from gate.taint.program import Node
from gate.taint.results import LONG, Called, Results
from gate.taint.values import ALL, BUILT, NOTHING, Atom, Tags, Value, joined

if TYPE_CHECKING:
    from gate.taint.walk import Walk

_DOTS: Final = 4
_FROM_SOCKETS: Final = frozenset({"message", "data"})
_SERVED: Final = frozenset({"tmp_name", "error"})
"""What PHP itself says of a file that was sent."""
_SIZES: Final = frozenset({"length", "size", "Length", "Count", "count"})


class Calls(Results):
    """Of one walk. ``silent``: how deep it is within a second look that tells nothing."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.language = walk.language
        self.silent = 0
        self.marks: list[list[str]] = []

    # Functions and classes.

    def enter_class(self, node: Node) -> None:
        """Remembers what stands above a class."""
        self.marks.append([f"class {node.text}", *node.keys])

    def leave_class(self) -> None:
        """Forgets it."""
        self.marks.pop()

    def is_entry(self, node: Node) -> bool:
        """Do requests decide the parameters of this function?"""
        marks = self.language.entry_marks
        return marks is not None and any(marks.match(one) for one in node.keys)

    def parameter(self, param: Node, kind: str, is_entry: bool) -> Value | None:
        """What a request decides of a parameter by its annotation or its function; None: it says nothing."""
        language = self.language
        number = kind.lower() in language.numbers
        marks = language.parameter_marks
        marked = marks is not None and any(marks.match(one) for one in param.keys[1:])
        if any("Parse" in one and "Pipe" in one for one in param.keys[1:]):
            return Value(path=param.text, kind=kind)
        if language.given.search(kind) and not marked:
            return Value(path=param.text, kind=kind)
        if not marked and not is_entry:
            return None
        if number:
            return Value(path=param.text, kind=kind)
        return self.taken("request", param.text or "parameter", param.line, path=param.text, of=kind)

    def taken(self, kind: str, text: str, line: int, path: str = "", of: str = "") -> Value:
        """A value of a source."""
        whole = f"{kind}:{text[:LONG]}"
        self.walk.sources.setdefault(whole, line)
        return Value({("s", 0, 0, whole): frozenset()}, path=path, kind=of)

    def taken_from(self, source: Source, text: str, line: int, path: str = "") -> Value:
        """The same, of a table's entry."""
        return self.taken(source.kind, text, line, path)

    # Names and members.

    def bare(self, node: Node) -> Value:
        """A name that no one bound: in Ruby a call."""
        kind = self.language.names.get(node.text)
        if kind is not None:
            return self.taken(kind, node.text, node.line, path=node.text)
        if self.language.name == "ruby" and node.text[:1].islower() and len(self.walk.open) > 1:
            if node.text in ("request", "response", "session", "this", "super", "logger", "current_user"):
                return Value(path=node.text)
            called = Node("call", node.line, "", [node], [""])
            number = self.record(called, node.text, "", [], [], NOTHING)
            return self.result_of(number, node.text) if number is not None else Value(path=node.text)
        return Value(path=node.text)

    def member(self, base: Value, text: str, node: Node) -> Value:
        """``base.text``."""
        if base.fields is not None and text in base.fields:
            return base.fields[text]
        path = f"{base.path}.{text}" if base.path else text
        stored = self.walk.state.env.get(path) if base.path else None
        if stored is not None:
            return stored
        for source in self.language.reads_by_name.get(text, ()):
            if source.owner.search(f"{base.path}|{base.kind}") and (
                source.kind != "request" or self.is_request(base)
            ):
                return self.taken_from(source, path, node.line, path)
        if text in _SIZES or (text in _SERVED and base.path.startswith("_FILES")):
            return Value(path=path)
        if text.lower() in (
            "hostname",
            "host",
            "origin",
            "authority",
        ):  # who asks for it asks about all of it
            return Value({a: t | {"path"} for a, t in base.atoms.items()}, path=path)
        atoms: dict[Atom, Tags] = {}
        for (kind, number, index, name), tags in base.atoms.items():
            deeper = name if name.count(".") >= _DOTS or not text.isidentifier() else f"{name}.{text}"
            if kind == "s":
                self.walk.sources.setdefault(deeper, node.line)
            atoms[kind, number, index, deeper] = tags
        kind = self.walk.field_kinds.get((base.kind, text), "") if base.kind else ""
        return Value(atoms, path=path, kind=kind)

    def is_request(self, base: Value) -> bool:
        """A request is a parameter: an object that the program made itself is none."""
        if not self.language.roots_are_parameters or "." in base.path:
            root = base.path.partition(".")[0]
            held = self.walk.state.env.get(root)
            return (
                not self.language.roots_are_parameters
                or root == "this"
                or (held is not None and _given(held))
            )
        return _given(base)

    def item_of(self, base: Value) -> Value:
        """One of what a value holds."""
        whole = base.whole()
        return Value(dict(whole), kind="") if whole else NOTHING

    # Assignments that are sinks.

    def lazy(self, target: Node, given: Node) -> Value | None:
        """A function that gets a name of the file is read when the file is; None for other values."""
        if given.kind == "function" and len(self.walk.open) == 1:
            if target.kind == "name" or (target.kind == "member" and not given.text):
                given.text = target.text
            self.walk.later(given)
            return Value(function=given, path=target.text)
        return None

    def assigned(self, target: Node, value: Value) -> None:
        """A member that is a sink when it is assigned."""
        rule = self.language.assigned.get(target.text)
        if rule is not None and not self.silent:
            self.tell(rule, target, value.whole(), target.text, frozenset())

    def index_assigned(self, target: Node, value: Value) -> None:
        """``a[b][c] = d`` with keys from outside reaches the prototype of every object."""
        key = self.walk.value(target.parts[1])
        holder = target.parts[0]
        if self.silent or self.language.name != "javascript" or holder.kind != "index":
            return
        first = self.walk.value(holder.parts[1])
        if first.atoms and (key.atoms or value.atoms):
            self.tell("proto", target, first.atoms, "object[key][key] =", frozenset())

    def gives_back(self, node: Node, value: Value) -> None:
        """Markup that a function for requests gives back is the page."""
        opened = self.walk.open[-1]
        if opened.is_entry and self.language.name in ("java", "kotlin") and not self.silent:
            self.tell("xss", node, value.whole(), "return", frozenset({"+html"}))
            text = {a: t for a, t in value.whole().items() if BUILT in t}
            if any(
                part.kind == "concat" and part.parts[0].text.startswith("redirect:") for part in node.parts
            ):
                self.tell("redirect", node, text, "redirect:", frozenset())

    # Calls.

    def call(self, node: Node) -> Value:
        """What a call gives back; what it does with its values is told."""
        walk = self.walk
        callee = node.parts[0]
        receiver = NOTHING
        if node.kind == "new":
            name, path = node.text, f"new.{node.text}"
            if callee.kind == "member":
                receiver = walk.value(callee.parts[0])
            owner = f"new|{node.text}"
        elif callee.kind == "member":
            receiver = walk.value(callee.parts[0])
            name = callee.text
            base = receiver.path or _called(callee.parts[0])
            path = f"{base}.{name}"
            owner = f"{base}|{receiver.kind if receiver.kind != '@import' else ''}"
        elif callee.kind == "name":
            found = walk.state.env.get(callee.text)
            path = (found.path if found is not None and found.path else "") or callee.text
            base, _, name = path.rpartition(".")
            owner = f"{base}|"
            if found is not None and found.kind == "@import" and not base:
                name = callee.text
                owner = f"{path}|" if "/" in path and path[:1] != "." else owner
            if callee.text == "require" and len(node.parts) == 2 and node.parts[1].kind == "const":
                return self.required(node)
        else:
            walk.value(callee)
            name, path, owner = "", "", "|"
        if name == "promisify" and len(node.parts) == 2:
            return walk.value(node.parts[1])
        keys = node.keys[1:]
        arguments, functions = self.arguments(node, name, receiver)
        low = name.lower()
        cleaned = self.cleaned(name, owner, arguments, receiver)
        filled = self.fill(node, name, owner)
        if not self.silent:
            self.sinks(node, name, owner, keys, arguments, receiver)
        taken = self.source(node, name, owner, path, arguments, receiver)
        if taken is not None:
            return taken
        if cleaned is not None:
            return cleaned
        bare = self.language.name == "ruby" and len(node.parts) == 1 and callee.kind == "member"
        if bare and low not in NUMBERS and low not in TELLS_LITTLE:
            return self.member(receiver, name, node)
        called = Called(node, name, path, owner, keys, arguments, receiver)
        return self.result(called, functions or filled)

    def required(self, node: Node) -> Value:
        """``require('x')``."""
        module = node.parts[1].text
        self.walk.imports.append(("", module, "*"))
        return Value(path=module.removeprefix("node:"), kind="@import")

    def arguments(self, node: Node, name: str, receiver: Value) -> tuple[list[Value], Value | None]:
        """The values of the arguments; functions among them are read with what they will be called with."""
        walk = self.walk
        values: list[Value] = []
        made: Value | None = None
        plain = [walk.value(part) if part.kind != "function" else NOTHING for part in node.parts[1:]]
        for part, value in zip(node.parts[1:], plain, strict=True):
            if part.kind != "function":
                values.append(walk.safe(value))
                continue
            if self.silent:
                values.append(Value(function=part))
                continue
            given = self.given_to(node, name, receiver, plain, part)
            result = walk.function(part, given)
            if name.lower() in EACH:
                made = result if made is None else joined([made, result])
            values.append(Value(function=part))
        return values, made

    def given_to(
        self, node: Node, name: str, receiver: Value, plain: list[Value], part: Node
    ) -> list[Value] | None:
        """What a function that is handed over is called with."""
        low = name.lower()
        first = plain[0] if plain else NOTHING
        text = first.const
        if low in ROUTES and text is not None and (text == "" or text[:1] in "/*"):
            if self.language.name == "csharp":
                return [self.delivered(one) for one in part.parts if one.kind == "param"]
            if self.language.name != "javascript":
                return None
            kinds = [("req", "Request"), ("res", "Response"), ("next", "")]
            if len([one for one in part.parts if one.kind == "param"]) == 1:
                kinds = [("ctx", "Context")]
            return [Value({("p", -1, i, n): frozenset()}, path=n, kind=k) for i, (n, k) in enumerate(kinds)]
        sockets = first.const is not None and low in ("on", "addeventlistener", "once")
        if sockets and re.search(
            r"socket|\bws\b|client|connection|\bio\b", receiver.path or "", re.IGNORECASE
        ):
            return [self.taken("request", f"{receiver.path}.{first.const}", node.line)]
        if low in ("tool", "registertool") and self.language.name == "javascript":
            return [self.taken("model", f"tool {first.const or ''}".strip(), node.line)]
        if low in EACH:
            items = joined([Value(receiver.whole()), *(Value(one.whole()) for one in plain)])
            count = len([one for one in part.parts if one.kind == "param"])
            return [items] * count
        return None

    def delivered(self, param: Node) -> Value:
        """A parameter of a function that is put at an address: texts are the request's, services are not."""
        kind = param.keys[0] if param.keys else ""
        if kind.lower() in ("string", ""):
            return self.taken("request", param.text, param.line, path=param.text, of=kind)
        return self.parameter(param, kind, is_entry=False) or Value(path=param.text, kind=kind)

    def cleaned(self, name: str, owner: str, arguments: list[Value], receiver: Value) -> Value | None:
        """What a call that makes safe gives back."""
        given = [one.const for one in arguments]
        for cleaner in self.language.cleaners_by_name.get(name, ()):
            if not cleaner.owner.search(owner):
                continue
            if ALL in cleaner.safe:
                return NOTHING
            parts = [*arguments, receiver]
            whole = joined([Value(one.whole()) for one in parts])
            return whole.tagged(*cleaner.safe, *leaves_plain(name, given, self.language.name))
        if safe := leaves_plain(name, given, self.language.name):
            return joined([Value(one.whole()) for one in (*arguments, receiver)]).tagged(*safe)
        if self.language.name == "ruby" and name.endswith(("_path", "_url")):
            return joined([Value(one.whole()) for one in arguments]).tagged("redirect", "ssrf")
        return None

    def fill(self, node: Node, name: str, owner: str) -> Value | None:
        """Calls that write what they read into their arguments."""
        walk = self.walk
        for source in self.language.fills_by_name.get(name, ()):
            if source.owner.search(owner):
                for part in node.parts[1:]:
                    if part.kind == "name" and part.text in walk.state.env:
                        kind = walk.state.env[part.text].kind
                        made = self.taken(
                            source.kind, f"{name}({part.text})", node.line, path=part.text, of=kind
                        )
                        walk.state.env[part.text] = made
                return NOTHING
        return None

    def source(
        self, node: Node, name: str, owner: str, path: str, arguments: list[Value], receiver: Value
    ) -> Value | None:
        """What a call that asks a request gives back."""
        for source in self.language.calls_by_name.get(name, ()):
            if not source.owner.search(owner):
                continue
            if (
                self.language.roots_are_parameters
                and source.kind == "request"
                and not self.is_request(receiver)
            ):
                continue
            said = next((one.const for one in arguments if one.const), "")
            return self.taken_from(source, f"{path}({said})" if said else path, node.line)
        return None


def _given(value: Value) -> bool:
    """A parameter, or part of one."""
    return any(atom[0] in ("p", "s") for atom in value.atoms)


def _called(node: Node) -> str:
    """The name of a call that another one is made on."""
    while node.kind in ("call", "index", "new") and node.parts:
        node = node.parts[0]
    return f"{node.text}()" if node.text else "()"
