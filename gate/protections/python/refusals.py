"""Where a function refuses, and under which conditions. Runs in the limited child."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gate.dataclass import dataclass
from gate.languages.naming import snake
from gate.languages.unparse import unparsed
from gate.protections.conditions import Conditions, Term, last_name
from gate.protections.facts import SWALLOWED, WHO, Family, Form, Guard, Weakness
from gate.protections.python.guards import argument_guards, source, wide_guards
from gate.protections.python.settings import setting_facts
from gate.protections.refusals import CODES, Gathered, Place, family_of_term, one_way
from gate.protections.vocabulary import (
    CLEANERS,
    cleaner_group,
    family_of,
    is_check,
    is_checking,
    is_raising,
    is_refusing,
    is_switch,
)  # fmt: skip

_ENDS: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_NESTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_ANSWERS: Final = frozenset({
    "redirect", "HttpResponseRedirect", "RedirectResponse", "HttpResponseBadRequest", "abort", "error",
    "flash",
})  # fmt: skip
_NO: Final = ("error", "denied", "forbidden", "unauthor", "invalid", "not allowed", "permission", "login")
_SAYS: Final = frozenset({
    "any", "all", "bool", "startswith", "endswith", "issubset", "exists", "match", "fullmatch", "isdisjoint",
    "issuperset", "intersection",
})  # fmt: skip
_BROAD: Final = frozenset({"", "Exception", "BaseException"})


@dataclass(frozen=True, slots=True)
class _Refusal:
    """How a block says no. ``explicit``: by status or exception, so its condition is a check by itself."""

    explicit: Family | None
    raises: bool


@dataclass
class Refusals(Gathered):
    """Reads one function. ``fallback`` is the family of a check whose conditions name none.

    ``silent``: such a check that says no by raising only, so that a bare ``return`` is its yes.
    """

    conditions: Conditions
    fallback: Family | None = None
    silent: bool = False

    def read(self, body: Sequence[ast.stmt]) -> None:
        """Gather the protections of a body into the lists above."""
        self._block(body, Place())

    def _block(self, body: Sequence[ast.stmt], place: Place) -> None:
        for statement in body:
            self._statement(statement, place)
            if isinstance(statement, ast.If):
                place = self._behind(statement, place)
            if isinstance(statement, _ENDS):
                return

    def _statement(self, statement: ast.stmt, place: Place) -> None:
        act = _is_act(statement)
        told = not place.guarded and not isinstance(statement, (*_NESTED, ast.Pass))
        made = digest(statement) if act or told else 0
        self.plain += [made] if told else []
        self.acts += [made] if act else []
        for found in setting_facts(statement):
            self._add(found, place)
        for call in _own_calls(statement):
            self._call(call, place, statement)
        match statement:
            case ast.If():
                self._if(statement, place)
            case ast.Try():
                self._try(statement, place)
            case ast.Assert():
                self._refuse(statement.test, False, _Refusal(None, True), statement, place)
            case ast.Return(value=value):
                self._returned(statement, value, place)
            case ast.Match():
                for case in statement.cases:
                    self._block(case.body, place)
            case _ if not isinstance(statement, ast.ClassDef):
                self._block(getattr(statement, "body", ()), place)
                self._block(getattr(statement, "orelse", ()), place)

    def _call(self, call: ast.Call, place: Place, statement: ast.stmt) -> None:
        for found in (*argument_guards(call), *wide_guards(call)):
            self._add(found, place)
        name = last_name(call)
        group = cleaner_group(name, source(call.args[0])) if call.args else ""
        if group and not _is_pattern(call):
            family: Family = "integrity" if group == "constant time" else "escaping"
            key = f"{group} {last_name(call.args[0])}"
            made = _made(family, "cleaner", (f"-{key}",), call)
            self._add(replace(made, of=last_name(call.args[0])), place)
        family_name = family_of(name)
        if family_name is None or isinstance(statement, ast.If | ast.While | ast.Assert):
            return
        unused = isinstance(statement, ast.Expr) and is_checking(name)
        if unused or is_raising(name):
            self._add(_made(family_name, "call", (self.conditions.atom(call, False),), call), place)

    def _if(self, statement: ast.If, place: Place) -> None:
        test = statement.test
        yes, no = self.conditions.terms(test), self.conditions.terms(test, False)
        self.tested |= {atom for term in (*yes, *no) for atom in term}
        self.weaknesses += [*_with_itself(test)]
        refusal, otherwise = self._refusal(statement.body), self._refusal(statement.orelse)
        if refusal is not None:
            self._refuse(test, True, refusal, statement, place)
        elif self.fallback is None and statement.body and isinstance(statement.body[-1], ast.Return):
            self._ends_early(statement, yes, place)
        if otherwise is not None:
            self._refuse(test, False, otherwise, statement, place)
        if refusal is None and all(isinstance(one, ast.Assign) for one in statement.body):
            self._replaces(statement, yes, place)
        branch = refusal is None and otherwise is None and self._guards_branch(statement, no, place)
        body = replace(place, context=place.context | one_way(yes), guarded=place.guarded or branch)
        if refusal is None:
            self._block(statement.body, body)
        else:
            self._calls_of(statement.body, place)
        if otherwise is None:
            self._block(statement.orelse, replace(place, context=place.context | one_way(no)))

    def _calls_of(self, body: Sequence[ast.stmt], place: Place) -> None:
        for statement in body:
            if isinstance(statement, ast.If):
                self._if(statement, place)

    def _replaces(self, statement: ast.If, yes: list[Term], place: Place) -> None:
        """``if not is_safe_url(target): target = "/"``: a value from outside that is put right."""
        for term in yes:
            family = family_of_term(term)
            if family == "place" and any(atom.startswith("-") for atom in term):
                made = _made(family, "refusal", tuple(sorted(term | place.must)), statement)
                self._add(
                    replace(made, text=f"if {source(statement.test)}: {source(statement.body[0])}"), place
                )

    def _ends_early(self, statement: ast.If, yes: list[Term], place: Place) -> None:
        """An answer that is no refusal by its words still keeps what follows from being reached."""
        for term in yes:
            made = _made("other", "refusal", tuple(sorted(term | place.must)), statement)
            self._add(replace(made, text=f"if {source(statement.test)}: ... return"), place)

    def _guards_branch(self, statement: ast.If, no: list[Term], place: Place) -> bool:
        """``if user.is_admin: act()``: what stands in the branch is guarded."""
        named = [(term, family) for term in no for family in (family_of_term(term),) if family in WHO]
        holds = tuple(digest(one) for one in statement.body if not isinstance(one, ast.Pass))
        if not named or any(atom.startswith("+") for term, _ in named for atom in term):
            return False
        text = f"if {source(statement.test)}:"
        for term, family in named:
            made = _made(family, "branch", tuple(sorted(term | place.must)), statement, text)
            self._add(replace(made, holds=holds), place)
        return True

    def _refuse(self, test: ast.expr, when: bool, how: _Refusal, node: ast.stmt, place: Place) -> None:
        terms = self.conditions.terms(test, when)
        self.tested |= {atom for term in terms for atom in term}
        text = source(node)
        if isinstance(node, ast.If):
            last = source((node.body if when else node.orelse)[-1])
            text = f"if {source(test)}: ... {last}" if when else f"if {source(test)}: ... else: {last}"
        for term in terms:
            named = family_of_term(term)
            family: Family = named or how.explicit or self.fallback or "other"
            made = _made(family, "refusal", tuple(sorted(term | place.must)), node, text)
            self._add(replace(made, vague=named is None), place)

    def _refusal(self, body: Sequence[ast.stmt]) -> _Refusal | None:
        """How a block says no; None when it does not."""
        if not body:
            return None
        last = body[-1]
        words = [n for n in ast.walk(last) if isinstance(n, ast.Name | ast.Attribute | ast.Constant)]
        explicit = next((family for word in words if (family := _explicit(word))), None)
        if isinstance(last, ast.Raise):
            return _Refusal(explicit, True)
        if isinstance(last, ast.Expr):
            name = last_name(last.value)
            is_end = name in ("abort", "exit", "die", "fail", "deny") or is_refusing(name)
            return _Refusal(explicit, True) if is_end else None
        if isinstance(last, ast.Continue | ast.Break):
            return _Refusal(explicit, False)
        if not isinstance(last, ast.Return):
            return None
        return _Refusal(explicit, False) if explicit or self._is_no(last.value) else None

    def _is_no(self, value: ast.expr | None) -> bool:
        if value is None:
            return not self.silent
        if isinstance(value, ast.Constant):
            return value.value is None or value.value is False or value.value == ""
        if isinstance(value, ast.List | ast.Dict | ast.Tuple) and not unparsed(value).strip("[](){}"):
            return True
        for node in ast.walk(value):
            if isinstance(node, ast.Name | ast.Attribute) and last_name(node) in _ANSWERS:
                return True
            if isinstance(node, ast.Constant) and _is_no_value(node.value):
                return True
        return False

    def _behind(self, statement: ast.If, place: Place) -> Place:
        """Where what follows an early end stands: a check that said yes, or a switch."""
        if not statement.body or not isinstance(statement.body[-1], ast.Return | ast.Raise):
            return place
        if self._refusal(statement.body) is not None or statement.orelse:
            return place
        no = one_way(self.conditions.terms(statement.test, False))
        if self.fallback is not None:
            return replace(place, must=place.must | no)
        switches = {atom for atom in no if is_switch(atom)}
        return replace(place, context=place.context | switches)

    def _returned(self, statement: ast.Return, value: ast.expr | None, place: Place) -> None:
        """A check's answer: every way in which it is no."""
        if self.fallback is None or value is None:
            return
        if isinstance(value, ast.Constant):
            if value.value in (False, None) and (place.must or place.context):
                must = tuple(sorted(place.must | place.context))
                self.guards.append(_made(self.fallback, "refusal", must, statement, source(statement)))
            return
        name = last_name(value) if isinstance(value, ast.Call) else ""
        told = isinstance(value, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Name)
        told = told or (isinstance(value, ast.Attribute) and family_of(value.attr) is not None)
        if not told and not (name in _SAYS or snake(name) in CLEANERS or is_check(name)):
            return
        for term in self.conditions.terms(value, False):
            if term == {"-" + last_name(value)} and isinstance(value, ast.Name):
                continue
            must = tuple(sorted(term | place.must))
            family = family_of_term(term) or self.fallback
            self._add(_made(family, "refusal", must, statement, source(statement)), place)

    def _try(self, statement: ast.Try, place: Place) -> None:
        swallows = False
        for handler in statement.handlers:
            types = _types(handler.type)
            refusal = self._refusal(handler.body)
            if refusal is None and (_BROAD & set(types) or any(is_refusing(name) for name in types)):
                swallows = True
            if refusal is not None:
                self._handler(statement, handler, types, refusal, place)
        inner = replace(place, context=place.context | {SWALLOWED}) if swallows else place
        self._block(statement.body, inner)
        for handler in statement.handlers:
            self._block(handler.body, place)
        self._block(statement.orelse, place)
        self._block(statement.finalbody, place)

    def _handler(
        self, tried: ast.Try, handler: ast.ExceptHandler, types: list[str], how: _Refusal, place: Place
    ) -> None:
        calls = [n for one in tried.body for n in ast.walk(one) if isinstance(n, ast.Call)]
        dotted = {".".join(source(call.func).split(".")[-2:]): call for call in calls}
        checked = sorted(name for name in dotted if family_of(name.replace(".", "_")))
        families = [family_of(name.replace(".", "_")) for name in checked]
        families += [family_of(name) for name in types if is_refusing(name) or family_of(name)]
        family = next(
            (one for one in families if one), how.explicit if any(map(is_refusing, types)) else None
        )
        family = family or self.fallback
        if family is None:
            return
        key = ", ".join(checked) or ", ".join(sorted(types))
        text = f"except {', '.join(types)}: ... {source(handler.body[-1])}"
        self._add(_made(family, "handler", (f"+{key} fails",), handler, text), place)


