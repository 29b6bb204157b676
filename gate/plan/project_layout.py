"""Which project of a tree a file belongs to, and how that project is run: told from paths alone."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_aside

_PROJECT: Final = ("pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", "tox.ini", "manage.py")
_EXAMPLES: Final = (
    *(".env.test", ".env.testing", ".env.ci", ".env.example", ".env.sample", ".env.template", ".env.dist"),
    *("env.example", "example.env", "sample.env", ".env.default", ".env.development"),
)
_CONFTEST: Final = ("tests/conftest.py", "test/conftest.py", "conftest.py")
_DEEPEST: Final = 3


def folder_of(path: str, files: Collection[str]) -> str:
    """The nearest folder above that holds a project's configuration; ``.`` where none does."""
    for parent in PurePosixPath(path).parents:
        if any(str(parent / name) in files for name in _PROJECT):
            return str(parent)
    return "."


def manage_of(path: str, files: Collection[str]) -> str | None:
    """The ``manage.py`` that a file belongs to: the nearest above it, else one within its own project."""
    for parent in PurePosixPath(path).parents:
        if str(parent / "manage.py") in files:
            return str(parent / "manage.py")
    project = folder_of(path, files)
    inside = "" if project == "." else f"{project}/"
    found = [
        f for f in files if f.endswith("/manage.py") and f.startswith(inside) and f.count("/") <= _DEEPEST
    ]
    return min(found, key=lambda f: (is_aside(f), f.count("/"), f), default=None)


def example_of(path: str, files: Collection[str]) -> str | None:
    """The nearest example of the variables that a project expects to be set: a file of them, else what the
    project's tests set them in.
    """
    for names in (_EXAMPLES, _CONFTEST if path.endswith(".py") else ()):
        for parent in PurePosixPath(path).parents:
            for name in names:
                if str(parent / name) in files:
                    return str(parent / name)
    return None
