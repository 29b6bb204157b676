"""What a schema of JavaScript lets in: unknown keys, numbers below zero. Zod, Joi, Yup, Valibot's kin.

Each is told by the name that it is given, so that a new schema is compared with nothing.
Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.protections.facts import Strength
from gate.protections.strengths import kept
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, line_of, short_name, text_of

_KEYS: Final = "a schema that keeps to its keys"
_LEAST: Final = "least value of a number"
_MAKERS: Final = frozenset({"z", "zod", "joi", "yup", "s", "coerce"})
_OBJECTS: Final = frozenset({"object", "strictObject", "strict_object"})
_LOOSE_OBJECTS: Final = frozenset({"looseObject", "loose_object"})
_LOOSE: Final = frozenset({"passthrough", "loose", "catchall", "unknown", "looseObject"})
_NUMBERS: Final = frozenset({"number", "int", "bigint", "int32", "float"})
_BOUNDS: Final = frozenset({"positive", "nonnegative", "min", "gt", "gte", "greater", "moreThan"})
_OWN: Final = ("refine", "superRefine", "custom", "test", "check", "pipe", "transform")
_DEPTH: Final = 40


def schema_strengths(node: Node) -> Iterator[Strength]:
    """Of one call that makes a schema: ``z.object({...}).passthrough()``, ``z.number().int().min(1)``."""
    if node.type != "call_expression":
        return
    owner, _, method = callee(node).replace(" ", "").rpartition(".")
    if owner.rpartition(".")[2].lower() not in _MAKERS:
        return
    top, said = _chain(node)
    name = _name(top)
    if not name:
        return
    if method in _OBJECTS or method in _LOOSE_OBJECTS:
        loose = method in _LOOSE_OBJECTS or any(
            word in _LOOSE and [text_of(one) for one in given] != ["false"] for word, given in said
        )
        text = "".join(f".{word}()" for word, _ in said)
        yield kept(f"{_KEYS}: {name}", not loose, f"{name}: {callee(node)}(...){text}", line_of(top))
    elif method in _NUMBERS:
        if any(word in _OWN for word, _ in said):
            return
        bounds = [(word, given) for word, given in said if word in _BOUNDS]
        if any(given and text_of(given[0]).startswith("-") for _, given in bounds):
            return
        yield kept(f"{_LEAST}: {name}", bool(bounds), f"{name}: {text_of(top)}", line_of(top))


def _chain(node: Node) -> tuple[Node, list[tuple[str, list[Node]]]]:
    """The whole expression, and what is called on the schema, in order."""
    said: list[tuple[str, list[Node]]] = []
    top = node
    for _ in range(_DEPTH):
        member = top.parent
        call = member.parent if member is not None else None
        if (
            member is None
            or call is None
            or member.type != "member_expression"
            or call.type != "call_expression"
        ):
            break
        if member.child_by_field_name("object") != top or call.child_by_field_name("function") != member:
            break
        said.append((short_name(member.child_by_field_name("property")), arguments(call)))
        top = call
    return top, said


def _name(node: Node) -> str:
    """Names that hold a schema, from the outermost: ``profile.mail``."""
    names: list[str] = []
    above = node.parent
    for _ in range(_DEPTH):
        if above is None or "statement" in above.type or above.type == "arrow_function":
            break
        pair = assigned(above)
        if pair is not None:
            names.append(short_name(pair[0]))
        above = above.parent
    return ".".join(reversed(names))
