"""Values in their published form, as a schema of structs says it: escaped, and within its bounds.

What a reader may meet is said once, in the types (gate/report/v1.py); here it is carried out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from gate.escape import json_text
from gate.report.v1 import RULE_ID

S = TypeVar("S", bound=msgspec.Struct)
_UNSET = object()


def published(kind: type[S], value: object, /, **given: object) -> S:
    """A struct of that kind from the value's attributes of the same names; ``given`` stand in for them.

    Texts, lists and tables are cut to the bounds of the schema (tables by the order of their keys), numbers
    with a fraction brought into theirs and rounded to three digits, members of an enumeration named.
    """
    fields = {}
    for field in _fields(kind):
        raw = given.get(field.name, _UNSET)
        raw = getattr(value, field.name) if raw is _UNSET else raw
        fields[field.name] = _fitted(field.type, raw)
    return kind(**fields)


def rule_id(text: str) -> str:
    """The id with all but ``[A-Za-z0-9._-]`` replaced, so that it can close nothing (RP-3)."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip("._-")[:200] or "unnamed"


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    known = inspect.type_info(kind)
    if not isinstance(known, inspect.StructType):
        raise TypeError(f"{kind.__name__} is no struct")
    return known.fields


def _fitted(kind: inspect.Type, value: Any) -> Any:
    if value is None or isinstance(value, msgspec.Struct):
        return value
    if isinstance(value, Enum):
        value = value.value
    match kind:
        case inspect.UnionType(types=types):
            return _fitted(next(one for one in types if not isinstance(one, inspect.NoneType)), value)
        case inspect.StrType():
            return _text(kind, value)
        case inspect.FloatType(ge=least, le=most):
            above = value if least is None else max(value, float(least))
            return round(above if most is None else min(above, float(most)), 3)
        case inspect.ListType(item_type=item):
            return [_fitted(item, one) for one in list(value)[: kind.max_length]]
        case inspect.DictType():
            return _table(kind, value)
        case inspect.StructType(cls=struct):
            return published(struct, value)
    return value


def _text(kind: inspect.StrType, value: str) -> str:
    if kind.pattern is None:
        return json_text(value, kind.max_length or 0)
    return rule_id(value) if kind.pattern == RULE_ID else value


def _table(kind: inspect.DictType, value: Mapping[str, object]) -> dict[str, Any]:
    kept = sorted(value.items())[: kind.max_length]
    return {_fitted(kind.key_type, key): _fitted(kind.value_type, one) for key, one in kept}
