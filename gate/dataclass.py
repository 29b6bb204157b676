"""Dataclasses whose methods are compiled when they are first used.

The standard library compiles up to seven methods for each class when a module is imported, each for itself: a
millisecond a class. gate has some four hundred, a third of the processor time of all imports, and a check
makes values of a part of them. A linter and a type checker see the standard library's ``dataclass``, and
``fields``, ``replace`` and msgspec meet what they would find there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, TypeVar

__all__ = ["dataclass"]

Class = TypeVar("Class", bound=type[Any])

_ABSENT: Final = object()
"""Stands for an argument that was not given, where a factory makes the value."""
_ORDER: Final = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


class _Late:
    """A method of ``owner`` that takes its own place there when it is first looked up."""

    __slots__ = ("_make", "_name", "_owner")

    def __init__(self, owner: type, name: str, make: Callable[[], Callable[..., Any]]) -> None:
        self._owner, self._name, self._make = owner, name, make

    def __get__(self, instance: object, kind: type | None = None) -> Any:
        method = self._make()
        method.__module__, method.__name__ = self._owner.__module__, self._name
        method.__qualname__ = f"{self._owner.__qualname__}.{self._name}"
        setattr(self._owner, self._name, method)
        return method.__get__(instance, kind)


def _late_dataclass(
    cls: Class | None = None,
    /,
    *,
    frozen: bool = False,
    kw_only: bool = False,
    slots: bool = False,
    eq: bool = True,
    order: bool = False,
) -> Any:
    """As ``dataclasses.dataclass``. Whether a frozen class may extend another one, mypy says."""

    def declare(cls: Class) -> Class:
        bare: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)(cls)
        own = frozenset(vars(bare)) | ({"__hash__"} if _has_hash(bare) else frozenset())
        made: dict[str, Any] = {
            "__init__": _Late(bare, "__init__", lambda: _initialiser(bare, frozen=frozen, slots=slots)),
            "__repr__": _shown,
        }
        if eq:
            made["__eq__"] = _Late(bare, "__eq__", lambda: _comparison(bare, "=="))
            made["__hash__"] = _Late(bare, "__hash__", lambda: _hash(bare)) if frozen else None
        if order:
            made |= {name: _late_comparison(bare, name, sign) for name, sign in _ORDER.items()}
        if frozen:
            made |= _guards(bare)
        if frozen and slots:
            made |= {"__getstate__": _state, "__setstate__": _restore}
        for name, method in made.items():
            if name not in own or (name == "__hash__" and not _has_hash(bare)):
                setattr(bare, name, method)
        return bare  # type: ignore[no-any-return]

    return declare if cls is None else declare(cls)


def _has_hash(cls: type) -> bool:
    """Did somebody write a hash there? Python itself puts None where only ``__eq__`` stands."""
    return vars(cls).get("__hash__") is not None


def _late_comparison(cls: type, name: str, sign: str) -> _Late:
    return _Late(cls, name, lambda: _comparison(cls, sign))


def _compiled(name: str, parameters: list[str], lines: list[str], known: dict[str, Any]) -> Any:
    """The function. ``lines`` are its body; ``known``: what the names in it stand for."""
    text = f"def {name}({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])
    exec(text, known)  # noqa: S102 - as the standard library does; all names are of our own classes
    return known[name]


def _initialiser(cls: Any, *, frozen: bool, slots: bool) -> Callable[..., None]:
    known: dict[str, Any] = {"_absent": _ABSENT, "_set": object.__setattr__}
    lines: list[str] = []
    positional: list[str] = []
    by_name: list[str] = []
    for field in fields(cls):
        value = field.name if field.init else f"_default_{field.name}"
        parameter = field.name
        if field.default_factory is not MISSING:
            known[f"_default_{field.name}"] = field.default_factory
            made = f"_default_{field.name}()"
            value = f"{made} if {field.name} is _absent else {field.name}" if field.init else made
            parameter += "=_absent"
        elif field.default is not MISSING:
            known[f"_default_{field.name}"] = field.default
            parameter += f"=_default_{field.name}"
        if field.init:
            (by_name if field.kw_only else positional).append(parameter)
        elif field.default_factory is MISSING and (field.default is MISSING or not slots):
            continue  # the class has the value, or nobody has
        lines.append(f"_set(_self, {field.name!r}, {value})" if frozen else f"_self.{field.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("_self.__post_init__()")
    parameters = ["_self", *positional, *(["*", *by_name] if by_name else [])]
    made_init: Callable[..., None] = _compiled("__init__", parameters, lines, known)
    made_init.__annotations__ = {f.name: f.type for f in fields(cls) if f.init} | {"return": None}
    return made_init


def _values(of: str, chosen: list[Field[Any]]) -> str:
    return "(" + "".join(f"{of}.{field.name}, " for field in chosen) + ")"


def _comparison(cls: Any, sign: str) -> Callable[..., Any]:
    compared = [field for field in fields(cls) if field.compare]
    lines = [
        "if other.__class__ is self.__class__:",
        f" return {_values('self', compared)} {sign} {_values('other', compared)}",
        "return NotImplemented",
    ]
    return _compiled("compare", ["self", "other"], lines, {})  # type: ignore[no-any-return]


def _hash(cls: Any) -> Callable[[Any], int]:
    hashed = [field for field in fields(cls) if (field.compare if field.hash is None else field.hash)]
    return _compiled("hashed", ["self"], [f"return _hash({_values('self', hashed)})"], {"_hash": hash})  # type: ignore[no-any-return]


@recursive_repr()
def _shown(self: Any) -> str:
    told = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({told})"


def _guards(cls: type[Any]) -> dict[str, Callable[..., None]]:
    """What refuses to change a frozen value."""
    names = frozenset(field.name for field in fields(cls))
    above: Any = super

    def refuse_set(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        above(cls, self).__setattr__(name, value)

    def refuse_delete(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        above(cls, self).__delattr__(name)

    return {"__setattr__": refuse_set, "__delattr__": refuse_delete}


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=False):
        object.__setattr__(self, field.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _late_dataclass
