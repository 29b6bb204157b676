"""Reads what one file of a program uses secrets for. Runs in the limited child."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gate.languages.python_syntax import newer_python
from gate.secret_uses import generic_steps, shell_uses, templates
from gate.secret_uses.facts import Back, FileUses, Hit, Outline
from gate.secret_uses.flow import uses_in
from gate.secret_uses.names import is_bundler
from gate.secret_uses.python_steps import module_steps
from gate.secret_uses.tree_steps import program_steps

_LINE: Final = 20_000
"""Bytes of one line from which a file is a bundle: made by a tool, and compared with nothing."""
_DEEP: Final = 20_000
"""Calls within calls: trees are as deep as their text."""
_GRAMMARS: Final = {
    ".go": "tree_sitter_go", ".tsx": "tsx", ".ts": "typescript", ".mts": "typescript", ".cts": "typescript",
}  # fmt: skip


def read(path: str, data: bytes, options: Mapping[str, object]) -> FileUses:
    """For scan_isolated. ``options["python"]`` names the paths that are Python; ``options["elsewhere"]``:
    functions of other files, as ``packed`` makes them; ``options["sinks"]``: see uses_in.

    Raises what the parser raises.
    """
    sys.setrecursionlimit(max(_DEEP, sys.getrecursionlimit()))
    sinks = options.get("sinks") is True
    python, elsewhere = options.get("python"), _unpacked(options.get("elsewhere"))
    if isinstance(python, list) and path in python:
        return uses_in(module_steps(newer_python.parse_bytes(data)), elsewhere=elsewhere, sinks=sinks)
    if templates.is_template(path):
        return templates.template_uses(data.decode("utf-8", "replace"))
    if max(map(len, data.split(b"\n")), default=0) > _LINE:
        return FileUses(unreadable=f"has a line of more than {_LINE:,} bytes")
    suffix = PurePosixPath(path).suffix
    if suffix in shell_uses.ENDINGS:
        return shell_uses.shell_uses(data)
    if (grammar := generic_steps.GRAMMARS.get(suffix)) is not None:
        return uses_in(generic_steps.program_steps(data, grammar), elsewhere=elsewhere, sinks=sinks)
    grammar = _GRAMMARS.get(suffix, "javascript")
    program = program_steps(data, grammar)
    return uses_in(program, bundler=is_bundler(path), elsewhere=elsewhere, sinks=sinks)


def packed(outlines: Iterable[Outline]) -> list[list[Any]]:
    """As plain lists, which an option can hold."""
    return [
        [
            one.name,
            [*one.parameters],
            [[h.parameter, [*h.marks], h.way, h.sink] for h in one.hits],
            [[b.secret, b.kind, b.origin, [*b.marks]] for b in one.backs],
        ]
        for one in outlines
    ]


def _unpacked(given: object) -> dict[str, Outline]:
    found: dict[str, Outline] = {}
    for name, parameters, hits, backs in given if isinstance(given, list) else ():
        made = tuple(Hit(parameter=p, marks=tuple(m), way=way, sink=sink) for p, m, way, sink in hits)
        back = tuple(Back(secret=s, kind=kind, origin=o, marks=tuple(m)) for s, kind, o, m in backs)
        found[name] = Outline(name=name, parameters=tuple(parameters), hits=made, backs=back)
    return found
