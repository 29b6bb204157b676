"""Which file is read for what. Runs in the limited child: ``gate.prescreen.meanings.read:read``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from gate.languages.grammars import grammar_of
from gate.languages.tree_sitter_parse import parse, without_long_lines
from gate.prescreen.meanings import javascript, others, promises, python
from gate.prescreen.meanings.facts import Meaning

_LONGEST: Final = 5_000
_MOST: Final = 200
_OTHERS: Final = {
    ".php": others.php,
    ".go": others.go,
    ".rb": others.ruby,
    ".kt": others.kotlin,
    ".java": others.java,
}
_SCRIPTS: Final = ("javascript", "typescript", "tsx")


def is_read(path: str) -> bool:
    """Is this a file that may make other lines mean something else?"""
    return path.endswith((".py", ".pyw", *_OTHERS)) or grammar_of(path) in _SCRIPTS


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Meaning]:
    """What one file does."""
    del options
    return [*islice(_read(path, without_long_lines(data, _LONGEST)), _MOST)]


def _read(path: str, data: bytes) -> Iterator[Meaning]:
    if path.endswith((".py", ".pyw")):
        root = parse(data, "tree_sitter_python")
        yield from python.meanings(root)
        if b"async" in data:
            yield from promises.of_python(root)
    elif path.endswith(tuple(_OTHERS)):
        ending = next(one for one in _OTHERS if path.endswith(one))
        yield from _OTHERS[ending](parse(data, grammar_of(path)))
    elif grammar_of(path) in _SCRIPTS:
        root = parse(data, grammar_of(path))
        yield from javascript.meanings(root)
        if b"async" in data:
            yield from promises.of_javascript(root)
