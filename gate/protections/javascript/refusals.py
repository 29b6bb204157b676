"""Where a function of JavaScript or TypeScript refuses. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from gate.dataclass import dataclass
from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.conditions import Term
from gate.protections.facts import QUERY, SWALLOWED, Family, Guard, Weakness
from gate.protections.javascript.conditions import (
    Conditions,
    first_in,
    is_user,
    last_name,
    plain,
)
from gate.protections.refusals import CODES, Place, one_way
from gate.protections.tree_sitter.refusals import (
    CUT,
    Refusal,
    TreeSitterRefusals,
    digest,
    made_guard,
)
from gate.protections.tree_sitter.shapes import text_of
from gate.protections.vocabulary import (
    CLEANERS,
    cleaner_group,
    family_of,
    is_checking,
    is_owner,
    is_raising,
    is_refusing,
    is_switch,
)

FUNCTIONS: Final = frozenset({
    "function_declaration", "function_expression", "arrow_function", "method_definition",
    "generator_function_declaration", "generator_function",
})  # fmt: skip
_ENDS: Final = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})
_SAID: Final = ("error", "redirect", "denied", "status(4")
_SAYS: Final = frozenset({"includes", "startsWith", "endsWith", "some", "every", "has", "test"})
_ASKING: Final = frozenset({
    "find", "findOne", "findMany", "findFirst", "findUnique", "findAll", "findOneAndUpdate",
    "findOneAndDelete", "findFirstOrThrow", "findUniqueOrThrow", "updateOne", "updateMany", "deleteOne",
    "deleteMany",
})  # fmt: skip
"""Calls that ask a database, whatever stands in what they are given."""
_OWN: Final = frozenset(
    {"userId", "user_id", "ownerId", "owner_id", "owner", "user", "authorId", "createdBy"}
)
_RESPONSES: Final = frozenset({"res", "response", "reply", "resp"})
"""Names of answers: calling their methods ends nothing."""
_RAISING: Final = frozenset({"jwtVerify", "verifyAsync", "assertAuthenticated", "authenticateRequest"})


@dataclass
class Refusals(TreeSitterRefusals):
    """Reads one function; ``skip`` are nodes (by id) that are units of their own."""

    conditions: Conditions
    fallback: Family | None = None
    skip: frozenset[int] = frozenset()

    def read(self, body: Node) -> None:
        """Gather the protections of a function's body into the lists above."""
        if body.type in ("statement_block", "program"):
            self._block(body.named_children, Place())
        else:
            self._answer(body, body, Place())
            self._calls(body, Place(), used=True)

    def _block(self, body: list[Node], place: Place) -> None:
        for statement in body:
            if statement.type == "comment":
                continue
            self._statement(statement, place)
            if statement.type == "if_statement":
                place = self._behind(statement, place)
            if statement.type in _ENDS:
                return

    def _statement(self, node: Node, place: Place) -> None:
        if node.id in self.skip:
            return
        if not place.guarded:
            self.plain.append(digest(node))
        if node.type == "expression_statement" and _is_act(node):
            self.acts.append(digest(node))
        match node.type:
            case "if_statement":
                self._if(node, place)
            case "try_statement":
                self._try(node, place)
            case "return_statement":
                value = first_in(node)
                if value is not None and value.type != "comment":
                    self._answer(value, node, place)
                    self._calls(value, place, used=True)
            case "expression_statement" | "lexical_declaration" | "variable_declaration":
                self._calls(node, place, used=node.type != "expression_statement")
            case _ if node.type != "class_declaration" and node.type not in FUNCTIONS:
                self._compound(node, place)

    def _compound(self, node: Node, place: Place) -> None:
        """Loops, switches and blocks: what stands in them, statement by statement."""
        for child in node.named_children:
            if child.type == "statement_block":
                self._block(child.named_children, place)
            elif child.type.startswith("switch_") or child.type.endswith("_statement"):
                self._statement(child, place)
            elif child.type not in FUNCTIONS:
                self._calls(child, place, used=True)

    def _calls(self, node: Node, place: Place, *, used: bool) -> None:
        """Calls below a node; functions handed to a call are read as part of this one."""
        if node.id in self.skip:
            return
        if node.type in FUNCTIONS:
            body = node.child_by_field_name("body")
            if body is not None and body.type == "statement_block":
                self._block(body.named_children, place)
            elif body is not None:
                self._calls(body, place, used=True)
            return
        if node.type == "call_expression":
            self._call(node, place, used=used)
        inner = used or node.type not in ("expression_statement", "await_expression", "call_expression")
        for child in node.named_children:
            self._calls(child, place, used=inner or node.type == "call_expression")

    def _call(self, call: Node, place: Place, *, used: bool) -> None:
        name = last_name(call)
        given = call.child_by_field_name("arguments")
        first = first_in(given)
        group = cleaner_group(name, text_of(first)) if first is not None else ""
        if group and first is not None:
            family: Family = "integrity" if group == "constant time" else "escaping"
            made = made_guard(family, "cleaner", (f"-{group} {last_name(first)}",), call)
            self._add(replace(made, of=last_name(first)), place)
        if given is not None:
            for found in _owned(given, call):
                self._add(found, place)
        named = family_of(name) or ("authentication" if name in _RAISING or _is_jwt(call) else None)
        if named is None:
            return
        if (not used and is_checking(name)) or is_raising(name) or name in _RAISING or _is_jwt(call):
            key = "jwt.verify" if _is_jwt(call) else self.conditions.atom(call, True)[1:]
            self._add(made_guard(named, "call", (f"-{key}",), call), place)
        if _is_jwt(call) and given is not None:
            for fact in _token_options(given):
                if isinstance(fact, Weakness):
                    self.weaknesses.append(fact)
                else:
                    self._add(fact, place)

    def _if(self, node: Node, place: Place) -> None:
        test, yes_body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        otherwise = node.child_by_field_name("alternative")
        if test is None or yes_body is None:
            return
        yes, no = self.conditions.terms(test), self.conditions.terms(test, False)
        self.tested |= {atom for term in (*yes, *no) for atom in term}
        self.weaknesses += [*_with_itself(test)]
        first, second = _statements(yes_body), _statements(otherwise)
        refusal, refused_else = self._refusal(first), self._refusal(second)
        if refusal is not None and not second and _goes_on(node, first):
            refusal = None
        if refusal is not None:
            self._refuse(yes, refusal, node, test, first, place)
        if refused_else is not None:
            self._refuse(no, refused_else, node, test, second, place, otherwise="else ")
        branch = (
            refusal is None and refused_else is None and self._guards_branch(node, test, no, first, place)
        )
        if refusal is None:
            self._block(
                first, replace(place, context=place.context | one_way(yes), guarded=place.guarded or branch)
            )
        if refused_else is None:
            self._block(second, replace(place, context=place.context | one_way(no)))

    def _refuse(
        self, terms: list[Term], how: Refusal, node: Node, test: Node, body: list[Node], place: Place,
        otherwise: str = "",
    ) -> None:  # fmt: skip
        text = f"if {text_of(test)} ... {otherwise}{text_of(body[-1])}"
        for term in terms:
            named = self._family(term) if how.is_no or how.explicit else None
            family: Family = named or how.explicit or (self.fallback if how.is_no else None) or "other"
            made = made_guard(family, "refusal", tuple(sorted(term | place.must)), node, text)
            self._add(replace(made, vague=named is None), place)

    def _refusal(self, body: list[Node]) -> Refusal | None:
        """How a block says no, or only ends early (``is_no`` unset); None where it goes on."""
        body = [one for one in body if one.type != "comment"]
        if not body:
            return None
        last = body[-1]
        text = " ".join(text_of(one) for one in body[-2:])
        explicit = _explicit(last) or (_explicit(body[-2]) if len(body) > 1 else None)
        if last.type == "throw_statement":
            return Refusal(explicit, True)
        if last.type in ("continue_statement", "break_statement"):
            return Refusal(explicit, True)
        if last.type == "expression_statement":
            return Refusal(explicit, True) if explicit else None
        if last.type != "return_statement":
            return None
        value = first_in(last)
        if value is not None and text_of(value) == "true":
            return None
        passes = value is not None and plain(value).type == "call_expression" and last_name(value) == "next"
        if passes and text_of(value).endswith("()"):
            return None
        empty = value is None or text_of(value) in ("false", "null", "undefined", "notFound()")
        is_no = empty or explicit is not None or any(word in text.lower() for word in _SAID)
        if self.fallback is not None and not is_no:
            return None
        return Refusal(explicit, is_no)

    def _behind(self, node: Node, place: Place) -> Place:
        body, test = node.child_by_field_name("consequence"), node.child_by_field_name("condition")
        statements = [one for one in _statements(body) if one.type != "comment"]
        ends = bool(statements) and statements[-1].type == "return_statement"
        if not ends or test is None or node.child_by_field_name("alternative") is not None:
            return place
        refusal = self._refusal(statements)
        if refusal is not None and refusal.is_no:
            return place
        no = one_way(self.conditions.terms(test, False))
        if self.fallback is not None:
            return replace(place, must=place.must | no)
        return replace(place, context=place.context | {atom for atom in no if is_switch(atom)})

    def _answer(self, value: Node, node: Node, place: Place) -> None:
        """A check's answer: every way in which it is no."""
        value = plain(value)
        if self.fallback is None:
            return
        if text_of(value) in ("false", "null") and (place.must or place.context):
            self.guards.append(
                made_guard(self.fallback, "refusal", tuple(sorted(place.must | place.context)), node)
            )
            return
        name = last_name(value) if value.type == "call_expression" else ""
        told = value.type in ("binary_expression", "unary_expression")
        if not told and not (name in _SAYS or snake(name) in CLEANERS):
            return
        for term in self.conditions.terms(value, False):
            made = made_guard(
                self._family(term) or self.fallback, "refusal", tuple(sorted(term | place.must)), node
            )
            self._add(made, place)

    def _try(self, node: Node, place: Place) -> None:
        body, handler = node.child_by_field_name("body"), node.child_by_field_name("handler")
        caught = handler.child_by_field_name("body") if handler is not None else None
        refusal = self._refusal(_statements(caught)) if caught is not None else None
        swallows = handler is not None and refusal is None
        inner = replace(place, context=place.context | {SWALLOWED}) if swallows else place
        self._block(_statements(body), inner)
        if caught is not None:
            self._block(_statements(caught), place)
        if body is None or refusal is None or not refusal.is_no:
            return
        calls = [n for n in walk(body, frozenset()) if n.type == "call_expression"]
        checked = sorted(
            {last_name(c) for c in calls if family_of(last_name(c))}
            | {"jwt.verify" for c in calls if _is_jwt(c)}
        )
        if checked:
            family = family_of(checked[0]) or "authentication"
            self._add(
                made_guard(
                    family, "handler", (f"+{', '.join(checked)} fails",), node, f"catch of {checked[0]}"
                ),
                place,
            )


