"""What a class gives when nobody asks for anything special, in Python: the default manager of a model.

Views ask ``Visit.objects`` and trust that it leaves out what must not be seen. Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.facts import Strength
from gate.protections.python.guards import source
from gate.protections.strengths import kept

_DEFAULT: Final = "what is left out by default"
_PLAIN: Final = frozenset({"Manager", "BaseManager"})
_KEEPING: Final = frozenset({"filter", "exclude", "where", "filter_by"})
_ADORNING: Final = frozenset({
    "super", "get_queryset", "select_related", "prefetch_related", "order_by", "all", "annotate", "only",
    "defer",
})  # fmt: skip
_SAYING: Final = (
    "active", "published", "public", "tenant", "scoped", "visible", "soft_delet", "undeleted", "alive",
    "non_deleted", "not_deleted", "approved", "owned",
)  # fmt: skip


def default_strengths(tree: ast.Module) -> Mapping[str, tuple[Strength, ...]]:
    """By the name of a class: does a model's manager leave something out, does a manager?"""
    classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
    given = {name: found for name, one in classes.items() if (found := _given(one)) is not None}
    leaving = {name for name, one in given.items() if one.amount > 1}
    of_models = {name: _model(one, leaving) for name, one in classes.items()}
    return {
        name: tuple(one for one in (given.get(name), of_models[name]) if one is not None) for name in classes
    }


def _model(node: ast.ClassDef, leaving: set[str]) -> Strength | None:
    managed = False
    for one in node.body:
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made):
                word = last_name(made)
                managed = managed or name == "objects" or "manager" in word.lower()
                if name != "objects":
                    continue
                if word in _PLAIN:
                    return kept(_DEFAULT, False, source(one), one.lineno)
                if word in leaving or any(say in snake(word) for say in _SAYING):
                    return kept(_DEFAULT, True, source(one), one.lineno)
    plain = [last_name(base) for base in node.bases] == ["Model"] and not managed
    return kept(_DEFAULT, False, f"class {node.name}: no manager", node.lineno) if plain else None


def _given(node: ast.ClassDef) -> Strength | None:
    """Of a manager that says what ``all()`` begins with; None where another function decides."""
    if not any(last_name(base).endswith(("Manager", "QuerySet")) for base in node.bases):
        return None
    method = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "get_queryset"), None)
    if method is None:
        return None
    calls = [n for n in ast.walk(method) if isinstance(n, ast.Call)]
    keeps = [c for c in calls if last_name(c) in _KEEPING and (c.args or c.keywords)]
    if keeps:
        return kept(_DEFAULT, True, source(keeps[0]), keeps[0].lineno)
    plain = all(last_name(c) in _ADORNING or last_name(c).endswith("QuerySet") for c in calls)
    return kept(_DEFAULT, False, source(method.body[-1]), method.lineno) if plain else None
