"""A program installs packages while it runs.

Names that come from a model's or a user's text may not exist, until somebody registers them with a
payload.

Declare dependencies; install them before.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import all_commands
from gate.prescreen.python_ast.sources import INPUT, NETWORK, REQUEST


@rule(
    "py.runtime-install",
    "Packages are installed at run time",
    severity="low",
    confidence="high",
    topic="dependency",
    cwe=(1104, 494, 829),
    attack=("T1195.001",),
    why="No lock file, no review, and names that anybody may register.",
    fix="Declare the dependency and install it before the program runs.",
)
def check(module: Module) -> Iterator[Hit]:
    """Pip install in process calls; medium when the name is not constant."""
    flow = Flow(module)
    for call, command in all_commands(module):
        words = command.replace("-m ", " ").split()
        installs = "install" in words and any(
            w.rsplit("/", 1)[-1] in ("pip", "pip3", "uv", "npm", "conda", "easy_install") for w in words
        )
        if not installs:
            continue
        kinds = frozenset(kind for given in call.args[:1] for kind in flow.kinds(given))
        if kinds & {REQUEST, NETWORK, INPUT}:
            yield Hit(
                node=call, message="A package chosen from outside is installed.", severity=Severity.HIGH
            )
        else:
            yield Hit(node=call, message="Packages are installed at run time.")
    for call, _ in module.calls("pip.main", "pip._internal.main", "pip._internal.cli.main.main"):
        yield Hit(node=call, message="Packages are installed at run time.")
