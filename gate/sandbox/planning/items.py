"""From one changed file to what the driver should do with it, or why nothing can be done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from gate.model.change import ChangedFile, Side, Tree
from gate.model.run import NotExercised, Phase
from gate.sandbox.planning.layout import Module, is_aside, is_test, module_of
from gate.sandbox.planning.names import to_call
from gate.sandbox.planning.probes import SIDES, Wanted
from gate.sandbox.planning.source import Facts

_RUNNABLE_LATER: Final = frozenset(
    {
        "notebook",
        "c",
        "cpp",
        "csharp",
        "go",
        "rust",
        "java",
        "kotlin",
        "swift",
        "ruby",
        "php",
        "perl",
        "lua",
        "r",
        "julia",
        "scala",
        "powershell",
        "batch",
        "dockerfile",
        "makefile",
        "awk",
        "wasm",
        "elf",
        "pe",
        "macho",
        "class",
        "zip",
        "pyc",
        "sql",
    }
)
"""Code that no probe runs: said, so that nobody takes silence for a look."""
_NATIVE_PYTHON: Final = (".so", ".pyc", ".pyd")
_LIFECYCLE: Final = re.compile(rb'"(pre|post)?(install|prepare|pack|publish)"\s*:')
_BACKEND: Final = re.compile(rb"^\s*backend-path\s*=", re.MULTILINE)
_PROGRAM: Final = re.compile(
    rb"\A#!|\brequire\.main\b|\bimport\.meta\.main\b|\bprocess\.argv\b|\bDeno\.args\b"
)
_BIGGEST_SCRIPT: Final = 1 << 20
_RISK_BASE: Final = {"install": 50, "script": 10, "import": 30, "test": 0, "call": 20, "idle": 0}

Outcome = Wanted | NotExercised


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What is known of both trees: paths, and facts of the changed Python files at head (``facts``, by
    path) and at base (``before``, by the head's path).
    """

    base: frozenset[str]
    head: frozenset[str]
    facts: Mapping[str, Facts | None]
    before: Mapping[str, Facts | None]

    def sides(self, file: ChangedFile) -> tuple[Side, ...]:
        """On which trees the file's path exists."""
        here = {
            "base": file.path in self.base or self.old_path(file) is not None,
            "head": file.path in self.head,
        }
        return tuple(side for side in SIDES if here[side])

    def old_path(self, file: ChangedFile) -> str | None:
        """The base path of a renamed file. None where a sample becomes product: what it did as a
        sample was nobody's business, what it does from now on is.
        """
        renamed = file.status == "renamed" and file.path not in self.base
        if (
            not renamed
            or file.old_path not in self.base
            or (is_aside(file.old_path) and not is_aside(file.path))
        ):
            return None
        return file.old_path


def items_for(file: ChangedFile, head: Tree, around: Surroundings) -> Iterator[Outcome]:
    """Everything to be done for one changed file of the head tree. Tests are planned elsewhere."""
    if file.new_mode == "160000":
        yield NotExercised(path=file.path, target=file.path, reason="a submodule is not fetched")
    elif file.new_mode == "120000":
        yield NotExercised(path=file.path, target=file.path, reason="a symbolic link, judged by its target")
    elif file.language == "python" or file.path.endswith(_NATIVE_PYTHON):
        yield from _python(file, around)
    elif file.language == "pth":
        yield _wanted(file, around, "install", f"lines of {file.path}", {"do": "pth", "path": file.path})
    elif file.language == "shell":
        yield _wanted(file, around, "script", f"sh {file.path}", {"do": "shell", "path": file.path})
    elif file.language in ("javascript", "typescript"):
        yield from _javascript(file, head, around)
    elif PurePosixPath(file.path).name == "package.json":
        if _LIFECYCLE.search(head.read(file.path)):
            item = {"do": "lifecycle", "path": file.path}
            yield _wanted(file, around, "install", f"npm lifecycle scripts of {file.path}", item)
    elif PurePosixPath(file.path).name == "pyproject.toml":
        if _BACKEND.search(head.read(file.path)):
            item = {"do": "backend", "path": file.path}
            yield _wanted(file, around, "install", f"build backend of {file.path}", item)
    elif file.language in _RUNNABLE_LATER:
        yield NotExercised(path=file.path, target=file.path, reason=f"no probe runs {file.language} files")


