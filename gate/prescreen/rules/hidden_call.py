"""A dangerous function reached in a way that hides its name.

`getattr(builtins, 'ev' + 'al')`, `__import__('o' + 's')`, `globals()['ex' + 'ec']`,
`vars(os)['system']`: ordinary code has no reason to spell a function's name in pieces. Whoever does
wants a reader or a scanner not to see it.

Call the function by its name, or remove the call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import DANGEROUS

_WANTED = frozenset(DANGEROUS) | {"marshal.loads", "pickle.loads", "ctypes.CDLL", "socket.socket"}
_MODULES = frozenset({
    "os", "subprocess", "socket", "builtins", "ctypes", "marshal", "pty", "pickle", "sys",
})  # fmt: skip


@rule(
    "py.hidden-call",
    "Hidden call of a dangerous function",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(506, 95),
    attack=("T1027",),
    why="A name put together from pieces hides the call from reviewers and scanners.",
    fix="Call the function by its own name, or remove the call.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Calls whose name is dangerous and whose spelling is not the name; imports spelled in pieces."""
    for call in module.all(ast.Call):
        for name in module.names_of(call.func):
            if name in _WANTED and _hidden(module, call.func):
                yield Hit(node=call, message=f"{name} is called without its name being written.")
                break
    for call, _ in module.calls("__import__", "importlib.import_module"):
        if call.args and not isinstance(call.args[0], ast.Constant):
            text = module.text_of(call.args[0])
            if (
                text is not None
                and text.partition(".")[0] in _MODULES
                and not isinstance(call.args[0], ast.Name)
            ):
                yield Hit(node=call, message=f"The module name {text} is put together from pieces.")


def _hidden(module: Module, func: ast.AST) -> bool:
    """True when getattr, a namespace dictionary or a built name leads to the function."""
    stack = [func]
    seen: set[ast.AST] = set()
    while stack and len(seen) < 40:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, ast.Call):
            names = module.names_of(node.func)
            if "getattr" in names and len(node.args) > 1 and not _plain_getattr(module, node):
                return True
            if "__import__" in names and node.args and not isinstance(node.args[0], ast.Constant):
                return True
        elif isinstance(node, ast.Subscript):
            if module.names_of(node.value) and any(
                base in ("globals()", "locals()", "vars()") or base.endswith("__dict__")
                for base in module.names_of(node.value)
            ):
                return True
            stack.append(node.value)
        elif isinstance(node, ast.Attribute):
            stack.append(node.value)
        elif isinstance(node, ast.Name):
            stack.extend(
                b.value
                for b in module.bindings_of(node)
                if b.value is not None and b.kind in ("assign", "param")
            )
    return False


def _plain_getattr(module: Module, call: ast.Call) -> bool:
    """``getattr(os, "kill", None)``: an optional function, its name written out."""
    return (
        len(call.args) == 3 and isinstance(call.args[1], ast.Constant) and bool(module.names_of(call.args[0]))
    )
