"""The JSON Schema of gate.toml, made from the settings: ``python -m gate.project_files.schema [FILE]``.

Draft 7, which the TOML extensions of editors read. A setting's description is the text below its line in
gate/settings.py.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from gate import __version__, settings

DEFAULT: Final = Path(__file__).parents[2] / "docs" / "gate.schema.json"
URL: Final = f"https://raw.githubusercontent.com/gate-ci/gate/v{__version__}/docs/gate.schema.json"


def schema() -> dict[str, Any]:
    """The schema as data."""
    (root,), parts = msgspec.json.schema_components([settings.Config], ref_template="#/definitions/{name}")
    words = descriptions()
    for name, part in parts.items():
        for key, value in part.get("properties", {}).items():
            said = words.get((name, key))
            if said:
                value["description"] = said
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "gate.toml"}
    return head | root | {"definitions": parts}


@cache
def descriptions() -> dict[tuple[str, str], str]:
    """The text of each setting that has one, by class and key, on one line."""
    found: dict[tuple[str, str], str] = {}
    for item in ast.parse(inspect.getsource(settings)).body:
        if not isinstance(item, ast.ClassDef):
            continue
        for line, below in zip(item.body, item.body[1:], strict=False):
            if (
                isinstance(line, ast.AnnAssign)
                and isinstance(line.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
                and isinstance(below.value.value, str)
            ):
                found[item.name, line.target.id] = " ".join(below.value.value.replace("``", "`").split())
    return found


def schema_text() -> str:
    """The schema as it is kept in docs."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the schema to the file named, or into docs."""
    Path(arguments[0] if arguments else DEFAULT).write_text(schema_text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
