"""Where a function refuses, in languages that one reader serves. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from gate.dataclass import dataclass
from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.conditions import Term
from gate.protections.facts import SWALLOWED, Family
from gate.protections.generic.conditions import atom, short_name_of, terms
from gate.protections.generic.weaknesses import call_weaknesses, registered, set_facts
from gate.protections.refusals import CODES, Place, family_of_term, one_way
from gate.protections.tree_sitter.refusals import Refusal, TreeSitterRefusals, digest, made_guard
from gate.protections.tree_sitter.shapes import (
    arguments,
    assigned,
    callee,
    inside,
    is_call,
    text_of,
)
from gate.protections.vocabulary import (
    cleaner_group,
    family_of,
    is_check,
    is_checking,
    is_raising,
    is_refusing,
    is_switch,
)

_IFS: Final = frozenset({"if_statement", "if_expression", "if", "unless", "if_modifier", "unless_modifier"})
_BLOCKS: Final = frozenset({
    "block", "statement_list", "statements", "compound_statement", "body_statement", "then", "else",
    "else_clause",
    "function_body", "declaration_list", "control_structure_body", "constructor_body", "begin",
    "program", "source_file",
    "compilation_unit", "class_body",
})  # fmt: skip
_TRIES: Final = frozenset({"try_statement", "try_with_resources_statement", "begin", "body_statement"})
_CATCHES: Final = frozenset({"catch_clause", "catch_block", "rescue"})
_RETURNS: Final = ("return_statement", "return_expression", "return", "jump_expression")
_THROWS: Final = ("throw_statement", "throw_expression")
_SKIPS: Final = (
    "continue_statement",
    "break_statement",
    "continue_expression",
    "break_expression",
    "next",
    "break",
)
_RAISES: Final = frozenset({
    "raise", "panic", "bail", "err", "err_code", "abort", "abort_if", "abort_unless", "exit", "die",
    "halt", "head",
    "fatal", "log_fatal", "render_404", "not_found", "deny", "forbid", "err_handler",
})  # fmt: skip
_REFUSING: Final = ("forbid", "forbidden", "unauthorized", "access_denied", "challenge", "status_forbidden",
                    "status_unauthorized", "unauthenticated", "permission_denied")  # fmt: skip
_NOTHING: Final = frozenset({"", "nil", "null", "None", "false", "ErrorFlow"})
_CONSTANT: Final = frozenset({
    "constant_time_compare", "fixed_time_equals", "hash_equals", "secure_compare", "ct_eq", "is_equal",
    "constant_time_eq", "fixed_length_secure_compare", "verify_slices_are_equal",
})  # fmt: skip
_ERRORS: Final = frozenset({"err", "ok", "error", "e", "valid", "allowed", "exists", "isValid", "found"})


@dataclass
class Refusals(TreeSitterRefusals):
    """Reads one function; ``skip`` are nodes (by id) that are units of their own.

    ``raises``: a call that fails ends the function, whatever is done with its answer; not so in Go.
    """

    fallback: Family | None = None
    skip: frozenset[int] = frozenset()
    raises: bool = True

    def read(self, body: Node) -> None:
        """Gather the protections of a body into the lists above."""
        self._block(statements(body), Place())

    def _block(self, body: Sequence[Node], place: Place) -> None:
        for index, one in enumerate(body):
            before = body[index - 1] if index else None
            self._statement(one, before, place)
            place = self._behind(one, place)

    def _statement(self, node: Node, before: Node | None, place: Place) -> None:
        if node.id in self.skip:
            return
        if not place.guarded:
            self.plain.append(digest(node))
        inner = (
            inside(node.named_children[0])
            if node.type == "expression_statement" and node.named_child_count
            else node
        )
        if _is_act(inner):
            self.acts.append(digest(node))
        if inner.type in _IFS:
            self._if(inner, before, place)
        elif node.type in _TRIES and any(n.type in _CATCHES for n in node.named_children):
            self._try(node, place)
        else:
            if inner.type == "identifier":
                self._bare(inner, place)
            self._below(inner, place, used=not is_call(inner) and inner.type != "try_expression")

    def _below(self, node: Node, place: Place, *, used: bool) -> None:
        """Calls below a node; blocks of closures are read as part of this function."""
        if node.id in self.skip:
            return
        if node.type in _IFS:
            self._if(node, None, place)
            return
        if node.type in _BLOCKS:
            self._block(statements(node), place)
            return
        if is_call(node):
            self._call(node, place, used=used)
        elif (pair := assigned(node)) is not None:
            for found in set_facts(pair[0], pair[1], node):
                self._add(found, place)
        for child in node.named_children:
            self._below(child, place, used=used or is_call(node))

    def _bare(self, node: Node, place: Place) -> None:
        """Ruby's calls without anything: ``require_login``."""
        name = text_of(node).strip("!?")
        family = family_of(name)
        if family is not None and (is_checking(name) or is_raising(name)):
            self._add(made_guard(family, "call", (f"-{name}",), node), place)

    def _call(self, call: Node, place: Place, *, used: bool) -> None:
        called = callee(call)
        name = short_name_of(called.partition("(")[0] if called.endswith(")") else called)
        if snake(name) in _CONSTANT and arguments(call):
            self._add(made_guard("integrity", "cleaner", ("-constant time",), call), place)
        elif given := arguments(call):
            self._cleaner(name, given[0], call, place)
        for weak in call_weaknesses(call):
            self.weaknesses.append(weak)
        for word, node in registered(call):
            if (family := family_of(word)) is not None:
                self._add(made_guard(family, "wide", (f"-{word}",), node), place)
        family = family_of(name)
        if family is not None and is_checking(name) and (not used or (self.raises and is_raising(name))):
            self._add(made_guard(family, "call", ("-" + atom(call, True)[1:],), call), place)

    def _cleaner(self, name: str, first: Node, call: Node, place: Place) -> None:
        """``filepath.Base(r.URL.Query().Get("name"))``: what is kept is harmless."""
        group = "" if snake(name) == "clean" else cleaner_group(name, text_of(first))  # Go's, of a path
        if group and group != "constant time":
            of = next(
                (text_of(n) for n in walk(first, frozenset()) if n.is_named and not n.named_child_count), ""
            )
            self._add(replace(made_guard("escaping", "cleaner", (f"-{group} {of}",), call), of=of), place)

    def _if(self, node: Node, before: Node | None, place: Place) -> None:
        test, body, otherwise = _parts(node)
        if test is None:
            return
        holds = not node.type.startswith("unless")
        yes, no = terms(test, holds), terms(test, not holds)
        checked = _checked(node, test, before)
        yes, no = [_told(term, checked) for term in yes], [_told(term, checked) for term in no]
        self.tested |= {one for term in (*yes, *no) for one in term}
        self._below(test, place, used=True)
        refusal, refused_else = self._refusal(body), self._refusal(otherwise)
        if refusal is not None:
            self._refuse(yes, refusal, node, test, body, place, checked[1])
        if refused_else is not None:
            self._refuse(no, refused_else, node, test, otherwise, place, checked[1])
        branch = refusal is None and refused_else is None and self._guards_branch(node, test, no, body, place)
        if refusal is None:
            inner = replace(place, context=place.context | one_way(yes), guarded=place.guarded or branch)
            self._block(body, inner)
        if refused_else is None:
            self._block(otherwise, replace(place, context=place.context | one_way(no)))

    def _refuse(
        self, ways: list[Term], how: Refusal, node: Node, test: Node, body: list[Node], place: Place,
        checked: str,
    ) -> None:  # fmt: skip
        text = f"if {text_of(test)} ... {text_of(body[-1])}"
        for term in ways:
            sure = how.is_no or how.explicit or any(is_check(one[1:].partition("(")[0]) for one in term)
            named = self._family(term) if sure else None
            named = named or next(("authorisation" for one in term if one[1:] == checked), None)
            family: Family = named or how.explicit or (self.fallback if how.is_no else None) or "other"
            made = made_guard(family, "refusal", tuple(sorted(term | place.must)), node, text)
            self._add(replace(made, vague=named is None), place)

    def _family(self, term: Term) -> Family | None:
        """Modes of files are no permissions of somebody."""
        return family_of_term(frozenset(atom for atom in term if "0o" not in atom))

    def _refusal(self, body: list[Node]) -> Refusal | None:
        """How a block says no, or only ends early (``is_no`` unset); None where it goes on."""
        if not body:
            return None
        last = body[-1]
        inner = (
            inside(last.named_children[0])
            if last.type == "expression_statement" and last.named_child_count
            else last
        )
        explicit = _explicit(last) or (_explicit(body[-2]) if len(body) > 1 else None)
        text = text_of(inner)
        if inner.type in _THROWS or (inner.type == "jump_expression" and text.startswith("throw")):
            return Refusal(explicit, True)
        if inner.type in _SKIPS:
            return Refusal(explicit, False)
        if is_call(inner) and snake(short_name_of(callee(inner))) in _RAISES:
            return Refusal(explicit, True)
        tail = is_call(inner) and callee(inner) == "Err"  # the last expression of a block of Rust
        if inner.type not in _RETURNS and not tail:
            return Refusal(explicit, True) if explicit and is_call(inner) else None
        value = text.removeprefix("return").strip(" ;()")
        if value in ("true", "Ok", "nil, nil") and explicit is None:
            return None
        if not value and explicit is None and len(body) == 1:
            return Refusal(None, False)
        empty = value in _NOTHING or value.startswith(("Err", "false", "nil,", "null"))
        says = explicit is not None or any(
            word in value.lower() for word in ("err", "redirect", "denied", "fail")
        )
        return Refusal(explicit, empty or says)

    def _behind(self, node: Node, place: Place) -> Place:
        """What follows ``if debug { return }`` stands under a switch."""
        if node.type not in _IFS:
            return place
        test, body, otherwise = _parts(node)
        refusal = self._refusal(body)
        if test is None or otherwise or refusal is None or refusal.is_no:
            return place
        no = one_way(terms(test, node.type.startswith("unless")))
        return replace(place, context=place.context | {one for one in no if is_switch(one)})

    def _try(self, node: Node, place: Place) -> None:
        caught = [n for n in node.named_children if n.type in _CATCHES]
        refusals = [self._refusal(statements(n.child_by_field_name("body") or n)) for n in caught]
        swallows = any(one is None for one in refusals)
        inner = replace(place, context=place.context | {SWALLOWED}) if swallows else place
        rest = [n for n in node.named_children if n.type not in _CATCHES]
        for part in rest:
            self._block(statements(part), inner)
        for one in caught:
            self._block(statements(one.child_by_field_name("body") or one), place)


