"""Importing a package starts programs or uses the network.

Whoever imports it, a test runner or an editor included, runs it without calling anything.

Move it into a function that somebody calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import (
    DELETE_CALLS,
    SEND_CALLS,
    command_text,
    dangerous_calls,
)

_FILES = ("__init__.py", "sitecustomize.py", "usercustomize.py")


@rule(
    "py.import-side-effect",
    "Import does more than define",
    severity="medium",
    confidence="medium",
    topic="exec",
    cwe=(506, 829),
    attack=("T1195.001",),
    why="Importing the package is enough to run it.",
    fix="Move it into a function that somebody calls.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Network and process calls at the top level of package and start-up files."""
    name = module.path.rsplit("/", 1)[-1]
    if name not in _FILES and not name.endswith(".pth"):
        return
    for call, found in dangerous_calls(module, [module.tree]):
        if not module.at_import(call) or found in DELETE_CALLS or found == "compile" or _main(module, call):
            continue
        if found in ("eval", "exec") or "git" in command_text(module, call).split()[:1]:
            continue
        level = Severity.HIGH if found in SEND_CALLS else None
        yield Hit(node=call, message=f"Importing this file calls {found}.", severity=level)


def _main(module: Module, call: ast.AST) -> bool:
    return any(
        isinstance(up, ast.If)
        and any(isinstance(n, ast.Name) and n.id == "__name__" for n in module.within(up.test))
        for up in module.above(call)
    )
