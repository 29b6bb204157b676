"""Reads what one file of Python, JavaScript, TypeScript or Go uses secrets for. Runs in the limited child."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from gate.languages.python_syntax import newer_python
from gate.secret_uses.facts import FileUses
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
    """For scan_isolated. ``options["python"]`` names the paths that are Python.

    Raises what the parser raises.
    """
    sys.setrecursionlimit(max(_DEEP, sys.getrecursionlimit()))
    python = options.get("python")
    if isinstance(python, list) and path in python:
        return uses_in(module_steps(newer_python.parse_bytes(data)))
    if max(map(len, data.split(b"\n")), default=0) > _LINE:
        return FileUses(unreadable=f"has a line of more than {_LINE:,} bytes")
    grammar = _GRAMMARS.get(PurePosixPath(path).suffix, "javascript")
    return uses_in(program_steps(data, grammar), bundler=is_bundler(path))
