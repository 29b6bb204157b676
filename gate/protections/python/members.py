"""Which keys of what is sent a form or a serializer takes, in Python. Runs in the limited child."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.protections.facts import Members
from gate.protections.python.guards import source


def members_in(tree: ast.Module) -> Iterator[Members]:
    """``class Meta: fields = [...]`` or ``exclude = [...]`` of forms and serializers."""
    for owner in ast.walk(tree):
        if not isinstance(owner, ast.ClassDef):
            continue
        for meta in owner.body:
            if isinstance(meta, ast.ClassDef) and meta.name == "Meta":
                yield from _of_meta(owner.name, meta)


def _of_meta(owner: str, meta: ast.ClassDef) -> Iterator[Members]:
    said = {
        target.id: one
        for one in meta.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    read_only = _texts(said["read_only_fields"].value) if "read_only_fields" in said else []
    for name in ("fields", "exclude"):
        one = said.get(name)
        if one is None:
            continue
        everything = isinstance(one.value, ast.Constant) and one.value.value == "__all__"
        names = _texts(one.value)
        if everything or names:
            is_open = everything or name == "exclude"
            kept = read_only if everything else [n for n in names if is_open or n not in read_only]
            yield Members(
                name=owner, open=is_open, names=tuple(sorted({*kept})), text=source(one), line=one.lineno
            )
            return


def _texts(value: ast.expr) -> list[str]:
    if not isinstance(value, ast.List | ast.Tuple | ast.Set):
        return []
    return [one.value for one in value.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
