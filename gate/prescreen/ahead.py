"""What nearly every change of a language asks of the limited children, prepared before the scanners are here.

A check's own imports take half a second of a processor, the readers' as long. The template of the children
(gate/languages/child_template.py) is another process: both import side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gate.languages import warm_child
from gate.model.change import ChangedFile

ALWAYS: Final = ("gate.languages.sensitive_calls.parse",)
READERS: Final[Mapping[str, tuple[str, ...]]] = {
    "python": (
        "gate.prescreen.python_ast.scanner",
        "gate.prescreen.scanners.bandit",
        "gate.protections.python.reader",
    ),
    "javascript": ("gate.taint.reader", "gate.protections.javascript.reader"),
    "typescript": ("gate.taint.reader", "gate.protections.javascript.reader"),
}
"""Modules by the language of a changed file: those that take long to import."""


def prepare(files: Iterable[ChangedFile]) -> None:
    """Have the readers of these files imported while this process goes on."""
    languages = {file.language for file in files}
    if languages:
        wanted = [module for name, modules in READERS.items() if name in languages for module in modules]
        warm_child.prepare(tuple(dict.fromkeys((*ALWAYS, *wanted))))
