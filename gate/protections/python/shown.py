"""What an answer shows, in Python: models of answers, with the fields that they inherit. Runs in the limited
child.
"""

from __future__ import annotations

import ast
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.facts import Weakness
from gate.protections.traits import lapse
from gate.regex import regex

_OUT: Final = regex(r"(?:Out|Read|Public|Response|Dto|DTO|Summary|Profile|Reply|Representation)$")
"""Endings in the names of models by which something is answered."""
_SECRET: Final = regex(
    r"passw|(?:^|_)pwd|secret|api_?key|private_?key|(?:^|_)salt(?:$|_)|(?:^|_)ssn(?:$|_)"
    r"|cvv|cvc|iban|card_number|recovery_code|(?:reset|refresh|session)_token"
)
_KEPT_OUT: Final = frozenset({"exclude", "write_only", "load_only"})
"""Options of a field by which it is no part of the answer, where they are ``True``."""
_HIDING: Final = frozenset({"PrivateAttr", "SecretStr", "SecretBytes"})
_STEPS: Final = 8


def shown_secrets(tree: ast.Module) -> dict[str, list[Weakness]]:
    """By class: the fields of a model of answers that are nobody else's business, inherited ones included.
    What stands in the class at base, too, is not new; a class that base had not is its author's decision.
    """
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found: dict[str, list[Weakness]] = {}
    for name, node in classes.items():
        if _OUT.search(name):
            fields = _fields(node, classes)
            text = f"class {name}({', '.join(last_name(base) for base in node.bases)})"
            found[name] = [
                lapse("authorisation", f"shows {field}", f"{text}: {field}", node.lineno)
                for field in fields
                if _SECRET.search(snake(field))
            ]
    return {name: facts for name, facts in found.items() if facts}


def _fields(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[str]:
    """Names of the annotated fields, those of bases in the same file first; what is kept out is no field."""
    fields: dict[str, bool] = {}
    for each in reversed(_line_of(node, classes)):
        for one in each.body:
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                fields[one.target.id] = not _is_kept_out(one)
    return [name for name, shown in fields.items() if shown and not name.startswith("_")]


def _is_kept_out(field: ast.AnnAssign) -> bool:
    """``Field(exclude=True)``, ``SecretStr``: the answer does not have it, or not in clear."""
    for node in ast.walk(field):
        if isinstance(node, ast.keyword) and node.arg in _KEPT_OUT:
            if isinstance(node.value, ast.Constant) and node.value.value is True:
                return True
        elif isinstance(node, ast.Name | ast.Attribute) and last_name(node) in _HIDING:
            return True
    return False


def _line_of(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """The class and those of the file that it inherits from, nearest first."""
    line, todo = [node], [node]
    while todo and len(line) < _STEPS:
        for base in todo.pop(0).bases:
            above = classes.get(last_name(base))
            if above is not None and above not in line:
                line.append(above)
                todo.append(above)
    return line
