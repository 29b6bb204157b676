"""What the fields of a class let in, in Python: bounds of numbers, members that nobody outside may set.

A schema is still there and asks for less: no line is odd, and no condition is gone.
Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.facts import Strength
from gate.protections.python.guards import source
from gate.protections.strengths import kept

LEAST: Final = "least value of a number"
READ_ONLY: Final = "members that only the program sets"
_BOUNDS: Final = frozenset({"gt", "ge", "min_value", "min"})
_BOUND_CALLS: Final = frozenset({"MinValueValidator", "Gt", "Ge"})
_NAMED: Final = ("Positive", "NonNegative")
_NUMBERS: Final = frozenset({"int", "float", "Decimal", "condecimal", "conint", "confloat"})
_FIELDS: Final = (
    "IntegerField", "DecimalField", "FloatField", "Integer", "Decimal", "Float", "IntegerRangeField",
)  # fmt: skip
_LISTS: Final = frozenset({"read_only_fields", "attr_readonly"})
_TEXTUAL: Final = frozenset({
    "name", "title", "description", "note", "notes", "comment", "comments", "text", "label", "labels", "tags",
    "color", "colour", "slug", "order", "position", "image", "avatar", "icon", "url", "summary", "body",
    "content", "caption", "language", "locale", "theme",
})  # fmt: skip
"""Members that are written for people to read: who may set one more of these may do nothing more."""


def schema_strengths(body: Sequence[ast.stmt], outer: Sequence[ast.stmt]) -> Iterator[Strength]:
    """Of the body of a class. ``outer``: that of the class it stands in, as ``Meta`` does."""
    methods = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    checked: set[str] = {
        one.value
        for method in methods
        for decorator in method.decorator_list
        for one in ast.walk(decorator)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }
    checked |= {method.name.removeprefix("validate_").removeprefix("clean_") for method in methods}
    for one in body:
        name, value = _field(one)
        if name:
            yield from _bound(name, one, checked)
            yield from _alone(name, value)
    yield from _listed(body, {_field(one)[0] for one in outer})


def _field(one: ast.stmt) -> tuple[str, ast.expr | None]:
    match one:
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name, one.value
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
    return "", None


def _bound(name: str, one: ast.stmt, checked: set[str]) -> Iterator[Strength]:
    """``quantity: int = Field(gt=0)``, ``IntegerField(min_value=1)``, ``PositiveInt``: never below zero."""
    words = {last_name(n) for n in ast.walk(one) if isinstance(n, ast.Name | ast.Attribute)}
    if words.isdisjoint(_NUMBERS) and not any(word.endswith(_FIELDS) for word in words):
        return
    bounds = [value for n in ast.walk(one) if isinstance(n, ast.Call) for value in _least(n)]
    if any(isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) for value in bounds):
        return  # a bound of its own kind, as of a latitude
    holds = bool(bounds) or name in checked or any(word.startswith(_NAMED) for word in words)
    yield kept(f"{LEAST}: {name}", holds, source(one), one.lineno)


def _least(call: ast.Call) -> Iterator[ast.expr]:
    yield from (k.value for k in call.keywords if k.arg in _BOUNDS)
    if last_name(call) in _BOUND_CALLS:
        yield from call.args[:1]


def _alone(name: str, value: ast.expr | None) -> Iterator[Strength]:
    """A field of a serializer by itself: ``PrimaryKeyRelatedField(read_only=True)``."""
    word = last_name(value) if isinstance(value, ast.Call) else ""
    if not isinstance(value, ast.Call) or not word.endswith("Field") or snake(name) in _TEXTUAL:
        return
    said = {k.arg: k.value for k in value.keywords if k.arg}
    if any(k.arg is None for k in value.keywords):
        return
    flag = said.get("read_only") or said.get("editable")
    if flag is not None and not isinstance(flag, ast.Constant):
        return
    holds = word.startswith(("Hidden", "ReadOnly", "SerializerMethod"))
    if isinstance(flag, ast.Constant):
        holds = flag.value is ("read_only" in said)
    yield kept(f"{READ_ONLY}: {name}", holds, source(value), value.lineno)


def _listed(rest: Sequence[ast.stmt], declared: set[str]) -> Iterator[Strength]:
    """``fields`` of a ``Meta`` against ``read_only_fields`` and ``extra_kwargs``: what is declared by itself
    heeds neither.
    """
    said = {name: value for one in rest for name, value in [_field(one)] if value is not None}
    fields = _texts(said.get("fields"))
    if fields is None:
        return
    kept_out: set[str] = set()
    for name in _LISTS & said.keys():
        found = _texts(said[name])
        if found is None:
            return
        kept_out |= {*found}
    more = said.get("extra_kwargs")
    if more is not None and not isinstance(more, ast.Dict):
        return
    for key, value in zip(more.keys, more.values, strict=True) if more is not None else ():
        if isinstance(key, ast.Constant) and any(
            isinstance(n, ast.Constant) and n.value == "read_only" for n in ast.walk(value)
        ):
            kept_out.add(str(key.value))
    line = next((one.lineno for one in rest if _field(one)[0] in _LISTS), rest[0].lineno)
    for field in sorted({*fields} - declared):
        if snake(field) not in _TEXTUAL:
            text = f"fields: {', '.join(sorted(kept_out)) or 'none'} read-only"
            yield kept(f"{READ_ONLY}: {field}", field in kept_out, text, line)


def _texts(value: ast.expr | None) -> list[str] | None:
    """The texts of a list; None where it is put together from others."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return [value.value]
    if not isinstance(value, ast.List | ast.Tuple | ast.Set):
        return None
    found = [one.value for one in value.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return found if len(found) == len(value.elts) else None
