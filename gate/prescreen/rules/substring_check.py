"""A value is looked for within a text that is a list elsewhere: any part of a member passes.

`code in self.codes` asks a list whether it has a member, and a text whether it has these characters. Where
the same value is taken apart by `split`, it is a text: a single letter of a code is in it, and an empty text
is in every text.

Compare with the members: `code in self.codes.split(",")`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import Final

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_SEVERAL: Final = regex(r"(?i)(?:\A|_)(?:[a-z]{2,}[^s\W_]s|whitelist|allow_?list|deny_?list|scope)\Z")
"""Names of what has members: codes, roles, allowed_hosts."""
_ONE: Final = regex(r"(?i)(?:\A|_)(?:args|params|contents|lines|headers|details|notes|comments|bytes)\Z")
"""Names of texts that are searched in on purpose."""


@rule(
    "py.substring-check",
    "Membership asked of a text",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(697, 863),
    why="Any part of a member passes for one, and an empty text passes always.",
    fix="Take the text apart first, and ask the list.",
)
def check(module: Module) -> Iterator[Hit]:
    """Conditions that refuse or let in by ``value in texts``, where `texts` is split into members elsewhere
    in the file. A constant that is looked for, and a text whose separator it is, are left out.
    """
    taken_apart = _taken_apart(module)
    for node in module.all(ast.Compare):
        if not isinstance(node.ops[0], ast.In | ast.NotIn) or not _decides(module, node):
            continue
        asked, held = node.left, node.comparators[0]
        name = _name_of(held)
        if not name or not _SEVERAL.search(name) or _ONE.search(name) or module.text_of(asked) is not None:
            continue
        by = taken_apart.get(ast.unparse(held), [])
        if not isinstance(asked, ast.Name | ast.Attribute | ast.Subscript | ast.Call) or not by:
            continue
        if _name_of(asked).isupper():  # a constant from elsewhere
            continue
        if any(separator == ast.unparse(asked) for separator in by) or _becomes_members(module, held):
            continue
        message = f"`{name}` is a text here: any part of a member is in it."
        yield Hit(node=node, message=message, evidence={"text": ast.unparse(held)[:100]})


def _becomes_members(module: Module, held: ast.expr) -> bool:
    """True where the name is given something else than a text somewhere: ``codes = codes.split(",")``."""
    bound = chain(
        module.all(ast.Assign, ast.AnnAssign, ast.NamedExpr), module.all(ast.For, ast.comprehension)
    )
    for node in bound:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not any(ast.unparse(one) == ast.unparse(held) for one in targets):
            continue
        value = getattr(node, "value", None)
        is_text = isinstance(value, ast.JoinedStr | ast.Name) or isinstance(module.const(value), str)
        is_text = is_text or (isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "join")
        if value is not None and not is_text:
            return True
    return False


def _taken_apart(module: Module) -> dict[str, list[str]]:
    """What is split into members, with the separators."""
    found: dict[str, list[str]] = {}
    for call in module.methods("split"):
        if isinstance(call.func, ast.Attribute) and _name_of(call.func.value):
            text = ast.unparse(call.func.value)
            found.setdefault(text, []).append(ast.unparse(call.args[0]) if call.args else "")
    return found


def _name_of(expr: ast.expr) -> str:
    if isinstance(expr, ast.Attribute):
        return expr.attr
    return expr.id if isinstance(expr, ast.Name) else ""


def _decides(module: Module, node: ast.AST) -> bool:
    """The comparison is a condition that ends the function, or what the function says."""
    for up in module.above(node):
        if isinstance(up, ast.Return):
            return True
        if isinstance(up, ast.If):
            ends = (*up.body[-1:], *up.orelse[-1:])
            return any(isinstance(one, ast.Return | ast.Raise) or _aborts(one) for one in ends)
        if isinstance(up, ast.stmt):
            return False
    return False


def _aborts(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    name = getattr(getattr(call, "func", None), "id", "") or getattr(getattr(call, "func", None), "attr", "")
    return name in ("abort", "forbid", "deny", "refuse", "exit")
