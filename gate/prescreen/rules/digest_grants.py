"""Somebody's name, address or word is known by its digest alone, and then gets more than others.

The digest of a value of a person or a request is compared with one that is written down, and where the two
are equal the code logs in, sets a role, deletes or lets pass. Whoever made the digest knows whom it means;
a reviewer does not. A download whose digest is compared, and that is refused where it differs, is no such
code.

Name the people in data that can be read, or remove the condition. `py.guarded-act` tells the same of calls
that start programs and reach the network.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.guards import Guard, guards, told
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import DELETE_CALLS, dangerous_calls
from gate.regex import regex

_ENDS: Final = (".hexdigest", ".digest", ".crc32", ".adler32")
_ASKS: Final = frozenset({"hexdigest", "digest", "crc32", "adler32", "compare_digest"})
_HEX: Final = regex(r"(?:0x)?[0-9a-fA-F]{6,128}|[A-Za-z0-9+/_-]{20,88}={0,2}")
_SMALL: Final = 1 << 12
_LINKS: Final = 6
PERSON: Final = regex(
    r"(?:^|_)(?:e?mail|user(?:name)?|login|passw(?:or)?d|passphrase|pin|otp|token|headers?|cookies?|request|req|remote_addr"
    r"|ip|phone|customer|account|member|secret|code|answer|credentials?)(?:_|$)",
    re.IGNORECASE,
)
"""Names of values of a person or of a request."""
RIGHTS: Final = regex(
    r"(?:^|_)(?:is_?(?:staff|superuser|super|admin|root|owner|verified)|superuser|admin|roles?|permissions?|privileges?"
    r"|scopes?|password|groups?)$",
    re.IGNORECASE,
)
"""Fields that decide what somebody may do."""
LETS_IN: Final = regex(
    r"^(?:(?:auth_|do_|force_)?log_?(?:in|in_user|user_in)|sign_?in|set_?password|make_?admin|grant\w*|add_?role\w*"
    r"|create_?superuser|impersonate\w*|set_?role\w*|elevate\w*|promote\w*)$",
    re.IGNORECASE,
)
"""Functions that let somebody in or give rights."""


@rule(
    "py.digest-grants",
    "Who is known by a digest in the source gets more than others",
    severity="medium",
    confidence="medium",
    topic="guard",
    cwe=(798, 511, 912),
    attack=("T1556", "T1480.001"),
    why="A digest names one person without saying who: a back door that only its maker can open or find.",
    fix="Name the people in data that can be read, or remove the condition.",
)
def check(module: Module) -> Iterator[Hit]:
    """Branches where a digest is equal to a written one, and what happens there."""
    if not any(_word(node) in _ASKS for node in module.all(ast.Attribute, ast.Name)):
        return
    flow = Flow(module)
    seen: set[ast.expr] = set()
    for guard in guards(module):
        if guard.refuses or guard.test in seen:
            continue
        asked = _asked(module, flow, guard)
        if asked is None:
            continue
        act, is_grave = _act(module, guard.guarded, is_person=_is_person(flow, asked))
        if act:
            seen.add(guard.test)
            yield Hit(
                node=module.parents.get(guard.test, guard.test),
                message=f"Who is known by a digest decides whether {act}.",
                severity=Severity.HIGH if is_grave else None,
                evidence={"condition": told(module, guard)},
            )


def _word(node: ast.AST) -> str:
    return str(getattr(node, "attr", "") or getattr(node, "id", ""))


def _asked(module: Module, flow: Flow, guard: Guard) -> ast.expr | None:
    """The digest that has to be equal to a written value for what is guarded to run."""
    for node in module.within(guard.test):
        sides: Sequence[ast.expr] = ()
        holds = True
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            sides = (node.left, node.comparators[0])
            holds = isinstance(node.ops[0], ast.Eq | ast.In)
        elif isinstance(node, ast.Call) and _word(node.func) == "compare_digest":
            sides = node.args[:2]
        if len(sides) != 2 or (holds is not _is_negated(module, node, guard.test)) is not guard.value:
            continue
        for one, other in (sides, sides[::-1]):
            if _is_written(module, other) and _is_digest(module, flow, one):
                return one
    return None


def _is_negated(module: Module, node: ast.AST, test: ast.expr) -> bool:
    """Does a ``not`` stand around it, within the test?"""
    odd = False
    while node is not test:
        parent = module.parents.get(node)
        if parent is None:
            break
        odd ^= isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        node = parent
    return odd


def _is_digest(module: Module, flow: Flow, side: ast.expr) -> bool:
    calls = {
        name for node in module.within(side) if isinstance(node, ast.Call) for name in _names(module, node)
    }
    return any(call.endswith(_ENDS) for call in (*calls, *flow.trace(side).calls))


def _names(module: Module, call: ast.Call) -> Iterable[str]:
    attribute = (f".{call.func.attr}",) if isinstance(call.func, ast.Attribute) else ()
    return (*module.names_of(call.func), *attribute)


def _is_written(module: Module, side: ast.expr, links: int = _LINKS) -> bool:
    """Is it a digest that stands in the source, or a collection of them?"""
    value = module.const(side)
    if isinstance(value, str):
        return bool(_HEX.fullmatch(value))
    if isinstance(value, bytes):
        return len(value) >= _LINKS
    if isinstance(value, int) and not isinstance(value, bool):
        return value > _SMALL
    if isinstance(side, ast.List | ast.Set | ast.Tuple | ast.Dict):
        items = side.keys if isinstance(side, ast.Dict) else side.elts
        return any(item is not None and links and _is_written(module, item, links - 1) for item in items[:8])
    if isinstance(side, ast.Name) and links:
        values = [one.value for one in module.bindings_of(side) if one.kind == "assign" and one.value]
        return any(_is_written(module, one, links - 1) for one in values)
    if isinstance(side, ast.Call) and _word(side.func) in ("frozenset", "set", "tuple", "list") and side.args:
        return links > 0 and _is_written(module, side.args[0], links - 1)
    return False


def _is_person(flow: Flow, side: ast.expr) -> bool:
    """Is the digest made of a value of a person or a request?"""
    return any(
        PERSON.search(str(word))
        for node in flow.trace(side).nodes
        for part in ast.walk(node) if isinstance(node, ast.expr)
        for word in (getattr(part, "id", ""), getattr(part, "attr", ""), getattr(part, "value", ""))
        if isinstance(word, str) and word
    )  # fmt: skip


def _act(module: Module, nodes: Sequence[ast.AST], *, is_person: bool) -> tuple[str, bool]:
    """What is done there, in words, and whether rights are given by it."""
    inside = [part for node in nodes for part in module.within(node)]
    texts = {part.value for part in inside if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    for part in inside:
        name = _word(part.func) if isinstance(part, ast.Call) else ""
        if name == "setattr" and any(RIGHTS.search(text) for text in texts):
            return "rights are set", True
        if name and LETS_IN.search(name):
            return f"{name} is called", True
        targets = part.targets if isinstance(part, ast.Assign) else ()
        if any(RIGHTS.search(_field(target)) for target in targets):
            return "rights are set", True
    deletes = {name for _, name in dangerous_calls(module, nodes) if name in DELETE_CALLS}
    if deletes:
        return f"{min(deletes)} is called", False
    return (_ordinary(nodes), False) if is_person else ("", False)


def _field(target: ast.expr) -> str:
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value)
    return target.attr if isinstance(target, ast.Attribute) else ""


def _ordinary(nodes: Sequence[ast.AST]) -> str:
    """Something is handed back, or set: not only told or refused."""
    for node in nodes:
        value = node.value if isinstance(node, ast.Return) else node if isinstance(node, ast.expr) else None
        if value is not None and not (isinstance(value, ast.Constant) and not value.value):
            return "something is handed back"
        if isinstance(node, ast.Assign) and any(map(_field, node.targets)):
            return "something is set"
    return ""
