"""What each side of a change needs: the manifests of the projects that the changed files belong to.

Reading a large lock takes most of a second, so what was read is kept with the layers, under a digest of every
file that it could depend on.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field, replace
from typing import Final

import msgspec
from packaging.utils import canonicalize_name

from gate.dataclass import dataclass
from gate.model.change import Tree
from gate.sandbox.dependencies import layers
from gate.sandbox.dependencies.layer_store import LayerStore
from gate.sandbox.tree_archive import TREE
from gate.supply.python import installed, requirements_files
from gate.supply.python.interpreter import environment
from gate.supply.python.project import Files, Project, folders_of, is_project, read
from gate.supply.python.requirements import (
    MOST_BYTES,
    Requirements,
    names_of,
    with_imported,
    without_tools,
)
from gate.supply.python.undeclared import packages_of
from gate.supply.python.wheel_twins import with_wheels
from gate.supply.python.workspace import local_projects

_VERSION: Final = "needs 8"
"""Another one whenever the readers of manifests read more: what was read before is kept."""
_PROJECTS: Final = msgspec.json.Decoder(tuple[Project, ...])


@dataclass(frozen=True, kw_only=True)
class Needs:
    """One side's. ``sources``: folders of the tree that hold Python. ``inferred``: no manifest says it, it is
    what files import.
    """

    projects: tuple[Project, ...] = ()
    sources: frozenset[str] = frozenset()
    merged: Requirements = field(default_factory=Requirements)
    inferred: bool = False

    @property
    def comparison_key(self) -> tuple[object, ...]:
        """What decides whether two sides need the same. Not their versions: those change at every release."""
        points = tuple(
            (
                p.folder,
                p.declared.name,
                p.declared.version_files,
                sorted(map(str, p.declared.entry_points.items())),
            )
            for p in self.projects
        )
        of = self.merged
        return (of.lines, of.tests, of.extras, of.constraints, points)

    @property
    def python(self) -> str:
        """The versions of Python that the first project which says so asks for."""
        return next((p.requirements.python for p in self.projects if p.requirements.python), "")

    def own(self, minor: str) -> dict[str, bytes]:
        """The projects' own files in a layer for Python ``minor`` (``3.11``)."""
        return installed.files(
            self.projects, TREE, f"lib/python{minor}/site-packages", dict.fromkeys(self.sources)
        )

    @property
    def counts(self) -> bool:
        """Is there anything that an import could miss: packages, plugins, a version, a file of the build?"""
        return bool(self.merged) or any(
            p.declared.version_files
            or (p.declared.name and (p.declared.entry_points or not p.declared.version))
            for p in self.projects
        )


def read_needs(
    tree: Tree,
    paths: Sequence[str],
    python: str,
    store: LayerStore,
    imported: Collection[str] = (),
    named: Sequence[str] = (),
    undeclared: Callable[[Tree], Collection[str]] | None = None,
) -> Needs:
    """The needs of the projects of these changed files. ``python``: the interpreter's version. ``imported``:
    modules that those files import, which may stand in a group that is neither for running nor for tests.
    ``named``: requirements files that the settings name, which count as well. ``undeclared``: modules that
    a tree imports, asked for where no manifest anywhere in it says anything.
    """
    files = Files(tree)
    folders = folders_of(paths, files)
    if not folders and not named:
        told = any(is_project(names) for names in files.folders.values())
        if told or undeclared is None or not any(path.endswith(".py") for path in paths):
            return Needs()
        return _inferred(tree, store, undeclared)
    blobs = "\n".join(f"{path} {blob}" for path, blob in sorted(files.blobs.items()))
    key = layers.name_of("\n".join((_VERSION, python, *folders, "", blobs)))
    projects = _recalled(store.recall(key))
    if projects is None:
        marks = environment(python)
        chosen = tuple(read(folder, files, marks) for folder in folders)
        projects = (*chosen, *local_projects(chosen, files))
        store.remember(key, msgspec.json.encode(projects))
    projects = tuple(replace(p, requirements=with_imported(p.requirements, imported)) for p in projects)
    sources = frozenset(posixpath.dirname(e.path) for e in tree.entries() if e.path.endswith(".py"))
    merged = _of_indexes(projects, [*_named(tree, named)])
    if undeclared is not None and not merged.left and all(map(_is_of_tools, projects)) and not named:
        found = _inferred(tree, store, undeclared)
        return replace(found, projects=projects, sources=sources)
    return Needs(projects=projects, sources=sources, merged=merged)


