"""A package's installation runs code of its own.

A `cmdclass` in `setup.py` replaces `install`, `develop` or `egg_info`: whoever installs the package
runs it, before any import. Most malicious packages start there.

Build in a build backend; leave nothing to do at install time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import SEND_CALLS, dangerous_calls

_STEPS = frozenset({
    "install", "develop", "egg_info", "build_py", "build_ext", "build", "sdist", "install_lib",
    "bdist_wheel", "bdist_egg", "install_scripts", "editable_wheel",
})  # fmt: skip
_INSTALL_TIME = frozenset(
    {"install", "develop", "egg_info", "install_lib", "install_scripts", "editable_wheel"}
)


@rule(
    "py.install-hook",
    "Installation step is overridden",
    severity="low",
    confidence="high",
    topic="install",
    cwe=(506, 829),
    attack=("T1195.002",),
    why="It runs on every machine that installs the package, before anybody imports it.",
    fix="Remove the override, or move the work to the build backend or to the first use.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Classes derived from a setuptools step, and what they and the script's top level call."""
    is_setup = module.path.rsplit("/", 1)[-1] == "setup.py"
    if not is_setup and not module.imports_any("setuptools", "distutils"):
        return
    for cls in module.all(ast.ClassDef):
        steps = {step for base in cls.bases for name in module.names_of(base) if (step := _step(name))}
        if not steps:
            continue
        calls = [name for _, name in dangerous_calls(module, cls.body)]
        if any(name in SEND_CALLS or name in ("eval", "exec", "execfile") for name in calls):
            message = "An installation step uses the network or runs text as code."
            yield Hit(node=cls, message=message, severity=Severity.CRITICAL)
        elif calls and steps & _INSTALL_TIME:
            yield Hit(
                node=cls,
                message="An installation step starts programs or deletes files.",
                severity=Severity.HIGH,
            )
        elif steps & _INSTALL_TIME:
            yield Hit(node=cls, message="An installation step is overridden.")
    if is_setup:
        for call, name in dangerous_calls(module, [module.tree]):
            if name in SEND_CALLS and module.class_of(call) is None:
                yield Hit(node=call, message="setup.py uses the network.", severity=Severity.HIGH)


def _step(name: str) -> str | None:
    last = name.rpartition(".")[2]
    return last if last in _STEPS and name.startswith(("setuptools", "distutils", "wheel")) else None
