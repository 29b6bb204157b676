"""A credential file or details of the machine and its user are sent over the network.

Host name, user, folder and keys are what malicious packages report first.

Remove it; if the project needs telemetry, say what is sent and let the user agree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import SEND_CALLS, match_path, path_texts
from gate.regex import regex

_DETAILS = frozenset({
    "socket.gethostname", "socket.getfqdn", "getpass.getuser", "os.getlogin", "platform.node",
    "uuid.getnode", "platform.uname", "pwd.getpwuid", "psutil.users",
})  # fmt: skip
_SENDERS = (*SEND_CALLS, "socket.gethostbyname", "dns.resolver.resolve", "dns.resolver.query")


_WAITS = ("time.sleep", "asyncio.sleep", "gevent.sleep", "trio.sleep", "anyio.sleep")
_READERS = frozenset({"os.environ.get", "os.getenv", "os.environ.pop"})
_SECRET = regex(r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|KEY|CREDENTIALS?|PAT)(?:$|_)")


@rule(
    "py.secret-sent",
    "Credentials or machine details are sent away",
    severity="high",
    confidence="medium",
    topic="credential",
    cwe=(200, 506),
    attack=("T1041", "T1082"),
    why="Keys and machine details in the wrong hands are the start of the next attack.",
    fix="Remove it, or say openly what is sent and let the user agree.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Network calls whose data can be followed back to such a file or question."""
    flow = Flow(module)
    for call, _ in module.calls(*_WAITS):
        for given in call.args[:1]:
            nodes = flow.trace(given).nodes
            what = _credential(module, nodes) or _variable(module, nodes)
            if what:
                message = f"How long it waits tells {what} to whoever watches."
                yield Hit(node=call, message=message, severity=Severity.CRITICAL)
    for call, name in module.calls(*_SENDERS):
        if name.endswith((".connect", ".connect_ex")):
            continue
        for given in [*call.args, *(k.value for k in call.keywords)]:
            trace = flow.trace(given)
            what = _credential(module, trace.nodes)
            if what:
                yield Hit(node=call, message=f"Sends {what} away.", severity=Severity.CRITICAL)
                break
            if trace.calls & _DETAILS:
                yield Hit(node=call, message="Details of the machine or its user are sent away.")
                break


def _variable(module: Module, nodes: tuple[ast.AST, ...]) -> str:
    """The variable with a secret's name that was asked for on the way, or nothing."""
    for node in nodes:
        key: ast.AST | None = None
        if isinstance(node, ast.Call) and node.args and not _READERS.isdisjoint(module.names_of(node.func)):
            key = node.args[0]
        elif isinstance(node, ast.Subscript) and "os.environ" in module.names_of(node.value):
            key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and _SECRET.search(key.value):
            return key.value
    return ""


def _credential(module: Module, nodes: tuple[ast.AST, ...]) -> str:
    """What credential one of the files is that were read on the way, or nothing."""
    for node in nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr.startswith("read")
        ):
            for path in path_texts(module, node.func.value):
                what = match_path("credential", path) or match_path("account", path)
                if what:
                    return what
    return ""
