"""An XSL transformation comes from a request.

Style sheets read files, fetch addresses, and in some processors run commands.

Keep style sheets in the project; give `XSLTAccessControl.DENY_ALL`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST


@rule(
    "py.xslt-from-request",
    "Style sheet from a request",
    severity="high",
    confidence="high",
    topic="injection",
    cwe=(91, 611),
    why="A style sheet can read the server's files and fetch addresses.",
    fix="Keep style sheets in the project and use XSLTAccessControl.DENY_ALL.",
)
def check(module: Module) -> Iterator[Hit]:
    """xslt() and XSLT() with text of a request."""
    flow = Flow(module)
    calls = [*module.methods("xslt"), *(call for call, _ in module.calls("lxml.etree.XSLT"))]
    for call in calls:
        if call.args and REQUEST in flow.kinds(call.args[0]):
            yield Hit(node=call, message="A request brings its own style sheet.")
