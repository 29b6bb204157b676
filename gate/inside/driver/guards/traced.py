"""Values that note what they are compared with, and objects whose parts are such values.

In the manner of input-to-state correspondence (REDQUEEN, NDSS 2019): what stands on the other side of a
comparison is the value to try next. A traced value behaves as the plain one of its kind; an object of
unknown kind (``Thing``) is a text with every attribute, as argument_values.Stand is.
"""

from __future__ import annotations

import contextlib
import datetime
import inspect
from typing import Any

from ..entered import Entered
from .traced_numbers import Fraction, Whole
from .world import World, number_of, word_of

_TIME = 3600
"""Seconds from now at which a thing of unknown kind stands that is compared with a time."""
_SAME = ("lower", "upper", "strip", "lstrip", "rstrip", "title", "casefold", "capitalize", "swapcase")


class Text(str):  # noqa: SLOT000 - holds where it stands
    """A text at a path."""

    gate_traced = True

    def __new__(cls, world: World, path: str, value: str) -> Any:
        made: Any = super().__new__(cls, value)
        made.__dict__.update(gate_world=world, gate_path=path)
        return made

    def _made(self, value: str) -> Any:
        own: Any = self.__dict__
        return Text(own["gate_world"], own["gate_path"], value)

    def _note(self, how: str, other: Any) -> None:
        own: Any = self.__dict__
        own["gate_world"].note(own["gate_path"], how, other)

    def __eq__(self, other: object) -> Any:
        self._note("==", other)
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __hash__(self) -> int:
        self._note("hash", None)
        return str.__hash__(self)

    def __lt__(self, other: Any) -> Any:
        self._note("<", other)
        return str.__lt__(self, other)

    def __gt__(self, other: Any) -> Any:
        self._note("<", other)
        return str.__gt__(self, other)

    def __le__(self, other: Any) -> Any:
        self._note("<", other)
        return str.__le__(self, other)

    def __ge__(self, other: Any) -> Any:
        self._note("<", other)
        return str.__ge__(self, other)

    def __contains__(self, key: object) -> Any:
        self._note("has", key)
        return str.__contains__(self, key)  # type: ignore[operator]

    def __bool__(self) -> bool:
        self._note("true", None)
        return len(self) > 0

    def startswith(self, *args: Any) -> Any:
        """Notes the beginnings."""
        for one in args[0] if isinstance(args[0], tuple) else args[:1]:
            self._note("begins", one)
        return str.startswith(self, *args)

    def endswith(self, *args: Any) -> Any:
        """Notes the ends."""
        for one in args[0] if isinstance(args[0], tuple) else args[:1]:
            self._note("ends", one)
        return str.endswith(self, *args)

    def __getitem__(self, key: Any) -> Any:
        return self._made(str.__getitem__(self, key))

    def removeprefix(self, prefix: str) -> Any:
        """Notes it."""
        self._note("begins", prefix)
        return self._made(str(self)[len(prefix) :] if str.startswith(self, prefix) else str(self))

    def removesuffix(self, suffix: str) -> Any:
        """Notes it."""
        self._note("ends", suffix)
        ends = suffix and str.endswith(self, suffix)
        return self._made(str(self)[: -len(suffix)] if ends else str(self))

    def encode(self, *args: Any, **kwargs: Any) -> Any:
        """Bytes at the same path."""
        own: Any = self.__dict__
        return Blob(own["gate_world"], own["gate_path"], str.encode(self, *args, **kwargs))

    def replace(self, *args: Any) -> Any:
        """A text at the same path."""
        return self._made(str.replace(self, *args))

    def split(self, *args: Any, **kwargs: Any) -> Any:
        """Texts at the same path."""
        if args and args[0]:
            self._note("has", args[0])
        return [self._made(one) for one in str.split(self, *args, **kwargs)]

    def partition(self, sep: str) -> Any:
        """Texts at the same path."""
        self._note("has", sep)
        return tuple(self._made(one) for one in str.partition(self, sep))

    def rpartition(self, sep: str) -> Any:
        """Texts at the same path."""
        self._note("has", sep)
        return tuple(self._made(one) for one in str.rpartition(self, sep))

    def __add__(self, other: Any) -> Any:
        value = str.__add__(self, other)
        return self._made(value) if isinstance(other, str) else value

    def __str__(self) -> str:
        return self  # a Text: what is made of it by str() is compared, too

    def __format__(self, spec: str) -> str:
        return str.__format__(str.__getitem__(self, slice(None)), spec)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return str, (str.__getitem__(self, slice(None)),)


