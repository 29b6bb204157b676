"""A socket's ends become a shell's: somebody elsewhere gets a terminal.

`socket` with `os.dup2`, `pty.spawn` after a connection, `/dev/tcp/…`, `nc -e`: no program needs these
together.

Remove it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import PROCESS_CALLS
from gate.regex import regex

_LONGEST = 4000
_TEXT = regex(
    r"/dev/(tcp|udp)/[\w.$-]+/|\b(nc|ncat|netcat)\b[^|;&]*\s-\w*[ec]\w*\s+\S*(sh|cmd)|(ba|z)?sh\s+-i\s*[><0-9]*\s*[>&]"
    r"|mkfifo\s+\S+.*\b(nc|ncat|telnet)\b|socat\b.*exec:|TCPClient\(.*GetStream"
)


@rule(
    "py.reverse-shell",
    "Reverse shell",
    severity="critical",
    confidence="high",
    topic="network",
    cwe=(506, 912),
    attack=("T1059", "T1095"),
    why="A shell tied to a socket gives whoever is at the other end the machine.",
    fix="Remove it; look at who wrote it.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """dup2 of a socket's number, a pseudo-terminal beside a connection, or the shell texts that do it."""
    flow = Flow(module)
    sockets = any(name.startswith("socket.") for name in module.call_index)
    for call, _ in module.calls("os.dup2"):
        if call.args and any(c.startswith("socket.") for c in flow.trace(call.args[0]).calls):
            yield Hit(node=call, message="A socket becomes the standard input or output.")
    for call, _ in module.calls("pty.spawn"):
        if sockets and next(module.calls("os.dup2"), None):
            yield Hit(node=call, message="A terminal is opened for a socket.")
    for call, _ in module.calls(*PROCESS_CALLS):
        for keyword in ("stdin", "stdout", "stderr"):
            given = module.arg(call, None, keyword)
            if given is not None and any(c.startswith("socket.") for c in flow.trace(given).calls):
                yield Hit(node=call, message="A program's input or output is a socket.")
                break
    for node in module.all(ast.Constant):
        text = node.value
        if (
            not isinstance(text, str)
            or len(text) > _LONGEST
            or isinstance(module.parents.get(node), ast.Expr)
        ):
            continue
        if _TEXT.search(text):
            yield Hit(node=node, message="The text of a reverse shell.")
