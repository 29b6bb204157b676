"""Further argument values, in the manner of property-based testing: edges of each type, drawn by a seed.

The seed is made from the names of the function and the parameter alone, so the same parameter gets the same
values at base and at head, run after run, whatever else changed in the signature. Values stay small: what
they are to find is a branch, not a limit. Places (paths, hosts, commands) are never drawn.
Docstrings are read too: types of parameters nobody annotated, and the arguments of doctest examples.
"""

from __future__ import annotations

import ast
import random
import re
import zlib
from typing import Any

NUMBERS = (0, 1, -1, 2, 7, 64, 255, 1000)
FRACTIONS = (0.0, -1.5, 0.5, 1.0, 100.0, 1e-9)
TEXTS = ("", "0", "GATE", "gate gate", "g\u00e4te", "-1", "gate,gate;gate=3", "true", "gate" * 60)
BLOBS = (b"", b"\x00", b"gate\n" * 20, b"\xff\xfe")
_EDGES: dict[type, tuple[Any, ...]] = {int: NUMBERS, float: FRACTIONS, str: TEXTS, bytes: BLOBS}
_TYPES = (
    ("str", r"str(?:ings?)?|text|unicode"), ("int", r"int(?:egers?)?|long"), ("float", r"floats?|number"),
    ("bool", r"bool(?:ean)?s?"), ("bytes", r"bytes?|buffer"), ("list", r"lists?|sequence|iterable|array"),
    ("dict", r"dict(?:ionary)?|mapping"), ("set", r"sets?"), ("tuple", r"tuples?"),
)  # fmt: skip
_STYLES = (
    r"^\s*:type\s+(?P<name>\w+)\s*:\s*(?P<type>[^\n]+)$",
    r"^\s*:param\s+(?P<type>[\w.]+)\s+(?P<name>\w+)\s*:",
    r"^\s*@type\s+(?P<name>\w+)\s*:\s*(?P<type>[^\n]+)$",
    r"^\s*\*{0,2}(?P<name>\w+)\s+\((?P<type>[^)\n]+)\)\s*:",
    r"^\s*(?P<name>\w+)\s+:\s+(?P<type>[^\n]+)$",
)
"""Sphinx twice, Epydoc, Google, NumPy."""
_FIND = [re.compile(style, re.MULTILINE) for style in _STYLES]
_EXAMPLE = re.compile(r"^\s*>>>\s+(?:\w+\s*=\s*)?(?:await\s+)?(?P<call>[\w.]+\(.*\))\s*$", re.MULTILINE)
_PLACE = re.compile(r"[/\\~$:`|<>]|\.\w|\.\.")
_LONG = 20_000


def drawn(function: str, parameter: str, value: object, most: int) -> list[Any]:
    """Up to ``most`` values of the kind of ``value``, which is what its name or hint gave."""
    kind = type(value)
    if kind is bool:
        return [not value]
    if kind in (list, dict, set, tuple):
        return [kind(), None][:most]
    edges = _EDGES.get(kind)
    if edges is None:
        edges = TEXTS + NUMBERS + (None, [], {}) if isinstance(value, str) else ()
    chance = random.Random(zlib.crc32(f"{function}:{parameter}".encode("utf-8", "replace")))
    rest = chance.sample(edges[1:], min(most, len(edges)) - 1) if edges else []
    return [*edges[:1], *rest]  # nothing and nought are what code asks for most


def documented(function: object) -> dict[str, str]:
    """Names of plain types by parameter, as the docstring tells them."""
    text = _text(function)
    found: dict[str, str] = {}
    for style in _FIND if text else ():
        for match in style.finditer(text):
            told = _plain_type(match["type"])
            if told:
                found.setdefault(match["name"], told)
    return found


def _plain_type(text: str) -> str:
    words = re.findall(r"[a-z]+", text.lower())[:3]
    for word in words:
        for name, pattern in _TYPES:
            if re.fullmatch(pattern, word):
                return name
    return ""


def examples(function: object, most: int = 3) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments of doctest calls of this very function, where they are literals and name no place."""
    name = getattr(function, "__name__", "")
    out: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    for match in _EXAMPLE.finditer(_text(function)):
        try:
            call = ast.parse(match["call"], mode="eval").body
            if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != name:
                continue
            args = tuple(ast.literal_eval(a) for a in call.args)
            named = {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        if len(out) < most and not _PLACE.search(repr((args, named)).replace(": ", "")):
            out.append((args, named))
    return out


def _text(function: object) -> str:
    text = getattr(function, "__doc__", None)
    return text[:_LONG] if type(text) is str else ""
