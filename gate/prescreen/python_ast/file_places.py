"""Fixed places in the file system that an expression may name, also through a parameter of its function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.sinks import path_texts
from gate.regex import regex

_ABSOLUTE: Final = regex(r"(/|~/|[A-Za-z]:[\\/])[\w.@+~-][\w.@+~ /\\*-]{0,200}")
_WALKS: Final = frozenset({"os.walk", "os.listdir", "os.scandir", "glob.glob", "glob.iglob"})


def fixed_places(module: Module, expr: ast.expr) -> Iterator[str]:
    """Absolute paths (``/etc/hosts``, ``~/notes``) written in the text that may reach ``expr``.

    Follows names, joins, walks over a folder, and one call back: what the callers of its function in
    this file pass. Text that is only a part of a path, or holds unknown pieces, is left out.
    """
    seen: set[str] = set()
    for text in _texts(module, expr, Flow(module), deep=True):
        if _ABSOLUTE.fullmatch(text) and text not in seen:
            seen.add(text)
            yield text


def _texts(module: Module, expr: ast.expr, flow: Flow, *, deep: bool) -> Iterator[str]:
    yield from (text for text in path_texts(module, expr) if not text.startswith("~"))
    for node in flow.trace(expr).nodes:
        text = module.text_of(node)
        if text is not None and text.startswith("~/"):
            yield text
        if isinstance(node, ast.Call) and not _WALKS.isdisjoint(module.names_of(node.func)):
            yield from (found for arg in node.args[:1] if (found := module.text_of(arg)) is not None)
        if deep and isinstance(node, ast.Name):
            for argument in _passed(module, node):
                yield from _texts(module, argument, flow, deep=False)


def _passed(module: Module, name: ast.Name) -> Iterator[ast.expr]:
    """What callers in this file pass for a parameter."""
    for binding in module.bindings_of(name):
        if binding.kind != "param":
            continue
        function = next(
            (
                up
                for up in module.above(binding.node)
                if isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef)
            ),
            None,
        )
        if function is None:
            continue
        names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
        if name.id not in names:
            continue
        at = names.index(name.id) - (names[0] in ("self", "cls"))
        for call in module.all(ast.Call):
            if _called(call) == function.name:
                if 0 <= at < len(call.args):
                    yield call.args[at]
                yield from (word.value for word in call.keywords if word.arg == name.id)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
