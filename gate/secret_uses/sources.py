"""Where a secret is taken from, and what it is on its way. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gate.secret_uses.names import (
    authenticates,
    holds_settings,
    is_authenticating_text,
    is_login,
    is_secret,
    snake,
)
from gate.secret_uses.steps import RECEIVER, Step

_MOST: Final = 40
"""Values that one name holds; more says nothing new."""
_LOOKUPS: Final = frozenset({
    "get", "getenv", "lookup_env", "get_string", "require", "fetch", "env", "getattr", "var",
    "get_or_default",
    "get_environment_variable", "get_property", "get_value", "config", "get_required_section",
    "get_connection_string",
})  # fmt: skip
_ENVIRONMENTS: Final = frozenset(
    {"environ", "env", "getenv", "os", "process", "viper", "system", "environment"}
)
_SPLIT: Final = frozenset({"url", "key", "password", "token"})
"""Last words of ``database.url`` or ``api.key``, which say what they are only with the word before."""


_OWN: Final = frozenset({"secret_keys", "secret_key_base", "signing_salt"})
"""Keys of frameworks, whatever they are read from."""
_SIZES: Final = frozenset({"length", "len", "size", "count", "port", "debug", "level", "timeout"})
FAINT: Final = frozenset({"setting", "attr"})


class Value(NamedTuple):
    """A secret on its way. ``kind``: ``one`` value, ``whole`` settings, or what a ``given`` parameter holds
    (then ``secret`` is the function and ``origin`` the parameter). Faint ones have no telling name: a
    ``setting`` of the configuration, or an ``attr`` of anything (``origin``: its owner). A ``user`` one is
    what somebody typed or holds. ``marks``: what was done to it.
    """

    secret: str
    kind: str
    source: int
    origin: str = ""
    marks: frozenset[str] = frozenset()


Values = frozenset[Value]
NONE: Final[Values] = frozenset()


def source_of(path: tuple[str, ...], line: int) -> list[Value]:
    """The secret that this path reads out of settings or the environment; nothing for other paths."""
    if len(path) < 2:
        return []
    last, before = path[-1], path[:-1]
    named = is_secret(last) or (snake(last) in _SPLIT and is_secret(f"{path[-2]}_{last}"))
    held = any(map(holds_settings, before)) or snake(before[-1]) in _ENVIRONMENTS
    own = snake(last) in _OWN or (
        snake(last) == "secret_key" and snake(before[-1]) in ("app", "current_app", "application")
    )
    return [Value(last, "one", line)] if (named and held) or own else []


def faint(path: tuple[str, ...], line: int, holders: Iterable[str] = ()) -> list[Value]:
    """What an attribute of any name holds: it says nothing until somebody takes it to pieces."""
    if len(path) < 2 or snake(path[-1]) in _SIZES:
        return []
    before = path[:-1]
    held = any(map(holds_settings, before)) or not set(holders).isdisjoint(before)
    if path[-1].isupper() and not held:  # a constant
        return []
    kind = "setting" if held else "attr"
    text = frozenset({"char"} if snake(before[-1]) in ("env", "environ") else ())
    return [Value(path[-1], kind, line, before[-1], text)]


def looked_up(call: Step) -> list[Value]:
    """``os.environ.get("X")``, ``os.Getenv("X")``, ``config.get("x")``, ``loadEnv(mode, folder, "")``."""
    path, given = call.name, [part for key, part in call.parts if key == ""]
    last = snake(path[-1]) if path else ""
    everything = last == "load_env" and len(given) == 3 and given[2].name == ("",)
    if everything or (last == "environ" and path[:1] == ("os",)) or last == "get_dsn_parameters":
        said = "the environment" if last == "load_env" else ".".join(path)
        return [Value(said, "whole", call.line, "environment", frozenset({"wholly"}))]
    if last not in _LOOKUPS:
        return []
    at = next((part.name[0] for part in given if part.kind == "const" and part.name and part.name[0]), "")
    of = path[:-1] or (path if last in ("getenv", "env", "config") else ())
    if last == "getattr" and given and given[0].kind == "name":
        of = given[0].name
    if not of and (before := _called_before(call)) and snake(before[-1]) in ("getenv", "environ", "vars"):
        of = ("environ",)  # System.getenv().getOrDefault("X", "")
    if not of:
        return []
    if last == "get_connection_string":
        return [Value(at or "connection string", "one", call.line)]
    if at:
        dotted = tuple(at.replace(":", ".").split("."))
        named = source_of((*of, at), call.line) or source_of((*of, *dotted), call.line)
        return named or _faint_entry(of, at, call.line)
    name = next((part.name[-1] for part in given if part.kind == "name"), "entry")
    return _faint_entry(of, name, call.line)


def _called_before(call: Step) -> tuple[str, ...]:
    return next((part.name for key, part in call.parts if key == RECEIVER and part.kind == "call"), ())


def _faint_entry(of: tuple[str, ...], name: str, line: int) -> list[Value]:
    """An entry of the environment or of settings whose name says nothing, or is itself a value."""
    is_environment = snake(of[-1]) in ("environ", "env", "getenv") or (
        snake(of[-1]) in ("os", "system", "environment") and len(of) == 1
    )
    if is_environment or holds_settings(of[-1]):
        text = frozenset({"char"} if is_environment else ())
        return [Value(name, "setting", line, of[-1], text)]
    return []


def more(value: Value, marks: Iterable[str]) -> Value:
    """The same value, after more was done to it."""
    return value._replace(marks=value.marks | frozenset(marks))


def marked(values: Iterable[Value], *marks: str) -> Iterator[Value]:
    """All of them with these marks."""
    return (more(value, marks) for value in values)


def keyed(key: str, values: Iterable[Value]) -> Iterator[Value]:
    """What stands under a key: it authenticates there, or is only named. ``other``: it authenticates a
    program there, perhaps, and no user.
    """
    if not key:
        return iter(values)
    if not authenticates(key):
        return marked(values, "named")
    return marked(values, "auth", *(() if is_login(key) else ("other",)))


def text_marks(said: Iterable[str]) -> tuple[str, ...]:
    """What the text around a value says: it authenticates, maybe as a part of an address only."""
    found = [text for text in said if is_authenticating_text(text)]
    if not found:
        return ("text",)
    return (
        ("auth",)
        if any(is_authenticating_text(text.replace("://", "")) for text in found)
        else ("auth", "other")
    )


def some(values: Iterable[Value]) -> Values:
    """As many as are followed, the same ones in every run."""
    found = frozenset(values)
    if len(found) <= _MOST:
        return found
    return frozenset(
        sorted(found, key=lambda v: (v.kind in FAINT, v.kind == "user", v[:4], sorted(v.marks)))[:_MOST]
    )
