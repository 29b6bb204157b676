"""Requests with the fields that a handler asks for: what it looks up in a request is given to it, until
nothing new is asked for; then with values by the fields' names, and with the texts that its code holds.

The routes and the way to learn are those of the attacks (exploit/), with harmless values. Nothing of it is an
answer of the code's: base and head may ask for different fields.
"""

from __future__ import annotations

import inspect
import itertools
import json
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

from . import argument_values, form_fields, own_modules

_processor_time, _monotonic = time.process_time, time.monotonic
ROUTES = 4
"""Routes asked for one function."""
REQUESTS = 24
"""Requests to one route, after its fields are known."""
SPENT = (0.8, 0.4)
"""Seconds of processor time, and the share of the time for a name, after which no further request is made."""
_LONGEST = 40
_SERVERS = frozenset({"aiohttp.web", "tornado.web"})
"""Frameworks whose applications are no project of web_project.py."""
_ASKED: list[Any] = []


def ask(project: Any, module: types.ModuleType, target: Any, each: float, late: type[BaseException]) -> None:
    """Ask every route that leads to a function or class. ``each``: seconds for a name. ``late`` ends a
    request that takes too long, and with it all of them.
    """
    if project is None and _SERVERS.isdisjoint(sys.modules):
        return  # no web application: nothing of this is worth its imports
    codes = _codes(target)
    if not codes:
        return
    with own_modules.shown():
        from .exploit import loopback, web
        from .exploit.asked import Asked

    if not _ASKED:  # the frameworks' classes tell one of them, for as long as the process lives
        _ASKED.append(Asked())
    form_fields.watch()
    loads = json.loads
    texts = _texts(codes)
    over = (_processor_time() + SPENT[0], _monotonic() + SPENT[1] * each)
    try:
        _ASKED[0].watch_json()
        routes = web.routes_for(project, codes, _ASKED[0]) if project is not None else []
        routes = routes or list(itertools.islice(loopback.routes_in(module, codes, _ASKED[0]), ROUTES))
        for route in routes[:ROUTES]:
            _through(route, texts, over)
    except late:
        raise
    except BaseException:
        return
    finally:
        json.loads = loads


def _codes(target: Any) -> set[types.CodeType]:
    """The code of a function behind its decorators, or of a class's methods."""
    bare = inspect.unwrap(target) if callable(target) else None
    held = [bare, *vars(bare).values()] if isinstance(bare, type) else [bare]
    return {one.__code__ for one in held if isinstance(one, types.FunctionType)}


def _through(route: Any, texts: list[str], over: tuple[float, float]) -> None:
    if _is_over(over):
        return
    route.explore()
    for number, values in enumerate(itertools.islice(_variants(route, texts), REQUESTS)):
        if number and _is_over(over):  # one request is made with what was learned
            return
        route.send(values)


def _is_over(over: tuple[float, float]) -> bool:
    return _processor_time() >= over[0] or _monotonic() >= over[1]


def _variants(route: Any, texts: list[str]) -> Iterator[dict[Any, bytes]]:
    """Values for the fields that are known: all by name or form, then a text of the code's in one."""
    every = {**dict.fromkeys(route.optional, b"gate"), **route.plain}
    fields = [field for field in every if field[1] and not field[1].endswith(".")]
    named = {**every, **{field: _by_name(field[1]) for field in fields if field[0] != "path"}}
    taken = {field: form_fields.VALUES[field[1]] for field in fields if field[1] in form_fields.VALUES}
    named.update(taken)
    yield named
    for text in texts:
        for field in fields:
            if text != field[1]:  # a name that it looks up
                yield {**named, field: text.encode()}


def _by_name(name: str) -> bytes:
    """A value that fits the field's name, as text."""
    value = argument_values.by_name(name.rpartition(".")[2].lower())
    return str(value if isinstance(value, (str, int, float)) else argument_values.WORD).encode()


def _texts(codes: set[types.CodeType]) -> list[str]:
    """Short texts within functions: what a field may be compared with."""
    found: dict[str, None] = {}
    waiting: list[Any] = sorted(codes, key=lambda code: (code.co_firstlineno, code.co_name))
    while waiting:
        for one in _flat(waiting.pop(0).co_consts):
            if isinstance(one, types.CodeType):
                waiting.append(one)
            elif isinstance(one, str) and 0 < len(one) <= _LONGEST and one.isprintable() and " " not in one:
                found[one] = None
    return list(found)


def _flat(values: Any) -> Iterator[Any]:
    for one in values:
        if isinstance(one, (tuple, frozenset)):
            yield from sorted(_flat(one), key=repr)
        else:
            yield one
