"""An SSH client accepts any host key.

The first connection goes to whoever answers, and the password or command with it.

Load known hosts and keep `RejectPolicy`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule


@rule(
    "py.ssh-unknown-host",
    "SSH accepts unknown hosts",
    severity="medium",
    confidence="high",
    topic="tls",
    cwe=(322, 295),
    why="Commands and passwords go to whoever answers at that address.",
    fix="Load the host's key and keep paramiko.RejectPolicy.",
)
def check(module: Module) -> Iterator[Hit]:
    """AutoAddPolicy and WarningPolicy."""
    for call in module.methods("set_missing_host_key_policy"):
        names = module.names_of(module.arg(call, 0, "policy"))
        if any(n.removesuffix("()").endswith((".AutoAddPolicy", ".WarningPolicy")) for n in names):
            yield Hit(node=call, message="Unknown host keys are accepted.")
    for call, _ in module.calls("asyncssh.connect"):
        given = module.arg(call, None, "known_hosts")
        if isinstance(given, ast.Constant) and given.value is None:
            yield Hit(node=call, message="Unknown host keys are accepted.")
