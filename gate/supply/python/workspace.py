"""Projects of the same tree that another one needs: a workspace's members, and packages beside each other.

No index gives them: an editable install would put their folders on the path, and so is done here. A project
below tests, fixtures or docs is one only where a lock names it: it may have the name of a real package.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from packaging.utils import canonicalize_name

from gate.supply.python.project import Files, Project, names_a_project, read_declared
from gate.supply.python.requirements import Requirements, names_of

MOST: Final = 40
_READ: Final = 120
"""Manifest folders that are looked at, those nearest to the root first."""
_ASIDE: Final = frozenset((
    "test", "tests", "testing", "testdata", "data", "fixtures", "docs", "doc", "templates", "vendor",
    "third_party",
))  # fmt: skip


def local_projects(chosen: Sequence[Project], files: Files) -> tuple[Project, ...]:
    """What the chosen projects need of their own tree, and what that needs: not the chosen ones themselves.

    ``requirements`` of each is what its manifests declare, empty where a lock of the chosen covers it.
    """
    known = {project.folder for project in chosen}
    members = {member for project in chosen for member in project.requirements.members}
    folders = [f for f in _folders(files) if f not in known and (f in members or not _is_aside(f))]
    there = {folder: project for folder in folders if (project := _declared(folder, files)) is not None}
    by_name: dict[str, str] = {canonicalize_name(p.declared.name): f for f, p in reversed(there.items())}
    found: dict[str, Project] = {}
    todo = deque([*(f for f in there if f in members), *_named(chosen, by_name)])
    while todo and len(found) < MOST:
        folder = todo.popleft()
        if folder not in found:
            found[folder] = there[folder]
            todo += _named([there[folder]], by_name)
    return tuple(_without_locked(project, members) for project in found.values())


def _folders(files: Files) -> list[str]:
    """Folders with a manifest that names a project, those nearest to the root first."""
    some = (folder for folder, names in files.folders.items() if names_a_project(names))
    return sorted(some, key=lambda folder: (folder.count("/"), folder))[:_READ]


def _declared(folder: str, files: Files) -> Project | None:
    declared = read_declared(folder, files, [])
    if not declared.name:
        return None
    return Project(folder=folder, declared=declared, requirements=declared.requirements)


def _named(projects: Iterable[Project], by_name: dict[str, str]) -> Iterator[str]:
    for project in projects:
        for needs in (project.requirements, project.declared.requirements):
            for name in names_of((*needs.lines, *needs.tests, *needs.extras)):
                if name in by_name:
                    yield by_name[name]


def _is_aside(folder: str) -> bool:
    return not _ASIDE.isdisjoint(PurePosixPath(folder.lower()).parts)


def _without_locked(project: Project, members: set[str]) -> Project:
    """The lock has what a member needs."""
    return replace(project, requirements=Requirements()) if project.folder in members else project
