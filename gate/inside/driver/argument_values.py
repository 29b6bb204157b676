"""Arguments for functions nobody told us how to call: from hints, defaults, names and constants.

The same signature gives the same arguments on every run and on both sides, or the comparison of base
and head would be noise. Everything points at our own scratch (``/tmp/gate-args``) or at a name that
cannot exist (``example.invalid``); gate/model/probing.py tells the host side about both.
"""

from __future__ import annotations

import inspect
import os
import re
import types
import typing
from typing import Any

from . import pattern_examples, value_draws
from .entered import Entered

SCRATCH = "/tmp/gate-args"
HOST = "example.invalid"
TEXT_FILE = SCRATCH + "/input.txt"
JSON_FILE = SCRATCH + "/input.json"
FOLDER = SCRATCH + "/folder"
MISSING = SCRATCH + "/output.txt"
WORD = "gate"
COMMAND = "true"
PORT = 9

_WORDS = re.compile(r"[a-z0-9]+")
_IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,40}\Z")


def lay_out() -> None:
    """Make the scratch files anew where they are not as they should be."""
    os.makedirs(FOLDER, exist_ok=True)
    for path, content in ((TEXT_FILE, "gate\n"), (JSON_FILE, '{"gate": 1}\n'), (FOLDER + "/a.txt", "gate\n")):
        if not os.path.isfile(path):
            with open(path, "w") as file:
                file.write(content)


class Stand(Entered, str):  # noqa: SLOT000 - subclasses of it are made by nobody
    """Stands in for an object of unknown type: text where text is wanted, itself for the rest."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self

    def __getitem__(self, key: object) -> Any:
        return str.__getitem__(self, key) if isinstance(key, (int, slice)) else self

    def __add__(self, other: Any) -> Any:
        return str.__add__(self, other) if isinstance(other, str) else 3 + other

    def __radd__(self, other: Any) -> Any:
        return other + 3

    def __sub__(self, other: Any) -> Any:
        return 3 - other

    def __rsub__(self, other: Any) -> object:
        return other - 3

    def __truediv__(self, other: object) -> object:
        return 3 / other if isinstance(other, (int, float)) else self

    def __int__(self) -> int:
        return 3

    def __float__(self) -> float:
        return 3.0

    def __aiter__(self) -> Any:
        return _once(self)


async def _once(value: object) -> Any:
    yield value


def _callback(*args: object, **kwargs: object) -> object:
    return args[0] if args else None


# Word of a parameter's name -> value. The last word counts first: `file_count` is a count.
_BY_WORD: dict[str, Any] = {}


def _learn(words: str, value: object) -> None:
    for word in words.split():
        _BY_WORD[word] = value


_learn("path file filename filepath fname src source infile input script pathname", TEXT_FILE)
_learn("json", JSON_FILE)
_learn("dir directory folder root workdir cwd basedir dirname tmpdir", FOLDER)
_learn("dest destination dst out outfile output target", MISSING)
_learn("url uri endpoint link href webhook", f"http://{HOST}/")
_learn("host hostname server domain addr address ip netloc", HOST)
_learn("port", PORT)
_learn("cmd command program executable shell", COMMAND)
_learn("argv args arguments", [])
_learn(
    "n count number num size limit length width height depth index i k x y retries max min step seed year", 3
)
_learn("timeout delay seconds interval wait ttl duration", 0.01)
_learn(
    "data payload body buf buffer content contents text string message msg name key value word line s title",
    WORD,
)
_learn("blob raw bytes chunk", WORD.encode())
_learn("callback func function fn handler hook cb predicate on_done factory", _callback)
_learn(
    "env environ headers params kwargs options opts config settings mapping mapping dict attrs meta context",
    {},
)
_learn("items list values rows lines names paths files elements seq sequence iterable records", [WORD])
_learn("email mail", f"{WORD}@{HOST}")
_learn("date day", "2026-01-01")
_learn("encoding charset", "utf-8")
_learn("code expr expression", "1")
_learn("flag enabled verbose debug force quiet dry recursive strict", True)
_learn("method", "GET")
_learn("mode", "r")


SPECIAL: dict[str, Any] = {}
"""Parameter's name -> function that makes the value: what only a set-up project can give (``request``)."""


def plain_words() -> dict[str, Any]:
    """The values that JSON can carry, by word: what code in other languages is called with."""
    return {word: v for word, v in _BY_WORD.items() if isinstance(v, (str, int, float, list, dict))}


