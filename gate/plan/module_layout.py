"""How files of a tree are named as modules, told from paths alone."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass

MARKERS: Final = ("src", "lib", "python")
"""Folders that hold packages and are no packages themselves."""
_APART: Final = ("src", "python")
"""Those of them that no package has as a part of its own."""
_NATIVE: Final = (".so", ".pyc", ".pyd")


@dataclass(frozen=True, kw_only=True, slots=True)
class Module:
    """``name`` is the dotted name, None when the file has none (a hyphen, say). ``roots`` are folders
    for sys.path in order, relative to the tree; the first makes ``name`` importable.
    """

    path: str
    name: str | None
    roots: tuple[str, ...]


def module_of(path: str, files: Collection[str]) -> Module:
    """Name and roots of a Python file: packages by ``__init__.py``, ``src`` layouts, namespace
    packages, loose modules. ``files`` are all paths of the tree.
    """
    pure = PurePosixPath(path)
    stem = pure.name.partition(".")[0] if pure.suffix in _NATIVE else pure.stem
    folder = pure.parent
    loose = f"{folder}/__init__.py" not in files
    package = _outermost(folder, files)
    root = _root(folder, package)
    inside = pure.parent.relative_to(root).parts
    parts = inside if stem == "__init__" else (*inside, stem)
    named = bool(parts) and all(part.isidentifier() for part in parts) and pure.suffix != ""
    extra = (str(folder),) if loose else ()
    return Module(
        path=path,
        name=".".join(parts) if named else None,
        roots=_once(str(root), *_marked(files), ".", *extra),
    )


def _outermost(folder: PurePosixPath, files: Collection[str]) -> PurePosixPath:
    """Where the outermost package lies that a folder belongs to; the folder itself, when to none. A folder
    without ``__init__.py`` below a package that has one is part of it, whatever it is called.
    """
    package = folder
    while f"{package}/__init__.py" not in files:
        if not package.parts or package.name in _APART or not package.name.isidentifier():
            return folder
        package = package.parent
    while package.parts and f"{package}/__init__.py" in files:
        package = package.parent
    return package


def _root(folder: PurePosixPath, package: PurePosixPath) -> PurePosixPath:
    """The sys.path folder for a file in ``folder`` whose outermost package lies in ``package``."""
    for depth in range(len(package.parts), 0, -1):
        if package.parts[depth - 1] in MARKERS:
            marked = PurePosixPath(*package.parts[:depth])
            if all(part.isidentifier() for part in folder.relative_to(marked).parts):
                return marked
    if package != folder:
        return package
    if all(part.isidentifier() for part in folder.parts):
        return PurePosixPath()
    return folder


def _marked(files: Collection[str]) -> tuple[str, ...]:
    """Top-level marker folders that the tree has (``src``)."""
    return tuple(m for m in MARKERS[:2] if any(f.startswith(m + "/") and f.endswith(".py") for f in files))


def _once(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def in_test_folder(path: str) -> bool:
    """True below a folder named test or tests."""
    return bool({"test", "tests"} & set(PurePosixPath(path).parts[:-1]))
