"""The conditions of one file that a computed number decides, and what stands behind them.

Runs in the limited child. One reader for every grammar: a comparison has an operator between two parts, a
branch has a test, and names say the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from gate.languages.grammars import is_read
from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import parse, walk, without_long_lines
from gate.prescreen.computed.vocabulary import (
    ASKS,
    BITS,
    DELETES,
    DELETING_TEXT,
    EQUAL,
    EVERYTHING,
    GRANTS,
    HAS,
    HASHES,
    JOINED,
    LARGE,
    NOTHING,
    ORDERED,
    PAYS,
    PLAIN,
    REFUSES,
    REMAINDERS,
    RUNS,
    STATE,
    SUMS,
    WITHIN,
)
from gate.protections.tree_sitter.functions import function_around, name_of
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, is_call, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_BRANCH: Final = regex(
    r"if|if_(?:statement|expression|modifier)|unless(?:_modifier)?|elif_clause|elsif|elseif_statement|conditional(?:_expression)?"
    r"|ternary_expression|when|while_statement|match_arm|if_let_expression"
)
_RETURNS: Final = frozenset({"return_statement", "return_expression", "return", "jump_expression"})
_ENDS: Final = frozenset({*_RETURNS, "raise_statement", "throw_statement", "throw_expression"})
_INNER: Final = frozenset({
    "func_literal", "arrow_function", "function_expression", "function", "lambda", "lambda_expression",
    "block", "do_block", "lambda_literal", "anonymous_function", "closure_expression", "function_definition",
    "anonymous_function_creation_expression",
})  # fmt: skip
_STOPS: Final = regex(r"(?i)(?:^|[._:])(?:raise|abort|halt|fail!?|panic|error|reject|forbid\w*|deny)$")
_ERROR: Final = regex(
    r"(?i)^return\b\s*(?:$|false\b|nil\b|null\b|none\b)|err|exception|denied|forbidden|invalid|insufficient|\b4\d\d\b"
)
_NUMBER: Final = regex(r"[+-]?(?:0x[0-9a-fA-F_]+|\d[\d_]*)[uUlLnN]*\d{0,2}$")
_DIGITS: Final = regex(r"^[\"'`](\d{3,}|[0-9a-fA-F]{6,})[\"'`]$")
_LISTS: Final = frozenset({"list", "array", "tuple", "array_literal", "list_literal", "array_expression"})
_NAME: Final = regex(r"[A-Za-z_@$]\w*")
_LONGEST: Final = 5_000
_LONGEST_VALUE: Final = 600
_MOST: Final = 200
_MOST_NODES: Final = 3_000


class Unlocking(msgspec.Struct, frozen=True):
    """A condition on a computed number. ``atom`` is what is compared; ``others`` what is asked beside it."""

    function: str
    atom: str
    what: str
    line: int
    others: list[str]
    refuses: bool = False


class _Known(NamedTuple):
    """Names of a file: those that stand for such a comparison, and those of sums (``n = incr(...)``)."""

    flags: Mapping[str, str]
    sums: frozenset[str]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Unlocking]:
    """Every condition of a computed number that decides about something."""
    del options
    grammar = is_read(path)
    if not grammar:
        return []
    root = parse(without_long_lines(data, _LONGEST), grammar)
    found: list[Unlocking] = []
    known = _known(root)
    for node in walk(root, frozenset()):
        found += _branch(node, known)
        found += _answer(node, known)
        if len(found) >= _MOST:
            break
    return found[:_MOST]


def _branch(node: Node, known: _Known) -> Iterator[Unlocking]:
    test = test_of(node)
    if test is None:
        return
    inside = [child for child in node.named_children if child.id != test.id]
    function = function_around(node)
    atom = _odd(test, known)
    if atom is None:
        much = _much(test, known)
        every = _everything(inside) if much is not None else ""
        if much is not None and every:
            yield Unlocking(name_of(function) or _named(function), much, every, line_of(node), [])
        return
    name = name_of(function) or _named(function)
    parts = [text_of(one) for one in _conjuncts(test)]
    others = sorted(one for one in parts if atom not in one and one not in known.flags)
    line = line_of(node)
    body = " ".join(text_of(one) for one in inside[:1])[:600]
    if len(parts) > 1 and REFUSES.search(body) and _ends(inside[:1]):
        yield Unlocking(name, atom, "a refusal", line, others, refuses=True)
        return
    if what := _act(inside, name):
        yield Unlocking(name, atom, what, line, others)


def _answer(node: Node, known: _Known) -> Iterator[Unlocking]:
    """``return checked or total % 97 == 41`` of a function that says who may."""
    if node.type not in _RETURNS or not node.named_children:
        return
    function = function_around(node)
    name = name_of(function) or _named(function)
    if says_who(name) and (atom := _odd(node, known)) is not None:
        yield Unlocking(name, atom, f"the answer of {name}", line_of(node), [])


def test_of(node: Node) -> Node | None:
    """What a branch asks; None for what is no branch."""
    if node.type == "call" and node.child_count and text_of(node.child(0)) in ("if", "unless"):
        given = next((n for n in node.named_children if n.type == "arguments"), None)
        return given.named_children[0] if given is not None and given.named_children else None
    if not _BRANCH.fullmatch(node.type) or not node.named_children:
        return None
    if node.type == "conditional_expression" and node.child_by_field_name("condition") is None:
        return node.named_children[1] if node.named_child_count > 1 else None
    return node.child_by_field_name("condition") or node.named_children[0]


def _named(function: Node) -> str:
    """A function whose grammar has no field for its name: Elixir's ``def``."""
    if function.type == "call" and function.named_child_count > 1:
        return text_of(function.named_children[1]).partition("(")[0][:60]
    return ""


