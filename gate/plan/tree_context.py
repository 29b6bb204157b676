"""What the planner knows of both trees, and how a changed file's item is put into its place there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from gate.dataclass import dataclass
from gate.languages.path_roles import is_aside
from gate.model.change import ChangedFile, Side
from gate.model.exercised import UnrunReason
from gate.model.run import NotExercised, Phase
from gate.plan.module_layout import module_of
from gate.plan.probes import SIDES, DriverItem
from gate.plan.project_layout import example_of, manage_of
from gate.plan.python_source import Facts

_FRAMEWORKS: Final = frozenset({"django", "flask", "starlette", "fastapi", "alembic"})
_IN_PROJECT: Final = frozenset({"import", "file", "doctest"})
"""Verbs that need a Django project set up; what is run as a program does that itself."""
_RISK_BASE: Final = {"install": 50, "script": 10, "import": 30, "test": 0, "call": 20, "idle": 0}

Outcome = DriverItem | NotExercised


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeContext:
    """What is known of both trees: paths, and facts of the changed Python files at head (``facts``, by
    path) and at base (``before``, by the head's path).
    """

    base: frozenset[str]
    head: frozenset[str]
    facts: Mapping[str, Facts | None]
    before: Mapping[str, Facts | None]
    same_code: frozenset[str] = frozenset()
    """Changed files with base's syntax tree, but for those that act on changed data."""

    @property
    def is_web(self) -> bool:
        """Does any of the changed files import a framework of web applications?"""
        tops = {
            name.partition(".")[0].partition("_")[0] for f in self.facts.values() if f for name in f.imports
        }
        return not tops.isdisjoint(_FRAMEWORKS)

    def same(self, file: ChangedFile, part: Literal["code", "bare"]) -> bool:
        """Does the file have the syntax tree that it had at base? ``bare``: but for docstrings."""
        head, base = self.facts.get(file.path), self.before.get(file.path)
        if file.status != "modified" or file.old_mode != file.new_mode or head is None or base is None:
            return False
        digest = getattr(head, part)
        return bool(digest) and digest == getattr(base, part)

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


def driver_item(
    file: ChangedFile,
    around: TreeContext,
    phase: Phase,
    target: str,
    item: dict[str, Any],
    *,
    risk: int = 0,
    groupable: bool = False,
) -> DriverItem:
    """An item for the driver, on the sides that the file has, with its old name where it was renamed."""
    manage = manage_of(file.path, around.head) if file.language == "python" else None
    if manage is not None and item["do"] in _IN_PROJECT:
        item["django"] = manage
    wants = item["do"] in _IN_PROJECT if file.language == "python" else item["do"] == "javascript"
    example = example_of(file.path, around.head) if wants else None
    if example is not None:
        item["env"] = example
    sides = around.sides(file)
    if phase == "call" and sides == ("head",) and (manage is not None or around.is_web):
        sides = SIDES  # the application that it is a part of is made at base, too
    old = around.old_path(file)
    if old is not None:
        item["was"] = _was(old, item, around)
    return DriverItem(
        phase=phase,
        target=target,
        file=file,
        item=item,
        sides=sides,
        rank=(_RISK_BASE[phase], risk),
        groupable=groupable,
        lines={file.path: watched_spans(file, around.facts.get(file.path))},
    )


def _was(old: str, item: Mapping[str, Any], around: TreeContext) -> dict[str, Any]:
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


def changed_statements(file: ChangedFile, facts: Facts | None) -> tuple[tuple[int, int], ...]:
    """The statements of which a line changed."""
    return tuple(s for s in facts.statements if file.touches(*s)) if facts else ()


def watched_spans(file: ChangedFile, facts: Facts | None) -> tuple[tuple[int, int], ...]:
    """The changed lines, with the whole of their statements: an interpreter tells a statement's first
    line.
    """
    wide = [span for span in changed_statements(file, facts) if span[0] < span[1]]
    joined: list[tuple[int, int]] = []
    for first, last in sorted([*changed_spans(file), *wide]):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)


def changed_spans(file: ChangedFile) -> tuple[tuple[int, int], ...]:
    """The changed lines of the head version, as inclusive spans."""
    return tuple((h.new_start, h.new_start + h.new_count - 1) for h in file.hunks if h.new_count)


def left_out(path: str, target: str, reason: str = "too many in one file") -> NotExercised:
    """What there was no room for: the lines of that file did not run for this reason alone."""
    return NotExercised(path=path, target=target, reason=reason, kind=UnrunReason.LEFT_OUT)
