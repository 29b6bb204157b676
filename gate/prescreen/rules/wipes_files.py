"""Files are deleted from the root, the home folder or a whole walk of them.

No build or test needs that; ransomware and wipers do.

Delete inside a folder that you made, named in full.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import all_commands
from gate.regex import regex

_ROOTS = frozenset({
    "/", "~", "/home", "/root", "/etc", "/usr", "/var", "/bin", "/lib", "/boot", "C:\\", "C:/", "/*",
    "~/*",
})  # fmt: skip
_SHELL = regex(
    r"\brm\s+(-\w+\s+|--\S+\s+)*-\w*[rR]\w*\s+(-\S+\s+)*[\"']?(/|/\*|~|~/|~/\*|\$HOME|/(etc|usr|var|home|boot|bin|lib))[\"']?/?\s*(;|&|\||$)"
    r"|\bmkfs\b|\bdd\b.*\bof=/dev/(sd|nvme|vd|hd)|>\s*/dev/(sd|nvme|vd)|\bshred\b.*\s/|\bformat\s+[cC]:|\brd\s+/s\s+/q\s+[cC]:"
)


@rule(
    "py.wipes-files",
    "Deletes far more than its own files",
    severity="high",
    confidence="medium",
    topic="delete",
    cwe=(506, 73),
    attack=("T1485",),
    why="What is deleted so cannot be brought back, and wipers do just that.",
    fix="Delete inside a folder that the program made, and name it in full.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Rmtree of roots, deleting in a walk that starts at one, and shell commands that do so."""
    flow = Flow(module)
    for call, _ in module.calls("shutil.rmtree"):
        if call.args and _root(module, call.args[0]):
            yield Hit(node=call, message="Deletes a root or home folder.")
    walks = [
        c
        for c, _ in module.calls("os.walk", "glob.glob", "glob.iglob", "os.listdir", "os.scandir")
        if c.args and _is_root(module, c.args[0])
    ]
    if walks:
        for call, _ in module.calls("os.remove", "os.unlink", "shutil.rmtree", "os.rmdir"):
            if call.args and not set(walks).isdisjoint(flow.trace(call.args[0]).nodes):
                yield Hit(node=call, message="Deletes everything below a root or home folder.")
    for call, command in all_commands(module):
        if _SHELL.search(command):
            yield Hit(node=call, message="A command deletes a root or home folder or a disk.")


_AS_THEY_ARE = (
    "pathlib.Path",
    "pathlib.PurePath",
    "str",
    "os.fspath",
    "os.path.expanduser",
    "os.path.abspath",
    "os.path.realpath",
)
_OR_ELSE = ("os.environ.get", "os.getenv", "getattr", "dict.get")
_DEEPEST = 6


def _root(module: Module, expr: ast.expr) -> bool:
    """May this be such a folder itself, if only as what stands in for a setting that is missing?"""
    return any(_is_root(module, one) for one in _may_be(module, expr, _DEEPEST))


def _is_root(module: Module, expr: ast.expr) -> bool:
    text = module.text_of(expr)
    if text is not None:
        return text.rstrip("/") in _ROOTS or text in _ROOTS
    return isinstance(expr, ast.Call) and bool({"pathlib.Path.home"} & set(module.names_of(expr.func)))


def _may_be(module: Module, expr: ast.expr, depth: int) -> Iterator[ast.expr]:
    """The expressions whose whole value this may have; what is joined to a folder is another place."""
    yield expr
    if not depth:
        return
    inner: list[ast.expr] = []
    match expr:
        case ast.Name():
            inner = [
                b.value
                for b in module.bindings_of(expr)
                if b.kind in ("assign", "param") and b.value is not None
            ]
        case ast.BoolOp(values=values):
            inner = values
        case ast.IfExp(body=body, orelse=orelse):
            inner = [body, orelse]
        case ast.NamedExpr(value=value):
            inner = [value]
        case ast.Call(func=func, args=[first]) if set(_AS_THEY_ARE) & set(module.names_of(func)):
            inner = [first]
        case ast.Call(func=func, args=[_, default]) if set(_OR_ELSE) & set(module.names_of(func)):
            inner = [default]
        case ast.Call(func=ast.Attribute(value=owner, attr="expanduser" | "resolve" | "absolute"), args=[]):
            inner = [owner]
    for one in inner:
        yield from _may_be(module, one, depth - 1)
