"""The variables of other code are written out, logged or sent.

A frame's ``f_locals`` and ``vars(x)`` of somebody else's object hold whatever that code works with:
passwords, keys, card numbers, rows of other customers. Who turns all of them into text, into a log or into a
message hands on what nobody chose to show. Debuggers do that in front of one person; a service does it for
whoever reads its logs and reports.

Name the fields that are meant. For a look at a running program write stacks without variables
(``faulthandler``, ``traceback.format_stack``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import SEND_CALLS
from gate.regex import regex
from gate.secret_uses.calls import MUTATORS, SENDS

_TEXTERS: Final = frozenset({
    "repr", "str", "ascii", "json.dumps", "json.dump", "pprint.pformat", "pprint.pprint", "reprlib.repr",
    "pickle.dumps", "print",
})  # fmt: skip
_LEVELS: Final = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
_LOGGER: Final = regex(r"(?i)(?:\A|_)log(?:ger|ging)?\Z")
_COUNTS: Final = frozenset({"sys.getsizeof", "len", "id", "hash", "type", "sum"})
"""They give a number, or a class, and nothing of what they are given."""
_WHOLE: Final = frozenset({"items", "values", "copy"})
_OWN: Final = frozenset({"self", "cls", "__class__"})
_PARSED: Final = ("argparse.", "parse_args", "parse_known_args", "optparse.")
"""What a user typed on a command line is nobody else's."""


@rule(
    "py.variables-disclosed",
    "Variables of other code are written out or sent",
    severity="medium",
    confidence="medium",
    topic="secret",
    cwe=(200, 201, 532),
    why="Among all variables of other code are its passwords, keys and customers' data.",
    fix="Name the fields that are meant, or write stacks without their variables.",
)
def check(module: Module) -> Iterator[Hit]:
    """Variables of frames that become text, are logged or sent; those of other objects that are sent,
    logged or handed back.
    """
    for call in module.all(ast.Call):
        if any(word.arg == "capture_locals" and module.is_true(word.value) for word in call.keywords):
            yield Hit(node=call, message="The variables of every frame become text.")
    frames = {node for node in module.all(ast.Attribute) if node.attr == "f_locals" and _whole(module, node)}
    objects = {node for node in _objects(module) if _whole(module, node)}
    if not frames and not objects:
        return
    yield from _handed_back(module, objects)
    flow = Flow(module, _COUNTS)
    for call in module.all(ast.Call):
        how = _how(module, call)
        if how is None:
            continue
        met = {node for given in _given(call) for node in flow.trace(given).nodes}
        if not met.isdisjoint(frames):
            said = {"sent": "sent away", "logged": "logged", "text": "turned into text"}[how]
            yield Hit(node=call, message=f"The variables of other functions are {said}.")
        elif how != "text" and any(_is_foreign(flow, node) for node in objects & met):
            level = Severity.LOW if how == "logged" else None
            said = "logged" if how == "logged" else "sent away"
            yield Hit(node=call, message=f"All that another object holds is {said}.", severity=level)


def _handed_back(module: Module, objects: set[ast.expr]) -> Iterator[Hit]:
    """A function gives all that an object holds that it was given: who sends it may be in another file."""
    for node in objects:
        owner = node.args[0] if isinstance(node, ast.Call) else getattr(node, "value", None)
        function = module.function_of(node)
        if not isinstance(owner, ast.Name) or function is None:
            continue
        above: ast.AST | None = module.parents.get(node)
        while above is not None and _is_table(module, above):
            above = module.parents.get(above)
        given = {word.arg for word in ast.walk(function.args) if isinstance(word, ast.arg)}
        if isinstance(above, ast.Return) and owner.id in given:
            message = "All that another object holds is handed back."
            yield Hit(node=above, message=message, severity=Severity.LOW)


def _is_table(module: Module, node: ast.AST) -> bool:
    """Still the same table: gone through, copied, or with less in it."""
    if isinstance(node, ast.Call):
        called = node.func
        same = isinstance(called, ast.Attribute) and called.attr in _WHOLE
        return same or "dict" in module.names_of(called)
    return isinstance(node, ast.comprehension | ast.DictComp | ast.Dict) or (
        isinstance(node, ast.Attribute) and node.attr in _WHOLE
    )


def _objects(module: Module) -> Iterator[ast.expr]:
    """``vars(x)`` and ``x.__dict__`` of what is not one's own object, a class or a module."""
    for call, _ in module.calls("vars"):
        if call.args and not _is_own(module, call.args[0]):
            yield call
    for node in module.all(ast.Attribute):
        if node.attr == "__dict__" and not _is_own(module, node.value):
            yield node


def _is_own(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Name) and node.id in _OWN:
        return True
    if isinstance(node, ast.Attribute) and node.attr in _OWN:
        return True
    return any(name[:1].isupper() or "." in name for name in module.names_of(node) if "()" not in name)


def _whole(module: Module, node: ast.AST) -> bool:
    """Not one variable that is asked for by its name, nor a question whether there is one."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _WHOLE
    if isinstance(parent, ast.Subscript):
        return parent.value is not node
    return not isinstance(parent, ast.Compare)


def _how(module: Module, call: ast.Call) -> str | None:
    names = set(module.names_of(call.func))
    if names & _SENDERS:
        return "sent"
    if names & _TEXTERS:
        return "text"
    if not isinstance(call.func, ast.Attribute):
        return None
    owner = call.func.value
    label = getattr(owner, "attr", "") or getattr(owner, "id", "")
    if call.func.attr in _LEVELS and (
        _LOGGER.search(label) or any(name.startswith("logging") for name in module.names_of(owner))
    ):
        return "logged"
    awaited = isinstance(module.parents.get(call), ast.Await)
    sends = call.func.attr in SENDS or (awaited and call.func.attr in MUTATORS)
    return "sent" if sends else None


_SENDERS: Final = frozenset(SEND_CALLS)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(word.value for word in call.keywords)]


def _is_foreign(flow: Flow, node: ast.expr) -> bool:
    """False for what a command line was parsed into."""
    owner = node.args[0] if isinstance(node, ast.Call) else getattr(node, "value", None)
    return not any(part in name for name in flow.trace(owner).calls for part in _PARSED)
