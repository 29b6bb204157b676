"""What is deleted, or what somebody may do, hangs on a rare day: a week, a day of the year, one year.

Nobody runs the tests in the last week of December, and no sandbox does. Deletion by age compares spans of
time; it does not ask which week it is.

Leave the condition out, or test it with the days on both sides of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.guards import guards
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import DELETE_CALLS, dangerous_calls
from gate.prescreen.rules.digest_grants import LETS_IN, RIGHTS
from gate.regex import regex

_DAYS: Final = frozenset({"tm_yday", "tm_year"})
_YEARS: Final = range(2020, 2101)
_FORMATS: Final = regex(r"%[jVUWYG]|%m-?%d")
_DELETES: Final = regex(r"\s*(?:DELETE\s+FROM|TRUNCATE|DROP\s+TABLE)\b", re.IGNORECASE)
_RUNS: Final = frozenset({"execute", "executemany", "executescript", "raw"})


@rule(
    "py.rare-day",
    "A deletion or a right depends on a rare day",
    severity="medium",
    confidence="medium",
    topic="guard",
    cwe=(511,),
    attack=("T1480", "T1485"),
    why="What one week or one year switches on is seen by no test and no sandbox before that time.",
    fix="Leave the condition out, or test it with the days on both sides of it.",
)
def check(module: Module) -> Iterator[Hit]:
    """Conditions on a rare day before deletions and rights, or in a function that a deletion asks."""
    told: set[ast.expr] = set()
    for guard in guards(module):
        if guard.test in told or not _is_rare(module, guard.test):
            continue
        act = next((said for node in guard.guarded for said in _acts(module, node)), "")
        if act or (act := _asked_by(module, guard.test)):
            told.add(guard.test)
            yield Hit(
                node=module.parents.get(guard.test, guard.test),
                message=f"A rare day decides about this: {act}.",
            )


def _is_rare(module: Module, test: ast.expr) -> bool:
    """``isocalendar().week == 1``, ``tm_yday > 360``, ``strftime("%j") == "365"``, ``.year >= 2031``."""
    for node in module.within(test):
        if not isinstance(node, ast.Compare):
            continue
        sides = (node.left, *node.comparators)
        values = [value for side in sides if isinstance(value := module.const(side), int | str)]
        if values and any(_asks_day(module, part, values) for side in sides for part in module.within(side)):
            return True
    return False


def _asks_day(module: Module, part: ast.AST, values: list[int | str]) -> bool:
    is_year = any(isinstance(one, int) and one in _YEARS for one in values)
    if isinstance(part, ast.Attribute):
        return (part.attr in _DAYS and (part.attr == "tm_yday" or is_year)) or (
            part.attr == "year" and is_year
        )
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
        return False
    if part.func.attr == "strftime" and part.args:
        return bool(_FORMATS.search(module.text_of(part.args[-1]) or ""))
    return part.func.attr == "isocalendar"


def _acts(module: Module, node: ast.AST) -> Iterator[str]:
    for _, name in dangerous_calls(module, [node]):
        if name in DELETE_CALLS:
            yield f"{name} is called"
    for part in module.within(node):
        if isinstance(part, ast.Assign) and any(
            isinstance(one, ast.Attribute) and RIGHTS.search(one.attr) for one in part.targets
        ):
            yield "rights are set"
        if isinstance(part, ast.Call):
            name = str(getattr(part.func, "attr", "") or getattr(part.func, "id", ""))
            if LETS_IN.search(name):
                yield f"{name} is called"
            elif _deletes_rows(module, part, name):
                yield "rows are deleted"


def _deletes_rows(module: Module, call: ast.Call, name: str) -> bool:
    if name in _RUNS and call.args:
        return bool(_DELETES.match(module.text_of(call.args[0]) or ""))
    return name == "delete" and isinstance(call.func, ast.Attribute) and not call.args


def _asked_by(module: Module, test: ast.expr) -> str:
    """What a function does that deletes, and calls the one that has the condition."""
    around = _function(module, test)
    for call in module.all(ast.Call) if around is not None else ():
        if around is not None and isinstance(call.func, ast.Name) and call.func.id == around.name:
            caller = _function(module, call)
            if caller is not None and caller is not around:
                return next((f"{said} by what it answers" for said in _acts(module, caller)), "")
    return ""


def _function(module: Module, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return next((one for one in module.above(node) if isinstance(one, kinds)), None)
