"""Processes that the program did not start are looked up and ended.

By name (`pkill`, `killall`, psutil's list) or by a number from a process list: it hits whatever has that
name on the machine, the SSH server and the scanner included.

End the processes that you started, by the handle that starting them gave you.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import all_commands
from gate.regex import regex

_COMMAND: Final = regex(
    r"(?:^|[;&|]\s*|\bsudo\s+|\bxargs\s+)(?:pkill|killall5?|skill|taskkill)\b"
    r"|\bkill\b[^;|&]*(?:\$\(|`)\s*(?:pgrep|pidof|ps|lsof|fuser)\b|\b(?:pgrep|pidof|ps)\b.*\|.*\bkill\b"
)
_LISTS: Final = frozenset({
    "psutil.process_iter", "psutil.pids", "subprocess.check_output", "subprocess.getoutput",
    "subprocess.run", "subprocess.Popen", "os.popen", "os.listdir", "os.scandir", "glob.glob",
})  # fmt: skip
_ENDS: Final = frozenset({"kill", "terminate", "suspend", "send_signal"})
_OWN: Final = frozenset({"os.getpid", "os.getppid", "os.fork", "os.getpgrp"})


@rule(
    "py.kills-others",
    "Processes of others are ended",
    severity="medium",
    confidence="medium",
    topic="process",
    cwe=(506,),
    attack=("T1489", "T1562.001"),
    why="Ending services by name stops what protects or serves the machine.",
    fix="End only processes that the program started, by their handle.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Shell commands, ``os.kill`` of a listed number, psutil's methods on listed processes."""
    flow = Flow(module)
    for call, command in all_commands(module):
        if _COMMAND.search(command):
            yield Hit(node=call, message="A command ends processes by name.")
    for call, _ in module.calls("os.kill", "os.killpg", "signal.pidfd_send_signal"):
        if len(call.args) > 1 and not _only_asks(call.args[1]) and _listed(flow, call.args[0]):
            yield Hit(node=call, message="Ends a process found in a list of all.")
    for call in module.all(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ENDS:
            calls = flow.trace(call.func.value).calls
            if calls & {"psutil.process_iter", "psutil.pids"}:
                yield Hit(node=call, message="Ends a process found in a list of all.")


def _only_asks(signal: ast.expr) -> bool:
    """Signal 0 asks whether the process is there."""
    return isinstance(signal, ast.Constant) and signal.value == 0


def _listed(flow: Flow, pid: ast.expr) -> bool:
    if isinstance(pid, ast.Call) and isinstance(pid.func, ast.Name) and pid.func.id == "int" and pid.args:
        pid = pid.args[0]  # a number out of text
    traced = flow.trace(pid)
    if isinstance(pid, ast.Attribute) and pid.attr == "pid" and "psutil.process_iter" not in traced.calls:
        return False  # the handle of a child
    return bool(traced.calls & _LISTS) and not traced.calls & _OWN