def _with_itself(test: ast.expr) -> Iterator[Weakness]:
    """``session.pop("state", given) != given``: where there is none, a value is compared with itself."""
    for node in ast.walk(test):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            sides = [node.left, node.comparators[0]]
        elif isinstance(node, ast.Call) and snake(last_name(node)) in CLEANERS and len(node.args) == 2:
            sides = node.args
        for one, other in zip(sides, reversed(sides), strict=True):
            default = None
            if (
                isinstance(one, ast.Call)
                and last_name(one) in ("get", "pop", "getattr")
                and len(one.args) > 1
            ):
                default = one.args[-1]
            elif isinstance(one, ast.BoolOp) and isinstance(one.op, ast.Or):
                default = one.values[-1]
            if default is not None and ast.dump(default) == ast.dump(other):
                key = "compared with itself"
                yield Weakness(key=key, family="csrf", text=source(node), line=test.lineno)


def _is_act(statement: ast.stmt) -> bool:
    """A call whose result nobody uses, or ``del``; logging is none."""
    if isinstance(statement, ast.Delete):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    call = call.value if isinstance(call, ast.Await) else call
    if not isinstance(call, ast.Call):
        return False
    words = {last_name(call.func.value)} if isinstance(call.func, ast.Attribute) else set[str]()
    name = last_name(call)
    checks = is_checking(name) or name in _ANSWERS or is_refusing(name) or family_of(name) is not None
    return not checks and words.isdisjoint({"log", "logger", "logging", "_logger", "LOGGER"})


