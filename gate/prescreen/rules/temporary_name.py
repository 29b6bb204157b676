"""A temporary file is made under a name that others know or can guess.

Between asking for the name and opening it somebody else can put a link there.

Use `tempfile.NamedTemporaryFile`, `mkstemp` or `TemporaryDirectory`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_FOLDERS = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 - looked for, not used


@rule(
    "py.temporary-name",
    "Guessable temporary file",
    severity="medium",
    confidence="high",
    topic="file",
    cwe=(377, 379),
    why="Somebody else can put a link under that name first.",
    fix="Use tempfile.NamedTemporaryFile, mkstemp or TemporaryDirectory.",
)
def check(module: Module) -> Iterator[Hit]:
    """mktemp, and fixed names in shared folders opened for writing."""
    for call, _ in module.calls("tempfile.mktemp", "os.tempnam", "os.tmpnam"):
        yield Hit(node=call, message="The name can be taken by somebody else before it is used.")
    for call, _ in module.calls("open", "io.open"):
        path = module.text_of(call.args[0]) if call.args else None
        mode = module.text_of(module.arg(call, 1, "mode")) or ""
        joined = call.args[0] if call.args else None
        if isinstance(joined, ast.Name):
            bound = [b.value for b in module.bindings_of(joined) if b.value is not None]
            joined = bound[-1] if bound else joined
        if path is None and any(c in mode for c in "wax+") and _fixed_below(module, joined):
            yield Hit(node=call, message="A fixed name in a shared folder is written.")
        if path and path.startswith(_FOLDERS) and any(c in mode for c in "wax+"):
            yield Hit(node=call, message="A fixed name in a shared folder is written.")


def _fixed_below(module: Module, path: ast.expr | None) -> bool:
    """``os.path.join(tempfile.gettempdir(), "cache.json")``."""
    if not isinstance(path, ast.Call) or "os.path.join" not in module.names_of(path.func):
        return False
    shared = bool(path.args) and "tempfile.gettempdir()" in module.names_of(path.args[0])
    return shared and all(module.text_of(part) is not None for part in path.args[1:])
