"""The interpreter's own machinery is changed: import hooks, builtins, trace functions, audit hooks.

Code that was reviewed then does something else when it runs.

Change your own functions, not the interpreter's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_FUNCTIONS = frozenset({"open", "eval", "exec", "compile", "__import__", "input", "print", "getattr"})


@rule(
    "py.import-tampering",
    "The interpreter is tampered with",
    severity="medium",
    confidence="medium",
    topic="evasion",
    cwe=(506, 913, 427),
    attack=("T1574",),
    why="Code that was reviewed then does something else when it runs.",
    fix="Change your own functions, not the interpreter's.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Assignments to builtins, sys.meta_path and process functions, unless tests do it."""
    if module.is_test:
        return
    for call, name in module.calls("sys.meta_path.insert", "sys.meta_path.append", "sys.path_hooks.insert"):
        yield Hit(node=call, message=f"{name} changes what an import gives.")
    for call, _ in module.calls("sys.path.insert", "sys.path.append"):
        place = module.text_of(call.args[-1]) if call.args else None
        if place and place.startswith(("/tmp", "/var/tmp", "/dev/shm")):  # noqa: S108 - looked for, not used
            yield Hit(node=call, message="Modules are looked for where everybody can put them.")
    for call, _ in module.calls("setattr"):
        if len(call.args) == 3 and "builtins" in module.names_of(call.args[0]):
            yield Hit(node=call, message="A builtin function is replaced.", severity=Severity.HIGH)
    for node in module.all(ast.Assign):
        for target in node.targets:
            if not isinstance(target, ast.Attribute):
                continue
            owners = module.names_of(target.value)
            if {"builtins", "__builtins__"} & set(owners) and target.attr in _FUNCTIONS:
                yield Hit(node=node, message="A builtin function is replaced.", severity=Severity.HIGH)
            elif any(f"{owner}.{target.attr}" in _PATCHED for owner in owners):
                yield Hit(node=node, message="A function of the standard library is replaced.")


_PATCHED = frozenset({
    "os.system", "subprocess.Popen", "subprocess.run", "ssl.match_hostname", "hmac.compare_digest",
    "sys.addaudithook", "socket.create_connection", "ssl.SSLContext.wrap_socket", "sys.meta_path",
    "sys.exit", "os._exit",
})  # fmt: skip
