"""What outsiders decide that other files pass to a file's functions: ``find_user(request.args["name"])``.

Only asked where a weakness was found that depends on who calls: then the files of the tree that name the
module, or one that names it, are read once more, where one of them knows of requests or models. Where a
change has both the caller and a function with a call that only then is a weakness, its own files are. What
one file is given it may pass on to the next: so far as HOPS.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from gate.dataclass import dataclass
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_test
from gate.model.change import Tree, TreeEntry
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.handed_calls import handed_calls
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.routes import is_table, tools_in_tables
from gate.prescreen.python_ast.sources import MODEL, OUTSIDERS
from gate.regex import regex

_FILES: Final = 200
_ARGUMENTS: Final = 4
"""Of a tool in a table, all of which a language model gives."""
_PASSING: Final = 40
"""Files that only pass on what they are given."""
_WORD: Final = regex(rb"\w+")
_METHODS: Final = regex(rb"def ([a-z]\w*_\w+)\(\s*self\b")
_BYTES: Final = 1 << 19
_SEARCHED: Final = 24 << 20
"""Bytes of the tree that are searched for callers at most, and of how big files."""
_SECONDS: Final = 20.0
SINK_WORDS: Final = (
    b"open(", b"requests.", b"httpx.", b"urlopen", b"send_file", b"FileResponse", b"Markup(", b"mark_safe",
    b"read_text(", b"read_bytes(", b"write_text(", b"write_bytes(", b".fetch(", b".open(", b".iterdir(",
    b"setattr(", b"subprocess.", b"fromstring(", b"remove(", b"unlink(", b"rmtree(", b"import_module(",
)  # fmt: skip
"""Calls that are a weakness only with what an outsider decides: nothing is found without a caller."""
_MARKS: Final = (
    *(
        b"request",
        b"Request",
        b"event",
        b"tool",
        b"Tool",
        b"TOOL",
        b"openai",
        b"anthropic",
        b"langchain",
        b"litellm",
    ),
    *(b"fastapi", b"aiohttp", b"starlette", b"tornado", b".route("),
)
_UNREAD: Final = ("timed-out", "not-reached", "out-of-memory")
HOPS: Final = 3
"""Files that a value is followed through, one to the next."""
_ANY: Final = "?."
"""Before the name of a method of which the caller does not say whose it is."""


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

    module = parse(path, data)
    given = options.get("outside")
    module.outside = given.get(path, {}) if isinstance(given, dict) else {}
    return list(_calls(module))


def _calls(module: Module) -> Iterator[OutsideCall]:
    flow = Flow(module)
    for call in (*module.all(ast.Call), *handed_calls(module)):
        names = [name for name in module.names_of(call.func) if "." in name]
        if not names or any(
            ".objects." in name for name in names
        ):  # what a model's manager has is nowhere said
            names += _method_alone(call.func)
        if not names:
            continue
        given: list[tuple[int | str, ast.expr]] = [*enumerate(call.args)]
        given += [(k.arg, k.value) for k in call.keywords if k.arg is not None]
        for at, value in given:
            kinds = flow.kinds(value) & OUTSIDERS
            if kinds and not flow.tested(call, value):
                yield from (OutsideCall(name=name, at=at, kinds=tuple(sorted(kinds))) for name in names)
    first = _given_by_program(module)
    for tool in tools_in_tables(module):
        for name in (name for name in module.names_of(tool) if "." in name):
            yield from (OutsideCall(name=name, at=at, kinds=(MODEL,)) for at in range(first, _ARGUMENTS))


def _given_by_program(module: Module) -> int:
    """Arguments of a table's tools that are the program's: ``TOOLS[name](workspace, **arguments)`` has one
    in front of those that the model picks.
    """
    calls = [call for call in module.all(ast.Call) if any(keyword.arg is None for keyword in call.keywords)]
    found = [call.args for call in calls if _is_of_table(module, call.func)]
    return min((sum(not isinstance(one, ast.Starred) for one in given) for given in found), default=0)


def _is_of_table(module: Module, callee: ast.expr, depth: int = 0) -> bool:
    """``TOOLS[name]``, ``TOOLS.get(name)``, or a name for one."""
    if isinstance(callee, ast.Call) and getattr(callee.func, "attr", "") == "get":
        callee = callee.func
    if isinstance(callee, ast.Subscript | ast.Attribute):
        return is_table(callee.value)
    if not isinstance(callee, ast.Name) or depth:
        return False
    values = [binding.value for binding in module.bindings_of(callee)]
    return any(isinstance(one, ast.expr) and _is_of_table(module, one, 1) for one in values)


def _method_alone(callee: ast.expr) -> list[str]:
    """``self.directory.find_people``: a method whose owner nothing says, by a name that says much."""
    says_much = isinstance(callee, ast.Attribute) and "_" in callee.attr.strip("_")
    return [f"{_ANY}{callee.attr}"] if says_much and isinstance(callee, ast.Attribute) else []


@dataclass(frozen=True, slots=True)
class Callers:
    """What other files pass to a file's functions, by its path. ``is_whole``: all of them were read."""

    passed: Mapping[str, Passed]
    is_whole: bool = True


