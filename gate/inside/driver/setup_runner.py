"""Runs setup.py the way an installation does, with setuptools where it is there, else with a stand-in.

Images without setuptools are ordinary (Python 3.12 ships none). What an attacker changes is what the
file does when it is read and what its command classes do, and both can be reached without it.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
import types
from collections.abc import Callable
from typing import Any

from . import argument_values, program_runner

COMMANDS = (
    ("--version",),
    ("egg_info", "--egg-base", argument_values.SCRATCH),
    ("build", "--build-base", argument_values.SCRATCH + "/build"),
    ("install", "--root", argument_values.SCRATCH + "/root", "--single-version-externally-managed",
     "--record", argument_values.SCRATCH + "/record"),
    ("develop", "--no-deps", "--install-dir", argument_values.SCRATCH + "/site"),
)  # fmt: skip
_COMMAND_MODULES = (
    "install", "develop", "egg_info", "build", "build_py", "build_ext", "sdist", "bdist_egg", "bdist_wheel",
    "install_lib", "install_scripts", "test",
)  # fmt: skip


def run(item: dict[str, Any], context: Any, describe: Any) -> dict[str, Any]:
    """Run the file once per command; with the stand-in once, and each command class after it."""
    path = os.path.abspath(item["path"])
    os.chdir(os.path.dirname(path))
    sys.path.insert(0, os.path.dirname(path))
    argument_values.lay_out()
    if importlib.util.find_spec("setuptools") is not None:
        steps = [(f"setup.py {argv[0]}", _once(path, list(argv))) for argv in COMMANDS]
        told: dict[str, Any] = program_runner.turns(context, describe, steps)
        return told
    said: list[dict[str, Any]] = []
    _stand_in(said)
    steps = [("setup.py", _once(path, ["--version"]))]

    def classes() -> None:
        for keywords in said:
            for name, command in sorted((keywords.get("cmdclass") or {}).items()):
                steps.append((f"setup.py {name}", _command(command)))

    steps.append(("setup.py command classes", classes))
    report: dict[str, Any] = program_runner.turns(context, describe, steps)
    return {**report, "stand_in": True}


def _once(path: str, argv: list[str]) -> Callable[[], object]:
    def step() -> None:
        sys.argv = [path, *argv]
        runpy.run_path(path, run_name="__main__")

    return step


def _command(command: Any) -> Callable[[], object]:
    def step() -> None:
        instance = command()
        for method in ("initialize_options", "finalize_options", "run"):
            getattr(instance, method, lambda: None)()

    return step


def _stand_in(said: list[dict[str, Any]]) -> None:
    """Modules named setuptools and distutils whose ``setup`` notes its keywords."""

    def setup(**keywords: object) -> object:
        said.append(keywords)
        return argument_values.Stand("distribution")

    class Command:
        """Has every method and option, and does nothing."""

        user_options = ()

        def __init__(self, *args: object, **keywords: object) -> None:
            self.distribution = argument_values.Stand("distribution")

        def initialize_options(self) -> None:
            return None

        finalize_options = initialize_options
        run = initialize_options

        def __getattr__(self, name: str) -> object:
            if name.startswith("__"):
                raise AttributeError(name)
            return argument_values.Stand(name)

    def module(name: str, **members: object) -> types.ModuleType:
        made = types.ModuleType(name)
        made.__path__ = []
        vars(made).update(members)
        sys.modules[name] = made
        return made

    def nothing(*args: object, **keywords: object) -> list[object]:
        return []

    shared = {
        "setup": setup, "Command": Command, "Extension": Command, "Distribution": Command,
        "find_packages": nothing, "find_namespace_packages": nothing, "find_namespace": nothing,
    }  # fmt: skip
    for top in ("setuptools", "distutils"):
        module(top, **shared)
        module(f"{top}.core", **shared)
        package = module(f"{top}.command")
        for name in _COMMAND_MODULES:
            vars(package)[name] = module(f"{top}.command.{name}", **{name: type(name, (Command,), {})})