def constants(function: Node) -> Mapping[str, Node]:
    """``const`` names of a function with what they are made from, conditions only."""
    found: dict[str, Node] = {}
    for node in walk(function, frozenset()):
        if node.type != "variable_declarator":
            continue
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None or name.type != "identifier":
            continue
        if plain(value).type in (
            "binary_expression",
            "unary_expression",
            "call_expression",
            "member_expression",
        ):
            found[text_of(name)] = value
    return found


def _statements(node: Node | None) -> list[Node]:
    if node is None:
        return []
    if node.type == "else_clause":
        inner = first_in(node)
        return _statements(inner)
    return node.named_children if node.type == "statement_block" else [node]


def _goes_on(node: Node, body: list[Node]) -> bool:
    """Is only a status set, or an answer sent, and what the condition guards reached all the same?"""
    body = [one for one in body if one.type != "comment"]
    behind = node.next_named_sibling
    while behind is not None and behind.type == "comment":
        behind = behind.next_named_sibling
    if not body or body[-1].type != "expression_statement" or behind is None or behind.type in _ENDS:
        return False
    at: Node | None = first_in(body[-1])
    while at is not None and at.type in ("call_expression", "member_expression", "assignment_expression"):
        at = (
            at.child_by_field_name("function")
            or at.child_by_field_name("object")
            or at.child_by_field_name("left")
        )
    return at is not None and text_of(at) in _RESPONSES