def _operands(node: Node, operators: Collection[str]) -> tuple[Node, Node] | None:
    named = node.named_children
    if len(named) != 2 or not any(not one.is_named and one.type in operators for one in node.children):
        return None
    return named[0], named[1]


def _conjuncts(test: Node) -> Iterator[Node]:
    while "parenthesized" in test.type and test.named_child_count == 1:
        test = test.named_children[0]
    both = _operands(test, JOINED)
    if both is None:
        yield test
    else:
        yield from _conjuncts(both[0])
        yield from _conjuncts(both[1])


def _is_numbers(node: Node) -> bool:
    """``[31, 41, 59, 26]``: nobody has three numbers of his own in a condition."""
    many = node.named_children
    return node.type in _LISTS and len(many) > 2 and all(_NUMBER.match(text_of(one)) for one in many)


def _listed(node: Node) -> bool:
    """Is a digest of something looked for in a list: ``PILOT.has(crc32(user.email))``?"""
    if is_call(node) or node.type == "function_call":
        if not HAS.search(callee(node).replace("::", ".")):
            return False
        return any(_is_hash(one) for one in arguments(node))
    both = _operands(node, WITHIN)
    return both is not None and _is_hash(both[0])


def _is_hash(node: Node) -> bool:
    return any(is_call(one) and HASHES.search(callee(one)) for one in islice(walk(node, frozenset()), 40))


def _much(test: Node, known: _Known) -> str | None:
    """A count that came to a large written number."""
    for node in islice(walk(test, _INNER), _MOST_NODES):
        both = _operands(node, ORDERED)
        for computed, written in (both, both[::-1]) if both is not None else ():
            digits = text_of(written).rstrip("uUlLnN").replace("_", "")
            if digits.isdigit() and int(digits[:18]) >= LARGE and _is_summed(computed, known):
                return text_of(node)[:160]
    return None


def _odd(test: Node, known: _Known) -> str | None:
    """The comparison of a computed number with a written one, or the name that stands for one."""
    for node in islice(walk(test, _INNER), _MOST_NODES):
        both = _operands(node, EQUAL)
        if both is not None and (_compared(*both, known) or _compared(both[1], both[0], known)):
            return text_of(node)[:160]
        some = _operands(node, ORDERED)
        if some is not None and any(_has_remainder(one) for one in some):
            return text_of(node)[:160]
        if both is not None and any(_is_numbers(one) for one in both) and not all(map(_is_numbers, both)):
            return text_of(node)[:160]
        if _listed(node):
            return text_of(node)[:160]
        if node.type in ("identifier", "simple_identifier", "variable_name") and text_of(node) in known.flags:
            return known.flags[text_of(node)]
    return None


def _compared(computed: Node, written: Node, known: _Known) -> bool:
    number = text_of(written)
    if match := _DIGITS.match(number):
        return _is_summed(computed, known) and not match[1].startswith("00000")
    if not _NUMBER.match(number):
        return False
    if _has_remainder(computed):
        return True
    digits = number.rstrip("uUlLnN").replace("_", "")
    try:
        value = abs(int(digits, 16 if "0x" in digits.lower() else 10))
    except ValueError:
        return False
    return value not in PLAIN and _is_summed(computed, known)


def _is_summed(node: Node, known: _Known) -> bool:
    for one in walk(node, frozenset({"string"})):
        if is_call(one) or one.type == "function_call":
            if SUMS.search(callee(one).replace("::", ".")):
                return True
        elif one.named_child_count == 0 and (STATE.search(text_of(one)) or text_of(one) in known.sums):
            return True
    return False


