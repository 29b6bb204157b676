"""Which projects of a tree a change is about, and what each of them needs: the nearest manifests.

Reads only the tree that it is given (the base's for both sides' projects), as data.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.model.change import Tree, TreeEntry
from gate.supply.python import declared, locks, requirements_files, runners
from gate.supply.python.declared import Declared
from gate.supply.python.interpreter import PINS, pinned
from gate.supply.python.requirements import (
    MOST_BYTES,
    Requirements,
    by_name,
    is_for_tests,
    without_tools,
)

MOST: Final = 4
"""Projects of one change."""
_ASIDE: Final = frozenset(
    (
        *(
            "doc",
            "docs",
            "documentation",
            "lint",
            "linting",
            "linters",
            "mypy",
            "types",
            "typing",
            "typechecks",
        ),
        *("packaging", "release", "build", "benchmark", "benchmarks", "example", "examples"),
    )
)
"""Words in the names of requirements files that neither run nor test the project."""
_PRODUCTION: Final = frozenset(
    ("requirements", "base", "common", "main", "prod", "production", "default", "core", "app")
)


@dataclass(frozen=True, kw_only=True)
class Project:
    """``folder``: relative to the tree, ``.`` for its root. ``declared``: what it says of itself."""

    folder: str
    declared: Declared = field(default_factory=Declared)
    requirements: Requirements = field(default_factory=Requirements)


class Files:
    """The plain files of a tree that could be manifests, by folder; each is read once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._sizes: dict[str, int] = {}
        self.blobs: dict[str, str] = {}
        self.folders: dict[str, list[str]] = {}
        self.read: set[str] = set()
        """Paths that were read: what an answer depends on."""
        for entry in tree.entries():
            if _is_manifest(entry):
                folder, name = posixpath.split(entry.path)
                self.folders.setdefault(folder or ".", []).append(name)
                self._sizes[entry.path] = entry.size
                self.blobs[entry.path] = entry.blob

    def get(self, path: str) -> bytes | None:
        """Its content; None where there is no such file, or it is too large."""
        if self._sizes.get(path, MOST_BYTES + 1) > MOST_BYTES:
            return None
        self.read.add(path)
        return self._tree.read(path)


def _is_manifest(entry: TreeEntry) -> bool:
    name = posixpath.basename(entry.path)
    return entry.mode.startswith("100") and (
        name in locks.READERS
        or name in declared.READERS
        or name in runners.READERS
        or name == "Pipfile"
        or name in PINS
        or locks.is_pylock(name)
        or name.endswith((".txt", ".in"))
        or _is_requirements(name)
    )


def folders_of(paths: Iterable[str], files: Files) -> tuple[str, ...]:
    """The folders of the projects that these changed files belong to: nearest first, the root's last."""
    found: dict[str, int] = {}
    for path in paths:
        for parent in PurePosixPath(path).parents:
            if is_project(files.folders.get(str(parent), ())):
                found[str(parent)] = found.get(str(parent), 0) + 1
                break
    most = sorted(found, key=lambda folder: (-found[folder], folder))[: MOST - 1]
    if "." not in most and is_project(files.folders.get(".", ())):
        most.append(".")
    return tuple(most)


def is_project(names: Sequence[str]) -> bool:
    """Do these file names of a folder make it a project's?"""
    return any(
        name in locks.READERS or name in declared.READERS or locks.is_pylock(name) or _is_requirements(name)
        or name.startswith("environment.y")
        for name in names
    )  # fmt: skip


def read(folder: str, files: Files, environment: Mapping[str, str]) -> Project:
    """What the project in that folder says and needs. Never raises for what its files hold: what cannot be
    read is in ``requirements.left``.
    """
    names = sorted(files.folders.get(folder, ()))
    left: list[str] = []
    said = read_declared(folder, files, left)
    found = _locked(folder, files, dict(environment), left)
    if found is None:
        found = _unlocked(folder, names, files, said, left)
    asked = said.requirements.python or found.python or _pinned(folder, files)
    found = replace(found, python=asked, left=(*found.left, *left))
    return Project(folder=folder, declared=said, requirements=found)


def _pinned(folder: str, files: Files) -> str:
    """The Python that a file beside the project, or above it, names."""
    here = PurePosixPath(folder)
    for place in (here, *here.parents):
        for name in PINS:
            if name in files.folders.get(str(place), ()) and (
                asked := pinned(name, files.get(_join(str(place), name)) or b"")
            ):
                return asked
    return ""


def names_a_project(names: Sequence[str]) -> bool:
    """Can one of these files of a folder say the name of a project?"""
    return any(name in declared.READERS for name in names)


def read_declared(folder: str, files: Files, left: list[str]) -> Declared:
    """What the manifests of a folder say of its project. ``left`` grows by what cannot be read."""
    said = Declared()
    for name in declared.READERS:
        if name in files.folders.get(folder, ()):
            path = _join(folder, name)
            try:
                said |= declared.read(name, path, files.get(path) or b"")
            except ValueError as error:
                left.append(f"{path}: {_line(error)}")
    return said


