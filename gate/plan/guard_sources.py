"""Kinds of sources in which guards are looked for: which files they are, and how their names are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from gate.languages.path_roles import is_javascript_test, is_test_code
from gate.plan.javascript.definitions import read_script_facts, written_as
from gate.plan.python_source import Facts, read_facts

JAVASCRIPT: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_NOT_OURS: Final = frozenset({"node_modules", "dist", "vendor"})


class SourceKind(NamedTuple):
    """``is_module`` by a path; ``read`` gives the facts of texts; ``written_as`` a pattern for how one of
    their names stands in others.
    """

    is_module: Callable[[str], bool]
    read: Callable[[Mapping[str, bytes]], dict[str, Facts | None]]
    written_as: Callable[[str], bytes]


def _is_python(path: str) -> bool:
    return path.endswith(".py") and not is_test_code(path) and PurePosixPath(path).name != "setup.py"


def _is_script(path: str) -> bool:
    if not path.endswith(JAVASCRIPT) or path.endswith((".d.ts", ".d.mts", ".d.cts", ".min.js")):
        return False
    return not (is_test_code(path) or is_javascript_test(path) or _NOT_OURS & {*PurePosixPath(path).parts})


def _word(name: str) -> bytes:
    return rb"\b" + re.escape(name.encode()) + rb"\b"


KINDS: Final = (
    SourceKind(_is_python, read_facts, _word),
    SourceKind(_is_script, read_script_facts, written_as),
)
