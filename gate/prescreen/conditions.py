"""The conditions of one Python file by the lines that they decide about; runs in a child with limits."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Final

from gate.model.forced import Condition
from gate.prescreen.python_ast.guards import Classifier, guards, told
from gate.prescreen.python_ast.scanner import parse

_MOST: Final = 1_000


def read_conditions(path: str, data: bytes, _: Mapping[str, Any]) -> tuple[Condition, ...]:
    """For gate/languages/limited_child.py. Raises what the parser raises."""
    module = parse(path, data)
    classifier = Classifier(module)
    found: list[Condition] = []
    for guard in guards(module):
        lines = [n for n in guard.guarded if isinstance(n, ast.stmt | ast.expr)]
        first = min(n.lineno for n in lines)
        last = max(n.end_lineno or n.lineno for n in lines)
        found.append(
            Condition(first=first, last=last, text=told(module, guard), kind=classifier.kind(guard.test))
        )
        if len(found) >= _MOST:
            break
    return tuple(found)