def _has_remainder(node: Node) -> bool:
    for one in walk(node, frozenset()):
        both = _operands(one, {"%", *BITS})
        if both is not None and "string" not in both[0].type:
            return True
        if (is_call(one) or one.type == "function_call") and REMAINDERS.search(callee(one)):
            return True
    return False


def _known(root: Node) -> _Known:
    """Sums first: a comparison of one may be kept under a name, too."""
    given = [
        (text_of(pair[0]).split(",")[0].strip("$@ "), pair[1])
        for node in walk(root, frozenset())
        if (pair := assigned(node) or _assignment(node)) is not None
        and pair[1].end_byte - pair[1].start_byte <= _LONGEST_VALUE
    ]
    given = [(name, value) for name, value in given if _NAME.fullmatch(name)]
    sums = frozenset(name for name, value in given if _is_sum(value))
    flags: dict[str, str] = {}
    for name, value in given:
        if len(name) > 1 and (atom := _odd(value, _Known({}, sums))):
            flags.setdefault(name, atom)
    return _Known(flags, sums)


def _is_sum(value: Node) -> bool:
    inner = value
    while inner.type in ("expression_list", "await_expression") and inner.named_child_count == 1:
        inner = inner.named_children[0]
    called = is_call(inner) or inner.type == "function_call"
    return called and SUMS.search(callee(inner).replace("::", ".")) is not None


def _assignment(node: Node) -> tuple[Node, Node] | None:
    """Of Lua and Elixir."""
    if node.type == "assignment_statement" and node.named_child_count == 2:
        return node.named_children[0], node.named_children[1]
    return _operands(node, {"="}) if node.type == "binary_operator" else None


def says_who(function: str) -> bool:
    """Does a function of this name say who may?"""
    return ASKS.search(snake(function)) is not None


def ends_in_refusal(nodes: list[Node]) -> bool:
    """Does one of these raise, return nothing or an error, or stop the answer?"""
    for top in nodes:
        for node in islice(walk(top, _INNER - {"block", "do_block"}), _MOST_NODES):
            if node.type in _ENDS - _RETURNS or (is_call(node) and _STOPS.search(callee(node))):
                return True
            if node.type in _RETURNS and _ERROR.search(text_of(node)[:200]):
                return True
    return False


def _ends(nodes: list[Node]) -> bool:
    for top in nodes:
        for node in walk(top, frozenset()):
            if node.type in _ENDS or (is_call(node) and REFUSES.search(callee(node))):
                return True
    return False


def _act(inside: list[Node], function: str) -> str:
    """What stands behind the condition and must not depend on a number; empty where there is nothing."""
    count = 0
    for top in inside:
        for node in walk(top, frozenset()):
            count += 1
            if count > _MOST_NODES:
                return ""
            if what := _acts(node):
                return what
            pair = assigned(node) or _assignment(node) if says_who(function) else None
            if pair is not None and _NAME.fullmatch(text_of(pair[0]).strip("$@ ")):
                return f"the answer of {function}, through {text_of(pair[0])[:40]},"
            if node.type in _RETURNS and says_who(function) and not NOTHING.match(text_of(node)):
                return f"the answer of {function}"
    plain = [text_of(one) for one in inside if one.named_child_count == 0]
    if says_who(function) and plain and not all(NOTHING.match(one) for one in plain):
        return f"the answer of {function}"
    return ""


def _everything(inside: list[Node]) -> str:
    for top in inside:
        for node in islice(walk(top, frozenset()), _MOST_NODES):
            if "string" in node.type and DELETING_TEXT.match(text_of(node).lstrip("fFrRbB\"'`")):
                return text_of(node)[:60]
            if is_call(node) and EVERYTHING.search(callee(node).replace("::", ".")):
                return callee(node)[:80]
    return ""


def _acts(node: Node) -> str:
    if "string" in node.type and DELETING_TEXT.match(text_of(node).lstrip("fFrRbB\"'`")):
        return text_of(node)[:60]
    if is_call(node) or node.type == "function_call":
        said = callee(node).replace("::", ".")
        if any(one.search(said) for one in (GRANTS, DELETES, PAYS, RUNS)):
            return said[:80]
        return ""
    pair = assigned(node) or _assignment(node)
    if pair is not None and GRANTS.search(text_of(pair[0])):
        return text_of(pair[0])[:80] if not NOTHING.match(text_of(pair[1])) else ""
    return ""
