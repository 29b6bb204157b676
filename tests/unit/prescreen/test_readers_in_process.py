"""The readers of the limited child, asked in this process: programs of many languages, whole and broken.

What a reader says in the child is what it says here, and nothing that a text may hold makes it raise anything
but what it promises.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from gate.languages.limited_child import Reader, scan_isolated
from tests.paths import TESTS
from tests.unit.prescreen.scanners import test_guard_inputs, test_passed_on

READERS = ("guard_inputs", "passed_on", "machine", "dispatch", "computed", "ordered", "collisions", "owners")
ENDINGS = (".py", ".go", ".ts", ".js", ".php", ".java", ".kt", ".rb", ".cs", ".rs", ".sh")
_EACH = 12


def programs() -> list[tuple[str, bytes]]:
    """(path, text): the samples of sensitive calls, and the programs that two scanners are tested with."""
    found: dict[tuple[str, bytes], None] = {}
    for file in sorted((TESTS / "rules" / "sensitive-calls").glob("*.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        rows = [text for text in _texts(table) if "\n" in text or "(" in text]
        before = str(table.get("before", ""))
        for text in rows[:_EACH]:
            found[str(table.get("path", "a.txt")), (before + text).encode()] = None
    for module in (test_guard_inputs, test_passed_on):
        for name, text in vars(module).items():
            if name.isupper() and isinstance(text, str):
                plain = text.replace("{{", "{").replace("}}", "}")
                for ending in ENDINGS:
                    found["app/" + name.lower() + ending, plain.encode()] = None
    return list(found)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(one)


PROGRAMS = programs()


@pytest.mark.parametrize("name", READERS)
def test_a_reader_says_here_what_it_says_in_the_child(name: str) -> None:
    module = importlib.import_module(f"gate.prescreen.{name}.read")
    here = {}
    for path, text in PROGRAMS:
        try:
            here[path, text] = module.read(path, text, {})
        except (ValueError, SyntaxError, RecursionError) as error:
            here[path, text] = type(error)
    assert sum(not isinstance(one, type) for one in here.values()) > len(PROGRAMS) / 2
    chosen = [one for one in PROGRAMS if not isinstance(here[one], type)][::40]
    kind = module.read.__annotations__["return"]
    reader = Reader(f"{module.__name__}:read", eval(kind, vars(module)), parses=True)
    for (path, text), result in zip(chosen, scan_isolated(reader, chosen, deadline=60.0), strict=True):
        assert result.value == here[path, text], path
