"""Methods by their names alone: those that the classes of a file define, and calls on what nobody knows."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from gate.languages.sensitive_calls.python.evaluate import Evaluator, Meaning
from gate.languages.sensitive_calls.python.scopes import Scopes

BY_NAME: Final = "*"
"""Begins the name of a method of an object of an unknown class: ``*reporter.report``."""
_MOST: Final = 2_000


def defined_methods(scopes: Scopes, evaluator: Evaluator) -> tuple[str, ...]:
    """The methods of the file's classes that do something, ``Reporter.report``: those of a protocol or of an
    abstract class say only what others do.
    """
    found = [
        name
        for node, name in evaluator.called.items()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (parent := scopes.of[node].parent) is not None
        and parent.is_class
        and not _is_stub(node)
    ]
    return tuple(sorted(set(found))[:_MOST])


def by_name(node: ast.Call, evaluator: Evaluator) -> str:
    """How a call of a method is named to the import graph by its name alone, with what the code calls the
    object; empty where it is no such call.
    """
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr.startswith("__"):
        return ""
    receiver = called.value
    if isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super":
        return ""
    if isinstance(receiver, ast.Await):
        receiver = receiver.value
    if not _is_object(evaluator.of(receiver)):
        return ""
    if isinstance(receiver, ast.Call):
        receiver = receiver.func
    if isinstance(receiver, ast.Subscript):
        receiver = receiver.value
    word = getattr(receiver, "attr", "") or getattr(receiver, "id", "")
    return f"{BY_NAME}{word}.{called.attr}"


def _is_object(meanings: Iterable[Meaning]) -> bool:
    """It is no module, and either nothing is known of it but how it is called, or its class: that may have
    the method from elsewhere.
    """
    return all(meaning[0] in ("?", "class") or meaning[-1].endswith("()") for meaning in meanings)


def _is_stub(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Does its body only say that there is none?"""
    return all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        or (isinstance(statement, ast.Raise) and "NotImplementedError" in ast.dump(statement))
        for statement in node.body
    )