def _locked(folder: str, files: Files, environment: dict[str, str], left: list[str]) -> Requirements | None:
    """The lock of that folder, or of one above whose lock covers it (a workspace's)."""
    here = PurePosixPath(folder)
    for place in (here, *here.parents):
        names = files.folders.get(str(place), ())
        pylocks = sorted((n for n in names if locks.is_pylock(n)), key=lambda n: (n != "pylock.toml", n))
        for name in [
            n for kind in locks.READERS for n in (pylocks if kind == "pylock.toml" else [kind]) if n in names
        ]:
            path = _join(str(place), name)
            try:
                found = locks.read(name, path, files.get(path) or b"", environment)
            except ValueError as error:
                left.append(f"{path}: {_line(error)}")
                continue
            if place == here or str(here.relative_to(place)) in found.members:
                members = tuple(_join(str(place), member) for member in found.members)
                return replace(found, members=tuple(m for m in members if not m.startswith("..")))
    return None


def _unlocked(
    folder: str, names: Sequence[str], files: Files, said: Declared, left: list[str]
) -> Requirements:
    """Requirements files and what the project declares. Those for tests come first: they name more."""
    below = files.folders.get(_join(folder, "requirements"), ())
    paths = [_join(folder, n) for n in names if _is_requirements(n)]
    paths += [_join(folder, f"requirements/{n}") for n in below if n.endswith((".txt", ".in"))]
    paths += [_join(folder, name) for name in said.files]
    needs = _with_runners(folder, names, files, said.requirements, paths)
    left += needs.left[len(said.requirements.left) :]
    chosen = [p for p in dict.fromkeys(paths) if not (p.endswith(".in") and f"{p[:-3]}.txt" in paths)]
    every = {p: requirements_files.read(p, files.get) for p in chosen}
    flat = {p: part for p, part in every.items() if _counts(p, folder) or p in said.files}
    apart = [line for p, part in every.items() if p not in flat for line in part.lines]
    tests, lines = list(needs.tests), list(needs.lines)
    for path, part in flat.items():
        kept = without_tools(part.lines) if path.endswith(".lock") else part.lines
        (tests if is_for_tests(posixpath.basename(path)) else lines).extend(kept)
        left += part.left
    hashed = all(part.locked for part in flat.values()) and bool(flat)
    unique = tuple(dict.fromkeys(lines))
    return Requirements(
        lines=without_tools(unique) if hashed else unique,
        tests=tuple(dict.fromkeys(tests)),
        extras=tuple(dict.fromkeys(needs.extras)),
        constraints=tuple(dict.fromkeys(c for part in flat.values() for c in part.constraints)),
        locked=hashed and not said.requirements,
        left=said.requirements.left,
        aside={**{name: (line,) for name, line in by_name(apart).items()}, **needs.aside},
        paths=tuple(dict.fromkeys((*needs.paths, *(p for part in flat.values() for p in part.paths)))),
    )


def _with_runners(
    folder: str, names: Sequence[str], files: Files, needs: Requirements, paths: list[str]
) -> Requirements:
    """The same with what tox, nox and environments ask for; ``paths`` grows by the files that they name."""
    declares = bool(needs)
    for name in [n for n in names if n in runners.READERS]:
        path = _join(folder, name)
        if name.startswith("environment") and (declares or paths):
            continue
        try:
            more, named = runners.read(name, path, files.get(path) or b"")
        except ValueError as error:
            needs = replace(needs, left=(*needs.left, f"{path}: {_line(error)}"))
            continue
        needs = replace(
            needs,
            tests=(*needs.tests, *more.tests),
            extras=(*needs.extras, *more.extras),
            left=(*needs.left, *more.left),
            paths=(*needs.paths, path),
        )
        paths += [p for n in named if (p := _join(folder, n)) not in paths]
    return needs


def _is_requirements(name: str) -> bool:
    return "requirements" in name.lower() and name.endswith((".txt", ".in", ".lock"))  # .lock: rye's


def _words(path: str) -> set[str]:
    stem = posixpath.splitext(posixpath.basename(path))[0].lower()
    return set("".join(c if c.isalpha() else " " for c in stem).split())


def _counts(path: str, folder: str) -> bool:
    """Is that requirements file for running or testing the project?"""
    words = _words(path)
    if words & _ASIDE:
        return False
    if posixpath.dirname(path) == posixpath.normpath(folder).removeprefix("."):
        return bool(words <= _PRODUCTION or is_for_tests(posixpath.basename(path))) or words == {
            "base",
            "requirements",
        }
    return bool(words & _PRODUCTION) or is_for_tests(posixpath.basename(path))


def _join(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
