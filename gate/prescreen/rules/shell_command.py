"""A shell is given a command that is put together at run time.

Blanks, quotes, `;` and `$()` in a value become part of the command. With a value from a request,
anybody runs anything.

Pass a list of arguments without a shell, or quote every value with `shlex.quote`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import PROCESS_CALLS, shell_commands, word_list
from gate.prescreen.python_ast.sources import OUTSIDERS, REMOTE

_QUOTES = frozenset({"shlex.quote", "pipes.quote", "shlex.join", "subprocess.list2cmdline"})


@rule(
    "py.shell-command",
    "Shell command built from values",
    severity="medium",
    confidence="high",
    topic="exec",
    cwe=(78, 77),
    attack=("T1059.004",),
    why="A value with ; or $( ) in it becomes a command of its own.",
    fix="Use a list of arguments and no shell, or shlex.quote for every value.",
)
def check(module: Module) -> Iterator[Hit]:
    """Shell texts with a part that is not constant; programs whose name a request chooses."""
    flow = Flow(module, _QUOTES)
    for call, command in shell_commands(module):
        if module.text_of(command) is not None:
            continue
        kinds = flow.kinds(command)
        if kinds & REMOTE:
            message = "Text that an outsider decides is run by a shell."
            yield Hit(node=call, message=message, severity=Severity.HIGH)
        elif kinds:
            yield Hit(node=call, message="A value from outside becomes part of a shell command.")
        elif not _quoted(flow, command):
            message = "A shell command is put together at run time."
            yield Hit(node=call, message=message, severity=Severity.LOW)
    for call, _ in module.calls(*PROCESS_CALLS):
        first = module.arg(call, 0, "args", "file", "path")
        if first is None or module.is_true(module.arg(call, None, "shell")):
            continue
        words = word_list(module, first)
        program = words.elts[0] if words is not None and words.elts else _program(module, first)
        if flow.kinds(program) & OUTSIDERS:
            yield Hit(node=call, message="A request chooses the program that is run.", severity=Severity.HIGH)


def _program(module: Module, first: ast.expr) -> ast.expr:
    """The first word of a list that is continued: ``command = ["git", "grep"]``, ``command += [pattern]``."""
    bindings = module.bindings_of(first) if isinstance(first, ast.Name) else []
    made = [b.value for b in bindings if b.kind == "assign"]
    lists = [one for one in made if isinstance(one, ast.List | ast.Tuple) and one.elts]
    return lists[0].elts[0] if len(lists) == 1 and len(made) == 1 else first


def _quoted(flow: Flow, command: ast.expr) -> bool:
    return bool(flow.trace(command).calls & _QUOTES)
