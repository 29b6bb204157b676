"""Queries that ask only for what belongs to who asks, in SQL that Python holds. Runs in the limited child."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.protections.facts import QUERY, Guard
from gate.protections.queries import GAP, bound_columns
from gate.protections.traits import OWNED, trait
from gate.protections.vocabulary import is_owner


def query_facts(node: ast.AST) -> Iterator[Guard]:
    """One guard for each text of a function that binds an owner's column."""
    inside: set[ast.AST] = set()
    for one in ast.walk(node):
        text = ""
        if isinstance(one, ast.JoinedStr):
            inside.update(one.values)
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else GAP for part in one.values)
        elif isinstance(one, ast.Constant) and isinstance(one.value, str) and one not in inside:
            text = one.value
        owners = sorted(name for name in bound_columns(text) if is_owner(name)) if text else []
        if owners:
            shown = text[text.lower().rindex("where") :]
            line = getattr(one, "lineno", 1)
            yield trait("authorisation", OWNED, shown, line, of=QUERY, form="argument")
