"""What any other call gives back: its texts handed on, a number, or what a function of the project makes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gate.dataclass import dataclass
from gate.taint.facts import Call, Taint
from gate.taint.names import (
    ADDRESSES,
    CHANGES,
    DECODES,
    ENDS,
    ESCAPES,
    HANDS_ON,
    LOOKUP,
    MAKES,
    NUMBERS,
    OTHERS,
    OWN_KIND,
    STANDARD,
    TELLS_LITTLE,
)  # fmt: skip
from gate.taint.program import Node
from gate.taint.sinking import VERB, Sinks, filled
from gate.taint.texts import built, is_closed, is_markup
from gate.taint.values import (
    ALL,
    BUILT,
    DECODED,
    DECODED_TAG,
    HTML,
    NOTHING,
    VIA,
    Atom,
    Tags,
    Value,
    joined,
    taints,
)  # fmt: skip

if TYPE_CHECKING:
    pass

LONG: Final = 120
_JOINS: Final = frozenset({
    "format", "sprintf", "concat", "join", "vsprintf", "sprint", "implode", "string.format", "formatted",
})  # fmt: skip
_COMPILES: Final = frozenset({"mustcompile", "compile", "regexp", "regex", "toregex"})
_BY_KEY: Final = frozenset({"get", "dig", "fetch", "getordefault", "pop", "at"})
_ENDING: Final = frozenset({"process", "os", "log", "sys"})


@dataclass(frozen=True, slots=True)
class Called:
    """One call. ``owner``: what its name belongs to, as ``path|type``."""

    node: Node
    name: str
    path: str
    owner: str
    keys: list[str]
    arguments: list[Value]
    receiver: Value

    @property
    def low(self) -> str:
        """Its name in lower case."""
        return self.name.lower()


class Results(Sinks):
    """Of one walk."""

    silent: int

    def member(self, base: Value, text: str, node: Node) -> Value:
        """``base.text``."""
        raise NotImplementedError

    def result(self, call: Called, made: Value | None) -> Value:
        """What a call gives back; ``made``: what the functions give that it is given."""
        low, node = call.low, call.node
        if low in MAKES and made is not None:
            return made
        if self.is_of_project(call):
            self.kept(call)
        at_once = self.by_name(call)
        if at_once is not None:
            return at_once
        bare = node.parts[0].kind == "name"
        if low in ENDS and (bare or call.owner.partition("|")[0] in _ENDING):
            self.walk.state.ended = self.walk.state.ended or not self.silent
        if node.kind == "new" and low not in HANDS_ON:
            return self.new(call)
        if not call.arguments and call.receiver.atoms and self.is_getter(call.name):
            return self.member(call.receiver, call.name[3:4].lower() + call.name[4:], node)
        if self.is_component(call):
            return self.member(call.receiver, call.name, node)
        hands_on = low in HANDS_ON or call.path in ADDRESSES
        if hands_on and not self.is_own(node, call.path) and not OWN_KIND.search(call.receiver.kind):
            return self.handed_on(call)
        number = self.kept(call)
        if ESCAPES.search(call.name) and not LOOKUP.match(call.name):
            known = number is not None and (self.is_own(node, call.path) or self.is_of_project(call))
            return self.result_of(number, call.name) if known and number is not None else NOTHING
        if number is None:
            return Value(path=f"{call.path}()" if call.receiver.path else "")
        return Value(self.result_of(number, call.name).atoms, path=f"{call.path}()")

    def by_name(self, call: Called) -> Value | None:
        """What calls give whose name says enough; None: it does not."""
        low = call.low
        if low in NUMBERS or low in TELLS_LITTLE:
            return NOTHING
        if low in DECODES and call.name not in self.walk.bodies:
            return self.handed_on(call)
        if low == "string" and len(call.arguments) == 1 and not call.arguments[0].whole():
            return call.arguments[0]
        if low in _COMPILES and call.arguments and call.arguments[0].const is not None:
            return replace(call.arguments[0], path=f"{call.path}()")
        if low in CHANGES and call.node.parts[0].kind == "member" and not self.silent:
            return self.changed(call)
        if low in _JOINS:
            return self.put_together(call)
        keyed = low in _BY_KEY and call.arguments and call.receiver.fields is not None
        if keyed and not self.is_of_project(call):
            return (call.receiver.fields or {}).get(call.arguments[0].const or "", NOTHING)
        return None

    def kept(self, call: Called) -> int | None:
        """The number of a call that others may follow."""
        return self.record(call.node, call.path, call.receiver.kind, call.keys, call.arguments, call.receiver)

    def changed(self, call: Called) -> Value:
        """What a list or a text holds since something was put into it."""
        receiver = call.receiver
        held = joined([Value(one.whole()) for one in call.arguments])
        text = "".join(one.const or "" for one in call.arguments)
        if call.low.startswith("append") and is_markup(text):
            self.walk.markup.add((self.walk.open[-1].number, self.root(call.node).text))
        if not held.atoms:
            return receiver
        holder = self.root(call.node)
        marks = {BUILT} | ({HTML} if (self.walk.open[-1].number, holder.text) in self.walk.markup else set())
        self.walk.extend(holder, None, held.tagged(*marks))
        return joined([Value(receiver.atoms, receiver.path, receiver.kind), held])

    def root(self, call: Node) -> Node:
        """What a chain of calls began with: ``b`` of ``b.append(x).append(y)``."""
        holder = call.parts[0].parts[0]
        while holder.kind == "call" and holder.parts[0].kind == "member":
            if holder.parts[0].text.lower() not in CHANGES:
                break
            holder = holder.parts[0].parts[0]
        return holder

    def put_together(self, call: Called) -> Value:
        """A format with its values, or items joined."""
        low = call.low
        if low in ("join", "implode"):
            return joined([Value(one.whole()) for one in (*call.arguments, call.receiver)])
        ordered = [call.receiver, *call.arguments] if low in ("concat", "formatted") else call.arguments
        template = ordered[0].const if ordered else None
        if template and VERB.search(template):
            ordered = filled(template, ordered[1:])
        return built(ordered)

    def new(self, call: Called) -> Value:
        """An object: what it is made of, unless a constructor of the project says more."""
        entries = list(zip(call.keys, call.arguments, strict=True))
        fields = {key: value for key, value in entries if key}
        number = self.record(call.node, call.path, "new", call.keys, call.arguments, call.receiver)
        whole = joined([Value(value.whole()) for key, value in entries if not key]).tagged(VIA)
        return Value(whole.atoms if number is not None else {}, kind=call.node.text, fields=fields or None)

    def handed_on(self, call: Called) -> Value:
        """The text of what is given."""
        receiver, arguments = call.receiver, call.arguments
        if arguments and call.low in _BY_KEY:
            key = arguments[0].const
            rest = [Value(one.whole()) for one in arguments[1:]]
            if key is not None and not rest:
                return self.member(receiver, key.lstrip(":"), call.node)
            return joined([Value(receiver.whole()), *rest])
        whole = joined([Value(one.whole()) for one in (*arguments, receiver)])
        if call.low in DECODES:
            whole = self.decoded(whole)
        closed = len(arguments) == 1 and is_closed(arguments[0])
        return Value(whole.atoms, closed=closed) if whole.atoms else Value(path=call.path, closed=closed)

    def decoded(self, value: Value) -> Value:
        """What was checked before it was decoded is not checked: it counts as a value of its own."""
        atoms: dict[Atom, Tags] = {}
        for atom, tags in value.atoms.items():
            kind, number, index, text = atom
            known = self.walk.known_of(atom)
            kept = frozenset(tag for tag in tags - known if tag.startswith("+") or tag == ALL)
            name = f"{text}{DECODED}" if known else text
            if kind == "s" and known:
                self.walk.sources.setdefault(name, self.walk.sources.get(text, 0))
            atoms[kind, number, index, name] = kept | {DECODED_TAG}
        return Value(atoms)

    def parts_of(self, value: Value) -> list[Taint]:
        """The origins of an argument; those of an object's entry say its key."""
        found = taints(value.atoms, self.walk.sources)
        for key, one in (value.fields or {}).items():
            for taint in taints(one.whole(), self.walk.sources):
                found.append(replace(taint, tags=(*taint.tags, f"field:{key}")))
        return found

    def result_of(self, number: int, name: str) -> Value:
        """What a call that may be of the project gives; index 1 where nothing of others goes in."""
        index = 0 if any(self.walk.told[number].arguments) else 1
        return Value({("r", number, index, name): frozenset()})

    def is_getter(self, name: str) -> bool:
        """In Java and Kotlin, is this how a member is read?"""
        if name in ("getCanonicalPath", "getAbsolutePath", "getCanonicalFile", "getAbsoluteFile"):
            return False
        return self.language.name in ("java", "kotlin") and name[:3] == "get" and name[3:4].isupper()

    def is_component(self, call: Called) -> bool:
        """Is this how a component of a Java record is read: ``body.name()``?"""
        return (
            self.language.name == "java"
            and not call.arguments
            and call.node.parts[0].kind == "member"
            and any(atom[0] == "s" for atom in call.receiver.atoms)
            and call.receiver.kind[:1].isupper()
            and call.receiver.kind not in STANDARD
            and not (LOOKUP.match(call.name) or ESCAPES.search(call.name) or call.low in HANDS_ON)
        )

    def is_of_project(self, call: Called) -> bool:
        """Is this a method of a class, or a function of a module, that may be the project's own, though a
        method of the language has its name?
        """
        callee = call.node.parts[0]
        if callee.kind != "member" or not any(one.whole() for one in call.arguments):
            return False
        kind, owner = call.receiver.kind, call.receiver.path.replace("\\", ".")
        if kind == "@import":
            if self.language.name == "javascript":
                return owner[:1] in "@~#" or owner.startswith(("./", "../"))
            if self.language.name == "go":
                return "." in owner.partition("/")[0]
            return not owner.startswith(OTHERS)
        if self.language.name == "go" and not kind:
            return "." in owner
        if kind:
            return kind.rpartition(".")[2][:1].isupper() and kind not in STANDARD
        last = owner.rpartition(".")[2]
        named = self.language.name not in ("go", "javascript") and last[:1].isupper()
        return (named and last not in STANDARD and not last.isupper()) or last in ("self", "static")

    def is_own(self, node: Node, path: str) -> bool:
        """Is a bare function called, or one of this object: maybe the project's own?"""
        callee = node.parts[0]
        bare = callee.kind == "name" and self.language.name != "php" and node.kind != "new"
        bare = bare and not (self.language.name in ("kotlin", "csharp") and callee.text[:1].isupper())
        return bare or path.startswith(("this.", "./", "../"))

    def record(
        self, node: Node, path: str, kind: str, keys: list[str], arguments: list[Value], receiver: Value
    ) -> int | None:
        """The number of a call that is kept for those who know the other files; None where it holds
        nothing.
        """
        walk = self.walk
        key = (node.line, id(node.parts[0]), path)
        if self.silent and key in walk.calls:
            return walk.calls[key]
        values = [walk.safe(one) for one in arguments] + [walk.safe(receiver)]
        given = [self.parts_of(one) for one in values]
        if not any(given) and len(walk.open) == 1:
            return None
        number = walk.calls.get(key)
        made = Call(
            number if number is not None else len(walk.told),
            walk.open[-1].number,
            path[-LONG:],
            kind,
            node.line,
            list(keys),
            given,
        )
        if number is None:
            number = walk.calls[key] = len(walk.told)
            walk.told.append(made)
        elif not self.silent:
            had = walk.told[number]
            merged = [[*a, *(t for t in b if t not in a)] for a, b in zip(had.arguments, given, strict=True)]
            walk.told[number] = Call(number, made.function, made.path, kind, node.line, made.keys, merged)
        return number
