"""Something is downloaded and then started.

What runs is whatever the server gives at that moment; nobody reviewed it.

Put the program into the project or its lock file, and check its sum.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.languages.commands.fetched import worst_fetch
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import PROCESS_CALLS, SHELL_CALLS, all_commands
from gate.prescreen.python_ast.sources import NETWORK

_FETCHES = ("urllib.request.urlretrieve", "wget.download", "urllib.urlretrieve")
_WRITES = ("write", "write_bytes", "write_text")


@rule(
    "py.download-then-run",
    "Download is run",
    severity="high",
    confidence="medium",
    topic="download",
    cwe=(494, 829),
    attack=("T1105",),
    why="What runs is whatever the server gives at that moment.",
    fix="Take the program from a lock file with a hash, and check the sum before running it.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Commands that do both, and programs started from a file that came from the network."""
    for call, command in all_commands(module):
        one = worst_fetch(command)
        if one is not None:
            what = "decodes" if one.how == "decoded" else "downloads"
            yield Hit(node=call, message=f"A command {what} something and runs it.")
    flow = Flow(module)
    fetched = {name for call, _ in module.calls(*_FETCHES) for name in _target(module, flow, call, 1)}
    for call in module.methods(*_WRITES):
        if call.args and NETWORK in flow.kinds(call.args[0]) and isinstance(call.func, ast.Attribute):
            fetched |= flow.trace(call.func.value).names | _texts(module, flow, call.func.value)
    if not fetched:
        return
    for call, _ in module.calls(*SHELL_CALLS, *PROCESS_CALLS, "runpy.run_path", "os.startfile"):
        for given in call.args[:3]:
            trace = flow.trace(given)
            if (trace.names | _texts(module, flow, given)) & fetched:
                yield Hit(node=call, message="A file from the network is run.")
                break


def _target(module: Module, flow: Flow, call: ast.Call, position: int) -> set[str]:
    given = module.arg(call, position, "filename", "out")
    return set() if given is None else set(flow.trace(given).names) | _texts(module, flow, given)


def _texts(module: Module, flow: Flow, expr: ast.AST) -> set[str]:
    """Constant paths met on the way, so that the same file under two spellings is one."""
    found = {module.text_of(node) for node in flow.trace(expr).nodes}
    return {text for text in found if text and ("/" in text or "." in text) and "://" not in text}