def _alike(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        return self._made(getattr(str, name)(self, *args))

    method.__name__ = name
    return method


for _name in _SAME:
    setattr(Text, _name, _alike(_name))


class Blob(bytes):
    """The bytes of a text at a path, or bytes themselves."""

    gate_traced = True

    def __new__(cls, world: World, path: str, value: bytes) -> Any:
        made: Any = super().__new__(cls, value)
        made.__dict__.update(gate_world=world, gate_path=path)
        return made

    def _note(self, how: str, other: Any) -> None:
        own: Any = self.__dict__
        if type(other) in (bytes, bytearray):
            with contextlib.suppress(UnicodeDecodeError):
                other = other.decode()
        own["gate_world"].note(own["gate_path"], how, other)

    def __eq__(self, other: object) -> Any:
        self._note("==", other)
        return bytes.__eq__(self, other) is True

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __hash__(self) -> int:
        self._note("hash", None)
        return bytes.__hash__(self)

    def decode(self, *args: Any, **kwargs: Any) -> Any:
        """A text at the same path."""
        own: Any = self.__dict__
        return Text(own["gate_world"], own["gate_path"], bytes.decode(self, *args, **kwargs))


def noting(compare: Any) -> Any:
    """``hmac.compare_digest``, which tells what it compares."""

    def compare_digest(a: Any, b: Any) -> Any:
        for one, other in ((a, b), (b, a)):
            if isinstance(one, (Text, Blob)):
                one._note("==", other)
        return compare(a, b)

    return compare_digest


def placed(world: World, path: str, told: Any) -> Any:
    """The given value as one that notes comparisons."""
    value = world.decode(told)
    return _traced(world, path, value)


def _traced(world: World, path: str, value: Any) -> Any:
    if type(value) is str:
        return Text(world, path, value)
    if type(value) is int:
        return Whole(world, path, value)
    if type(value) is float:
        return Fraction(world, path, value)
    if type(value) is bytes:
        return Blob(world, path, value)
    if type(value) is list:
        return [_traced(world, path, one) for one in value]
    return value


class Thing(Entered, Text):
    """An object of unknown kind at a path. ``kind``: the class that it passes for."""

    def __new__(cls, world: World, path: str, kind: type | None = None) -> Any:
        made: Any = super().__new__(cls, world, path, word_of(path))
        made.__dict__["gate_kind"] = kind
        return made

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.__dict__.get("gate_kind") or Thing

    def _part(self, how: str) -> Any:
        own: Any = self.__dict__
        return part(own["gate_world"], f"{own['gate_path']}{how}"[-200:])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        kind = self.__dict__.get("gate_kind")
        if kind is not None:
            found = inspect.getattr_static(kind, name, None)
            if inspect.isfunction(found):
                return found.__get__(self, kind)
            if isinstance(found, property) and found.fget is not None:
                return found.fget(self)
            if isinstance(found, (staticmethod, classmethod)) or (found is not None and name.isupper()):
                return getattr(kind, name)
        return self._part(f".{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and inspect.isfunction(args[0]):
            return args[0]  # as a decorator gives it back
        told = ", ".join(shown(one) for one in (*args, *kwargs.values()))
        path: str = self.__dict__["gate_path"]
        if path.endswith(".get") and args:
            return part(self.__dict__["gate_world"], f"{path[:-4]}[{shown(args[0])}]")
        return self._part(f"({told})")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, slice)):
            return Text.__getitem__(self, key)
        return self._part(f"[{shown(key)}]")

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value

    def __setitem__(self, key: Any, value: Any) -> None:
        return

    def __iter__(self) -> Any:
        return iter((self._part("[*]"),))

    def __contains__(self, key: object) -> Any:
        return bool(self._part(f" has {shown(key)}"))

    def _number(self) -> int:
        return number_of(self.__dict__["gate_path"])

    def __int__(self) -> int:
        return self._number()

    def __index__(self) -> int:
        return self._number()

    def __float__(self) -> float:
        return float(self._number())

    def _ordered(self, other: Any, name: str) -> Any:
        self._note("<", other)
        if isinstance(other, datetime.datetime):
            own: Any = self.__dict__["gate_world"].decode(["time", _TIME, other.tzinfo is not None])
            return getattr(own, name)(other)
        if isinstance(other, Thing):
            return getattr(self._number(), name)(other._number())
        if isinstance(other, str):
            return getattr(str, name)(self, other)
        return getattr(float(self._number()), name)(float(other))

    def __lt__(self, other: Any) -> Any:
        return self._ordered(other, "__lt__")

    def __gt__(self, other: Any) -> Any:
        return self._ordered(other, "__gt__")

    def __le__(self, other: Any) -> Any:
        return self._ordered(other, "__le__")

    def __ge__(self, other: Any) -> Any:
        return self._ordered(other, "__ge__")

    def _moved(self, other: Any, sign: int, own: int) -> Any:
        world: World = self.__dict__["gate_world"]
        path: str = self.__dict__["gate_path"]
        if isinstance(other, (datetime.datetime, datetime.timedelta)):
            aware = isinstance(other, datetime.timedelta) or other.tzinfo is not None
            at = world.decode(["time", _TIME, aware])
            world.note(path, "<", at)
            return at + other if sign > 0 else at - other if own > 0 else other - at
        if isinstance(other, str):
            return str.__add__(self, other) if own > 0 else str.__add__(other, self)
        if type(other) is float and other > 1e9:  # a clock's: this is a time, too
            world.note(path, "<", other)
        value = Whole(world, path, self._number())
        return value + other if sign > 0 else value - other if own > 0 else other - value

    def __add__(self, other: Any) -> Any:
        return self._moved(other, 1, 1)

    def __radd__(self, other: Any) -> Any:
        return self._moved(other, 1, -1)

    def __sub__(self, other: Any) -> Any:
        return self._moved(other, -1, 1)

    def __rsub__(self, other: Any) -> Any:
        return self._moved(other, -1, -1)

    def __and__(self, other: Any) -> Any:
        return self._number() & other

    __rand__ = __and__

    __hash__ = Text.__hash__


def part(world: World, path: str, kind: type | None = None) -> Any:
    """What stands at a path: what the world gives, else a thing."""
    world.asked.setdefault(path)
    if path in world.given:
        return placed(world, path, world.given[path])
    return Thing(world, path, kind)


def shown(value: Any) -> str:
    """A key or an argument in a path: where it stands, else what it is."""
    if getattr(type(value), "gate_traced", False):
        return value.gate_path or "..."
    return repr(value)[:40] if isinstance(value, (str, int, bytes, float, type(None))) else "..."