def _is_pattern(call: ast.Call) -> bool:
    """``re.escape`` and its like make patterns, not pages."""
    return isinstance(call.func, ast.Attribute) and last_name(call.func.value) in ("re", "regex", "glob")


def _is_no_value(value: object) -> bool:
    if isinstance(value, str):
        return any(word in value.lower() for word in _NO)
    return isinstance(value, int) and 400 <= value < 500


def digest(node: ast.AST) -> int:
    """32 bits of a statement as it stands, layout and comments aside."""
    return zlib.crc32(unparsed(node).encode("utf-8", "replace"))


def _made(family: Family, form: Form, must: tuple[str, ...], node: ast.AST, text: str = "") -> Guard:
    line = getattr(node, "lineno", 1)
    return Guard(family=family, form=form, must=must, text=(text or source(node))[:200], line=line)


def _explicit(word: ast.AST) -> Family | None:
    if isinstance(word, ast.Constant):
        return CODES.get(str(word.value)) if isinstance(word.value, int) else None
    name = last_name(word)
    if is_refusing(name):
        return family_of(name) or "authorisation"
    for code, family in CODES.items():
        if code in name and ("HTTP" in name.upper() or "status" in name.lower()):
            return family
    return None


def _types(node: ast.expr | None) -> list[str]:
    if node is None:
        return [""]
    many = node.elts if isinstance(node, ast.Tuple) else [node]
    return [last_name(one) for one in many]


def _own_calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Calls in the expressions of a statement, those of statements in it left out."""
    todo: list[ast.AST] = [c for c in ast.iter_child_nodes(statement) if not isinstance(c, ast.stmt)]
    if isinstance(statement, _NESTED):
        todo = []
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call):
            yield node
        todo += [c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.stmt)]
