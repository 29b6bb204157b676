"""What becomes of each check's answer, in JavaScript, TypeScript, Go, Java, Kotlin, C#, Ruby, PHP and Rust.

From the call outwards: awaited, thrown to the caller, asked in a condition, given to what runs it apart.
Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import Heard
from gate.protections.heard.names import (
    APART,
    ENDED,
    LOST,
    TASKS,
    TOGETHER,
    is_heard_for,
    may_raise,
    plain_check,
)
from gate.protections.routes.chains import CLOSURES, around, function_name, method, receiver, trailing
from gate.protections.tree_sitter.shapes import arguments, is_call, line_of, text_of
from gate.regex import regex

_AWAITS: Final = frozenset({".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".cs"})
_ERRORS: Final = frozenset({".go", ".rs"})
_FUNCTIONS: Final = frozenset({
    "function_declaration", "method_declaration", "method_definition", "function_item", "function_definition",
    "method", "local_function_statement", "singleton_method",
})  # fmt: skip
_STATEMENTS: Final = frozenset(
    {"expression_statement", "statement", "body_statement", "statements", "program"}
)
_PARTS: Final = ("then", "else", "do", "begin", "ensure", "rescue", "lambda_literal")
_LISTS: Final = frozenset({
    "array", "argument_list", "arguments", "argument", "value_argument", "value_arguments", "expression_list",
    "collection_expression", "initializer_expression", "collection_element", "expression_element",
    "array_creation_expression", "implicit_array_creation_expression", "call_suffix",
    "array_element_initializer", "spread_element", "parenthesized_expression",
})  # fmt: skip
_MEMBERS: Final = frozenset({
    "member_expression", "selector_expression", "member_access_expression", "navigation_expression",
    "field_expression", "conditional_access_expression",
})  # fmt: skip
_ASSIGNED: Final = frozenset({
    "variable_declarator", "assignment_expression", "short_var_declaration", "let_declaration", "assignment",
    "assignment_statement", "property_declaration", "equals_value_clause", "var_spec",
})  # fmt: skip
_LEAVES: Final = regex(
    r"\b(?:throw|raise|return|reject|panic|exit|abort|rethrow|next|fail|os\.Exit|break|continue|Fatal\w*)\b"
)
_ACTS: Final = regex(r"(?<!console\.)\b(?!log\b|warn\b|info\b|debug\b|error\b)\w+\((?!\s*\)\s*=>)")
"""A call in a function that goes on with something, other than telling of it."""
_OF_MANY: Final = frozenset({"any", "race", "any_of", "all_settled", "when_any"})
"""Of these only what is given as a task; a function is asked for each of many."""
_CLIENT: Final = regex(rb"\buse(?:Effect|State|Router)\b|['\"]use client['\"]")
_MOST: Final = 500
_DEPTH: Final = 80


def tree_sitter_heard(root: Node, ending: str) -> tuple[Heard, ...]:
    """Every call of a check, every check that is handed to what runs it apart, and every check itself."""
    if ending in (".jsx", ".tsx", ".js", ".ts") and _CLIENT.search(root.text or b""):
        return ()  # what runs in a browser guards nothing
    return tuple(_Reader(root, ending).read())[:_MOST]


class _Reader:
    def __init__(self, root: Node, ending: str) -> None:
        self.root = root
        self.ending = ending

    def read(self) -> Iterator[Heard]:
        for node in walk(self.root, frozenset()):
            if node.type in _FUNCTIONS:
                name = text_of(node.child_by_field_name("name"))
                if is_heard_for("", name):
                    head = text_of(node).partition("{")[0]
                    kind = "async" if re.search(r"\basync\b|Task|Promise", head) else "sync"
                    yield Heard(
                        name=plain_check(name), how=f"defined {kind}", text=name, line=line_of(node),
                        within=name, raises=self.ending in _ERRORS or _raises(node),
                    )  # fmt: skip
            elif is_call(node) and node.type not in ("annotation", "attribute"):
                yield from self._call(node)

    def _call(self, node: Node) -> Iterator[Heard]:
        name, of = method(node), receiver(node)
        if is_heard_for(_plain_owner(of), name):
            how = self._effect(node)
            yield self._made(node, name, "apart" if self._is_beside(node) else how)
        plain = snake(name)
        if plain in TASKS | APART:
            for one in arguments(node):
                last = re.split(r"\.|->|::", text_of(one).lstrip(":"))[-1]
                if (
                    "identifier" in one.type or "member" in one.type or "reference" in one.type
                ) and is_heard_for("", last):
                    how = "apart" if plain in APART else self._task(node, 0)
                    yield self._made(node, last, how)

    def _made(self, node: Node, name: str, how: str) -> Heard:
        return Heard(
            name=plain_check(name), how=how, text=text_of(_line(node))[:160], line=line_of(node),
            within=function_name(node), awaits=self.ending in _AWAITS, errors=self.ending in _ERRORS,
        )  # fmt: skip

    def _effect(self, node: Node, depth: int = 0) -> str:
        """What becomes of a value."""
        above = node.parent
        if above is None or depth > _DEPTH:
            return "bare" if above is None else "used"
        kind = above.type
        if "await" in kind:
            how = self._effect(above, depth + 1)
            return "awaited" if how == "bare" else how
        if _drops(above, node):
            return "apart"
        if kind in _MEMBERS or (is_call(above) and _is_of(above, node)):
            return self._chained(above, depth)
        if kind in _LISTS or kind == "token_tree":
            return self._listed(above, depth)
        if kind in CLOSURES and above.type != "block":
            return self._closed(above, "used", depth)
        if kind in _STATEMENTS or "block" in kind or kind in _PARTS:
            return self._ended(node, depth)
        if kind in _ASSIGNED:
            return self._named(above, depth)
        return "used"

    def _listed(self, above: Node, depth: int) -> str:
        """What becomes of one of a list, or of an argument."""
        holder = _call_of(above)
        if above.type != "parenthesized_expression" and holder is not None and _is_argument(holder, above):
            return self._given(holder, depth)
        return self._effect(above, depth + 1)

    def _chained(self, above: Node, depth: int) -> str:
        """``.catch(() => {})``, ``.Wait()``, ``.ok()``."""
        call = above if is_call(above) else above.parent
        if call is None or (not is_call(call) and "macro" not in call.type):
            word = text_of(above).rpartition(".")[2]
            return self._effect(above, depth + 1) if snake(word) in ENDED else "used"
        name = snake(method(call))
        if name == "catch" or name in ("on_failure", "except"):
            handler = text_of(arguments(call)[0]) if arguments(call) else ""
            return self._effect(call, depth + 1) if _LEAVES.search(handler) else "apart"
        if name in LOST | (APART - {"execute"}):
            return "apart"
        if name == "then" and any(_ACTS.search(text_of(one)) for one in arguments(call)):
            how = self._effect(call, depth + 1)
            return "used" if how == "bare" else how  # what was guarded waits in there
        if name in ENDED:
            how = self._effect(call, depth + 1)
            quiet = name in ("then", "finally", "map", "and_then", "map_err", "configure_await")
            return "awaited" if how == "bare" and not quiet else how
        return "used"

    def _given(self, call: Node, depth: int) -> str:
        """What becomes of what is given to a call."""
        name = snake(method(call))
        owner = text_of(receiver(call)).lower()
        if name == "any" and "promise" not in owner and "task" not in owner:
            return "used"
        if name in APART and not (
            name in ("execute", "wait_until", "after", "schedule") and call.parent is None
        ):
            return "apart"
        if name in TOGETHER:
            how = self._effect(call, depth + 1)
            return "apart" if how == "bare" and self.ending in _AWAITS else how
        if name in TASKS:
            return self._task(call, depth)
        return "used"

    def _task(self, call: Node, depth: int) -> str:
        how = self._effect(trailing_or(call), depth + 1)
        return "apart" if how == "bare" else how

    def _ended(self, node: Node, depth: int) -> str:
        """A statement: heard by whoever calls the function, if nothing around it drops what goes wrong."""
        at: Node | None = node
        for _ in range(_DEPTH):
            below, at = at, at.parent if at is not None else None
            if at is None or at.type in _FUNCTIONS:
                return "bare"
            if at.type in ("go_statement", "defer_statement"):
                return "apart"
            if (
                at.type in ("try_statement", "try_expression", "begin")
                and below is not None
                and _is_tried(at, below)
            ):
                return "apart"
            if at.type in CLOSURES and (at.type != "block" or self.ending == ".rb"):
                return self._closed(at, "bare", depth)
        return "bare"

    def _closed(self, closure: Node, how: str, depth: int) -> str:
        """What becomes of what a function without a name does."""
        call = _call_of(closure)
        if call is None:
            return how
        if call.named_children[0] == closure or "parenthesized" in call.named_children[0].type:
            return (
                "apart"
                if call.parent is not None and call.parent.type in ("go_statement", "defer_statement")
                else how
            )
        name = (
            snake(method(call))
            if not is_call(call.named_children[0])
            else snake(method(call.named_children[0]))
        )
        if "Thread" in text_of(receiver(call)) or name == "thread":
            return (
                "apart"
                if not text_of(_line(call)).rstrip("; ").endswith((".join", ".join()", ".value"))
                else how
            )
        if name in APART - _OF_MANY and not self._is_waited_for(call, name):
            return "apart"
        if name in TASKS and (name not in ("new", "run", "wrap", "defer") or _is_task(call)):
            return self._task(call, depth)
        return how

    def _is_waited_for(self, call: Node, name: str) -> bool:
        """``transaction.execute(f)`` runs it here; what is launched in a ``coroutineScope`` is waited for."""
        of = text_of(receiver(call))
        if name == "execute":
            return not re.search(r"exec|pool|thread|worker|dispatch", of, re.IGNORECASE)
        if name != "launch" or of:
            return False
        scopes = (text_of(to) for _, to in around(call))
        return any(one.startswith(("coroutineScope", "withContext", "runBlocking")) for one in scopes)

    def _is_beside(self, node: Node) -> bool:
        """Does a function that holds it run apart from who asks, whatever it does with the answer?"""
        at = node.parent
        for _ in range(_DEPTH):
            if at is None or at.type in _FUNCTIONS:
                return False
            if at.type in ("go_statement", "defer_statement"):
                return True
            if at.type in CLOSURES and at.type != "block" and self._closed(at, "used", 0) == "apart":
                return True
            at = at.parent
        return False

    def _named(self, above: Node, depth: int) -> str:
        """What becomes of a value that a name holds: the best that its uses do."""
        if above.type == "equals_value_clause" and above.parent is not None:
            above = above.parent
        left = next(
            (n for f in ("name", "left", "pattern") if (n := above.child_by_field_name(f)) is not None), None
        )
        left = left or above.named_children[0]
        name = text_of(left)
        if set(name.replace(" ", "").split(",")) == {"_"}:
            return "apart"
        if not re.fullmatch(r"\$?\w+", name):
            return "used"
        within = _function_of(above)
        uses = [
            n for n in walk(within, frozenset())
            if n.start_byte >= above.end_byte and text_of(n) == name
            and ("identifier" in n.type or n.type == "variable_name")
        ]  # fmt: skip
        ways = {self._effect(use, depth + 10) for use in uses}
        return next((how for how in ("awaited", "used") if how in ways), "apart")


def _raises(function: Node) -> bool:
    """May it end whoever calls it?"""
    inside = [*walk(function, frozenset())]
    thrown = any(
        "throw" in n.type or text_of(n) in ("raise", "fail") for n in inside if not n.named_child_count
    )
    return thrown or any(is_call(n) and may_raise(method(n)) for n in inside)


def _drops(above: Node, node: Node) -> bool:
    """``go check()``, ``check rescue nil``, ``@check()``, ``void check()``."""
    text = text_of(above)
    return (
        above.type in ("go_statement", "defer_statement", "error_suppression_expression")
        or (above.type == "rescue_modifier" and above.named_children[0] == node)
        or (above.type == "unary_op_expression" and text.startswith("@"))
        or (above.type == "unary_expression" and text.startswith("void "))
    )


def trailing_or(call: Node) -> Node:
    """A call of Kotlin with the function behind it, as one."""
    return call.parent if trailing(call) is not None and call.parent is not None else call


def _plain_owner(of: Node | None) -> str:
    return re.sub(r"[^\w.]", "", text_of(of))[-60:] if of is not None and of.type not in CLOSURES else ""


def _is_of(call: Node, node: Node) -> bool:
    """Is a call one of a method of this node?"""
    return receiver(call) == node or (
        call.named_children[0] == node and call.child_by_field_name("function") == node
    )


def _call_of(node: Node) -> Node | None:
    at: Node | None = node.parent
    for _ in range(4):
        if at is None or at.type in CLOSURES or at.type in _STATEMENTS:
            return None
        if is_call(at):
            return at
        at = at.parent
    return None


def _is_argument(call: Node, node: Node) -> bool:
    return node.start_byte >= call.named_children[0].end_byte or call.type.startswith("object_creation")


def _is_task(call: Node) -> bool:
    return any(
        word in text_of(call.named_children[0])
        for word in ("Task", "Thread", "Observable", "Completable", "Mono")
    )


def _is_tried(tried: Node, below: Node) -> bool:
    """Is it in what is tried, and does a handler drop what goes wrong?"""
    handlers = [
        n for n in tried.named_children if any(w in n.type for w in ("catch", "except", "rescue", "handler"))
    ]
    if below in handlers or not handlers or below.start_byte > handlers[0].start_byte:
        return False
    return any(not _LEAVES.search(text_of(n)) for n in handlers)


def _function_of(node: Node) -> Node:
    at = node
    while at.parent is not None and at.type not in _FUNCTIONS:
        at = at.parent
    return at


def _line(node: Node) -> Node:
    """The statement that a node stands in."""
    at = node
    while (
        at.parent is not None
        and at.parent.end_point[0] - at.parent.start_point[0] < 3
        and "block" not in at.parent.type
    ):
        at = at.parent
    return at
