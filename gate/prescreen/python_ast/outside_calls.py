"""What outsiders decide that other files pass to a file's functions: ``find_user(request.args["name"])``.

Only asked where a weakness was found that depends on who calls: then the files of the tree that name the
module, and that know of requests or models, are read once more. Where a change has both the caller and a
function with a call that only then is a weakness, its own files are.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.model.change import Tree, TreeEntry
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.sources import OUTSIDERS

_FILES: Final = 200
_BYTES: Final = 1 << 19
_SEARCHED: Final = 24 << 20
"""Bytes of the tree that are searched for callers at most, and of how big files."""
_SECONDS: Final = 20.0
SINK_WORDS: Final = (
    b"open(", b"requests.", b"httpx.", b"urlopen", b"send_file", b"FileResponse", b"Markup(", b"mark_safe",
    b"fromstring(", b"remove(", b"unlink(", b"rmtree(", b"import_module(",
)  # fmt: skip
"""Calls that are a weakness only with what an outsider decides: nothing is found without a caller."""
_MARKS: Final = (b"request", b"event", b"tool", b"openai", b"anthropic", b"langchain", b"litellm")


@dataclass(frozen=True, kw_only=True, slots=True)
class OutsideCall:
    """One argument of one call. ``name`` is the function as imported (``app.db.find``, ``.db.find``);
    ``at`` the argument's position, or its keyword; ``kinds`` what outsiders decide of it.
    """

    name: str
    at: int | str
    kinds: tuple[str, ...]


Passed = Mapping[str, Mapping[str, Sequence[str]]]
"""Function of the file (``find``, ``Repo.find``), then position (``"0"``) or keyword, to kinds."""


def read_calls(path: str, data: bytes, options: Mapping[str, object]) -> list[OutsideCall]:
    """The calls of imported functions in one file with arguments that outsiders decide. Runs in the child."""
    from gate.prescreen.python_ast.scanner import parse

    del options
    return list(_calls(parse(path, data)))


def _calls(module: Module) -> Iterator[OutsideCall]:
    flow = Flow(module)
    for call in module.all(ast.Call):
        names = [name for name in module.names_of(call.func) if "." in name]
        if not names:
            continue
        given: list[tuple[int | str, ast.expr]] = [*enumerate(call.args)]
        given += [(k.arg, k.value) for k in call.keywords if k.arg is not None]
        for at, value in given:
            kinds = flow.kinds(value) & OUTSIDERS
            if kinds and not flow.tested(call, value):
                yield from (OutsideCall(name=name, at=at, kinds=tuple(sorted(kinds))) for name in names)


def callers_of(paths: Sequence[str], texts: Sequence[tuple[str, bytes]]) -> Mapping[str, Passed]:
    """For each of these Python files what other files pass to its functions; ``texts`` are those that may."""
    if not texts:
        return {}
    results = scan_isolated(
        Reader("gate.prescreen.python_ast.outside_calls:read_calls", list[OutsideCall], pure=True),
        texts,
        deadline=_SECONDS,
    )
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for result in results:
        for call in result.value or ():
            for path in paths:
                function = _function(call.name, result.path, _dotted(path))
                if function and result.path != path:
                    given = found.setdefault(path, {}).setdefault(function, {})
                    given[str(call.at)] = sorted({*given.get(str(call.at), ()), *call.kinds})
    return found


def candidates(paths: Iterable[str], head: Tree) -> list[tuple[str, bytes]]:
    """The files of the tree that may call these, as far as it is searched."""
    left = _SEARCHED
    chosen: list[str] = []
    for entry in head.entries():
        if _is_source(entry):
            left -= entry.size
            if left < 0:
                break
            chosen.append(entry.path)
    return may_call(paths, head.read_many(tuple(chosen)))


def may_call(paths: Iterable[str], texts: Iterable[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Those of ``texts`` that name one of these modules, and know of requests, models or tools."""
    stems = {_dotted(path).rpartition(".")[2].encode() for path in paths}
    found = []
    for path, text in texts:
        if any(stem in text for stem in stems) and any(mark in text for mark in _MARKS):
            found.append((path, text))
    return found[:_FILES]


def _is_source(entry: TreeEntry) -> bool:
    return entry.path.endswith(".py") and entry.mode.startswith("100") and entry.size <= _BYTES


def _dotted(path: str) -> str:
    stem = path.removesuffix(".py").removesuffix("/__init__")
    return stem.replace("/", ".")


def _function(name: str, caller: str, module: str) -> str:
    """The function of ``module`` that ``name`` means in the file ``caller``; empty: none of it."""
    plain = name.replace("()", "")
    if plain.startswith("."):
        level = len(plain) - len(plain.lstrip("."))
        folder = posixpath.dirname(caller)
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        plain = ".".join(part for part in (folder.replace("/", "."), plain.lstrip(".")) if part)
    parts = module.split(".")
    for start in range(len(parts)):
        prefix = ".".join(parts[start:]) + "."
        if plain.startswith(prefix):
            return plain.removeprefix(prefix)
    return ""
