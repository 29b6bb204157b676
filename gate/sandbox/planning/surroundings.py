"""What the planner knows of both trees, and how a changed file's item is put into its place there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gate.model.change import ChangedFile, Side
from gate.model.run import NotExercised, Phase
from gate.sandbox.planning.layout import is_aside, module_of
from gate.sandbox.planning.probes import SIDES, Wanted
from gate.sandbox.planning.source import Facts

_RISK_BASE: Final = {"install": 50, "script": 10, "import": 30, "test": 0, "call": 20, "idle": 0}

Outcome = Wanted | NotExercised


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What is known of both trees: paths, and facts of the changed Python files at head (``facts``, by
    path) and at base (``before``, by the head's path).
    """

    base: frozenset[str]
    head: frozenset[str]
    facts: Mapping[str, Facts | None]
    before: Mapping[str, Facts | None]

    def sides(self, file: ChangedFile) -> tuple[Side, ...]:
        """On which trees the file's path exists."""
        here = {
            "base": file.path in self.base or self.old_path(file) is not None,
            "head": file.path in self.head,
        }
        return tuple(side for side in SIDES if here[side])

    def has(self, path: str) -> tuple[Side, ...]:
        """On which trees a path exists."""
        return tuple(side for side in SIDES if path in (self.base if side == "base" else self.head))

    def old_path(self, file: ChangedFile) -> str | None:
        """The base path of a renamed file. None where a sample becomes product: what it did as a
        sample was nobody's business, what it does from now on is.
        """
        renamed = file.status == "renamed" and file.path not in self.base
        if (
            not renamed
            or file.old_path not in self.base
            or (is_aside(file.old_path) and not is_aside(file.path))
        ):
            return None
        return file.old_path


def wanted(
    file: ChangedFile,
    around: Surroundings,
    phase: Phase,
    target: str,
    item: dict[str, Any],
    *,
    risk: int = 0,
    groupable: bool = False,
) -> Wanted:
    """An item for the driver, on the sides that the file has, with its old name where it was renamed."""
    old = around.old_path(file)
    if old is not None:
        item["was"] = _was(old, item, around)
    return Wanted(
        phase=phase,
        target=target,
        file=file,
        item=item,
        sides=around.sides(file),
        rank=(_RISK_BASE[phase], risk),
        groupable=groupable,
        lines={file.path: changed_spans(file)},
    )


def _was(old: str, item: Mapping[str, Any], around: Surroundings) -> dict[str, Any]:
    """What differs in an item on the side where the file still had its old name."""
    was: dict[str, Any] = {"path": old}
    if item["do"] == "program":
        was["argv"] = [old if word == item["path"] else word for word in item["argv"]]
    if item["do"] in ("import", "script", "doctest"):
        module = module_of(old, around.base)
        was["roots"] = list(module.roots)
        if "module" in item:
            was["module"] = (module.name or "").removesuffix(".__main__")
        if item["do"] != "doctest" and "module" in item:
            was["do"] = item["do"] if module.name else "file" if item["do"] == "import" else item["do"]
    return was


def changed_spans(file: ChangedFile) -> tuple[tuple[int, int], ...]:
    """The changed lines of the head version, as inclusive spans."""
    return tuple((h.new_start, h.new_start + h.new_count - 1) for h in file.hunks if h.new_count)
