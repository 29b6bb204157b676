"""Where a secret is taken from, and what it is on its way. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gate.secret_uses.names import authenticates, holds_settings, is_secret, snake
from gate.secret_uses.steps import Step

_MOST: Final = 40
"""Values that one name holds; more says nothing new."""
_LOOKUPS: Final = frozenset({
    "get", "getenv", "lookup_env", "get_string", "require", "fetch", "env", "getattr",
})  # fmt: skip
_ENVIRONMENTS: Final = frozenset({"environ", "env", "getenv", "os", "process", "viper"})
_SPLIT: Final = frozenset({"url", "key", "password", "token"})
"""Last words of ``database.url`` or ``api.key``, which say what they are only with the word before."""


class Value(NamedTuple):
    """A secret on its way. ``kind``: ``one`` value, ``whole`` settings, or what a ``given`` parameter holds
    (then ``secret`` is the function and ``origin`` the parameter). ``marks``: what was done to it.
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
    own = snake(last) == "secret_key" and snake(before[-1]) in ("app", "current_app", "application")
    return [Value(last, "one", line)] if (named and held) or own else []


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
    at = next((part.name[0] for part in given if part.kind == "const" and part.name), "")
    of = path[:-1] or (path if last in ("getenv", "env") else ())
    if last == "getattr" and given and given[0].kind == "name":
        of = given[0].name
    return source_of((*of, at), call.line) if at and of else []


def more(value: Value, marks: Iterable[str]) -> Value:
    """The same value, after more was done to it."""
    return value._replace(marks=value.marks | frozenset(marks))


def marked(values: Iterable[Value], *marks: str) -> Iterator[Value]:
    """All of them with these marks."""
    return (more(value, marks) for value in values)


def keyed(key: str, values: Iterable[Value]) -> Iterator[Value]:
    """What stands under a key: it authenticates there, or is only named."""
    return marked(values, "auth" if authenticates(key) else "named") if key else iter(values)


def some(values: Iterable[Value]) -> Values:
    """As many as are followed, the same ones in every run."""
    found = frozenset(values)
    if len(found) <= _MOST:
        return found
    return frozenset(sorted(found, key=lambda v: (v[:4], sorted(v.marks)))[:_MOST])