def callers_of(texts: Sequence[tuple[str, bytes]], sources: Mapping[str, bytes]) -> Callers:
    """For each of these Python files (``sources``: path to text) what other files pass to its functions;
    ``texts`` are those that may, or that pass on what they are given.
    """
    if not any(is_marked(text) for _, text in texts):
        return Callers({})
    is_whole = True
    known = {**dict(texts), **sources}
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    todo = list(texts)
    for _ in range(HOPS):
        results = scan_isolated(
            Reader("gate.prescreen.python_ast.outside_calls:read_calls", list[OutsideCall], pure=True),
            todo,
            options={"outside": {path: found[path] for path, _ in todo if path in found}},
            deadline=_SECONDS,
        )
        fresh: set[str] = set()
        is_whole = is_whole and not any(result.outcome in _UNREAD for result in results)
        for result in results:
            for call in result.value or ():
                for path, function in _meant(call.name, result.path, known):
                    given = found.setdefault(path, {}).setdefault(function, {})
                    kinds = sorted({*given.get(str(call.at), ()), *call.kinds})
                    if kinds != given.get(str(call.at)):
                        given[str(call.at)] = kinds
                        fresh.add(path)
        todo = [(path, text) for path, text in texts if path in fresh]
        if not todo:
            break
    return Callers({path: passed for path, passed in found.items() if path in sources}, is_whole)


def _meant(name: str, caller: str, known: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """The functions of these files that a name in the file ``caller`` means, each with its file."""
    if name.startswith(_ANY):
        line = f"def {name.removeprefix(_ANY)}(".encode()
        holders = [path for path, text in known.items() if line in text]
        if len(holders) == 1 and holders[0] != caller:
            yield holders[0], name
        return
    for path in known:
        function = _function(name, caller, _dotted(path)) if path != caller else ""
        if function:
            yield path, function


def candidates(paths: Iterable[str], head: Tree) -> list[tuple[str, bytes]]:
    """The files of the tree that may call these, as far as it is searched."""
    return may_call(paths, candidates_in(head))


def candidates_in(head: Tree) -> Iterator[tuple[str, bytes]]:
    """The Python files of the tree with their texts, as far as it is searched."""
    left = _SEARCHED
    chosen: list[str] = []
    for entry in head.entries():
        if _is_source(entry):
            left -= entry.size
            if left < 0:
                break
            chosen.append(entry.path)
    yield from head.read_many(tuple(chosen))


def may_call(paths: Iterable[str], texts: Iterable[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Those of ``texts`` that name one of these modules or their methods, and those that name these in turn
    and know of requests, models or tools. Tests do not count: what they pass nobody outside decides.
    """
    every = {path: text for path, text in texts if not is_test(path)}
    near = _naming({*paths}, every)
    far = _naming({*near}, every) if near else {}
    found = [(path, text) for path, text in near.items() if is_marked(text)]
    found += [(path, text) for path, text in near.items() if not is_marked(text)][:_PASSING]
    found += [(path, text) for path, text in far.items() if path not in near and is_marked(text)]
    return found[:_FILES]


def _naming(paths: AbstractSet[str], texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files that name one of these modules, or one of their methods by a name that says much."""
    stems = (_WORD.findall(_dotted(path).encode()) for path in paths)
    words = {found[-1] for found in stems if found}
    words |= {name for path in paths for name in _METHODS.findall(texts.get(path, b""))}
    # Each text is read once, however many words are looked for.
    return {path: text for path, text in texts.items() if not words.isdisjoint(_WORD.findall(text))}


def is_marked(text: bytes) -> bool:
    """True for a file that may know of requests, models or tools."""
    return any(mark in text for mark in _MARKS)


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
