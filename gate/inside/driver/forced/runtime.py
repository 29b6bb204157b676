"""What rewritten code calls instead of calling, reading and looking up by itself: nothing here fails.

An operation that fails gives a mark, so that what follows happens all the same and its constants survive.
"""

from __future__ import annotations

import asyncio
import builtins
import operator
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any, Tuple, Type

from .. import argument_values, own_modules
from .marks import PORTS, Mark, MarkedError, is_marked
from .receivers import Receivers

NAME = "__gate__"
Passing = Tuple[Type[BaseException], ...]
_MOST_TURNS = 5_000
_NO_MATCH = (TypeError, ValueError, AttributeError, OverflowError, LookupError, AssertionError)
"""Failures of a call for the kind of its arguments: it is tried once more with plain ones."""


class Pass(BaseException):
    """Never swallowed."""


class Runtime:
    """One forced run. ``passing``: exceptions that go through; ``constants``: attributes that an object
    lacks, by name; ``receivers``: whose method it is that the line calls. ``reached`` and ``concrete``: the
    line was, with arguments that came from the code.
    """

    def __init__(
        self,
        passing: tuple[type[BaseException], ...],
        constants: dict[str, Any],
        receivers: Receivers | None = None,
    ) -> None:
        self.receivers = receivers or Receivers({})
        self.passing: Passing = (*passing, GeneratorExit, asyncio.CancelledError, Pass)
        self.constants = constants
        self.most = _MOST_TURNS
        self.reached = False
        self.concrete = False
        self.turns: dict[str, int] = {}
        ends = [getattr(builtins, name, None) for name in ("exit", "quit")]
        self._left = (os._exit, os.abort, sys.exit, *(end for end in ends if end is not None))
        self._gets = (os.environ.get, os.getenv)

    def survive(self) -> None:
        """In a handler: go on, unless the exception is the clock's or the interpreter's."""
        error = sys.exc_info()[1]
        if isinstance(error, self.passing):
            raise error

    def stand(self) -> Any:
        """Something for a name that nobody bound."""
        return Mark()

    def tired(self, loop: str) -> bool:
        """True when this loop has turned often enough."""
        turns = self.turns[loop] = self.turns.get(loop, 0) + 1
        return turns > self.most

    def here(self) -> None:
        """The line is about to run."""
        self.reached = True

    def attr(self, value: Any, name: str) -> Any:
        """``value.name``."""
        try:
            found = getattr(value, name)
        except self.passing:
            raise
        except BaseException:
            return self.constants.get(name, Mark())
        if (found is None or isinstance(found, Mark)) and name in self.constants:
            return self.constants[name]
        return found

    def own(self, found: Any, name: str) -> Any:
        """The method that the line calls: of a stand-in that of the class which it stands in for."""
        return (self.receivers.method(name) or found) if isinstance(found, Mark) else found

    def item(self, value: Any, key: Any) -> Any:
        """``value[key]``; of a table that lacks the key the first entry."""
        try:
            if not is_marked(key) or isinstance(value, Mark):
                return value[key]
        except self.passing:
            raise
        except BaseException:
            pass
        return self._entry(value, key)

    def _entry(self, value: Any, key: Any) -> Any:
        try:
            if value is os.environ or value is sys.argv:
                return Mark()
            if isinstance(value, Mapping):
                return next(iter(value.values()), Mark())
            if isinstance(value, (list, tuple)) and value:
                return value[0]
            return value[key]
        except self.passing:
            raise
        except BaseException:
            return Mark()

    def op(self, name: str, left: Any, right: Any) -> Any:
        """A binary operator; text keeps its part where the other operand does not fit."""
        try:
            return getattr(operator, name)(left, right)
        except self.passing:
            raise
        except BaseException:
            if name == "add" and isinstance(left, (bytes, bytearray)):
                return bytes(left) + str(right).encode("utf-8", "replace")
            if name == "add" and (isinstance(left, str) or isinstance(right, str)):
                return f"{left!s}{right!s}"
            return left if name == "mod" and isinstance(left, str) else Mark()

    def execute(self, function: Any, text: Any, spaces: Any, own: Any, hit: bool) -> Any:
        """``exec`` or ``eval`` of a text: as it is, and once more with what it skips."""
        self.reached = self.reached or hit
        self.concrete = self.concrete or (hit and not is_marked(text))
        result: Any = None
        try:
            result = function(text, spaces, own)
        except self.passing:
            raise
        except BaseException:
            result = Mark()
        if isinstance(text, (str, bytes)) and not is_marked(text):
            with own_modules.shown():
                from . import calling

            calling.execute_text(text, dict(spaces), self)
        return result

    def call(self, function: Any, *args: Any, **named: Any) -> Any:
        """A call that may fail."""
        return self._call(function, args, named)

    def target(self, function: Any, *args: Any, **named: Any) -> Any:
        """The call for whose sake all this happens."""
        self.reached = True
        given = [*args, *named.values()]
        ours = is_marked(args) or is_marked(named) or isinstance(function, Mark)
        self.concrete = self.concrete or (not ours and any(map(_says, given)))
        return self._call(function, args, named)

    def _call(self, function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if function in self._left or isinstance(function, Mark):
            return Mark()
        first = args[0] if args else None
        try:
            result = function(*args, **named)
        except self.passing:
            raise
        except _NO_MATCH:
            return self._again(function, args, named)
        except BaseException:
            return Mark()
        if result is None and self._is_get(function):
            owner = getattr(function, "__self__", None)
            return self._entry(owner, first) if isinstance(owner, dict) else Mark()
        return result

    def _is_get(self, function: Any) -> bool:
        if function in self._gets:
            return True
        owner = getattr(function, "__self__", None)
        return getattr(function, "__name__", "") == "get" and isinstance(owner, (dict, Mapping))

    def _again(self, function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if not (is_marked(args) or is_marked(named)):
            return Mark()
        try:
            return function(*(plain(a) for a in args), **{k: plain(v, k) for k, v in named.items()})
        except self.passing:
            raise
        except BaseException:
            return Mark()

    def put(self, value: Any, name: str, constant: Any) -> None:
        """``value.name = constant``, where that is possible."""
        try:
            setattr(value, name, constant)
        except self.passing:
            raise
        except BaseException:
            self.constants[name] = constant

    def be(self, value: Any, kind: Any) -> Any:
        """The value where it is of the kind, else one that is."""
        kind = kind[0] if isinstance(kind, tuple) and kind else kind
        try:
            if isinstance(value, kind) and not isinstance(value, Mark):
                return value
            if kind is str:
                return str.__str__(Mark())
            if kind in (bytes, bytearray):
                return kind(bytes(Mark()))
            if isinstance(kind, type) and issubclass(kind, BaseException):
                return kind.__new__(kind)
            return argument_values.by_hint(kind, "")
        except self.passing:
            raise
        except BaseException:
            return value

    def some(self, values: Any, width: int = 0) -> Any:
        """What a loop goes through: at least one. ``width``: how many names each is taken apart into."""
        found: list[Any] = []
        try:
            for value in values:
                found.append(value)
                if len(found) >= 50:
                    break
        except self.passing:
            raise
        except BaseException:
            pass
        found = found or [Mark()]
        return [(Mark(),) * width if width and isinstance(v, Mark) else v for v in found]

    def failure(self, kind: Any = None) -> Any:
        """An exception for a handler."""
        kind = kind[0] if isinstance(kind, tuple) and kind else kind
        try:
            if isinstance(kind, type) and issubclass(kind, BaseException):
                return kind(str.__str__(Mark()))
        except BaseException:
            pass
        return MarkedError(str.__str__(Mark()))

    async def wait(self, value: Any) -> Any:
        """``await value``, for a while."""
        if isinstance(value, Mark):
            return value
        try:
            return await asyncio.wait_for(value, 1.0)
        except self.passing:
            raise
        except BaseException:
            return Mark()

    def enter(self, manager: Any) -> Any:
        """What ``with`` binds; the context stays open."""
        try:
            return type(manager).__enter__(manager)
        except self.passing:
            raise
        except BaseException:
            return manager if hasattr(manager, "read") or hasattr(manager, "write") else Mark()

    async def aenter(self, manager: Any) -> Any:
        """The same of ``async with``."""
        try:
            return await type(manager).__aenter__(manager)
        except self.passing:
            raise
        except BaseException:
            return Mark()

    def now(self, function: Any) -> Any:
        """Call a function (a lambda, one defined on the way) at once, and let its result work. Returns it."""
        with own_modules.shown():
            from . import calling

        calling.call(function, self, {}, None)
        return function

    def method(self, owner: Any, name: str) -> None:
        """Call a method of a class that was defined on the way."""
        with own_modules.shown():
            from . import calling

        calling.call_member(owner, name, self)


def _says(value: Any) -> bool:
    """False for nothing and for empty texts and containers."""
    return value is not None and not (isinstance(value, (str, bytes, list, tuple, dict, set)) and not value)


def plain(value: Any, name: str = "") -> Any:
    """Marks as the plain values that they stand for, whatever holds them."""
    if isinstance(value, Mark):
        return PORTS[Mark.seed] if "port" in name.lower() else str.__str__(value)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Mark):
        return (plain(value[0]), PORTS[Mark.seed])
    if type(value) in (list, tuple, set):
        return type(value)(plain(v) for v in value)
    if type(value) is dict:
        return {plain(k): plain(v, str(k)) for k, v in value.items()}
    return value


def aside(work: Any) -> None:
    """Run in another thread: an event loop runs in this one."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(3)