def by_name(name: str) -> Any:
    """A value that fits the parameter's name, or a stand-in."""
    if name in SPECIAL:
        return SPECIAL[name]()
    words = _WORDS.findall(name.lower())
    for word in reversed(words):
        if word in _BY_WORD:
            return _fresh(_BY_WORD[word])
        if word.endswith("s") and word[:-1] in _BY_WORD:
            return [_fresh(_BY_WORD[word[:-1]])]
    return Stand(WORD)


def by_hint(hint: object, name: str, depth: int = 0) -> object:
    """A value of the hinted type; the name decides among values of that type."""
    if isinstance(hint, str):
        hint = _BY_HINT_TEXT.get(hint.split("[")[0].split("|")[0].strip(), Any)
    origin = typing.get_origin(hint)
    args = typing.get_args(hint)
    if depth > 4 or hint is Any or hint is inspect.Parameter.empty:
        return by_name(name)
    if origin is typing.Union or origin is getattr(types, "UnionType", ()):
        real = [a for a in args if a is not type(None)]
        return by_hint(real[0], name, depth + 1) if real else None
    if origin is typing.Literal:
        return args[0]
    if str(origin) == "typing.Annotated" or hasattr(hint, "__metadata__"):
        return by_hint(args[0] if args else Any, name, depth + 1)
    if origin is not None:
        return _container(origin, args, name, depth)
    return _plain(hint, name, depth)


def _container(origin: object, args: tuple[object, ...], name: str, depth: int) -> object:
    """A value for ``list[int]``, ``dict[str, int]``, ``Callable[...]`` and their abstract kin."""
    import collections.abc as abc

    if origin is abc.Callable:
        return _callback
    inner = [by_hint(a, name.rstrip("s"), depth + 1) for a in args if a is not Ellipsis]
    if origin is type:
        return args[0] if args and isinstance(args[0], type) else str
    if origin is tuple:
        return tuple(inner)
    if isinstance(origin, type) and issubclass(origin, abc.Mapping):
        try:
            return {inner[0]: inner[1]} if len(inner) == 2 else {}
        except TypeError:
            return {}
    if isinstance(origin, type) and issubclass(origin, abc.Set):
        return set(inner[:1]) if all(isinstance(i, (str, int)) for i in inner) else set()
    if origin in (abc.Iterator, abc.Generator):
        return iter(inner[:1])
    if isinstance(origin, type) and issubclass(origin, (abc.Iterable, abc.Container)):
        return inner[:1]
    return by_name(name)


def _plain(hint: object, name: str, depth: int = 0) -> Any:
    """A value for a hint without parameters."""
    import enum
    import pathlib

    guess = by_name(name)
    if hint is type(None) or hint is None:
        return None
    if not isinstance(hint, type):
        return guess
    if hint is str:
        return guess if type(guess) is str else WORD
    if hint in (bytes, bytearray, memoryview):
        return hint(
            guess if type(guess) is bytes else str(guess).encode() if isinstance(guess, str) else b"gate"
        )
    if hint is bool:
        return True
    if hint in (int, float, complex):
        return hint(guess) if type(guess) in (int, float) else hint(3)
    if issubclass(hint, pathlib.PurePath):
        return hint(guess if isinstance(guess, str) and guess.startswith(SCRATCH) else TEXT_FILE)
    if issubclass(hint, enum.Enum):
        return next(iter(hint), guess)
    if hint in (list, dict, set, tuple, frozenset):
        return hint()
    if hint.__module__ == "io" or hint.__module__ == "typing":
        import io

        return (
            io.BytesIO(b"gate\n")
            if "Bytes" in hint.__name__ or "Buffer" in hint.__name__
            else io.StringIO("gate\n")
        )
    built = _built(hint, depth) if depth < _DEEPEST else None
    return built if built is not None else guess if isinstance(guess, Stand) else Stand(WORD)


_DEEPEST = 3


def _built(hint: type, depth: int) -> Any:
    """An object of a class that consists of its fields: dataclasses, pydantic's and attrs's models, named
    tuples, typed dictionaries. None for other classes, whose making may do anything.
    """
    if hasattr(hint, "__total__") and issubclass(hint, dict):
        return {name: by_hint(one, name, depth + 1) for name, one in hint.__annotations__.items()}
    marks = ("__dataclass_fields__", "model_fields", "__fields__", "__attrs_attrs__", "_fields")
    if not any(hasattr(hint, mark) for mark in marks):
        return None
    try:
        parameters = list(inspect.signature(hint).parameters.values())
        hints = typing.get_type_hints(hint)
        named = {
            p.name: by_hint(hints.get(p.name, p.annotation), p.name, depth + 1)
            for p in parameters
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        }
        return hint(**named)
    except Exception:
        return None


