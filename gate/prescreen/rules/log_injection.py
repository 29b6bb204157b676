"""Text of a request is written into a log as it is.

Line breaks in it make log lines that never happened, and hide those that did.

Log `repr(value)` (`%r`), or take the line breaks out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_LEVELS = ("debug", "info", "warning", "warn", "error", "critical", "exception", "log")
_CLEAN = frozenset(
    {
        "repr",
        ".replace",
        ".splitlines",
        ".encode",
        "re.sub",
        "json.dumps",
        "html.escape",
        "ascii",
        ".translate",
        "urllib.parse.quote",
    }
)


@rule(
    "py.log-injection",
    "Request text in a log",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(117,),
    why="Line breaks in the value forge log lines.",
    fix="Log it with %r, or remove the line breaks first.",
)
def check(module: Module) -> Iterator[Hit]:
    """Logging calls with text of a request that still may hold line breaks."""
    flow = Flow(module, _CLEAN)
    for call in module.methods(*_LEVELS):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        word = (getattr(owner, "id", "") or getattr(owner, "attr", "")).lower()
        if "log" not in word:
            continue
        first = module.text_of(call.args[0]) if call.args else None
        if first is not None and "%r" in first and "%s" not in first:
            continue
        for given in call.args:
            if REQUEST in flow.kinds(given) and not _repr(given):
                yield Hit(node=call, message="Text of a request is logged with its line breaks.")
                break
    yield from _records(module, flow)


_OPENS = ("open", "io.open", "pathlib.Path().open", "codecs.open")
_READS = ("readlines", "splitlines")


def _records(module: Module, flow: Flow) -> Iterator[Hit]:
    """A line of a file that others are appended to: a line break in it makes a record of its own."""
    level = Severity.HIGH if any(True for _ in module.methods(*_READS)) or _by_lines(module) else None
    for call in module.methods("write", "writelines"):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        text = call.args[0] if len(call.args) == 1 else None
        if owner is None or text is None or not _appends(module, owner) or not _is_line(module, flow, text):
            continue
        if REQUEST in flow.kinds(text) and not _repr(text) and not _one_line(flow, text):
            yield Hit(
                node=call, message="A line break in the request makes records of its own.", severity=level
            )


def _one_line(flow: Flow, text: ast.expr) -> bool:
    """``" ".join(text.split())``: every kind of white space becomes a blank. Or it is quoted."""
    return flow.escaped(text) or any(
        isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "split" and not node.args
        for node in flow.trace(text).nodes
    )


def _appends(module: Module, owner: ast.expr) -> bool:
    """A text file that is opened to be continued."""
    made: list[ast.expr | None] = [owner]
    if isinstance(owner, ast.Name):
        made = [binding.value for binding in module.bindings_of(owner)]
    for one in made:
        if isinstance(one, ast.Call) and any(name in _OPENS for name in module.names_of(one.func)):
            at = 0 if any(name.startswith("pathlib.") for name in module.names_of(one.func)) else 1
            mode = module.text_of(module.arg(one, at, "mode")) or ""
            if "a" in mode and "b" not in mode:
                return True
    return False


def _is_line(module: Module, flow: Flow, text: ast.expr) -> bool:
    """The text ends with a line break that the program puts there."""
    for node in flow.trace(text).nodes:
        last: ast.expr | None = None
        if isinstance(node, ast.JoinedStr) and node.values:
            last = node.values[-1]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            last = node.right if isinstance(node.op, ast.Add) else node.left
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "format":
            last = node.func.value if isinstance(node.func, ast.Attribute) else None
        if last is not None and (module.text_of(last) or "").endswith("\n"):
            return True
    return False


def _by_lines(module: Module) -> bool:
    """``for line in file`` of something that was opened."""
    return any(
        isinstance(loop.iter, ast.Name)
        and any(name in ("open()", "pathlib.Path().open()") for name in module.names_of(loop.iter))
        for loop in module.all(ast.For)
    )


def _repr(given: ast.AST) -> bool:
    parts = [part for part in getattr(given, "values", []) if isinstance(part, ast.FormattedValue)]
    return bool(parts) and all(part.conversion == ord("r") for part in parts)
