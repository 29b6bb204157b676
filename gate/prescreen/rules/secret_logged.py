"""A password or key is written to a log.

Logs are kept for long, copied to other machines and read by many.

Leave the value out, or log that it was given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import words_of
from gate.prescreen.python_ast.sources import REQUEST
from gate.regex import regex

_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
_LOGGER = regex(r"^(?:_?log(?:ger|ging)?|.*_log(?:ger)?)$", re.IGNORECASE)
_SECRET = regex(
    r"(?:^|_)(?:password|passwd|pwd|passphrase|secret(?:_?key)?|api_?key|access_?key|private_?key|"
    r"(?:access|auth|refresh|bearer|session|api|reset|jwt)_?token|credit_?card(?:_?number)?|card_?number|"
    r"cvv|ssn|social_security(?:_number)?|pin_?code)$",
    re.IGNORECASE,
)
_PASSWORD = regex(r"(?:^|_)(?:password|passwd|pwd|passphrase|card_number|cvv)$", re.IGNORECASE)
_AUTH = regex(r"auth|log_?in|sign_?in|session|verify", re.IGNORECASE)


@rule(
    "py.secret-logged",
    "Secret written to a log",
    severity="medium",
    confidence="medium",
    topic="secret",
    cwe=(532, 312),
    why="Logs are copied, kept and read by many; whoever reads them has the secret.",
    fix="Leave the value out of the message, or log only that it was given.",
)
def check(module: Module) -> Iterator[Hit]:
    """Log and print calls with a value whose own name says that it is secret."""
    flow = Flow(module)
    for call in module.all(ast.Call):
        kind = _kind(module, call)
        if not kind:
            continue
        for value in _shown(call):
            name = _name(module, value)
            if name and (_SECRET.search(words_of(name)) or _token(module, call, name)):
                level = None if kind == "log" or not module.at_import(call) else Severity.LOW
                if kind == "log" and _PASSWORD.search(name) and REQUEST in flow.kinds(value):
                    level = Severity.HIGH
                yield Hit(
                    node=call, message="A secret is written out.", severity=level, evidence={"name": name}
                )
                break


def _kind(module: Module, call: ast.Call) -> str:
    if isinstance(call.func, ast.Name) and call.func.id == "print":
        return "print"
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _LEVELS:
        return ""
    owner = call.func.value
    label = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
    named = any(n.startswith(("logging", "loguru.logger", "structlog")) for n in module.names_of(owner))
    return "log" if named or _LOGGER.match(label) else ""


def _shown(call: ast.Call) -> Iterator[ast.expr]:
    """The values whose text is put into the message."""
    stack: list[ast.expr] = [*call.args]
    while stack:
        node = stack.pop()
        match node:
            case ast.JoinedStr():
                stack += [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
            case ast.BinOp():
                stack += [node.left, node.right]
            case ast.Tuple() | ast.List():
                stack += node.elts
            case ast.Dict():
                stack += node.values
            case ast.Call(func=ast.Attribute(attr="format")):
                stack += [*node.args, *(k.value for k in node.keywords)]
            case ast.Call(func=ast.Name(id="str" | "repr"), args=[only]):
                stack.append(only)
            case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
                yield node


def _name(module: Module, value: ast.expr) -> str:
    """``user.password``, ``form["password"]``, ``request.form.get("password")``."""
    match value:
        case ast.Name():
            return value.id
        case ast.Attribute():
            return value.attr
        case ast.Subscript():
            return module.text_of(value.slice) or ""
        case ast.Call(func=ast.Attribute(attr="get" | "getenv"), args=[first, *_]):
            return module.text_of(first) or ""
    return ""


def _token(module: Module, call: ast.Call, name: str) -> bool:
    """A plain ``token`` is a word of a text as often as a credential: it counts where one logs in."""
    function = module.function_of(call)
    return name.lower() == "token" and bool(_AUTH.search(getattr(function, "name", "")))
