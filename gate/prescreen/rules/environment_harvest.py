"""The whole environment is serialised, walked for secrets or sent away.

On a build machine the environment holds the tokens of everything the build may do. Reading one variable
by its name is ordinary; turning all of them into text is how they are stolen.

Read the variables you need by name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import SEND_CALLS, all_commands

_TEXTERS = frozenset({
    "json.dumps", "json.dump", "str", "repr", "pickle.dumps", "urllib.parse.urlencode",
    "pprint.pformat", "pprint.pprint", "print", "yaml.dump", "base64.b64encode",
})  # fmt: skip
_PASSES = _TEXTERS | {
    "dict", "list", "sorted", "tuple", "set", ".items", ".copy", ".encode", ".decode", ".join", ".keys",
    ".values", ".format", "bytes", "zlib.compress", "collections.OrderedDict",
}  # fmt: skip
"""What the environment may pass through and still be all of it."""
_HUNT = ("KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "AWS", "GITHUB")


@rule(
    "py.environment-harvest",
    "The whole environment is collected",
    severity="medium",
    confidence="high",
    topic="credential",
    cwe=(526, 200),
    attack=("T1552.007", "T1082"),
    why="Build environments hold deployment tokens; collecting all of them comes before stealing them.",
    fix="Read the variables you need by name; pass subprocesses a list of chosen ones.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """os.environ as a whole, in a serialiser, a network call or a search for secret names."""
    named = "environ" in module.text
    wholes: set[ast.AST] = {
        node
        for kind in (ast.Attribute, ast.Name)
        for node in module.all(kind)
        if named and "os.environ" in module.names_of(node) and _whole(module, node)
    }
    if wholes:
        flow = Flow(module)
        for call in module.all(ast.Call):
            names = set(module.names_of(call.func))
            sends = bool(names & _SENDERS)
            if not (sends or names & _TEXTERS):
                continue
            for given in [*call.args, *(k.value for k in call.keywords)]:
                trace = flow.trace(given)
                if not sends and not {c for c in trace.calls if not c.startswith("os.environ")} <= _PASSES:
                    continue
                if not wholes.isdisjoint(trace.nodes) and not _one_value(module, given):
                    message = (
                        "The whole environment is sent away."
                        if sends
                        else "The whole environment becomes text."
                    )
                    yield Hit(node=call, message=message, severity=Severity.HIGH if sends else None)
                    break
        yield from _hunts(module, wholes)
    for call, command in all_commands(module):
        if command.split("|")[0].strip() in ("env", "printenv", "/usr/bin/env", "export -p"):
            yield Hit(node=call, message="A command prints the whole environment.")


_SENDERS = frozenset(SEND_CALLS)


def _whole(module: Module, node: ast.AST) -> bool:
    parent = module.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr in ("items", "values", "copy", "keys")
    if isinstance(parent, ast.Subscript):
        return parent.value is not node
    return not isinstance(parent, ast.Compare)


def _one_value(module: Module, given: ast.AST) -> bool:
    """``str(os.environ["HOME"])``: one variable by name, or an item taken out of the copy."""
    return any(
        isinstance(node, ast.Subscript)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get")
        for node in module.within(given)
    ) or any(name.startswith("subprocess.") for name in Flow(module).trace(given).calls)


def _hunts(module: Module, wholes: set[ast.AST]) -> Iterator[Hit]:
    """A loop over the environment that looks for secret names."""
    for loop in module.all(ast.For, ast.comprehension):
        if not any(node in wholes for node in module.within(loop.iter)):
            continue
        body = module.parents.get(loop, loop) if isinstance(loop, ast.comprehension) else loop
        for node in module.within(body):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                word = node.value.upper()
                if len(word) < 24 and any(hunted in word for hunted in _HUNT):
                    where = node
                    yield Hit(node=where, message="The environment is searched for secrets.")
                    break
