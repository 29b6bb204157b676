"""Tasks of Ansible that keep their arguments and answers out of the log (``no_log``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from gate.infrastructure.facts import Fact
from gate.supply.yaml_data import Path

_ON: Final = frozenset({"true", "yes", "on"})
_DEEPEST: Final = 12


def task_facts(data: object, line_of: Callable[[Path], int | None], path: Path = ()) -> Iterator[Fact]:
    """A guard for each task that is kept out of the log; any other one, as ``grant``, for its subject."""
    if len(path) > _DEEPEST:
        return
    if isinstance(data, list):
        for index, one in enumerate(data):
            yield from task_facts(one, line_of, (*path, index))
    elif isinstance(data, dict):
        name = data.get("name")
        if isinstance(name, str) and path and isinstance(path[-1], int):
            hidden = str(data.get("no_log", "")).lower() in _ON
            said = f"no_log: {data.get('no_log', 'not set')}"
            line = line_of((*path, "no_log")) or line_of(path) or 1
            yield Fact("guard" if hidden else "grant", "secret", f"task {name}", line, said)
        for key, value in data.items():
            if isinstance(value, list | dict):
                yield from task_facts(value, line_of, (*path, str(key)))
