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
_RUNNERS: Final = ("runtests.py", "testmanage.py", "run_tests.py", "quicktest.py", "tests/runtests.py")
"""What applications for Django have that are no project of their own: it names settings, too."""


def folder_of(path: str, files: Collection[str]) -> str:
    """The nearest folder above that holds a project's configuration; ``.`` where none does."""
    for parent in PurePosixPath(path).parents:
        if any(str(parent / name) in files for name in _PROJECT):
            return str(parent)
    return "."


def manage_of(path: str, files: Collection[str]) -> str | None:
    """The ``manage.py`` that a file belongs to: the nearest above it, else one within its own project; the
    script that runs its tests before that of an example.
    """
    above = PurePosixPath(path).parents
    for parent in above:
        if str(parent / "manage.py") in files:
            return str(parent / "manage.py")
    project = folder_of(path, files)
    inside = "" if project == "." else f"{project}/"
    found = [
        f for f in files if f.endswith("/manage.py") and f.startswith(inside) and f.count("/") <= _DEEPEST
    ]
    nearest = min(found, key=lambda f: (is_aside(f), f.count("/"), f), default=None)
    if nearest is not None and not is_aside(nearest):
        return nearest
    runners = (str(parent / name) for parent in above for name in _RUNNERS)
    return next((runner for runner in runners if runner in files), nearest)


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