def _javascript(file: ChangedFile, head: Tree, around: Surroundings) -> Iterator[Outcome]:
    """A module that is imported and whose exports are called; a program where it looks like one."""
    if file.path.endswith(".d.ts"):
        return
    typed = {"typed": True} if file.language == "typescript" else {}
    item: dict[str, Any] = {"do": "javascript", "path": file.path, **typed}
    yield _wanted(file, around, "import", f"import {file.path}", item, risk=1, groupable=True)
    called = {**item, "call": True}
    yield _wanted(file, around, "call", f"call {file.path}", called, risk=1, groupable=True)
    if file.size <= _BIGGEST_SCRIPT and _PROGRAM.search(head.read(file.path)):
        for argv in ([], ["--help"]):
            words = " ".join([file.path, *argv])
            main = {"do": "javascript_main", "path": file.path, "argv": argv, **typed}
            yield _wanted(file, around, "script", f"node {words}", main, groupable=True)


def _python(file: ChangedFile, around: Surroundings) -> Iterator[Outcome]:
    """A module by name, a loose file, a script, a setup.py: whichever of them it is."""
    name = PurePosixPath(file.path).name
    facts = around.facts.get(file.path)
    if name.endswith(".pyi"):
        return
    if name == "setup.py":
        yield _wanted(file, around, "install", f"install by {file.path}", {"do": "setup", "path": file.path})
        return
    if is_test(file.path):
        return
    module = module_of(file.path, around.head)
    calls, left = to_call(file, facts, around.before.get(file.path)) if facts else ((), ())
    if facts is None and file.path.endswith((".py", ".pyw")):
        yield NotExercised(path=file.path, target=f"functions of {file.path}", reason="could not be parsed")
    if left:
        shown = ", ".join(left[:3])
        yield NotExercised(
            path=file.path, target=f"{len(left)} more functions ({shown} ...)", reason="too many in one file"
        )
    risk = max((d.risk for d in facts.definitions if d.name in calls), default=0) if facts else 1
    is_script = facts is not None and (
        name == "__main__.py" or module.name is None or _is_loose_script(file, facts, around)
    )
    if not is_script or (facts is not None and facts.guard):
        yield _import(file, around, module, (), risk)
        if calls:
            yield _import(file, around, module, calls, risk)
    if is_script or (facts is not None and facts.guard):
        yield _script(file, around, module, risk)


def _is_loose_script(file: ChangedFile, facts: Facts, around: Surroundings) -> bool:
    """True for a file that ends the program by itself, lies in no package and did so before the change:
    a module that begins to end its importers is no script.
    """
    folder = PurePosixPath(file.path).parent
    before = around.before.get(file.path)
    return facts.ends and f"{folder}/__init__.py" not in around.head and (before is None or before.ends)


def _import(
    file: ChangedFile, around: Surroundings, module: Module, calls: tuple[str, ...], risk: int
) -> Wanted:
    item: dict[str, Any] = {"path": file.path, "roots": list(module.roots)}
    phase: Phase = "import"
    if calls:
        phase, item["calls"] = "call", list(calls)
    if module.name is None:
        target, item["do"] = f"{phase} {file.path}", "file"
    else:
        target, item["do"], item["module"] = f"{phase} {module.name}", "import", module.name
    return _wanted(file, around, phase, target, item, risk=risk, groupable=True)


def _script(file: ChangedFile, around: Surroundings, module: Module, risk: int) -> Wanted:
    item: dict[str, Any] = {
        "do": "script", "path": file.path, "argv": [[], ["--help"]], "roots": list(module.roots),
    }  # fmt: skip
    target = f"run {file.path}"
    if module.name and ("." in module.name):
        item["module"] = module.name.removesuffix(".__main__")
        target = f"run -m {item['module']}"
    return _wanted(file, around, "script", target, item, risk=risk)


def _wanted(
    file: ChangedFile,
    around: Surroundings,
    phase: Phase,
    target: str,
    item: dict[str, Any],
    *,
    risk: int = 0,
    groupable: bool = False,
) -> Wanted:
    old = around.old_path(file)
    if old is not None:
        item["was"] = _was(old, item, around)
    return Wanted(
        phase=phase,
        target=target,
        file=file,
        item=item,
        sides=around.sides(file),
        rank=(_RISK_BASE[phase], risk),
        groupable=groupable,
        lines={file.path: changed_spans(file)},
    )


def _was(old: str, item: Mapping[str, Any], around: Surroundings) -> dict[str, Any]:
    """What differs in an item on the side where the file still had its old name."""
    was: dict[str, Any] = {"path": old}
    if item["do"] == "program":
        was["argv"] = [old if word == item["path"] else word for word in item["argv"]]
    if item["do"] in ("import", "script"):
        module = module_of(old, around.base)
        was["roots"] = list(module.roots)
        if "module" in item:
            was["module"] = (module.name or "").removesuffix(".__main__")
            was["do"] = item["do"] if module.name else "file" if item["do"] == "import" else item["do"]
    return was


def changed_spans(file: ChangedFile) -> tuple[tuple[int, int], ...]:
    """The changed lines of the head version, as inclusive spans."""
    return tuple((h.new_start, h.new_start + h.new_count - 1) for h in file.hunks if h.new_count)
