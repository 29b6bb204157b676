"""Every origin may use a user's session.

Any page a user visits can then act in that user's name and read the answers. High is an origin that anybody
may have together with credentials, as CodeQL and the CWE list rate it.

List the origins that may send credentials.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_HEADER = "access-control-allow-origin"
_CREDENTIALS = "access-control-allow-credentials"


@rule(
    "py.cors-open",
    "Every origin may use the session",
    severity="high",
    confidence="high",
    topic="weak-check",
    cwe=(942, 346),
    why="Any site a user visits can act in that user's name.",
    fix="List the origins that may send credentials.",
)
def check(module: Module) -> Iterator[Hit]:
    """Middleware with any origin and credentials; the request's own Origin sent back; a plain * as low."""
    flow = Flow(module)
    for call in module.all(ast.Call):
        last = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if last in ("CORS", "cross_origin"):
            origins = module.arg(call, None, "origins")
            resources = module.arg(call, None, "resources")
            wide = _any(module, origins) or (
                origins is None and (resources is None or _any(module, resources))
            )
            if wide and module.is_true(module.arg(call, None, "supports_credentials")):
                yield Hit(node=call, message="Every origin may use the session.")
        elif last in ("add_middleware", "CORSMiddleware", "Middleware"):
            wide = _any(module, module.arg(call, None, "allow_origins")) or module.text_of(
                module.arg(call, None, "allow_origin_regex")
            ) in (".*", "^.*$", ".+", "^.+$", "https?://.*", "https?://.+", "^https?://.*$", "^https?://.+$")
            if wide and module.is_true(module.arg(call, None, "allow_credentials")):
                yield Hit(node=call, message="Every origin may use the session.")
    headers = [(_header(module, node), node) for node in module.all(ast.Assign)]
    answered = Severity.HIGH if any(name == _CREDENTIALS for name, _ in headers) else Severity.MEDIUM
    for name, node in headers:
        if name != _HEADER:
            continue
        if REQUEST in flow.kinds(node.value) and not flow.tested(node, node.value):
            yield Hit(node=node, message="Whoever asks is told that they may.", severity=answered)
        elif module.text_of(node.value) == "*":
            yield Hit(node=node, message="Every origin may read the answer.", severity=Severity.LOW)


def _header(module: Module, node: ast.Assign) -> str:
    """The header that is set, in small letters; empty for another assignment."""
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            return (module.text_of(target.slice) or "").lower()
    return ""


def _any(module: Module, expr: ast.expr | None) -> bool:
    """``"*"`` alone, in a list, or as the origins of a table of resources."""
    if isinstance(expr, ast.Dict):
        return any(_any(module, v) for v in expr.values)
    if isinstance(expr, ast.List | ast.Tuple | ast.Set):
        return any(module.text_of(item) == "*" for item in expr.elts)
    return module.text_of(expr) == "*"