def _explicit(node: Node) -> Family | None:
    for inner in walk(node, FUNCTIONS):
        if inner.type == "number" and (code := text_of(inner)) in CODES:
            return CODES[code]
        name = text_of(inner) if inner.type in ("identifier", "property_identifier") else ""
        if inner.type == "string":
            name = text_of(inner)[1:-1]
        if name and is_refusing(name):
            return family_of(name) or "authorisation"
    return None


def _with_itself(test: Node) -> Iterator[Weakness]:
    """``(session.state ?? given) !== given``: where there is none, a value is compared with itself."""
    for node in walk(test, FUNCTIONS):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type != "binary_expression" or left is None or right is None:
            continue
        if text_of(node.child_by_field_name("operator")) not in ("==", "===", "!=", "!=="):
            continue
        for one, other in ((plain(left), right), (plain(right), left)):
            word = text_of(one.child_by_field_name("operator")) if one.type == "binary_expression" else ""
            if word in ("??", "||") and text_of(one.child_by_field_name("right")) == text_of(other):
                line = node.start_point[0] + 1
                yield Weakness(key="compared with itself", family="csrf", text=text_of(node)[:CUT], line=line)


def _is_act(node: Node) -> bool:
    """A call whose result nobody uses; logging and checks are none."""
    inner = first_in(node)
    call = plain(inner) if inner is not None else None
    if call is None or call.type != "call_expression":
        return False
    name = last_name(call)
    return not (
        is_checking(name) or family_of(name) or text_of(call).startswith(("console.", "log", "super("))
    )


