"""A JSON web token is read without checking its signature.

Anybody can write such a token, with any user name in it.

Give `jwt.decode` the key and `algorithms=[...]`, and leave verification on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule


@rule(
    "py.jwt-unverified",
    "Token accepted without its signature",
    severity="high",
    confidence="high",
    topic="auth",
    cwe=(347, 345),
    why="Anybody can write a token that says they are somebody else.",
    fix="Pass the key and a list of allowed algorithms, and leave verification on.",
)
def check(module: Module) -> Iterator[Hit]:
    """jwt.decode with verification off, algorithm none, or the algorithm that the token names."""
    flow = Flow(module)
    judged: set[ast.AST] = set()
    for call, _ in module.calls(
        "jwt.decode", "jose.jwt.decode", "authlib.jose.jwt.decode", "jwt.api_jwt.decode"
    ):
        options = module.arg(call, None, "options")
        off = module.is_false(module.arg(call, 2, "verify"))
        if isinstance(options, ast.Name):
            values = [b.value for b in module.bindings_of(options) if b.value is not None]
            options = values[-1] if values else None
        if isinstance(options, ast.Dict):
            judged.add(options)
            for key, value in zip(options.keys, options.values, strict=True):
                off = off or (module.text_of(key) == "verify_signature" and module.is_false(value))
        given = module.arg(call, 2, "algorithms")
        algorithms = module.const(given)
        listed = algorithms if isinstance(algorithms, list) else [algorithms]
        if off or any(isinstance(item, str) and item.lower() == "none" for item in listed):
            yield Hit(node=call, message="A token is read without checking its signature.")
        elif any(name.endswith("get_unverified_header") for name in flow.trace(given).calls):
            yield Hit(node=call, message="A token says itself by which algorithm it is checked.")
    for options in module.all(ast.Dict):
        if options not in judged and _switches_off(module, options):
            message = "Options that switch the check of a token's signature off."
            yield Hit(node=options, message=message, severity=Severity.MEDIUM)
    for call, _ in module.calls("jose.jwt.get_unverified_claims", "jose.jws.get_unverified_claims"):
        yield Hit(node=call, message="A token's claims are read without checking its signature.")
    for call, _ in module.calls("jwt.encode"):
        if (module.text_of(module.arg(call, 2, "algorithm")) or "").lower() == "none":
            yield Hit(node=call, message="A token is made without a signature.")


def _switches_off(module: Module, options: ast.Dict) -> bool:
    """Options of PyJWT, wherever they are kept."""
    pairs = zip(options.keys, options.values, strict=True)
    return any(module.text_of(key) == "verify_signature" and module.is_false(value) for key, value in pairs)
