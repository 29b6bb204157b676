"""Code that runs text as code: `eval`, `exec` and their like.

Text that becomes code gives whoever controls the text the whole process. A text from a request is
remote code execution; a computed text is code that the reviewer did not get to see.

Use a parser (`json.loads`, `ast.literal_eval`), a table of functions, or an import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Confidence, Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import ENVIRONMENT, FILE, INPUT, PARAMETER, REMOTE

_SINKS = (
    "eval", "exec", "execfile", "code.InteractiveInterpreter().runsource",
    "code.InteractiveConsole().push", "pandas.eval", "numexpr.evaluate", "timeit.timeit",
)  # fmt: skip


@rule(
    "py.dynamic-code",
    "Text is run as code",
    severity="medium",
    confidence="high",
    topic="exec",
    cwe=(95, 94),
    attack=("T1059.006",),
    why="Whoever controls the text controls the process; a reviewer cannot see what will run.",
    fix="Parse data with json or ast.literal_eval, or look the action up in a table of functions.",
)
def check(module: Module) -> Iterator[Hit]:
    """Calls of eval, exec and their like with anything but a plain constant; both handed on as functions."""
    flow = Flow(module, frozenset({"ast.literal_eval", "ast.Expression"}))
    for call, name in module.calls(*_SINKS):
        source = module.arg(call, 0, "source", "object", "expr", "stmt")
        if source is None:
            continue
        kinds = flow.kinds(source)
        if module.text_of(source) is not None:
            if name in ("eval", "exec"):
                yield Hit(node=call, message="A constant text is run as code.", severity=Severity.LOW)
        elif kinds & REMOTE:
            message = "Text that an outsider decides is run as code."
            yield Hit(node=call, message=message, severity=Severity.HIGH)
        elif kinds & {INPUT, ENVIRONMENT, FILE}:
            yield Hit(node=call, message="Text from outside the program is run as code.")
        elif kinds & {PARAMETER} and flow.tested(call, source, calls_only=True):
            message = "A parameter is run as code after a test."
            yield Hit(node=call, message=message, severity=Severity.LOW)
        elif kinds & {PARAMETER}:
            yield Hit(node=call, message="A parameter is run as code.", confidence=Confidence.MEDIUM)
        elif not isinstance(source, ast.Lambda) and name != "timeit.timeit":
            yield Hit(node=call, message="Computed text is run as code.", confidence=Confidence.MEDIUM)
    for node, name in module.handed_on("eval", "exec"):
        yield Hit(node=node, message=f"{name} is handed on as a function.")