def statements(node: Node | None) -> list[Node]:
    """The statements of a block, whatever the grammar wraps them in; a single statement by itself."""
    if node is None:
        return []
    if node.type not in _BLOCKS:
        return [] if "comment" in node.type else [node]
    if (
        node.type in _TRIES
        and any(n.type in _CATCHES for n in node.named_children)
        and node.parent is not None
    ):
        return [node]
    return [one for child in node.named_children for one in statements(child)]


def _parts(node: Node) -> tuple[Node | None, list[Node], list[Node]]:
    """Condition, what runs where it holds, and what else."""
    test = node.child_by_field_name("condition")
    body = node.child_by_field_name("consequence") or node.child_by_field_name("body")
    otherwise = node.child_by_field_name("alternative")
    if body is None and test is not None:  # Kotlin
        after = [n for n in node.named_children if n.start_byte >= test.end_byte and "comment" not in n.type]
        body, otherwise = [*after, None, None][:2]
    return test, statements(body), statements(otherwise)


def _checked(node: Node, test: Node, before: Node | None) -> tuple[str, str]:
    """The name in a condition that is the error or the answer of a check, and the name of that check."""
    words = {text_of(n) for n in walk(test, frozenset()) if n.type == "identifier"} & _ERRORS
    made = node.child_by_field_name("initializer") or before
    pair = assigned(made) if made is not None else None
    if not words or pair is None:
        return "", ""
    targets = text_of(made).partition("=")[0].replace(",", " ").replace(":", " ").split()
    call = next((n for n in walk(pair[1], frozenset()) if is_call(n)), None)
    name = short_name_of(callee(call)) if call is not None else ""
    word = next((one for one in targets if one in words), "")
    return (word, name) if name and (family_of(name) or is_check(name)) else ("", "")


