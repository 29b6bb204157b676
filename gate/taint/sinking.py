"""Values that reach a sink: which of its arguments counts, and what makes it harmless."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gate.regex import regex
from gate.taint.language import Language, Sink
from gate.taint.program import SPREAD, Node
from gate.taint.texts import built
from gate.taint.values import ALL, BUILT, NOTHING, Atom, Tags, Value, joined

if TYPE_CHECKING:
    from gate.taint.walk import Walk


_TYPED = frozenset({"java", "kotlin"})
"""Languages in which a receiver has the type that it is declared with."""


class Sinks:
    """Of one walk."""

    walk: Walk
    language: Language

    def sinks(
        self, node: Node, name: str, owner: str, keys: list[str], arguments: list[Value], receiver: Value
    ) -> None:
        """Tells of values that reach a sink."""
        if node.text == "tagged":
            return
        owner = self.known_by(owner)
        for sink in self.language.sinks_by_name.get(name, ()):
            if not sink.owner.search(owner) or (
                sink.unless is not None and sink.unless.search(self.walk.text)
            ):
                continue
            if sink.given is not None and not any(
                one.const and sink.given.search(one.const) for one in arguments
            ):
                continue
            if sink.first is not None:
                first = arguments[0] if arguments else NOTHING
                if not sink.first.search(f"{first.path}|{first.kind}"):
                    continue
            atoms = self.reaching(sink, keys, arguments, receiver)
            if sink.rule == "redirect" and any(
                key == "allow_other_host" and one.const == "false"
                for key, one in zip(keys, arguments, strict=True)
            ):
                continue
            if sink.rule == "nosql" or sink.plain:
                atoms = {a: t for a, t in atoms.items() if BUILT not in t}
            if atoms:
                said = f"{owner.partition('|')[0]}.{name}".strip(".") if owner[:3] != "new" else f"new {name}"
                self.tell(sink.rule, node, atoms, said[-60:], sink.needs)

    def known_by(self, owner: str) -> str:
        """What a receiver is known by: its type, where that is written down; a variable's name says less."""
        base, _, kind = owner.partition("|")
        is_typed = self.language.name in _TYPED and base != "new" and kind[:1].isupper()
        return f"|{kind}" if is_typed else owner

    def reaching(
        self, sink: Sink, keys: list[str], arguments: list[Value], receiver: Value
    ) -> dict[Atom, Tags]:
        """What the arguments hold that the sink takes."""
        wanted: list[Value] = []
        places = [value for key, value in zip(keys, arguments, strict=True) if key in ("", SPREAD)]
        if sink.needs and len(places) > 1 and (len(sink.args) > 2 or sink.args == ("*",)):  # a format
            texts = places[1:] if sink.first is not None else places
            template = texts[0].const or "" if texts else ""
            whole = built(filled(template, texts[1:]) if VERB.search(template) else texts)
            return whole.atoms
        for place in sink.args:
            if place == "*":
                wanted += arguments
            elif place == -1:
                wanted.append(self.walk.safe(receiver))
            elif isinstance(place, int):
                wanted += places[place : place + 1]
            else:
                wanted += [value for key, value in zip(keys, arguments, strict=True) if key == place]
                for value in places:
                    if value.fields and place in value.fields:
                        wanted.append(self.walk.safe(value.fields[place]))
        if sink.rule == "path":
            wanted = [one for one in wanted if not _OPENED.search(one.kind)]
        if sink.rule == "mass":  # what names its attributes sets no others
            wanted = [Value(one.atoms) for one in wanted]
        if sink.rule == "ssrf":
            wanted = [_address(self.walk, one) for one in wanted]
        if sink.rule == "nosql":
            wanted = [one for one in wanted if not one.fields or "where" not in one.fields]
        return joined([Value(one.whole()) for one in wanted]).atoms

    def tell(self, rule: str, node: Node, atoms: dict[Atom, Tags], said: str, needs: Tags) -> None:
        """Records what reaches a sink and is not safe for it."""
        walk = self.walk
        kept: dict[Atom, Tags] = {}
        for atom, own in atoms.items():
            tags = own | walk.known_of(atom)
            if ALL in tags or rule in tags or (rule in ("ssrf", "redirect") and "tail" in tags):
                continue
            if needs and needs.isdisjoint(tags) and atom[0] == "s":
                continue
            kept[atom] = tags
        if not kept:
            return
        key = (rule, node.line, said)
        had = walk.hits.get(key)
        if had is not None:
            kept = {**had[1], **kept}
        walk.hits[key] = (node, kept, walk.open[-1].number, said, needs)


VERB: Final = regex(r"%[-+#0-9.]*[a-zA-Z]|\{\d*\}")


def filled(template: str, values: list[Value]) -> list[Value]:
    """The pieces of a format with what is put between them, in the order of the text."""
    found: list[Value] = []
    for index, piece in enumerate(VERB.split(template)):
        if piece:
            found.append(Value(const=piece))
        if index < len(values):
            found.append(values[index])
    return [*found, *values[index + 1 :]]


def _address(walk: Walk, value: Value) -> Value:
    """Of options the entries that say where to."""
    if not value.fields:
        return value
    return joined([walk.safe(one) for key, one in value.fields.items() if key in _WHERE])


_OPENED: Final = regex(r"Stream|Reader|Writer|Buffer|^byte")
"""Types of what is open already, or is the content."""
_WHERE: Final = frozenset(
    {"url", "uri", "host", "hostname", "baseURL", "baseUrl", "Url", "URL", "BaseAddress"}
)
