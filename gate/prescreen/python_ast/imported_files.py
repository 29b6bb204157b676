"""Which files of the tree a changed file imports, directly or through one of them; their texts as options.

Only names of modules come out of the child that parses: here they become paths. Nothing is imported.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.model.change import Tree
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.values.tree import absolute

_FILES: Final = 80
_BYTES: Final = 256 << 10
_WHOLE: Final = 4 << 20
"""Bytes of one file and of all that are read."""
_ROUNDS: Final = 2
_SECONDS: Final = 20.0


def read_imports(path: str, data: bytes, options: Mapping[str, object]) -> list[str]:
    """The modules that a file imports. Runs in the child."""
    from gate.prescreen.python_ast.scanner import parse

    del options
    return imports_of(parse(path, data))


def imports_of(module: Module) -> list[str]:
    """The modules that a file may mean by its imports, relative ones with their dots."""
    found = {alias.name for node in module.all(ast.Import) for alias in node.names}
    for source in module.all(ast.ImportFrom):
        base = "." * source.level + (source.module or "")
        found.add(base)
        found |= {f"{base}{'' if base.endswith('.') else '.'}{alias.name}" for alias in source.names}
    return sorted(found)


def imported_files(
    paths: Sequence[str], imports: Mapping[str, Sequence[str]], head: Tree
) -> Mapping[str, object]:
    """Options for the second look: ``imported`` (file -> module -> file) and ``texts`` (file -> text).

    Empty where nothing of the tree is imported.
    """
    sizes = {e.path: e.size for e in head.entries() if e.path.endswith(".py") and e.mode.startswith("100")}
    known: dict[str, Mapping[str, str]] = {}
    todo = {path: imports.get(path, ()) for path in paths}
    texts: dict[str, str] = {}
    left = _WHOLE
    for _ in range(_ROUNDS):
        wanted: list[str] = []
        for path, names in todo.items():
            known[path] = dict(_found(path, names, sizes))
            wanted += [f for f in known[path].values() if f not in texts and f not in wanted]
        chosen = []
        for file in wanted[: _FILES - len(texts)]:
            if sizes[file] <= min(_BYTES, left):
                left -= sizes[file]
                chosen.append(file)
        read = list(head.read_many(tuple(chosen)))
        texts |= {file: data.decode("utf-8", "replace") for file, data in read}
        results = (
            scan_isolated(
                Reader("gate.prescreen.python_ast.imported_files:read_imports", list[str]),
                read,
                deadline=_SECONDS,
            )
            if read
            else []
        )
        todo = {result.path: result.value for result in results if result.value}
    imported = {path: whole for path in paths if (whole := _whole(path, known, texts))}
    return {"imported": imported, "texts": texts} if imported else {}


def imported_texts(path: str, options: Mapping[str, object]) -> dict[str, str]:
    """Module -> text, of what ``path`` imports, out of the options."""
    imported, texts = options.get("imported"), options.get("texts")
    if not isinstance(imported, dict) or not isinstance(texts, dict):
        return {}
    return {name: texts[file] for name, file in imported.get(path, {}).items() if file in texts}


def _whole(path: str, known: Mapping[str, Mapping[str, str]], texts: Mapping[str, str]) -> dict[str, str]:
    """Module -> file, with what these files import themselves."""
    out = {name: file for name, file in known.get(path, {}).items() if file in texts}
    for file in [*out.values()]:
        for name, inner in known.get(file, {}).items():
            if inner in texts:
                out.setdefault(name, inner)
    return out


def _found(path: str, names: Sequence[str], sizes: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """The names that are modules of the tree, with their files."""
    folder = posixpath.dirname(path)
    above = [folder]
    while folder:
        folder = posixpath.dirname(folder)
        above.append(folder)
    roots = dict.fromkeys(["", "src", *above])
    for name in names:
        plain = absolute(name, path)
        place = plain.replace(".", "/")
        for root in roots:
            stem = posixpath.join(root, place)
            file = next((f for f in (f"{stem}.py", f"{stem}/__init__.py") if f in sizes), None)
            if file is not None and file != path:
                yield plain, file
                break
