"""Matches meanings with the entries of rules/sensitive-calls/python.toml."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.languages.sensitive_calls.python.evaluate import ANY_MODULE, Meaning
from gate.languages.sensitive_calls.table import CallEntry, Language
from gate.model.sensitive import SensitiveKind

Use = Literal["calls", "whole", "modules"]
_AGAIN: Final = frozenset(
    {
        ("six", "moves"),
        ("gevent",),
        ("eventlet", "green"),
        ("future", "moves"),
        ("requests", "packages"),
        ("pip", "_vendor"),
        ("setuptools", "_vendor"),
        ("posix",),
        ("nt",),
        ("builtins",),
        ("__builtin__",),
        ("__builtins__",),
        ("trio",),
        ("os",),
    }
)
"""Packages under which another module can be had by its own name (``six.moves.urllib``, ``shutil.os``)."""
_STANDARD: Final = frozenset(
    {
        "os",
        "subprocess",
        "socket",
        "shutil",
        "sys",
        "builtins",
        "importlib",
        "ctypes",
        "pty",
        "pickle",
        "marshal",
        "urllib",
        "http",
        "multiprocessing",
        "signal",
        "runpy",
        "code",
    }
)
MODULES: Final = frozenset(
    {
        ("os",),
        ("socket",),
        ("builtins",),
        ("shutil",),
        ("ctypes",),
        ("importlib",),
        ("__builtins__",),
        ("posix",),
        ("subprocess",),
        ANY_MODULE,
    }
)
"""Modules that can be taken apart by whoever is given them (beside those of ``modules``)."""
_OWN: Final = frozenset({"class", "def", "object", "self", "cls", "super"})
_OWN_PARAMETERS: Final = frozenset({("?", "self"), ("?", "cls"), ("?", "*")})
"""Of an object that this file makes itself, a method by a made name is a way to write ``switch``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """What a meaning can do, and the entry that says so."""

    kind: SensitiveKind
    entry: CallEntry | None = None


@cache
def _by_word(language: Language, use: Use) -> dict[str, tuple[tuple[tuple[str, ...], CallEntry], ...]]:
    found: dict[str, list[tuple[tuple[str, ...], CallEntry]]] = {}
    for entry in language.entries:
        for written in getattr(entry, use):
            parts = tuple(written.split("."))
            word = next((part for part in parts if part not in ("*", "**", "?")), "")
            found.setdefault(word.removesuffix("()"), []).append((parts, entry))
    return {word: tuple(pairs) for word, pairs in found.items()}


def matches(language: Language, meaning: Meaning, use: Use) -> Iterator[Match]:
    """What a name can do when it is called (``calls``), taken as a whole, or handed on as a module."""
    if meaning[0] == "'":
        return
    if use == "calls":
        if meaning[0] == ANY_MODULE[0] and len(meaning) > 1:
            yield Match(kind=SensitiveKind.DYNAMIC_CODE)
        if "*" in meaning[1:] and _is_made_up(meaning):
            yield Match(kind=SensitiveKind.DYNAMIC_CODE)
    if use == "modules" and meaning in MODULES and meaning != ("subprocess",):
        yield Match(kind=SensitiveKind.DYNAMIC_CODE)
    table = _by_word(language, use)
    seen: set[str] = set()
    for form in _forms(meaning):
        for word in dict.fromkeys(part.removesuffix("()") for part in form):
            for parts, entry in table.get(word, ()):
                if entry.id not in seen and _fits(parts, form) and not _excepted(entry, form):
                    seen.add(entry.id)
                    yield Match(kind=entry.kind, entry=entry)


def _forms(meaning: Meaning) -> Iterator[Meaning]:
    """The name itself, and what it is under the name of another module that has it."""
    yield meaning
    for length in (1, 2):
        if meaning[:length] in _AGAIN and len(meaning) > length:
            yield meaning[length:]
    # A module that a library imported is that module all the same: ``shutil.os.system``.
    for at in range(1, len(meaning) - 1):
        if meaning[at] in _STANDARD and meaning[0] not in ("?", "/", "def", "class"):
            yield meaning[at:]


def _is_made_up(meaning: Meaning) -> bool:
    """True for a member by a made name, of a module or of what nobody knows. Of an object or a class of the
    program it is a way to write ``switch``.
    """
    owner = meaning[: meaning.index("*", 1)]
    if owner[0] in _OWN or meaning[:2] in _OWN_PARAMETERS:
        return False
    if owner[:1] in MODULES or owner[0] in _STANDARD:
        return True
    return meaning[-1] == "*" and not any(part[:1].isupper() or part.endswith("()") for part in owner)


def _excepted(entry: CallEntry, form: Meaning) -> bool:
    plain = tuple(part.removesuffix("()") for part in form)
    return any(_same(parts, plain[: len(parts)]) for parts in _but(entry))


@cache
def _but(entry: CallEntry) -> tuple[tuple[str, ...], ...]:
    written = (name.removesuffix(".**").replace("()", "") for name in entry.but)
    return tuple(tuple(name.split(".")) for name in written)


def _fits(wanted: tuple[str, ...], form: Meaning) -> bool:
    """``a.b``: this name, whole. ``*.b``: anything's ``b``. ``?.a.b``: of what nobody knows, called ``a``.
    ``a.**``: anything of ``a``, of objects that are made of it as well. Elsewhere ``*`` is one part.
    """
    if wanted[0] == "*":
        return len(form) > 1 and form[0] != "'" and _same(wanted[1:], form[-len(wanted) + 1 :])
    if wanted[0] == "?":
        return form[0] == "?" and len(form) >= len(wanted) and _same(wanted[1:], form[-len(wanted) + 1 :])
    if wanted[-1] == "**":
        plain = tuple(part.removesuffix("()") for part in form)
        if any(part.startswith("__") for part in form[len(wanted) - 1 :]):
            return False  # of what everything has: __name__, __class__ ...
        return len(form) >= len(wanted) and _same(wanted[:-1], plain[: len(wanted) - 1])
    return _same(wanted, form)


def _same(wanted: tuple[str, ...], form: Meaning) -> bool:
    return len(wanted) == len(form) and all(
        want in ("*", part) for want, part in zip(wanted, form, strict=True)
    )
