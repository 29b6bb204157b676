"""Arguments of a guard out of a world: by their hints, each at the path of its name."""

from __future__ import annotations

import collections.abc
import datetime
import enum
import inspect
import pathlib
import types
import typing
from typing import Any

from .. import argument_values
from .traced import Blob, Text, Thing, part, placed, shown
from .traced_numbers import Fraction, Whole
from .world import World, number_of, word_of

_DEEPEST = 3
_TIME = 3600
FUNCTIONS = frozenset(
    (
        "f",
        "fn",
        "func",
        "function",
        "view",
        "view_func",
        "handler",
        "wrapped",
        "method",
        "endpoint",
        "callback",
    )
)
"""Parameters of decorators for what they guard."""
_FIELDS = ("__dataclass_fields__", "model_fields", "__fields__", "__attrs_attrs__", "_fields")
_BY_TEXT: dict[str, Any] = {
    "str": str, "bytes": bytes, "int": int, "float": float, "bool": bool, "list": list, "dict": dict,
    "datetime": datetime.datetime, "datetime.datetime": datetime.datetime, "Path": pathlib.Path,
}  # fmt: skip


def arguments(function: Any, world: World, prefix: str = "") -> tuple[list[Any], dict[str, Any]]:
    """Positional and named arguments. Parameters with a default are left out where the world does not give
    them; ``*args`` get nothing.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [], {}
    try:
        hints = typing.get_type_hints(function)
    except BaseException:
        hints = {}
    args: list[Any] = []
    named: dict[str, Any] = {}
    left = False
    for p in parameters:
        path = prefix + p.name
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if p.default is not p.empty and path not in world.given and not _is_injected(p.default):
            world.asked.setdefault(path)
            left = True
            continue
        value = _argument(p, hints.get(p.name, p.annotation), path, world)
        if p.kind is p.KEYWORD_ONLY or left:
            named[p.name] = value
        else:
            args.append(value)
    return args, named


def _is_injected(default: Any) -> bool:
    """FastAPI's ``Depends(...)`` and ``Header(...)`` are no values."""
    return type(default).__module__.partition(".")[0] in ("fastapi", "typer", "click")


def _argument(p: inspect.Parameter, hint: Any, path: str, world: World) -> Any:
    if p.name in argument_values.SPECIAL:
        return argument_values.SPECIAL[p.name]()
    if p.name in FUNCTIONS and hint in (p.empty, Any, collections.abc.Callable, typing.Callable):
        return through
    if hint is p.empty and type(p.default) in (bool, int, float, str):
        hint = type(p.default)
    return value_of(hint, path, world)


def value_of(hint: Any, path: str, world: World, depth: int = 0) -> Any:
    """A value of the hinted type; what the world gives at the path, whatever its type."""
    world.asked.setdefault(path)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _member(hint, path, world)
    if path in world.given:
        return _fitting(hint, placed(world, path, world.given[path]))
    if isinstance(hint, str):
        hint = _BY_TEXT.get(hint.split("[")[0].split("|")[0].strip(), Any)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hasattr(hint, "__metadata__"):
        return value_of(args[0] if args else Any, path, world, depth)
    if origin is typing.Union or origin is getattr(types, "UnionType", ()):
        real = [one for one in args if one is not type(None)]
        return value_of(real[0], path, world, depth) if real else None
    if origin is typing.Literal:
        return _fitting(type(args[0]), args[0])
    if origin is not None:
        return _container(origin, args, path, world, depth)
    return _plain(hint, path, world, depth)


def _member(hint: Any, path: str, world: World) -> Any:
    """A member: the first, or the one whose value or name is given."""
    members = list(hint)
    told = world.given.get(path)
    for one in members:
        world.note(path, "==", one.value)
        if told is not None and told in (one.value, one.name):
            return one
    return members[0] if members and told is None else world.decode(told)


def _fitting(hint: Any, value: Any) -> Any:
    """Bytes where bytes are wanted, a path where that is."""
    if hint in (bytes, bytearray) and isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(hint, type) and issubclass(hint, pathlib.PurePath) and isinstance(value, str):
        return hint(str.__str__(value))
    return value


def _container(origin: Any, args: Any, path: str, world: World, depth: int) -> Any:
    if origin is collections.abc.Callable:
        return through
    inner = args[-1] if args and args[-1] is not Ellipsis else args[0] if args else Any
    if isinstance(origin, type) and issubclass(origin, collections.abc.Mapping):
        return Table(world, path, inner)
    one = value_of(inner, f"{path}[*]", world, depth + 1) if depth < _DEEPEST else word_of(path)
    if isinstance(origin, type) and issubclass(origin, (set, frozenset, tuple)):
        return origin((one,))
    return [one]


def _plain(hint: Any, path: str, world: World, depth: int) -> Any:
    if hint is str:
        return Text(world, path, word_of(path))
    if hint is bytes:
        return Blob(world, path, word_of(path).encode())
    if hint is bytearray:
        return bytearray(word_of(path).encode())
    if hint is bool:
        return False
    if hint is int:
        return Whole(world, path, number_of(path))
    if hint is float:
        return Fraction(world, path, float(number_of(path)))
    if hint is datetime.datetime:
        return world.decode(["time", _TIME, True])
    if hint is dict:
        return Table(world, path, Any)
    if hint in (list, set, tuple, frozenset):
        return hint((word_of(path),))
    if not isinstance(hint, type) or hint is object:
        return part(world, path)
    if issubclass(hint, pathlib.PurePath):
        return hint(word_of(path))
    built = _built(hint, path, world, depth) if depth < _DEEPEST else None
    return Thing(world, path, hint) if built is None else built


def _built(hint: Any, path: str, world: World, depth: int) -> Any:
    """An object of a class that consists of its fields, each at a path of its own."""
    if not any(hasattr(hint, mark) for mark in _FIELDS):
        return None
    try:
        parameters = list(inspect.signature(hint).parameters.values())
        hints = typing.get_type_hints(hint)
        return hint(
            **{
                p.name: value_of(hints.get(p.name, p.annotation), f"{path}.{p.name}", world, depth + 1)
                for p in parameters
                if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and _is_given(p, f"{path}.{p.name}", world)
            }
        )
    except Exception:
        return None


def _is_given(p: inspect.Parameter, path: str, world: World) -> bool:
    """Does the field get a value? One with a default keeps it where the world has none; it is told then."""
    if p.default is p.empty or path in world.given:
        return True
    world.asked.setdefault(path)
    return False


class Table(dict):  # type: ignore[type-arg]
    """A mapping that has every key that is asked for, with what stands at its path."""

    def __init__(self, world: World, path: str, inner: Any) -> None:
        super().__init__()
        self._place = (world, path, inner)

    def __missing__(self, key: Any) -> Any:
        world, path, inner = self._place
        at = f"{path}[{shown(key)}]"
        if at in world.given and world.given[at] is None:
            world.asked.setdefault(at)
            raise KeyError(key)
        return value_of(inner, at, world, 1)

    def get(self, key: Any, default: Any = None) -> Any:
        """What stands at its path; the default where the world says that nothing does."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: Any) -> bool:
        world, path, _ = self._place
        at = f"{path}[{shown(key)}]"
        world.asked.setdefault(at)
        return not (at in world.given and world.given[at] is None)


def through(*args: Any, **kwargs: Any) -> Any:
    """What a decorator is given to guard: that it was called is its answer."""
    PASSED.append(True)
    return "gate-through"


PASSED: list[bool] = []