_BY_HINT_TEXT: dict[str, Any] = {
    "str": str,
    "bytes": bytes,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "List": list,
    "dict": dict,
    "Dict": dict,
    "set": set,
    "tuple": tuple,
    "None": None,
}


def _fresh(value: Any) -> object:
    """A copy of what a function might change."""
    return type(value)(value) if type(value) in (list, dict) else value


SURE = 6
"""Sets that are always tried; the drawn ones behind them only where calls are quick."""


def sets(function: Any, *, most: int = SURE, draws: int = 4) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Argument sets for a callable, cheapest first: only what is required, then everything, then those of
    its docstring's examples, with words and numbers that its own code compares with, texts that its patterns
    match (pattern_examples.py), and ``draws`` sets of edge values (value_draws.py). Empty when the signature
    cannot be told.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return [((), {})]
    hints: dict[str, Any] = {}
    try:
        hints = typing.get_type_hints(function)
    except BaseException:
        hints = dict(getattr(function, "__annotations__", None) or {})
    hints = {**value_draws.documented(function), **hints}
    parameters = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    out = [_bind(parameters, hints, full=False)]
    if any(p.default is not p.empty for p in parameters):
        out.append(_bind(parameters, hints, full=True))
    out += value_draws.examples(function)
    out += _with_each(_constants(function), parameters, hints)[: max(0, most - len(out))]
    if draws and parameters:
        out += _with_each(pattern_examples.of(function), parameters, hints)
    return out + _drawn(function, parameters, hints, draws if parameters else 0)


def _with_each(
    constants: list[Any], parameters: list[inspect.Parameter], hints: dict[str, Any]
) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """A set for each constant, which stands in all places where it may."""
    out = []
    for constant in constants:
        chosen = []
        for p in parameters:
            hint = hints.get(p.name, p.annotation)
            if _may_be(constant, by_hint(hint, p.name), hint):
                chosen.append(p)
        if chosen:
            out.append(_bind(parameters, hints, full=True, fixed={p.name: constant for p in chosen}))
    return out


def _drawn(
    function: object, parameters: list[inspect.Parameter], hints: dict[str, Any], count: int
) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Sets in which every parameter that names no place has an edge value of its kind."""
    name = str(getattr(function, "__qualname__", ""))
    values: dict[str, list[Any]] = {}
    for p in parameters if count else ():
        hint = hints.get(p.name, p.annotation)
        guess = by_hint(hint, p.name)
        number = type(p.default) in (int, float) and hint in (inspect.Parameter.empty, Any)
        if not is_place(guess):
            values[p.name] = value_draws.drawn(name, p.name, p.default if number else guess, count)
    rows = max(map(len, values.values()), default=0)
    return [
        _bind(
            parameters,
            hints,
            full=True,
            fixed={key: drawn[row % len(drawn)] for key, drawn in values.items() if drawn},
        )
        for row in range(rows)
    ]


def is_place(value: object) -> bool:
    """True for what we put in for paths, addresses and commands."""
    return isinstance(value, str) and (value.startswith(SCRATCH) or HOST in value or value == COMMAND)


def _bind(
    parameters: list[inspect.Parameter],
    hints: dict[str, Any],
    *,
    full: bool,
    fixed: dict[str, Any] | None = None,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Values for the parameters; with ``full`` also for those that have a default."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for p in parameters:
        if p.default is not p.empty and not full:
            continue
        if fixed and p.name in fixed:
            value = fixed[p.name]
        elif type(p.default) is bool:
            value = not p.default
        elif type(p.default) in (int, float):
            value = p.default
        else:
            value = by_hint(hints.get(p.name, p.annotation), p.name)
        if p.kind is p.KEYWORD_ONLY:
            named[p.name] = value
        else:
            positional.append(value)
    return tuple(positional), named


def _may_be(constant: object, value: object, hint: object) -> bool:
    """True where a constant may take a value's place. Never for a path, an address or a command."""
    if type(constant) is int and type(value) is int:
        return True
    plain = isinstance(value, str) and not is_place(value)
    return plain and (type(constant) is str or hint in (inspect.Parameter.empty, Any))


def _constants(function: object) -> list[Any]:
    """Short words and numbers from the function's own code: what it may be waiting for. Nothing
    that looks like a path, a name with dots or an address: those would act through us.
    """
    if isinstance(function, type):
        function = function.__init__  # type: ignore[misc]
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    found = [
        constant
        for constant in getattr(code, "co_consts", ()) or ()
        if (type(constant) is int and 3 < constant < 100_000)
        or (type(constant) is str and constant != function.__doc__ and _IDENTIFIER.match(constant))
    ]
    return found[:4]
