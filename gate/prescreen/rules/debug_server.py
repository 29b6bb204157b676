"""A web application is started with its debugger on.

Werkzeug's debugger runs Python that is typed into the browser, and error pages show source and
variables.

Take `debug=True` out; use `flask --debug run` on your own machine.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_WEB = (
    "flask", "bottle", "quart", "dash", "sanic", "aiohttp", "tornado", "fastapi", "starlette",
    "werkzeug", "uvicorn",
)  # fmt: skip


@rule(
    "py.debug-server",
    "Debug mode is on",
    severity="medium",
    confidence="high",
    topic="exposure",
    cwe=(489, 215),
    why="The debugger runs code typed into a browser, and error pages show source and variables.",
    fix="Leave debug out of the code; switch it on from the command line on your own machine.",
)
def check(module: Module) -> Iterator[Hit]:
    """run(debug=True) of web applications, DEBUG settings."""
    web = module.imports_any(*_WEB)
    for call in module.methods("run", "run_server", "run_simple"):
        on = module.is_true(module.arg(call, None, "debug", "use_debugger"))
        if web and on:
            public = module.text_of(module.arg(call, 0, "host")) == "0.0.0.0"  # noqa: S104 - looked for
            yield Hit(node=call, message="The debugger is on.", severity=Severity.HIGH if public else None)
    settings = module.path.rsplit("/", 1)[-1] in ("settings.py", "production.py", "prod.py")
    for node in module.all(ast.Assign):
        for target in node.targets:
            if not module.is_true(node.value):
                continue
            owner = getattr(target, "value", None)
            if isinstance(target, ast.Attribute):
                label = owner.id if isinstance(owner, ast.Name) else ""
                found = web and target.attr == "debug" and label in ("app", "application")
            elif isinstance(target, ast.Subscript):
                found = getattr(owner, "attr", "") == "config" and module.text_of(target.slice) == "DEBUG"
            else:
                found = settings and isinstance(target, ast.Name) and target.id == "DEBUG"
            if found:
                yield Hit(node=node, message="The debugger is on.")
