"""Changed files without a script's name that a script of the tree sources (``. ./settings.conf``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from gate.model.change import ChangedFile, Tree
from gate.regex import regex

_DATA: Final = frozenset({None, "ini", "text"})
_SCRIPTS: Final = (".sh", ".bash", ".bats", ".ksh", ".zsh")
_PROGRAMS: Final = 200
_READ: Final = 400
_BIGGEST: Final = 256 << 10
_SOURCES: Final = regex(
    r"(?:^|[;&|({]|\b(?:then|do|else|exec|eval)\b)[ \t]*(?:\.|source)[ \t]+([^\s;&|]+)", re.MULTILINE
)
_NAMES: Final = regex(r"[\w.*+@-]+")
_LOOPS: Final = regex(r"\bfor[ \t]+(\w+)[ \t]+in[ \t]+([^;\n]{1,500})")


def as_scripts(files: Sequence[ChangedFile], head: Tree) -> list[ChangedFile]:
    """The files, those that a script of the head sources by their name (or ``*`` and an ending) as shell:
    what stands in them runs when they are sourced.
    """
    data = [f for f in files if f.language in _DATA and f.new_mode in ("100644", "100755") and not f.binary]
    if not data:
        return list(files)
    patterns = _sourced(head)
    return [
        replace(f, language="shell") if f in data and _named(PurePosixPath(f.path).name, patterns) else f
        for f in files
    ]


def _sourced(head: Tree) -> set[str]:
    """Names, or an asterisk with an ending, of what the tree's scripts source."""
    scripts, programs = [], []
    for entry in head.entries():
        if not entry.mode.startswith("100") or entry.size > _BIGGEST:
            continue
        if entry.path.endswith(_SCRIPTS):
            scripts.append(entry.path)
        elif entry.mode == "100755" and "." not in PurePosixPath(entry.path).name:
            programs.append(entry.path)
    found: set[str] = set()
    for _, data in head.read_many((*scripts[:_READ], *programs[:_PROGRAMS])):
        text = data.decode("utf-8", "replace")
        loops = dict(_LOOPS.findall(text))
        for said in _SOURCES.findall(text):
            variable = re.fullmatch(r"[\"']?\$\{?(\w+)\}?[\"']?", said)
            for word in loops.get(variable[1], "").split() if variable else [said]:
                found.update(_NAMES.findall(word.rpartition("/")[2])[:1])
    return found


def _named(name: str, patterns: set[str]) -> bool:
    ending = PurePosixPath(name).suffix
    return name in patterns or bool(ending and "*" + ending in patterns)
