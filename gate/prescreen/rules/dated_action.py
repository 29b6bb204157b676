"""Something dangerous happens only after (or before) a certain date.

A time bomb: the tests pass today. Ordinary code compares dates to expire things; it does not start
programs, use the network or delete files because a day written in the source has come.

Use a feature flag or a schedule that can be seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import dangerous_calls

_CLOCKS = (
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
    "datetime.date.today", "time.time", "time.localtime", "time.gmtime", "time.strftime",
    "time.time_ns",
)  # fmt: skip
_EPOCH = 1_000_000_000


@rule(
    "py.dated-action",
    "Dangerous action depends on the date",
    severity="high",
    confidence="medium",
    topic="exec",
    cwe=(511,),
    attack=("T1480",),
    why="What a date switches on is not seen by tests or by a sandbox that runs before that day.",
    fix="Remove the condition, or make the schedule explicit outside of the code.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Tests of the clock against a constant date, in front of dangerous calls."""
    if module.call_index.keys().isdisjoint(_CLOCKS):
        return
    flow = Flow(module)
    for test in module.all(ast.If, ast.While, ast.IfExp):
        if not _dated(module, flow, test.test):
            continue
        nodes: list[ast.AST] = []
        for body in (test.body, test.orelse):
            nodes.extend(body if isinstance(body, list) else [body])
        nodes.extend(_rest(module, test))
        names = {name for _, name in dangerous_calls(module, nodes)} | _indirect(module, nodes)
        if names:
            yield Hit(node=test, message=f"A date decides whether {min(names)} is called.")


def _dated(module: Module, flow: Flow, test: ast.AST) -> bool:
    for node in module.within(test):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        clocks = [any(c in _CLOCKS for c in flow.trace(side).calls) for side in sides]
        if any(clocks) and any(
            _constant_date(module, side)
            for side, clock in zip(sides, clocks, strict=True)
            if not _is_now(module, side)
        ):
            return True
    return False


def _is_now(module: Module, side: ast.AST) -> bool:
    return any(name.removesuffix("()").startswith(_CLOCKS) for name in module.names_of(side))


def _constant_date(module: Module, side: ast.AST) -> bool:
    value = module.const(side)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value > _EPOCH or 2020 <= value <= 2100
    if isinstance(value, str):
        return value[:2] == "20" and len(value) >= 8 and value[:4].isdigit()
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], int) and 2020 <= value[0] <= 2100
    for name in module.names_of(side):
        if name in (
            "datetime.datetime()",
            "datetime.date()",
            "datetime.datetime.fromisoformat()",
            "datetime.date.fromisoformat()",
            "datetime.datetime.strptime()",
        ):
            return True
    return False


def _rest(module: Module, test: ast.AST) -> list[ast.AST]:
    """``if early: return`` guards everything after it."""
    if (
        not isinstance(test, ast.If)
        or not test.body
        or not isinstance(test.body[-1], ast.Return | ast.Raise | ast.Continue)
    ):
        return []
    block = getattr(module.parents.get(test), "body", None)
    return block[block.index(test) + 1 :] if isinstance(block, list) and test in block else []


def _indirect(module: Module, nodes: list[ast.AST]) -> set[str]:
    """Functions of this file that are called and do something dangerous themselves."""
    found: set[str] = set()
    for top in nodes:
        for node in module.within(top):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                for binding in module.bindings_of(node.func):
                    if binding.kind == "def":
                        found |= {
                            name for _, name in dangerous_calls(module, getattr(binding.node, "body", []))
                        }
    return found