def _is_of_tools(project: Project) -> bool:
    """Is its manifest one of settings for linters alone, which says neither a name nor what it needs?"""
    needs = project.requirements
    asked = needs.lines or needs.tests or needs.extras or project.declared.name
    return not asked and all(path.endswith("pyproject.toml") for path in needs.paths)


def _inferred(tree: Tree, store: LayerStore, undeclared: Callable[[Tree], Collection[str]]) -> Needs:
    """What a tree needs whose files alone say so: kept as well, parsing all of them takes a second."""
    python = "\n".join(f"{e.path} {e.blob}" for e in tree.entries() if e.path.endswith(".py"))
    key = layers.name_of(f"{_VERSION} imports\n{python}")
    note = store.recall(key)
    modules = undeclared(tree) if note is None else note.decode("utf-8", "replace").split()
    if note is None:
        store.remember(key, "\n".join(sorted(modules)).encode("utf-8", "replace"))
    found = packages_of(modules)
    return Needs(merged=Requirements(lines=found), inferred=bool(found))


def _named(tree: Tree, paths: Sequence[str]) -> Iterator[Requirements]:
    """What requirements files need that the settings name."""
    sizes = {e.path: e.size for e in tree.entries() if e.mode.startswith("100")} if paths else {}

    def text(path: str) -> bytes | None:
        return tree.read(path) if sizes.get(path, MOST_BYTES + 1) <= MOST_BYTES else None

    for path in paths:
        if path in sizes:
            found = requirements_files.read(path, text)
            yield replace(found, lines=(), tests=found.lines, locked=False)
        else:
            why = "sandbox.setup_files names it, and there is no such file"
            yield Requirements(left=(f"{path}: {why}",))


def _of_indexes(projects: Sequence[Project], more: Sequence[Requirements]) -> Requirements:
    """What all of them need, without each other, and what else is asked for."""
    merged = merge([p.requirements for p in projects] + list(more))
    own = {canonicalize_name(p.declared.name) for p in projects if p.declared.name}

    def others(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(line for line, name in zip(lines, names_of(lines), strict=True) if name not in own)

    return replace(
        merged, lines=others(merged.lines), tests=others(merged.tests), extras=others(merged.extras)
    )


def _recalled(note: bytes | None) -> tuple[Project, ...] | None:
    try:
        return None if note is None else _PROJECTS.decode(note)
    except msgspec.DecodeError:
        return None


def merge(parts: Sequence[Requirements]) -> Requirements:
    """Those of several projects as one: each package of a lock once, the first project's version."""
    merged = Requirements()
    every = [part for part in parts if part]
    locked = bool(every) and all(part.locked for part in every)
    for part in every:
        lines = part.lines
        if part.locked:
            known = set(names_of(merged.lines))
            lines = tuple(
                line for line, name in zip(lines, names_of(lines), strict=True) if name not in known
            )
        merged = Requirements(
            lines=_once(merged.lines, lines),
            tests=_once(merged.tests, part.tests),
            extras=_once(merged.extras, part.extras),
            constraints=_once(merged.constraints, part.constraints),
            left=merged.left,
            paths=_once(merged.paths, part.paths),
        )
    merged = replace(merged, tests=without_tools(merged.tests), extras=without_tools(merged.extras))
    left = tuple(line for part in parts for line in part.left)
    paths = _once(merged.paths, tuple(path for part in parts for path in part.paths))
    return with_wheels(replace(merged, locked=locked, left=left, paths=paths))


def _once(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
