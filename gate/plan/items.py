"""From one changed file to what the driver should do with it, or why nothing can be done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gate.languages.path_roles import is_test
from gate.model.change import ChangedFile, Tree
from gate.model.run import NotExercised, Phase
from gate.plan.call_targets import to_call
from gate.plan.module_layout import Module, module_of
from gate.plan.probes import DriverItem
from gate.plan.programs import program_items
from gate.plan.python_source import Facts
from gate.plan.tree_context import Outcome, TreeContext, driver_item, left_out

_NATIVE_PYTHON: Final = (".so", ".pyc", ".pyd")


def items_for(file: ChangedFile, head: Tree, around: TreeContext) -> Iterator[Outcome]:
    """Everything to be done for one changed file of the head tree. Tests are planned elsewhere."""
    if file.new_mode == "160000":
        yield NotExercised(path=file.path, target=file.path, reason="a submodule is not fetched")
    elif file.new_mode == "120000":
        yield NotExercised(path=file.path, target=file.path, reason="a symbolic link, judged by its target")
    elif file.language == "python" or file.path.endswith(_NATIVE_PYTHON):
        yield from _python(file, around)
    else:
        yield from program_items(file, head, around)


def _python(file: ChangedFile, around: TreeContext) -> Iterator[Outcome]:
    """A module by name, a loose file, a script, a setup.py: whichever of them it is."""
    name = PurePosixPath(file.path).name
    facts = around.facts.get(file.path)
    if name.endswith(".pyi"):
        return
    if name == "setup.py" and not _is_part_of_a_package(file.path, around):
        yield driver_item(
            file, around, "install", f"install by {file.path}", {"do": "setup", "path": file.path}
        )
        return
    if is_test(file.path):
        return
    module = module_of(file.path, around.head)
    calls, left = to_call(file, facts, around.before.get(file.path)) if facts else ((), ())
    if facts is None and file.path.endswith((".py", ".pyw")):
        yield NotExercised(path=file.path, target=f"functions of {file.path}", reason="could not be parsed")
    if left:
        shown = ", ".join(left[:3])
        yield left_out(file.path, f"{len(left)} more functions ({shown} ...)")
    risk = max((d.risk for d in facts.definitions if d.name in calls), default=0) if facts else 1
    is_script = facts is not None and (
        name == "__main__.py" or module.name is None or _is_loose_script(file, facts, around)
    )
    if not is_script or (facts is not None and facts.guard):
        yield _import(file, around, module, (), risk)
        if calls:
            yield _import(file, around, module, calls, risk)
    elif calls and module.name is None and facts is not None and not facts.ends:
        yield _import(file, around, module, calls, risk)  # a migration, say: a file loaded by its path
    if is_script or (facts is not None and facts.guard):
        yield _script(file, around, module, risk)


def _is_part_of_a_package(path: str, around: TreeContext) -> bool:
    """True for a module that is only called ``setup``: deep in a package, no project's file beside it."""
    folder = PurePosixPath(path).parent
    beside = ("pyproject.toml", "setup.cfg", "tox.ini")
    return (
        bool(folder.parts)
        and f"{folder}/__init__.py" in around.head
        and not any(f"{folder}/{one}" in around.head for one in beside)
    )


def _is_loose_script(file: ChangedFile, facts: Facts, around: TreeContext) -> bool:
    """True for a file that ends the program by itself, lies in no package and did so before the change:
    a module that begins to end its importers is no script.
    """
    folder = PurePosixPath(file.path).parent
    before = around.before.get(file.path)
    return facts.ends and f"{folder}/__init__.py" not in around.head and (before is None or before.ends)


def _import(
    file: ChangedFile, around: TreeContext, module: Module, calls: tuple[str, ...], risk: int
) -> DriverItem:
    item: dict[str, Any] = {"path": file.path, "roots": list(module.roots)}
    phase: Phase = "import"
    if calls:
        phase, item["calls"] = "call", list(calls)
    if module.name is None:
        target, item["do"] = f"{phase} {file.path}", "file"
    else:
        target, item["do"], item["module"] = f"{phase} {module.name}", "import", module.name
    return driver_item(file, around, phase, target, item, risk=risk, groupable=True)


def _script(file: ChangedFile, around: TreeContext, module: Module, risk: int) -> DriverItem:
    item: dict[str, Any] = {
        "do": "script", "path": file.path, "argv": [[], ["--help"]], "roots": list(module.roots),
    }  # fmt: skip
    target = f"run {file.path}"
    if module.name and ("." in module.name):
        item["module"] = module.name.removesuffix(".__main__")
        target = f"run -m {item['module']}"
    return driver_item(file, around, "script", target, item, risk=risk)
