"""Functions of the file that answer whether a value may be used, by what they do and not by their name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.regex import regex
from gate.taint.checks import Facts, all_of, any_of
from gate.taint.names import BEGINS, HANDS_ON, MATCHES, MEMBERS, NUMBERS, TELLS_LITTLE
from gate.taint.program import Node
from gate.taint.values import Value

if TYPE_CHECKING:
    from gate.taint.expressions import Expressions

_KNOWN: Final = BEGINS | MATCHES | MEMBERS | HANDS_ON | TELLS_LITTLE | NUMBERS
_MOST: Final = 12
_WHOLE: Final = regex(r"\A['\"`/]*(?:\^|\\A).*(?:\$|\\[zZ])['\"`/a-z]*\Z", re.DOTALL)
"""A pattern that has to fit all of a text."""
_DEEPEST: Final = 2
Answers = tuple[Facts, Facts]


def bodies(program: Node) -> dict[str, Node]:
    """The functions of a file by their names, as far as one function has the name."""
    found: dict[str, list[Node]] = {}
    waiting = [program]
    while waiting:
        node = waiting.pop()
        if node.kind == "function" and node.text:
            found.setdefault(node.text, []).append(node)
        elif node.kind == "assign" and len(node.parts) == 2 and node.parts[1].kind == "function":
            found.setdefault(node.parts[0].text, []).append(node.parts[1])
        waiting += node.parts
    return {name: many[0] for name, many in found.items() if len({id(one) for one in many}) == 1}


def judged(walk: Expressions, call: Node) -> Answers | None:
    """What is safe where a call of a function of this file answers yes, and where no; None: that cannot be
    said by reading it.
    """
    callee = call.parts[0]
    own = callee.kind == "name" or (callee.kind == "member" and callee.parts[0].text in ("this", "self"))
    function = walk.bodies.get(callee.text) if own else None
    if function is None or walk.judging >= _DEEPEST:
        return None
    params = [part for part in function.parts if part.kind == "param"]
    body = function.parts[-1] if function.parts else None
    if body is None or body.kind == "param" or any(not one.text for one in params):
        return None
    given = [walk.quiet(part) for part in call.parts[1:]]
    before, walk.state = walk.state, walk.state.copy()
    walk.judging += 1
    walk.calling.silent += 1
    try:
        for index, param in enumerate(params):
            walk.state.env[param.text] = given[index] if index < len(given) else Value(path=param.text)
        return _answers(walk, body)
    finally:
        walk.calling.silent -= 1
        walk.judging -= 1
        walk.state = before


def _answers(walk: Expressions, body: Node) -> Answers | None:
    while body.kind == "block" and len(body.parts) == 1 and body.parts[0].kind == "block":
        body = body.parts[0]
    steps = body.parts if body.kind == "block" else [body]
    if len(steps) > _MOST:
        return None
    ways: list[tuple[Facts, Node | None]] = []
    asked: list[Node] = []
    for step in steps:
        if step.kind == "assign":
            asked.append(step)
            walk.exec(step)
        elif step.kind == "if" and _is_answer(step.parts[1]) and not step.parts[2].parts:
            test = step.parts[0]
            asked.append(test)
            conditions = walk.conditions()
            ways.append((all_of([walk.state.facts, conditions.facts(test, True)]), _said(step.parts[1])))
            walk.learn(conditions.facts(test, False))
        elif step.kind == "return":
            said = _said(step)
            asked += [said] if said is not None else []
            ways.append((walk.state.facts, said))
            break
        else:
            return None
    if not ways:
        return None
    yes, no = (_where(walk, ways, holds) for holds in (True, False))
    return (yes, no) if yes or no or all(_is_read(one) for one in asked) else None


def _where(walk: Expressions, ways: list[tuple[Facts, Node | None]], holds: bool) -> Facts:
    many: list[Facts] = []
    for facts, said in ways:
        truth = _truth(walk, said)
        if truth is None and said is not None:
            many.append(all_of([facts, walk.conditions().facts(said, holds)]))
        elif truth is holds:
            many.append(facts)
    return any_of(many)


def _truth(walk: Expressions, said: Node | None) -> bool | None:
    """Of a constant answer, which; in Go no error is yes."""
    if said is None:
        return False
    if walk.language.name == "go":
        if said.text == "nil":
            return True
        if said.kind == "call" or said.text.lower().startswith("err"):
            return False if said.kind != "call" or said.parts[0].text in ("New", "Errorf") else None
    return False if said.text in ("null", "nil", "None") else walk.truth(said)


def _is_answer(node: Node) -> bool:
    parts = node.parts if node.kind == "block" else [node]
    return len(parts) == 1 and parts[0].kind in ("return", "throw")


def _said(node: Node) -> Node | None:
    while node.kind == "block" and node.parts:
        node = node.parts[0]
    return node.parts[-1] if node.kind == "return" and node.parts else None


def _is_read(node: Node) -> bool:
    """Is all of a condition known by its names? A whole pattern that is not understood is not."""
    for one in _all_of(node):
        if one.kind in ("function", "index"):
            return False
        if one.kind == "call" and (one.parts[0].text if one.parts else "").lower() not in _KNOWN:
            return False
        if one.kind == "const" and _WHOLE.search(one.text):
            return False
    return True


def _all_of(node: Node) -> Iterator[Node]:
    yield node
    for part in node.parts:
        yield from _all_of(part)
