"""All fields of an object, taken at once: ``vars(self.pool)``. It matters where its class keeps a secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.secret_uses.names import is_settings, snake
from gate.secret_uses.sources import Value
from gate.secret_uses.steps import Step

OWNS: Final = "@owns"
"""What stands before a class and a field of it that holds a secret."""
WHOLE: Final = ".*"
"""Behind the name of an object that is taken as a whole."""
BY_NAME: Final = "environment[*]"
"""A variable of the environment of which only a value says the name."""
_TAKES: Final = frozenset({"vars", "entries", "values", "get_object_vars", "instance_values"})
"""Calls that read all fields of any object, whatever they are called."""
_OF: Final = frozenset({"object", "reflect"})


def whole_object(call: Step, inside: Sequence[str]) -> list[Value]:
    """The object that a call takes all fields of."""
    path, given = call.name, [part for key, part in call.parts if key == ""]
    last = snake(path[-1]) if path else ""
    of_object = len(path) == 1 or (len(path) > 1 and snake(path[-2]) in _OF)
    if last not in _TAKES or not of_object or len(given) != 1 or given[0].kind != "name" or given[0].parts:
        return []
    return object_values(given[0].name, call.line, inside)


def by_name(line: int) -> Value:
    """One variable of the environment, whose name is a value."""
    return Value(BY_NAME, "user", line)


def object_values(path: Sequence[str], line: int, inside: Sequence[str]) -> list[Value]:
    """All of this object; ``inside``: the class that is being read, which ``self`` is one of."""
    if not path or is_settings(path[-1]):
        return []
    own = path[-1] in ("self", "this")
    if own and not inside:
        return []
    kind = inside[0] if own else path[-1]
    return [Value(".".join(path) + WHOLE, "user", line, kind, frozenset({"wholly"}))]


def owned(keys: Sequence[str], kind: str) -> bool:
    """Does a class that this name may be of keep a secret, as these keys of a file say?"""
    name = snake(kind)
    for key in keys:
        mark, _, rest = key.partition(":")
        if mark == OWNS and (of := snake(rest.partition(":")[0])) and (of == name or of.endswith(f"_{name}")):
            return True
    return False