def _told(term: Term, checked: tuple[str, str]) -> Term:
    """``if err := verify(x); err != nil`` as *verify does not hold*."""
    word, name = checked
    if not word:
        return term
    fails = {f"+{word}", f"-{word}"} if word not in ("err", "error", "e") else {f"+{word}"}
    bad = next((one for one in sorted(fails) if one in term), None)
    if bad is None:
        return frozenset(one if one[1:] != word else f"+{name}" for one in term)
    sign = "-" if bad[0] == "+" and word in ("err", "error", "e") else bad[0]
    return frozenset({*(term - {bad}), f"{sign}{name}"})


def _explicit(node: Node) -> Family | None:
    for inner in walk(node, frozenset()):
        if inner.named_child_count:
            continue
        text = text_of(inner).strip(":'\"")
        if text in CODES:
            return CODES[text]
        name = snake(text)
        named = "identifier" in inner.type or inner.type in ("simple_symbol", "name", "constant")
        if named and (is_refusing(name) or name in _REFUSING):
            who = name.startswith(("unauth", "challenge", "status_unauth"))
            return "authentication" if who else family_of(name) or "authorisation"
    return None


def _is_act(node: Node) -> bool:
    """A call whose result nobody uses; logging and checks are none."""
    if not is_call(node):
        return False
    name = short_name_of(callee(node))
    return not (is_checking(name) or family_of(name) or "log" in callee(node).lower())
