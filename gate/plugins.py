"""Plugins: rules, scanners, backends, reporters and forges of other distributions (docs/plugins.md).

A plugin runs with all that gate may do, so nothing becomes one by being there: whoever runs gate names its
distribution in GATE_PLUGINS. It is looked for, and loaded from, this interpreter's own package folders only:
what lies in the working folder, on PYTHONPATH or in a tree under test is never one, nor is an editable
installation.
"""

from __future__ import annotations

import os
import re
import site
import sysconfig
from dataclasses import replace
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.model.rule import FindingStage
from gate.rules_api import Rule

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

Group = Literal["gate.rules", "gate.scanners", "gate.backends", "gate.reporters", "gate.forges"]
VARIABLE: Final = "GATE_PLUGINS"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plugin:
    """A distribution that was named, and where its files lie."""

    name: str
    version: str
    entries: tuple[EntryPoint, ...]
    folder: Path


def enabled() -> tuple[Plugin, ...]:
    """The plugins that GATE_PLUGINS names. Raises UsageError for one that is not installed here."""
    return _named(os.environ.get(VARIABLE, ""))


def loaded(group: Group) -> dict[str, object]:
    """What the plugins offer of one kind, by ``distribution.name``, imported now.

    Raises UsageError for one that cannot be imported, or whose module lies elsewhere.
    """
    return {
        f"{plugin.name}.{entry.name}": _value(plugin, entry)
        for plugin in enabled()
        for entry in plugin.entries
        if entry.group == group
    }


@cache
def _named(text: str) -> tuple[Plugin, ...]:
    wanted = sorted({normal(part) for part in text.replace(",", " ").split()})
    if not wanted:
        return ()
    from importlib.metadata import distributions

    found = {normal(one.metadata["Name"] or ""): one for one in distributions(path=list(map(str, folders())))}
    for name in wanted:
        if name not in found:
            raise UsageError(
                f"{VARIABLE} names {name}, which is not installed beside gate",
                advice="Install it with the same pip (not editable), or take the name out.",
            )
    return tuple(_plugin(name, found[name]) for name in wanted)


def _plugin(name: str, one: Distribution) -> Plugin:
    entries = tuple(entry for entry in one.entry_points if entry.group.startswith("gate."))
    return Plugin(name=name, version=one.version, entries=entries, folder=Path(str(one.locate_file(""))))


def normal(name: str) -> str:
    """The name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def folders() -> tuple[Path, ...]:
    """Where this interpreter's packages are installed, a user's own folder aside."""
    paths = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    return tuple(dict.fromkeys(Path(path) for path in paths if Path(path).is_dir()))


def _value(plugin: Plugin, entry: EntryPoint) -> object:
    top = entry.module.partition(".")[0]
    there = PathFinder.find_spec(top)  # as an import would: the first of that name on the path
    origin = Path(there.origin) if there is not None and there.origin else None
    if origin is None or plugin.folder.resolve() not in origin.resolve().parents:
        raise UsageError(
            f"plugin {plugin.name}: its module {top} does not lie where {plugin.name} is installed",
            advice="Run gate outside of folders with a module of that name; install the plugin as a wheel.",
        )
    try:
        return entry.load()
    except Exception as error:
        raise UsageError(
            f"plugin {plugin.name}: {entry.value} cannot be imported ({type(error).__name__})",
            advice="Take it out of GATE_PLUGINS, or install the version that fits this gate.",
        ) from error


def rules(stage: FindingStage) -> tuple[Rule[Any, Any], ...]:
    """The rules that plugins have for a stage, ordered by id.

    Raises UsageError for what is no rule, or has an id that does not begin with its distribution's name.
    """
    found: dict[str, Rule[Any, Any]] = {}
    for name, one in loaded("gate.rules").items():
        distribution = name.partition(".")[0]
        if not isinstance(one, Rule):
            raise UsageError(
                f"plugin {name} is no rule", advice="gate.extend has the decorators that make one."
            )
        if not one.meta.id.startswith(f"{distribution}."):
            raise UsageError(
                f"plugin {name}: the rule's id {one.meta.id} does not begin with {distribution}.",
                advice="So no rule of a plugin can be taken for one of gate's.",
            )
        if one.meta.stage is stage:
            found[one.meta.id] = replace(one, meta=replace(one.meta, origin=distribution))
    return tuple(found[rule_id] for rule_id in sorted(found))


def names(group: Group) -> tuple[str, ...]:
    """What the plugins call what they offer of one kind; nothing is imported."""
    return tuple(f"{p.name}.{e.name}" for p in enabled() for e in p.entries if e.group == group)


def told() -> str:
    """Names and versions of the plugins in force, for people; empty where there are none."""
    return ", ".join(f"{plugin.name} {plugin.version}" for plugin in enabled())