def _token_options(given: Node) -> Iterator[Guard | Weakness]:
    """``{ algorithms: ["none"], issuer: ... }``: what a token must hold, and what it need not."""
    for pair in (n for one in given.named_children if one.type == "object" for n in one.named_children):
        if pair.type != "pair":
            continue
        key, value = text_of(pair.child_by_field_name("key")), text_of(pair.child_by_field_name("value"))
        text, line = text_of(pair)[:160], pair.start_point[0] + 1
        if key in ("issuer", "audience", "subject"):
            yield made_guard("integrity", "argument", (f"-jwt.verify({key})",), pair)
        elif (key == "algorithms" and "none" in value.lower()) or (
            key in ("ignoreExpiration", "ignoreNotBefore") and value == "true"
        ):
            yield Weakness(key=f"jwt {key}", family="authentication", text=text, line=line)


def _is_jwt(call: Node) -> bool:
    called = call.child_by_field_name("function")
    of = called.child_by_field_name("object") if called is not None else None
    return last_name(call) == "verify" and "jwt" in snake(last_name(of))


def _owned(given: Node, call: Node) -> Iterator[Guard]:
    """``{ where: { id, userId: req.user.id } }``: only what belongs to who asks."""
    if not last_name(call).startswith(("find", "get", "update", "delete")):
        return
    for one_object in (one for one in given.named_children if one.type == "object"):
        for pair in (n for n in walk(one_object, FUNCTIONS) if n.type == "pair"):
            value = pair.child_by_field_name("value")
            key = text_of(pair.child_by_field_name("key"))
            plainly = value is not None and value.type in ("identifier", "member_expression")
            bound = plainly and (last_name(call) in _ASKING or "where" in text_of(one_object))
            if (is_owner(key) and bound) or (key in _OWN and is_user(value)):
                made = made_guard("authorisation", "argument", ("-what is the user's",), pair)
                yield replace(made, of=QUERY)
