"""A file that others of the machine may read or write.

`0o777` lets everybody change it; a secret with `0o644` can be read by every account and every
compromised service.

Use `0o600` for secrets and `0o755` at most for programs; set the mode while creating the file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Confidence, Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import words_of
from gate.regex import regex

_OTHERS_WRITE = 0o002
_OTHERS = 0o077
_SECRET = regex(r"secret|password|passwd|private_?key|credential|api_?key|(?:^|_)token(?:$|_)", re.IGNORECASE)


@rule(
    "py.file-mode",
    "File open to others",
    severity="medium",
    confidence="medium",
    topic="file",
    cwe=(732, 276),
    why="Every account of the machine can read or change the file.",
    fix="Use 0o600 for secrets, and give the mode when the file is created (os.open).",
)
def check(module: Module) -> Iterator[Hit]:
    """Chmod open to all, umask 0, and secrets written with the default mode."""
    flow = Flow(module)
    for call, name in module.calls(
        "os.chmod", "os.fchmod", "pathlib.Path().chmod", "os.lchmod", "os.makedirs", "os.mkdir"
    ):
        mode = module.const(module.arg(call, 0 if name.startswith("pathlib") else 1, "mode"))
        if isinstance(mode, int) and mode & _OTHERS_WRITE and not mode & 0o1000:
            if name.endswith("chmod"):
                yield Hit(node=call, message="Everybody may write the file.")
            else:
                yield Hit(node=call, message="Everybody may write the folder.", severity=Severity.LOW)
    for call, _ in module.calls("os.umask"):
        if module.const(module.arg(call, 0)) == 0 and module.parents.get(call).__class__ is ast.Expr:
            yield Hit(node=call, message="New files are open to everybody.")
    for function in module.all(ast.FunctionDef, ast.AsyncFunctionDef):
        if _writes_secret(function) and not function.name.startswith("test"):
            yield from _created(module, flow, function)


def _writes_secret(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    name = words_of(function.name)
    return bool(_SECRET.search(name)) and bool(
        re.match(r"_*(save|write|store|dump|export|create|persist)", name)
    )


def _created(module: Module, flow: Flow, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Hit]:
    """Files made inside a function that is named for saving a secret."""
    inside = [node for node in module.within(function) if isinstance(node, ast.Call)]
    narrowed = any(
        name.rpartition(".")[2] in ("chmod", "fchmod", "umask")
        and isinstance(mode := module.const(call.args[-1] if call.args else None), int)
        and not mode & 0o007
        for call in inside
        for name in module.names_of(call.func)
    ) or any(module.arg(call, None, "opener") is not None for call in inside)
    for call in inside:
        names = module.names_of(call.func)
        if "os.open" in names and any(
            "os.O_CREAT" in module.names_of(n) for a in call.args[1:2] for n in module.within(a)
        ):
            mode = (
                module.const(module.arg(call, 2, "mode"))
                if module.arg(call, 2, "mode") is not None
                else 0o777
            )
            if isinstance(mode, int) and mode & _OTHERS and not narrowed:
                yield Hit(node=call, message="A secret is written to a file that others may read.")
            continue
        writes = any(c in (module.text_of(module.arg(call, 1, "mode")) or "") for c in "wxa")
        if "open" in names and writes and not narrowed and not _descriptor(flow, call):
            message = "A secret is written with the default mode."
            yield Hit(node=call, message=message, confidence=Confidence.LOW)


def _descriptor(flow: Flow, call: ast.Call) -> bool:
    """``open(os.open(...))``."""
    return bool(call.args) and bool(flow.trace(call.args[0]).calls & {"os.open", "tempfile.mkstemp"})
