"""Calls that somebody else makes later: tasks of a queue, threads, executors, background tasks.

``report.delay(name)`` calls ``report(name)``; so does ``pool.submit(report, name)``. Each becomes a call in
its own right, at the place where it was handed on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from gate.prescreen.python_ast.module import Module

_OF_TASKS: Final = frozenset(
    {"delay", "s", "si", "signature", "delay_on_commit", "kiq", "defer", "defer_async"}
)
"""Methods of a task that take its arguments as they are."""
_LATER: Final = frozenset({"apply_async", "send_with_options", "apply", "apply_async_on_commit"})
"""Methods of a task that take its arguments as ``args=[...]``, ``kwargs={...}``."""
_FIRST: Final = frozenset({
    "add_task", "submit", "enqueue", "call_soon", "call_soon_threadsafe", "spawn", "start_soon", "create_job",
    "run_in_threadpool", "to_thread", "run_sync", "partial", "apply_in_thread", "defer_to_thread",
})  # fmt: skip
"""Functions whose first argument is called with the others."""
_THREADS: Final = frozenset({"Thread", "Process", "Timer"})


def handed_calls(module: Module) -> list[ast.Call]:
    """The calls that the file has made later, with the places of those that hand them on."""
    return module.kept("handed calls", lambda asked: list(_handed(asked)))


def _handed(module: Module) -> Iterator[ast.Call]:
    for call in module.all(ast.Call):
        made = _made(call)
        if made is None:
            continue
        ast.copy_location(made, call)
        parent = module.parents.get(call)
        if parent is not None:
            module.parents[made] = parent
        module.scopes[made] = module.scopes[call]
        yield made


def _made(call: ast.Call) -> ast.Call | None:
    func = call.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if name in _OF_TASKS and isinstance(func, ast.Attribute):
        return ast.Call(func.value, call.args, call.keywords)
    if name in _LATER and isinstance(func, ast.Attribute):
        return _spread(func.value, call.args[:1], call)
    if name in _FIRST and call.args:
        return ast.Call(call.args[0], call.args[1:], call.keywords)
    if name == "run_in_executor" and len(call.args) > 1:
        return ast.Call(call.args[1], call.args[2:], [])
    if name in _THREADS:
        target = next((k.value for k in call.keywords if k.arg in ("target", "function")), None)
        return _spread(target, (), call) if target is not None else None
    if isinstance(func, ast.Call) and func.args and _last(func.func) in ("sync_to_async", "async_to_sync"):
        return ast.Call(func.args[0], call.args, call.keywords)
    return None


def _spread(callee: ast.expr, first: Sequence[ast.expr], call: ast.Call) -> ast.Call:
    """A call with what ``args`` and ``kwargs`` list."""
    said = {k.arg: k.value for k in call.keywords}
    given = said.get("args", first[0] if first else None)
    named = said.get("kwargs")
    args = [*given.elts] if isinstance(given, ast.Tuple | ast.List) else []
    pairs = zip(named.keys, named.values, strict=True) if isinstance(named, ast.Dict) else ()
    keywords = [ast.keyword(str(k.value), v) for k, v in pairs if isinstance(k, ast.Constant)]
    return ast.Call(callee, args, keywords)


def _last(expr: ast.expr) -> str:
    return expr.attr if isinstance(expr, ast.Attribute) else getattr(expr, "id", "")
