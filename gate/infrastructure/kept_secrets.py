"""Values that a cluster keeps as secrets: variables from a Secret, and what kustomize makes one of. The same
name with a plain value, or in a ConfigMap, is shown to whoever may read the namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from gate.infrastructure.facts import Fact
from gate.supply.yaml_data import Path, items, mapping

_DEPTH: Final = 40
_GENERATED: Final = ("literals", "files", "envs")


def kept_secrets(data: object, line_of: Callable[[Path], int | None]) -> Iterator[tuple[str, Fact | None]]:
    """Each named value of a document as a subject, with the fact that it is kept secret where it is."""
    yield from _variables(data, line_of, ())
    for kind in ("secretGenerator", "configMapGenerator"):
        for number, one in enumerate(items(mapping(data).get(kind))):
            for sort in _GENERATED:
                for at, text in enumerate(items(mapping(one).get(sort))):
                    subject = f"generated {str(text).partition('=')[0].strip()}"
                    line = line_of((kind, number, sort, at)) or 1
                    fact = Fact("guard", "secret", subject, line, f"{kind}: {subject}")
                    yield subject, fact if kind == "secretGenerator" else None


def _variables(
    data: object, line_of: Callable[[Path], int | None], path: Path
) -> Iterator[tuple[str, Fact | None]]:
    if len(path) > _DEPTH:
        return
    if isinstance(data, list):
        for number, one in enumerate(data):
            yield from _variables(one, line_of, (*path, number))
        return
    table = mapping(data)
    source = mapping(table.get("valueFrom"))
    if path and isinstance(table.get("name"), str) and (source or "value" in table):
        subject = f"variable {table['name']}"
        is_kept = "secretKeyRef" in source
        yield subject, Fact("guard", "secret", subject, line_of(path) or 1, subject) if is_kept else None
    for key, value in table.items():
        if isinstance(value, (dict, list)):
            yield from _variables(value, line_of, (*path, str(key)))
