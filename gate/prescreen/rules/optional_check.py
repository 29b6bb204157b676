"""A signature is checked only where there is one: whoever leaves it out is let through.

`if signature and not valid(body, signature): return 401` says nothing about a request without the header.

Refuse a missing signature first: `if not signature or not valid(body, signature)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.call_sites import called_function
from gate.prescreen.python_ast.class_bases import sources_of
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.held_checks import about
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import PARAMETER, REQUEST
from gate.regex import regex

_COMPARES: Final = (
    "hmac.compare_digest", "secrets.compare_digest", "django.utils.crypto.constant_time_compare",
    "stripe.Webhook.construct_event", "stripe.WebhookSignature.verify_header",
    "nacl.signing.VerifyKey().verify", "werkzeug.security.safe_str_cmp",
)  # fmt: skip
_SIGNED: Final = regex(
    r"(?:verif|valid|check|match|correct|authent)\w*_?sig|sig\w*_?(?:valid|verif|match|ok)|hmac"
)
_NAMED: Final = regex(r"(?:^|_|-)(?:sig|signature|signed|hmac|mac|digest)(?:_|-|$|\d)", re.IGNORECASE)
_STOPS: Final = frozenset({"abort", "exit", "fail", "deny", "forbid", "unauthorized"})


@rule(
    "py.optional-check",
    "Signature checked only where there is one",
    severity="high",
    confidence="medium",
    topic="auth",
    cwe=(347, 287),
    why="A request without the signature is accepted as if it had a good one.",
    fix="Refuse a missing signature before anything else.",
)
def check(module: Module) -> Iterator[Hit]:
    """Conditions on a sent signature in front of its check, without an answer for its absence."""
    if not any(word in module.text for word in ("sig", "hmac", "digest", "Sig", "HMAC")):
        return
    flow = Flow(module)
    for node in module.all(ast.If):
        parts = _conjuncts(node.test)
        for part in parts:
            sent = _present(module, part)
            if sent is None or not _is_sent(flow, sent):
                continue
            others = [one for one in parts if one is not part]
            skipped = (
                _refuses_bad(module, others, node, sent) if others else _checks_inside(module, node, sent)
            )
            if skipped and not _missed(module, node, sent):
                yield Hit(node=node, message="Without a signature nothing is checked.")
                break
        else:
            yield from _passes(module, flow, node)
    for choice in module.all(ast.IfExp):
        sent = _present(module, choice.test)
        if sent is None or not module.is_true(choice.orelse) or not _is_sent(flow, sent):
            continue
        if _verifies_in(module, choice.body, sent):
            yield Hit(node=choice, message="Without a signature nothing is checked.")


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    return list(test.values) if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _present(module: Module, test: ast.expr) -> ast.expr | None:
    """What a condition asks to be there: ``signature``, ``signature is not None``, ``"X" in headers``."""
    if isinstance(test, ast.NamedExpr):
        return test.target
    if isinstance(test, ast.Name):
        return test
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        op, right = test.ops[0], test.comparators[0]
        if isinstance(op, ast.IsNot | ast.NotEq) and _is_nothing(right):
            return test.left
        if isinstance(op, ast.In) and _NAMED.search(module.text_of(test.left) or ""):
            return right
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "get":
        return test
    return None


def _is_nothing(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and not expr.value


def _is_sent(flow: Flow, expr: ast.expr) -> bool:
    kinds = flow.kinds(expr)
    return REQUEST in kinds or PARAMETER in kinds


def _names(module: Module, expr: ast.expr) -> set[str]:
    return {node.id for node in module.within(expr) if isinstance(node, ast.Name)}


def _verifies_in(module: Module, top: ast.AST, sent: ast.expr) -> list[ast.expr]:
    """The checks of a signature below a node that what was sent is given to."""
    names = _names(module, sent)
    found: list[ast.expr] = []
    for node in module.within(top):
        if isinstance(node, ast.Call) and _verifies(module, node):
            given = [*node.args, *(k.value for k in node.keywords)]
            if any(about(module, one, names) for one in given):
                found.append(node)
    return found


def _verifies(module: Module, call: ast.Call) -> bool:
    """A call that compares a signature: read where its function can be, else told by its name."""
    called = module.names_of(call.func)
    if any(name in _COMPARES for name in called):
        return True
    function = called_function(module, call)
    owner = module
    for name in called if function is None else ():
        found = sources_of(module).find(name, module)
        if found is not None and isinstance(found[1], ast.FunctionDef | ast.AsyncFunctionDef):
            owner, function = found[0], found[1]
    if function is not None:
        inner = [node for node in owner.within(function) if isinstance(node, ast.Call)]
        return any(name in _COMPARES for one in inner for name in owner.names_of(one.func))
    last = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return bool(_SIGNED.search(last.lower()))


def _refuses_bad(module: Module, others: list[ast.expr], node: ast.If, sent: ast.expr) -> bool:
    """``signature and not valid(body, signature)`` with a refusal below."""
    negated = [one for one in others if isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not)]
    return _ends(node.body) and any(_verifies_in(module, one, sent) for one in negated)


def _checks_inside(module: Module, node: ast.If, sent: ast.expr) -> bool:
    """``if signature:`` around a check that refuses; the request goes on behind it."""
    if node.orelse and _ends(node.orelse):
        return False
    if _ends(node.body):
        return False
    for statement in node.body:
        if isinstance(statement, ast.Expr) and _verifies_in(module, statement, sent):
            return True
        for inner in module.within(statement):
            if not isinstance(inner, ast.If) or not isinstance(inner.test, ast.UnaryOp):
                continue
            if _ends(inner.body) and _verifies_in(module, inner.test, sent):
                return True
    return False


def _ends(block: list[ast.stmt]) -> bool:
    last = block[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return True
    call = last.value if isinstance(last, ast.Expr) else None
    name = ""
    if isinstance(call, ast.Call):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _STOPS


def _missed(module: Module, node: ast.If, sent: ast.expr) -> bool:
    """Another condition of the function refuses where it is missing, or a check does without asking."""
    function = module.function_of(node)
    names = _names(module, sent)
    inside = {*module.within(node)}
    for test in module.all(ast.If):
        if test is node or module.function_of(test) is not function or not _ends(test.body):
            continue
        for one in module.within(test.test):
            absent = isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not)
            absent = absent or (
                isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.Is | ast.Eq | ast.NotIn)
            )
            if absent and isinstance(one, ast.expr) and about(module, one, names) and test not in inside:
                return True
    return function is not None and any(call not in inside for call in _verifies_in(module, function, sent))


def _passes(module: Module, flow: Flow, node: ast.If) -> Iterator[Hit]:
    """``if not signature: return True`` in the function that compares it."""
    function = module.function_of(node)
    last = node.body[-1]
    if function is None or not isinstance(last, ast.Return):
        return
    tests = list(node.test.values) if isinstance(node.test, ast.BoolOp) else [node.test]
    for test in tests:
        sent: ast.expr | None = None
        if (
            isinstance(test, ast.UnaryOp)
            and isinstance(test.op, ast.Not)
            and isinstance(test.operand, ast.Name)
        ):
            sent = test.operand
        elif isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.Eq):
            sent = test.left if _is_nothing(test.comparators[0]) else None
        if sent is None or not _is_sent(flow, sent) or not _compared_with(module, function, sent):
            continue
        if module.is_true(last.value) or (last.value is None and not module.returns_of(function)):
            yield Hit(node=node, message="A missing signature counts as a good one.")
            return


def _compared_with(module: Module, function: ast.AST, sent: ast.expr) -> bool:
    """What was sent is one side of the comparison itself, not the key that the other is made with."""
    for node in module.within(function):
        if isinstance(node, ast.Call) and any(name in _COMPARES for name in module.names_of(node.func)):
            for side in node.args[:2]:
                if isinstance(sent, ast.Name) and not isinstance(side, ast.Call | ast.Constant):
                    made = {n.id for n in module.within(side) if isinstance(n, ast.Name)}
                    if sent.id in made:
                        return True
    return False
