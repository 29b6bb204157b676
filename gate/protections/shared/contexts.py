"""For whom a thread works: what it inherits, keeps, or no longer gets. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.protections.shared.facts import Shared
from gate.protections.tree_sitter.functions import AFTERWARDS, function_around, name_of
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, is_call, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

CONTEXT: Final = regex(
    r"(?i)context|tenant|holder|principal|security|session|user|identity|account|\borg|broker|club|owner|current|locale?s?$"
    r"|thread|storage|\bals\b|scope|request"
)
_OWNED: Final = regex(
    r"(?i)context|tenant|principal|security|session|user|identit|account|org|owner|current|caller|auth|request"
)
_INHERITS: Final = regex(r"(?:^|\.)InheritableThreadLocal\b|InheritableThreadLocal$")
_INHERITS_CALL: Final = regex(r"(?:^|\.)(?:setThreadContextInheritable|setRequestAttributes)$")
_MODE: Final = "MODE_INHERITABLETHREADLOCAL"
_SETS: Final = regex(
    r"(?:^|[.:])(?:set|set_?\w*(?:tenant|user|context|current|org|account|authentication|attributes)\w*"
    r"|push|bind|enter|activate|put|attach)$",
)
_CLEARS: Final = regex(
    r"(?i)[.:](?:clear\w*|remove|reset\w*|unset\w*|pop|restore\w*|unbind|exit|deactivate|detach|release)$"
)
_SUBMITS: Final = regex(
    r"(?i)[.:](?:supplyAsync|runAsync|submit|execute|schedule\w*|invokeAll|run_in_executor|thenApplyAsync|queue_?user_?work_?item"
    r"|StartNew|launch|async)$|(?:^|\.)(?:Thread|Thread\.new|Thread\.start|Task\.Run|go)$"
)
_CARRIES: Final = regex(
    r"(?:^|[.:])(?:copy_context|DelegatingSecurityContext\w+|TtlRunnable|TtlCallable|getTtlExecutor\w*|ContextSnapshot\w*"
    r"|wrapExecutor|snapshot|captureAll|ContextPropagat\w+|withContext|asContextElement)(?:[.:]|$)"
)
_SCOPED: Final = regex(
    r"(?:storage|als|local|context|store)\w*\.run$|\.with_tenant$|(?:^|\.)Current\.set$|Tenant\.switch$"
    r"|(?:^|\.)(?:tenant_context|schema_context|organi[sz]ation_context)$|[tT]enant(?:\(\))?\.run$|\.runAs\w*$",
)
_STANDS: Final = regex(
    r"\.enterWith$|\.set_current_tenant$|(?:^|\.)set_current_tenant$|Tenant\.switch!$|\.set_tenant$|\.set_schema$"
    r"|tenancy\(\)\.initialize$|(?:[tT]enancy)\.initialize$",
)
_STANDS_NAME: Final = regex(r"(?:^|\.)ActsAsTenant\.current_tenant$|(?:^|\.)Current\.\w+$")
_MOST_NODES: Final = 3_000
_DEEPEST: Final = 14


def inherited(node: Node) -> Iterator[Shared]:
    """A value that threads take over from whoever made them, for what says who somebody is."""
    function = name_of(function_around(node))
    text = text_of(node)[:160]
    if node.type == "identifier" and text == _MODE and "import" not in _kinds(node):
        yield Shared("inherits", function, _MODE, False, line_of(node), text_of(node.parent)[:160])
    elif "string" in node.type and node.named_child_count == 0 and text.strip("\"'") == _MODE:
        yield Shared("inherits", function, _MODE, False, line_of(node), text)
    elif is_call(node):
        said = callee(node).partition("<")[0]
        if _INHERITS.search(said):
            name = _named(node)
            if _OWNED.search(f"{name} {_type_around(node)}"):
                yield Shared("inherits", function, name, False, line_of(node), text)
        elif _INHERITS_CALL.search(said) and [text_of(one) for one in arguments(node)][-1:] == ["true"]:
            yield Shared("inherits", function, said, False, line_of(node), text)


def _kinds(node: Node) -> str:
    at, kinds = node, ""
    while at.parent is not None and len(kinds) < 400:
        at = at.parent
        kinds += at.type
    return kinds


def _named(node: Node) -> str:
    at = node
    for _ in range(4):
        if at.parent is None:
            break
        at = at.parent
        pair = assigned(at)
        if pair is not None:
            return text_of(pair[0])
    return ""


def _type_around(node: Node) -> str:
    at = node
    while at.parent is not None:
        at = at.parent
        if "class" in at.type or "object_declaration" in at.type or at.type == "record_declaration":
            return text_of(at.child_by_field_name("name"))
    return ""


def contexts(function: Node) -> Iterator[Shared]:
    """Of one named function: what it sets and takes away, and how work goes to other threads."""
    name = name_of(function)
    if not name:
        return
    sets: dict[str, Node] = {}
    clears: dict[str, Node] = {}
    handed: Node | None = None
    carried = False
    for node in islice(walk(function, frozenset()), _MOST_NODES):
        if not (is_call(node) or node.type in ("call_expression", "assignment", "function_call")):
            continue
        if node.type == "assignment":
            target = text_of(node.named_children[0]) if node.named_children else ""
            if _STANDS_NAME.search(target) and text_of(node.named_children[-1]) not in ("nil", "None"):
                yield Shared("standing", name, target, False, line_of(node), text_of(node)[:160])
            continue
        said = callee(node).replace("::", ".").replace("->", ".").replace("?.", ".")
        of = said.rpartition(".")[0]
        if _SUBMITS.search(said):
            handed = handed or node
        carried = carried or _CARRIES.search(said) is not None
        if of and CONTEXT.search(of) and _SETS.search(said):
            sets.setdefault(of, node)
            carried = carried or _handed_over(node, function)
        if of and CONTEXT.search(of) and _CLEARS.search(said) and _afterwards(node, function):
            clears.setdefault(of, node)
        if _STANDS.search(said) or _SCOPED.search(said):
            holds = _STANDS.search(said) is None
            yield Shared("standing", name, said[-80:], holds, line_of(node), text_of(node)[:160])
    for of, node in sets.items():
        yield Shared("left", name, of, of in clears, line_of(node), text_of(node)[:160])
    if handed is not None:
        yield Shared("handed", name, callee(handed)[-80:], carried, line_of(handed), text_of(handed)[:160])


def _afterwards(node: Node, function: Node) -> bool:
    at = node
    for _ in range(_DEEPEST):
        if at.parent is None or at.id == function.id:
            break
        at = at.parent
        if at.type in AFTERWARDS:
            return True
    return False


def _handed_over(node: Node, function: Node) -> bool:
    """Does it stand in what is given to another thread?"""
    at = node
    while at.parent is not None and at.id != function.id:
        at = at.parent
        if is_call(at) and _SUBMITS.search(callee(at).replace("::", ".")):
            return True
    return False
