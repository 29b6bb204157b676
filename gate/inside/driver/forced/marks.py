"""What stands in for a value that forced code lacks. Its text says so, and differs between the seeds.

What is seen of forced code is compared between two seeds: a destination, a path or a word that holds the
mark, or that differs, came from us. What is equal came from the code (docs/forced-execution.md).
"""

from __future__ import annotations

from typing import Any

from .. import argument_values

TEXT = ["gforced"]
"""In every mark. Whoever asks for the run chooses it: code that knew it could put it into its own names."""
_WORDS = ("a", "bqx")
"""One for each seed, of different lengths: what is only padded or counted differs, too."""
PORTS = (49157, 49171)
COMMANDS = ("true", "false")


class Mark(argument_values.Stand):
    """A permissive object whose text is the mark of the seed in use."""

    seed = 0

    def __new__(cls, name: str = "") -> Any:
        return str.__new__(cls, f"{TEXT[0]}{_WORDS[cls.seed]}")

    def __add__(self, other: Any) -> Any:
        return Mark() if not isinstance(other, str) else str.__str__(self) + other

    def __radd__(self, other: Any) -> Any:
        return other + str.__str__(self) if isinstance(other, str) else Mark()

    def _same(self, *_: object) -> Any:
        return self

    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __floordiv__ = __pow__ = __neg__ = __xor__ = _same
    __rxor__ = __or__ = __ror__ = __and__ = __rand__ = __lshift__ = __rshift__ = __abs__ = _same

    def __int__(self) -> int:
        return PORTS[Mark.seed]

    def __float__(self) -> float:
        return float(3 + Mark.seed)

    def __bytes__(self) -> bytes:
        return str.encode(str.__str__(self))

    def __fspath__(self) -> str:
        return f"{argument_values.SCRATCH}/{str.__str__(self)}"

    def __format__(self, spec: str) -> str:
        try:
            return str.__format__(self, spec)
        except ValueError:
            return str.__str__(self)

    def __lt__(self, other: Any) -> bool:
        return isinstance(other, str) and str.__lt__(self, other)

    def __gt__(self, other: Any) -> bool:
        return isinstance(other, str) and str.__gt__(self, other)

    __le__, __ge__ = __lt__, __gt__

    def __setattr__(self, name: str, value: object) -> None:
        return

    def __setitem__(self, key: object, value: object) -> None:
        return

    def __delitem__(self, key: object) -> None:
        return

    def __iter__(self) -> Any:
        return iter((self,))

    def __next__(self) -> Any:
        return self

    def __contains__(self, key: object) -> bool:
        return False

    def __reduce__(self) -> Any:
        return (str, (str.__str__(self),))


class MarkedError(Exception):
    """Stands in for an exception that a handler would have caught."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Mark()


def choose(seed: int, text: str = "") -> None:
    """From now on, in this process, made-up values carry that seed's mark."""
    Mark.seed = seed
    TEXT[0] = text or TEXT[0]
    text = str.__str__(Mark())
    argument_values.WORD = text
    argument_values.Stand = Mark  # type: ignore[misc, assignment]
    scratch = argument_values.SCRATCH
    for name in ("TEXT_FILE", "JSON_FILE", "FOLDER", "MISSING"):
        setattr(argument_values, name, getattr(argument_values, name).replace(scratch, f"{scratch}/{text}"))
    table = argument_values._BY_WORD
    for word, value in list(table.items()):
        if value == "gate":
            table[word] = text
        elif value == b"gate":
            table[word] = text.encode()
        elif value == argument_values.COMMAND:
            table[word] = COMMANDS[seed]
        elif value == argument_values.PORT:
            table[word] = PORTS[seed]
        elif value == ["gate"]:
            table[word] = [text]
        elif isinstance(value, str) and value.startswith(scratch):
            table[word] = value.replace(scratch, f"{scratch}/{text}")
        elif isinstance(value, str) and argument_values.HOST in value:
            table[word] = value.replace(argument_values.HOST, f"{text}.{argument_values.HOST}")


def is_marked(value: object, depth: int = 3) -> bool:
    """True where a value came from us, in whole or in part."""
    if isinstance(value, (Mark, MarkedError)):
        return True
    if isinstance(value, str):
        return TEXT[0] in value
    if isinstance(value, (bytes, bytearray)):
        return TEXT[0].encode() in value
    if depth and isinstance(value, dict):
        return any(is_marked(v, depth - 1) for pair in list(value.items())[:50] for v in pair)
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        return any(is_marked(v, depth - 1) for v in list(value)[:50])
    return False
