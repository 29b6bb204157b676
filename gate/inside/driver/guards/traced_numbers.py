"""Numbers that note what they are compared with, and what clocks say beside them."""

from __future__ import annotations

from typing import Any

from .world import World


class _Numeric:
    """What numbers at a path share: comparisons are told back through sums and differences."""

    gate_traced = True
    gate_world: World
    gate_path: str

    def _of(self, world: World, path: str, sign: int, more: float) -> Any:
        self.gate_world, self._gate_at, self._sign, self._more = world, path, sign, more
        self.gate_path = path if (sign, more) == (1, 0) else ""
        return self

    def _note(self, how: str, other: Any) -> None:
        if getattr(type(other), "gate_traced", False) and other.gate_path:
            self.gate_world.note(self._gate_at, how, other)
        elif isinstance(other, (int, float)) and not isinstance(other, bool):
            self.gate_world.note(self._gate_at, how, (other - self._more) * self._sign)

    def __eq__(self, other: object) -> Any:
        self._note("==", other)
        return self._plain() == other

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __lt__(self, other: Any) -> Any:
        self._note("<", other)
        return self._plain() < other

    def __gt__(self, other: Any) -> Any:
        self._note("<", other)
        return self._plain() > other

    def __le__(self, other: Any) -> Any:
        self._note("<", other)
        return self._plain() <= other

    def __ge__(self, other: Any) -> Any:
        self._note("<", other)
        return self._plain() >= other

    def __bool__(self) -> bool:
        self.gate_world.note(self._gate_at, "true", None)
        return bool(self._plain())

    def __hash__(self) -> int:
        self.gate_world.note(self._gate_at, "hash", None)
        return hash(self._plain())

    def _plain(self) -> Any:
        raise NotImplementedError

    def _moved(self, sign: int, more: float, value: Any) -> Any:
        kind = Whole if type(value) is int else Fraction
        return kind(self.gate_world, self._gate_at, value, self._sign * sign, self._more * sign + more)

    def __add__(self, other: Any) -> Any:
        if type(other) not in (int, float):
            return self._plain() + other
        return self._moved(1, other, self._plain() + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) not in (int, float):
            return self._plain() - other
        return self._moved(1, -other, self._plain() - other)

    def __rsub__(self, other: Any) -> Any:
        if type(other) not in (int, float):
            return other - self._plain()
        return self._moved(-1, other, other - self._plain())

    def __neg__(self) -> Any:
        return self._moved(-1, 0, -self._plain())


class Whole(_Numeric, int):
    """A whole number at a path."""

    def __new__(cls, world: World, path: str, value: int, sign: int = 1, more: float = 0) -> Any:
        made: Any = int.__new__(cls, value)
        return made._of(world, path, sign, more)

    def _plain(self) -> Any:
        return int.__int__(self)

    __hash__ = _Numeric.__hash__


class Fraction(_Numeric, float):
    """A number at a path."""

    def __new__(cls, world: World, path: str, value: float, sign: int = 1, more: float = 0) -> Any:
        made: Any = float.__new__(cls, value)
        return made._of(world, path, sign, more)

    def _plain(self) -> Any:
        return float.__float__(self)

    __hash__ = _Numeric.__hash__


class Clock(float):
    """What a clock said, which leaves it to a number at a path to note what becomes of both."""

    def __sub__(self, other: Any) -> Any:
        if getattr(type(other), "gate_traced", False):
            return other.__rsub__(float(self))
        return float.__sub__(self, other)

    def _ordered(self, other: Any, name: str, back: str) -> Any:
        if getattr(type(other), "gate_traced", False):
            return getattr(other, back)(float(self))
        return getattr(float, name)(self, other)

    def __lt__(self, other: Any) -> Any:
        return self._ordered(other, "__lt__", "__gt__")

    def __gt__(self, other: Any) -> Any:
        return self._ordered(other, "__gt__", "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._ordered(other, "__le__", "__ge__")

    def __ge__(self, other: Any) -> Any:
        return self._ordered(other, "__ge__", "__le__")
