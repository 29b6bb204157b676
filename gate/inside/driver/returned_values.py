"""Uses what a call gave back: the functions and classes it made. A decorator's wrapper is one of them.

Only what is written in the module that was called: what others' code gives back has its own tests.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

from . import argument_values

DEPTH = 3
"""A decorator with arguments gives back a decorator that gives back a wrapper."""
MOST = 20
"""Functions used of one call."""


def use(value: object, file: object, exhaust: Callable[[Any], None], stop: type[BaseException]) -> None:
    """Call the functions in ``value`` that are of the source ``file``, and those that they give back.

    Their exceptions are ordinary; only ``stop`` (the clock's) goes through. ``exhaust`` lets a result do
    its work.
    """
    todo = [(function, 0) for function in returned_functions(value, file)]
    for function, depth in todo:  # grows meanwhile
        for args, named in _sets(function, stop):
            try:
                given = function(*args, **named)
                exhaust(given)
                if depth + 1 < DEPTH:
                    more = list(returned_functions(given, file))
                    todo += [(one, depth + 1) for one in more[: max(0, MOST - len(todo))]]
            except stop:
                raise
            except BaseException:  # as any call's: the trace has what it did
                continue


def _sets(function: object, stop: type[BaseException]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """What is required, then everything."""
    try:
        sets: list[tuple[tuple[Any, ...], dict[str, Any]]] = argument_values.sets(function, most=2, draws=0)
        return sets[:2]
    except stop:
        raise
    except BaseException:
        return [((), {})]


def returned_functions(value: Any, file: Any) -> Iterable[Any]:
    """The functions of that source in a result: it is one, holds some, or a function made its class."""
    held = [value]
    if type(value) in (list, tuple, set):
        held = list(value)
    elif type(value) is dict:
        held = list(value.values())
    found: list[Any] = []
    for one in held[:MOST]:
        if isinstance(one, functools.partial):
            found += [one] if _ours(one.func, file) else []
        elif isinstance(one, (types.FunctionType, types.MethodType)):
            found += [one] if _ours(one, file) else []
        else:
            found += _members(one, file)
    return found[:MOST]


def _ours(function: object, file: object) -> bool:
    """By its code: a wrapper has the name and module of what it wraps."""
    code = getattr(function, "__code__", None)
    return code is not None and file is not None and code.co_filename == file


def _members(value: Any, file: Any) -> list[object]:
    """Methods of a class that a function made; where only the class came, without ``__init__``."""
    owner = value if isinstance(value, type) else type(value)
    if "<locals>" not in str(getattr(owner, "__qualname__", "")):
        return []
    functions = [f for f in vars(owner).values() if isinstance(f, types.FunctionType) and _ours(f, file)]
    if not functions:
        return []
    try:
        instance = owner.__new__(owner) if value is owner else value
    except Exception:
        return []
    return [types.MethodType(function, instance) for function in functions]
