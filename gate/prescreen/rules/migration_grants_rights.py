"""A migration of the database gives people rights: staff, superuser, administrator.

It runs once, at the next deployment, over everybody who fits its filter. What a person may write herself
(a headline, a name) then decides who administers the site.

Give rights by name, by somebody who has them, and leave a record; not in a migration.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.protections.queries import tokens_of
from gate.regex import regex

_RIGHT: Final = regex(
    r"(?:^|_)(?:is_?(?:admin|staff|superuser|root|owner)|superuser|admin|administrator)$|^can_administer"
)
_ROLE: Final = regex(r"(?:^|_)(?:role|roles|access_level|user_type|group)$")
_HIGH: Final = regex(r"(?i)^(?:super_?)?(?:admin|user|administrator|owner|root|staff)$")
_SETS: Final = frozenset({
    "update", "create", "bulk_create", "get_or_create", "update_or_create", "values",
})  # fmt: skip
_TAKES_SQL: Final = frozenset({"execute", "RunSQL", "run_sql", "text"})


@rule(
    "py.migration-grants-rights",
    "A migration makes people administrators",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(269,),
    attack=("T1098",),
    why="It runs at the next deployment, without anybody's consent, over every row that fits.",
    fix="Have an administrator give rights by name; let a migration only change the tables.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Fields of rights that a Django or Alembic migration sets, by its models or in SQL."""
    if not _is_migration(module):
        return
    for call in module.all(ast.Call):
        given = [word for word in call.keywords if word.arg and _grants(word.arg, word.value)]
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if given and name in _SETS:
            yield Hit(node=call, message=f"Sets `{given[0].arg}` in a migration.")
        elif name == "create_superuser":
            yield Hit(node=call, message="Makes a superuser in a migration.")
        elif call.args and name in _TAKES_SQL | {""}:
            text = module.text_of(call.args[0]) or ""
            if column := _granted(text):
                yield Hit(node=call, message=f"Sets `{column}` in a migration.")
    for step in module.all(ast.Assign):
        for target in step.targets:
            if isinstance(target, ast.Attribute) and _grants(target.attr, step.value):
                yield Hit(node=step, message=f"Sets `{target.attr}` in a migration.")


def _is_migration(module: Module) -> bool:
    names = {one.name for one in module.tree.body if isinstance(one, ast.ClassDef | ast.FunctionDef)}
    texts = {
        target.id
        for one in module.tree.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    return "Migration" in names or ("upgrade" in names and "down_revision" in texts)


def _grants(name: str, value: ast.expr) -> bool:
    if not isinstance(value, ast.Constant):
        return False
    if _RIGHT.search(name):
        return value.value in (True, 1)
    return bool(_ROLE.search(name)) and isinstance(value.value, str) and bool(_HIGH.search(value.value))


def _granted(text: str) -> str:
    """The column of a right that an UPDATE sets; empty: none."""
    low = text.lower()
    if "update" not in low or "set" not in low:
        return ""
    tokens, is_set = [*tokens_of(text)], False
    for name, mark, value in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if name.lower() in ("set", "where", ";"):
            is_set = name.lower() == "set"
        granted = mark == "=" and value.lower().rstrip(",;") in ("true", "1", "'")
        if is_set and granted and _RIGHT.search(name.lower()):
            return name
    return ""
