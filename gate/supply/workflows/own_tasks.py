"""Commands that a project gives names to (scripts of package.json and composer.json, targets of a makefile),
so that ``yarn coverage`` in a workflow is read as what it runs.

Runs in the limited child. A name that cannot be read is left as it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from gate.regex import regex

FILES: Final = ("package.json", "composer.json", "Makefile", "makefile", "GNUmakefile")
"""Files at the top of a tree that name commands."""
_CALLED: Final = regex(
    r"(?:^|(?<=[;&|(\n]))[ \t]*(?:(?:npm|pnpm|yarn|bun|composer)[ \t]+(?:run(?:-script)?[ \t]+)?"
    r"(?:-\S+[ \t]+)*(?P<script>[\w.:-]+)|g?make[ \t]+(?:-\S+[ \t]+)*(?P<target>[\w.:-]+))",
    re.MULTILINE,
)
"""A command that runs one of them. What such a script looks like to a shell is judged elsewhere: here it is
only a name to look up."""
_RULE: Final = regex(r"([\w.-][\w. -]*?)\s*::?(?!=)")
_DEEPEST: Final = 3
_MOST: Final = 200
_LONGEST: Final = 64 << 10

Tasks = Mapping[str, str]
"""Commands by name, those of makefiles as ``make NAME``."""


def read_tasks(files: Mapping[str, bytes]) -> Tasks:
    """The commands of these files (names of FILES to contents); empty where none can be read."""
    tasks: dict[str, str] = {}
    for name, data in files.items():
        if len(data) > _LONGEST:
            continue
        tasks |= _scripts(data) if name.endswith(".json") else _targets(data.decode("utf-8", "replace"))
    return tasks


def expanded(commands: Iterable[str], tasks: Tasks) -> list[str]:
    """The commands, and behind them what the project's own names in them stand for."""
    found = list(commands)
    begun: set[str] = set()
    at = 0
    for _ in range(_DEEPEST):
        names = [name for text in found[at:] for name in _names(text) if name in tasks and name not in begun]
        at = len(found)
        begun.update(names)
        found += [tasks[name] for name in dict.fromkeys(names)]
    return found[:_MOST]


def _names(text: str) -> Iterable[str]:
    for match in _CALLED.finditer(text):
        yield match["script"] or f"make {match['target']}"


def _scripts(data: bytes) -> dict[str, str]:
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    scripts = manifest.get("scripts") if isinstance(manifest, dict) else None
    told = scripts if isinstance(scripts, dict) else {}
    return {
        str(name): "\n".join(map(str, command)) if isinstance(command, list) else str(command)
        for name, command in told.items()
    }


def _targets(text: str) -> dict[str, str]:
    """Recipes by target, as far as lines tell; what is before a target is made first and counts with it."""
    recipes: dict[str, str] = {}
    names: list[str] = []
    for line in text.splitlines():
        if line.startswith("\t"):
            for name in names:
                recipes[name] += f"\n{_command(line.strip())}"
        elif rule := _RULE.match(line):
            names = [f"make {name}" for name in rule[1].split()]
            needs = line[rule.end() :].partition("#")[0].split()
            for name in names:
                recipes[name] = recipes.get(name, "") + "".join(f"\nmake {one}" for one in needs)
    return recipes


def _command(line: str) -> str:
    """A recipe's line without its marks; after ``-`` nobody asks how it ends."""
    plain = line.lstrip("@-+")
    return f"{plain} || true" if "-" in line[: len(line) - len(plain)] else plain
