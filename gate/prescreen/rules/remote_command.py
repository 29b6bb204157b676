"""A command for another machine (SSH, Ansible, Kubernetes, Docker) is made from a request.

The other machine's shell runs what the value says.

Choose commands from a list; quote values with `shlex.quote`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import OUTSIDERS, PARAMETER

_METHODS = ("exec_command", "exec_run", "run_command", "sudo", "invoke_shell", "send_command", "sendline")


@rule(
    "py.remote-command",
    "Remote command from a request",
    severity="medium",
    confidence="high",
    topic="exec",
    cwe=(78, 77, 74),
    why="The other machine's shell runs whatever the value says.",
    fix="Choose the command from a list and quote its values with shlex.quote.",
)
def check(module: Module) -> Iterator[Hit]:
    """exec_command and its like with text of a request, or built from parameters."""
    if not module.imports_any(
        "paramiko", "fabric", "asyncssh", "docker", "netmiko", "pexpect", "telnetlib", "invoke"
    ):
        return
    flow = Flow(module, frozenset({"shlex.quote", "pipes.quote"}))
    for call in module.methods(*_METHODS):
        command = module.arg(call, 0, "command", "cmd")
        if command is None:
            continue
        if flow.kinds(command) & OUTSIDERS:
            yield Hit(
                node=call, message="An outsider decides what another machine runs.", severity=Severity.HIGH
            )
        elif built_from(module, command) and PARAMETER in flow.kinds(command):
            yield Hit(node=call, message="A value becomes part of a remote command.", severity=Severity.LOW)
