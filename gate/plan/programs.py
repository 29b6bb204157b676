"""Items for what is run as a program or in another language: Makefiles, JavaScript, commands, pickles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final

from gate.languages.path_roles import is_component, is_test
from gate.model.change import ChangedFile, Tree
from gate.model.run import NotExercised
from gate.plan import entry_points, makefiles, shell_arguments
from gate.plan.module_layout import module_of
from gate.plan.pickles import is_pickle
from gate.plan.tree_context import Outcome, TreeContext, driver_item, left_out
from gate.plan.unsupported_languages import unrun_language
from gate.regex import regex

_LIFECYCLE: Final = regex(rb'"(pre|post)?(install|prepare|pack|publish)"\s*:')
_BACKEND: Final = regex(rb"^\s*backend-path\s*=", re.MULTILINE)
_PROGRAM: Final = regex(rb"\A#!|\brequire\.main\b|\bimport\.meta\.main\b|\bprocess\.argv\b|\bDeno\.args\b")
_BIGGEST_SCRIPT: Final = 1 << 20


def program_items(file: ChangedFile, head: Tree, around: TreeContext) -> Iterator[Outcome]:
    """Everything to be done for a changed file that is no Python module."""
    name = PurePosixPath(file.path).name
    if is_pickle(file, head):
        roots = list(module_of("x.py", around.head).roots)
        item = {"do": "pickle", "path": file.path, "roots": roots}
        # As unasked for as an import: nobody expects that reading data does anything.
        yield driver_item(file, around, "import", f"unpickle {file.path}", item, risk=10, groupable=True)
    elif file.language == "pth":
        yield driver_item(file, around, "install", f"lines of {file.path}", {"do": "pth", "path": file.path})
    elif file.language == "shell":
        yield from shell_script(file, head, around)
    elif file.language in ("javascript", "typescript") or is_component(file.path):
        yield from javascript(file, head, around)
    elif file.language == "makefile" and name.lower() != "justfile":
        yield from makefile(file, head, around)
    elif name == "package.json" and _LIFECYCLE.search(head.read(file.path)):
        item = {"do": "lifecycle", "path": file.path}
        yield driver_item(file, around, "install", f"npm lifecycle scripts of {file.path}", item)
    elif name == "pyproject.toml" and _BACKEND.search(head.read(file.path)):
        item = {"do": "backend", "path": file.path}
        yield driver_item(file, around, "install", f"build backend of {file.path}", item)
    elif language := unrun_language(file, head):
        yield NotExercised(path=file.path, target=file.path, reason=f"no probe runs {language} files")


def shell_script(file: ChangedFile, head: Tree, around: TreeContext) -> Iterator[Outcome]:
    """The script as it is, then with each argument that it newly acts on."""
    told = f"sh {file.path}"
    yield driver_item(file, around, "script", told, {"do": "shell", "path": file.path})
    if file.size > shell_arguments.BIGGEST:
        return
    chosen, left = shell_arguments.changed_words(file, head.read(file.path).decode("utf-8", "replace"))
    for argv in chosen:
        item = {"do": "shell", "path": file.path, "argv": list(argv)}
        yield driver_item(file, around, "script", " ".join((told, *argv)), item, groupable=True)
    if left:
        yield left_out(file.path, f"{left} more arguments")


def makefile(file: ChangedFile, head: Tree, around: TreeContext) -> Iterator[Outcome]:
    """The targets of which a line changed, each by itself."""
    if file.size > makefiles.BIGGEST:
        yield NotExercised(path=file.path, target=file.path, reason="too big a Makefile")
        return
    targets, left = makefiles.changed_targets(file, head.read(file.path).decode("utf-8", "replace"))
    for target in targets:
        item = {"do": "make", "path": file.path, "target": target}
        yield driver_item(file, around, "script", f"make {target} of {file.path}", item)
    if left:
        told = f"{len(left)} more targets ({', '.join(left[:3])} ...)"
        yield left_out(file.path, told)
    elif not targets:
        yield NotExercised(path=file.path, target=file.path, reason="no target of it changed")


def entry_items(
    files: Sequence[ChangedFile], base: Tree, head: Tree, around: TreeContext
) -> Iterator[Outcome]:
    """Console entry points that the change touches, as their installed commands run them."""
    changed = {f.path: f for f in files}
    names = {
        module_of(f.path, around.head).name or "": f.path
        for f in files
        if f.language == "python" and not is_test(f.path)
    }
    now = entry_points.entries(head, around.head)
    if not now:
        return
    chosen = entry_points.touched(now, entry_points.entries(base, around.base), names)
    roots = module_of("x.py", around.head).roots
    for entry in chosen[: entry_points.MOST]:
        file = changed.get(names.get(entry.module, "")) or changed.get(entry.file)
        if file is None:
            continue
        path = _module_path(entry.module, roots, around.head) or entry.file
        item: dict[str, Any] = {
            "do": "entry", "path": path, "name": entry.name, "module": entry.module, "attr": entry.attr,
            "argv": [[], ["--help"]], "roots": list(roots),
        }  # fmt: skip
        command = driver_item(file, around, "script", f"command {entry.name}", item)
        plain = {key: value for key, value in command.item.items() if key != "was"}
        yield replace(command, item=plain, sides=around.has(path))
    if len(chosen) > entry_points.MOST:
        told = f"{len(chosen) - entry_points.MOST} more commands"
        yield left_out(chosen[0].file, told)


def _module_path(name: str, roots: Sequence[str], paths: frozenset[str]) -> str | None:
    """The file of a dotted module name; None when the tree has none."""
    inner = name.replace(".", "/")
    for root in roots:
        for path in (f"{root}/{inner}.py", f"{root}/{inner}/__init__.py"):
            if (plain := path.removeprefix("./")) in paths:
                return plain
    return None


def javascript(file: ChangedFile, head: Tree, around: TreeContext) -> Iterator[Outcome]:
    """A module that is imported and whose exports are called; a program where it looks like one."""
    if file.path.endswith(".d.ts"):
        return
    typed = {"typed": True} if file.language == "typescript" else {}
    item: dict[str, Any] = {"do": "javascript", "path": file.path, **typed}
    yield driver_item(file, around, "import", f"import {file.path}", item, risk=1, groupable=True)
    called = {**item, "call": True}
    yield driver_item(file, around, "call", f"call {file.path}", called, risk=1, groupable=True)
    if file.size <= _BIGGEST_SCRIPT and _PROGRAM.search(head.read(file.path)):
        for argv in ([], ["--help"]):
            words = " ".join([file.path, *argv])
            main = {"do": "javascript_main", "path": file.path, "argv": argv, **typed}
            yield driver_item(file, around, "script", f"node {words}", main, groupable=True)
