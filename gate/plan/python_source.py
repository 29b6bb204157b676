"""Facts about changed Python files, read in a child process with limits."""

from __future__ import annotations

import io
import json
import re
import resource
import sys
import tokenize
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from gate import process
from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.model.change import Tree

READER: Final = Path(__file__).with_name("python_reader.py")
BIGGEST: Final = 1 << 20
"""Sources above this many bytes are not parsed; they are imported all the same."""
_DEADLINE: Final = 10.0
_MEMORY: Final = 1 << 30
_LIMITS: Final = {resource.RLIMIT_AS: _MEMORY, resource.RLIMIT_CORE: 0}
_MOST_READ: Final = 300
_TOGETHER: Final = 50
_ALONE: Final = 20
"""After a crash this many files are tried again one by one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A function, method or class. ``name`` is qualified in its module; lines as in Location;
    ``risk`` counts different risky words in its text; ``uses`` are names and attributes in it.
    """

    name: str
    first: int
    last: int
    risk: int
    uses: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What one module defines and does at its top level; see reader.py."""

    definitions: tuple[Definition, ...]
    names: tuple[tuple[str, int, int], ...]
    guard: bool
    ends: bool
    imports: frozenset[str]
    statements: tuple[tuple[int, int], ...] = ()
    """First and last line of each statement that an interpreter runs; of one with a body its head alone."""
    code: str = ""
    bare: str = ""
    """Digests of the syntax tree, with docstrings and without; empty where that is not known."""
    exported: frozenset[str] | None = None
    """Names that other modules can reach; None where that is all of them."""


def read_facts(sources: Mapping[str, bytes]) -> dict[str, Facts | None]:
    """Facts per path; None where a source cannot be parsed (or is too big to try)."""
    texts = {path: text for path, data in sources.items() if (text := decode(data)) is not None}
    told = _ask(texts)
    if told is None:  # one of them brought the parser down: find out which
        told = {}
        for path, text in list(texts.items())[:_ALONE]:
            told |= _ask({path: text}) or {}
    return {path: _facts(told.get(path)) for path in sources}


def imported_modules(tree: Tree) -> frozenset[str]:
    """Top-level modules that Python files of the tree import and that are none of its own; of a few hundred
    files, those at the top first. The same tree always gives the same. Raises InconclusiveError.
    """
    python = [e for e in tree.entries() if e.path.endswith(".py") and e.mode.startswith("100")]
    paths = [PurePosixPath(e.path) for e in python]
    own = {p.parent.name if p.stem == "__init__" else p.stem for p in paths}
    own |= {p.parts[0] for p in paths if len(p.parts) > 1}
    small = sorted((e.path for e in python if e.size <= BIGGEST), key=lambda path: (path.count("/"), path))
    names: set[str] = set()
    for at in range(0, min(len(small), _MOST_READ), _TOGETHER):
        read = tree.read_many(tuple(small[at : min(at + _TOGETHER, _MOST_READ)]))
        told = _ask({path: text for path, data in read if (text := decode(data)) is not None})
        if told is None:  # what another tree would have is not to be compared with half of it
            raise InconclusiveError(
                "what the tree's Python files import could not be read", advice="Name what it needs."
            )
        for raw in told.values():
            names |= {name.partition(".")[0] for name in (raw or {}).get("imports", ())}
    return frozenset(names - own)


def decode(data: bytes) -> str | None:
    """The text as CPython would decode it (PEP 263), None when it would not or is too big."""
    if len(data) > BIGGEST or b"\0" in data:
        return None
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None
    # A lone surrogate cannot travel as UTF-8; Python would refuse the file as well.
    return None if re.search("[\ud800-\udfff]", text) else text


def _ask(texts: Mapping[str, str]) -> dict[str, Any] | None:
    """One child's answer, None when it crashed, ran out of something or made no sense."""
    if not texts:
        return {}
    question = json.dumps(texts).encode()
    try:
        done = process.run(
            [sys.executable, "-I", "-S", READER], deadline=_DEADLINE, stdin=question, limits=_LIMITS
        )
    except InconclusiveError:
        return None
    if not done.ok:
        return None
    answer = json.loads(done.stdout)
    return answer if isinstance(answer, dict) else None


def _facts(raw: Mapping[str, Any] | None) -> Facts | None:
    if raw is None:
        return None
    return Facts(
        definitions=tuple(
            Definition(name=name, first=first, last=last, risk=risk, uses=frozenset(uses))
            for name, first, last, risk, uses in raw["defs"]
        ),
        names=tuple((name, first, last) for name, first, last in raw["names"]),
        guard=raw["guard"],
        ends=raw["ends"],
        imports=frozenset(raw["imports"]),
        statements=tuple((first, last) for first, last in raw["statements"]),
        code=raw["code"],
        bare=raw["bare"],
    )
