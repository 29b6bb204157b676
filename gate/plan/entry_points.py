"""Console entry points that a change touches: new or changed ones, and those whose module changed."""

from __future__ import annotations

import configparser
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from gate.dataclass import dataclass
from gate.model.change import Tree
from gate.regex import regex

MOST: Final = 6
FILES: Final = ("pyproject.toml", "setup.cfg")
_BIGGEST: Final = 256 << 10
_TARGET: Final = regex(r"([A-Za-z_][\w.]*)\s*(?::\s*([A-Za-z_][\w.]*))?\s*(?:\[.*\])?\Z")
_NAME: Final = regex(r"[\w.-]{1,100}\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryPoint:
    """A command: ``module:attr``; ``attr`` is empty where importing is all. ``file`` names it."""

    name: str
    module: str
    attr: str
    file: str


def entries(tree: Tree, paths: Collection[str]) -> dict[str, EntryPoint]:
    """The commands that the tree's own configuration names, by name. Nothing for a file that is no such."""
    found: dict[str, EntryPoint] = {}
    for path, data in tree.read_many(tuple(p for p in FILES if p in paths)):
        if len(data) > _BIGGEST:
            continue
        text = data.decode("utf-8", "replace")
        read = _of_pyproject if path.endswith(".toml") else _of_setup_cfg
        for name, value in read(text):
            target = _TARGET.match(value.strip()) if isinstance(value, str) else None
            if target and _NAME.match(name):
                found.setdefault(
                    name, EntryPoint(name=name, module=target[1], attr=target[2] or "", file=path)
                )
    return found


def touched(
    now: Mapping[str, EntryPoint], before: Mapping[str, EntryPoint], modules: Collection[str]
) -> list[EntryPoint]:
    """Entries that are new, point elsewhere, or whose module is among ``modules`` (dotted names)."""
    chosen = []
    for name, entry in sorted(now.items()):
        old = before.get(name)
        same = old is not None and (old.module, old.attr) == (entry.module, entry.attr)
        if not same or entry.module in modules:
            chosen.append(entry)
    return chosen


def _of_pyproject(text: str) -> Iterator[tuple[str, Any]]:
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    project, poetry = _table(table, "project"), _table(_table(table, "tool"), "poetry")
    for scripts in (
        _table(project, "scripts"),
        _table(project, "gui-scripts"),
        _table(_table(project, "entry-points"), "console_scripts"),
        _table(poetry, "scripts"),
    ):
        yield from scripts.items()


def _of_setup_cfg(text: str) -> Iterator[tuple[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError):
        return
    for option in ("console_scripts", "gui_scripts"):
        for line in parser.get("options.entry_points", option, fallback="").splitlines():
            name, equals, value = line.partition("=")
            if equals:
                yield name.strip(), value


def _table(value: Any, key: str) -> dict[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}
