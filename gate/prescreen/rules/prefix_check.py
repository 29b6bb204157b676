"""A path is held inside a folder by its beginning, and no separator ends that beginning.

`/srv/files-private/key` begins with `/srv/files` too: every folder beside it with a longer name passes.

Compare with `is_relative_to(folder)` or `os.path.commonpath`, or end the beginning with `os.sep`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import OUTSIDERS

_RESOLVED: Final = frozenset({
    "os.path.realpath", "os.path.abspath", "os.path.normpath", ".resolve", ".absolute",
})  # fmt: skip
_FOLDERS: Final = frozenset({
    "os.path.realpath", "os.path.abspath", "os.path.normpath", "os.path.dirname", "os.getcwd", "os.fspath",
    "str", "os.path.expanduser", "os.fsdecode",
})  # fmt: skip
"""What they give ends with no separator."""
_JOINS: Final = frozenset({"os.path.join", ".joinpath"})


@rule(
    "py.prefix-check",
    "Folder checked by the beginning of a path",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(22, 41),
    why="Folders beside it whose names begin the same are reached.",
    fix="Use is_relative_to or os.path.commonpath, or add os.sep to the folder.",
)
def check(module: Module) -> Iterator[Hit]:
    """Refusals by startswith() of a resolved path and a folder without a separator behind it."""
    flow = Flow(module)
    for call in module.methods("startswith"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is None or len(call.args) != 1 or not _refuses(module, call):
            continue
        trace = flow.trace(owner)
        if trace.calls.isdisjoint(_RESOLVED) or not _is_joined(module, trace.nodes):
            continue
        if _separated(module, flow, call.args[0]) is not False or _separated(module, flow, owner) is True:
            continue
        if any(one.endswith((".commonpath", ".is_relative_to", ".relative_to")) for one in trace.calls):
            continue
        level = Severity.HIGH if trace.kinds & OUTSIDERS else Severity.LOW
        yield Hit(node=call, message="Folders beside it that begin the same pass too.", severity=level)


def _is_joined(module: Module, nodes: tuple[ast.AST, ...]) -> bool:
    """The path was put together from a folder and something that is no constant."""
    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Add):
            if module.text_of(node.right) is None:
                return True
        elif isinstance(node, ast.Call):
            last = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else ""
            if _JOINS & {last, *module.names_of(node.func)} and any(
                module.text_of(a) is None for a in node.args[-1:]
            ):
                return True
        elif isinstance(node, ast.JoinedStr) and len(node.values) > 1:
            return True
    return False


def _refuses(module: Module, call: ast.Call) -> bool:
    """The check stands in a condition that refuses, or is what a function says."""
    for up in module.above(call):
        if isinstance(up, ast.Return):
            return True
        if isinstance(up, ast.If | ast.Assert | ast.IfExp):
            return True
        if isinstance(up, ast.stmt):
            return False
    return False


def _separated(module: Module, flow: Flow, expr: ast.expr, depth: int = 0) -> bool | None:
    """True where a separator ends the text, False where none does, None where nobody knows."""
    if depth > 6:
        return None
    text = flow.text_of(expr)
    if text is not None:
        is_path = text.startswith(("/", "\\", ".", "~")) or text[1:2] == ":"
        return text.endswith(("/", "\\")) if is_path else None
    if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Add):
        return _is_separator(module, expr.right)
    if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Div):
        return False
    if isinstance(expr, ast.JoinedStr) and expr.values:
        last = expr.values[-1]
        return _is_separator(module, last.value if isinstance(last, ast.FormattedValue) else last)
    if isinstance(expr, ast.Call):
        names = {*module.names_of(expr.func)}
        if "os.path.join" in names and expr.args:
            return module.text_of(expr.args[-1]) == ""
        method = getattr(expr.func, "attr", "")
        if names & _FOLDERS or method in ("resolve", "absolute", "as_posix"):
            return False
        return None
    if any(name == "pathlib.Path()" for name in module.names_of(expr)):
        return False
    values: list[ast.expr] = []
    if isinstance(expr, ast.Name):
        values = [b.value for b in module.bindings_of(expr) if b.kind == "assign" and b.value is not None]
    elif isinstance(expr, ast.Attribute) and getattr(expr.value, "id", "") == "self":
        values = module.attribute_values(module.class_of(expr), expr.attr)
    return _separated(module, flow, values[0], depth + 1) if len(values) == 1 else None


def _is_separator(module: Module, expr: ast.expr) -> bool:
    text = module.text_of(expr)
    if text is not None:
        return text.endswith(("/", "\\"))
    return any(name in ("os.sep", "os.path.sep", "os.altsep") for name in module.names_of(expr))
