"""Reads the protections of one Python file. Runs in the limited child, at base and at head."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import Final

from gate.languages.python_syntax import newer_python
from gate.languages.unparse import unparsed
from gate.protections.conditions import Conditions, last_name
from gate.protections.facts import FileFacts, Guard, Strength, Unit, Weakness
from gate.protections.heard.python import python_heard
from gate.protections.overall.facts import overall_facts
from gate.protections.overall.python import python_script
from gate.protections.python.guards import (
    LISTS,
    ROUTES,
    decorator_guards,
    guard,
    named_guards,
    parameter_guards,
    route_decorators,
)  # fmt: skip
from gate.protections.python.managers import default_strengths
from gate.protections.python.members import members_in
from gate.protections.python.once import once_strengths
from gate.protections.python.options import options_in
from gate.protections.python.patterns import pattern_strengths
from gate.protections.python.prices import price_strengths
from gate.protections.python.refusals import Refusals, digest
from gate.protections.python.schemas import schema_strengths
from gate.protections.python.shown import shown_secrets
from gate.protections.python.strengths import Constants, constants_of, strengths_in
from gate.protections.python.told import told_in
from gate.protections.python.traits import python_traits, python_words
from gate.protections.routes.python import python_routes
from gate.protections.sequence.python import python_asked
from gate.protections.traits import with_traits
from gate.protections.vocabulary import family_of, is_check_of, is_constant_time

_MOST: Final = 2_000
_WORDS: Final = 2_000
_GUARDS: Final = 200
_VERBS: Final = frozenset({
    "get", "post", "put", "patch", "delete", "head", "options", "dispatch", "list", "create", "retrieve",
    "update", "partial_update", "destroy",
})  # fmt: skip
_WHOLE_VIEWS: Final = ("View", "Controller", "Resource", "ViewSet")
_VIEWS: Final = ("View", "ViewSet", "Resource", "Handler", "Endpoint", "Controller", "Mixin")
_WIDE_MARKS: Final = frozenset({
    "before_request", "before_app_request", "middleware", "before_websocket", "before_first_request",
})  # fmt: skip
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_ASSERTING: Final = ("assert", "raises", "expect", "fail")


def read(path: str, data: bytes, options: Mapping[str, object]) -> FileFacts:
    """For scan_isolated. ``options["tests"]`` names the paths that only tests run: no guards are read there.

    Raises what the parser raises.
    """
    tree = newer_python.parse_bytes(data)
    tests = options.get("tests")
    known = None if isinstance(tests, list) and path in tests else constants_of(tree)
    django = any(_imports(node, "django") for node in tree.body)
    units = [*_units(tree, django, known)]
    if len(units) > _MOST:
        raise ValueError("more functions than are compared")
    if known is not None and (shown := shown_secrets(tree)):
        units = [
            replace(unit, weaknesses=(*unit.weaknesses, *shown.get(unit.name, ())))
            if unit.kind == "class"
            else unit
            for unit in units
        ]
    if known is not None and (by_default := default_strengths(tree)):
        units = [
            replace(unit, strengths=(*unit.strengths, *by_default.get(unit.name, ())))
            if unit.kind == "class"
            else unit
            for unit in units
        ]
    traits = {} if known is None else python_traits(tree, path)
    overall = () if known is None else overall_facts(python_script(tree, python_words(tree)))
    taken = () if known is None else tuple(members_in(tree))[:_MOST]
    routes = () if known is None else python_routes(tree)
    heard = () if known is None else python_heard(tree)
    units = [*with_traits(units, traits)]
    asked = () if known is None else python_asked(tree)
    return FileFacts(
        units=tuple(units), overall=overall, members=taken, routes=routes, heard=heard, asked=asked
    )


def _imports(node: ast.stmt, package: str) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(name.partition(".")[0] == package for name in names)


def _units(tree: ast.Module, django: bool, known: Constants | None) -> Iterator[Unit]:
    rest: list[ast.stmt] = []
    wide: list[Guard] = []
    for node in _flat(tree.body):
        if isinstance(node, _FUNCTION):
            wide += _before_requests(node)
            yield from _with_inner_routes(node, "", django, (), known)
        elif isinstance(node, ast.ClassDef):
            yield from _class(node, "", django, known)
        else:
            rest.append(node)
            yield from _lambdas(node)
    yield _module(rest, wide, known)


def _lambdas(node: ast.stmt) -> Iterator[Unit]:
    """``login_required = lambda view: view``: a function by another way."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as made):
            body = ast.copy_location(ast.Return(value=made.body), made)
            as_function = ast.FunctionDef(name=name, args=made.args, body=[body], decorator_list=[])
            as_function.lineno = node.lineno
            yield _function(as_function, "", False, (), None)


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements; definitions behind a condition of the module stand for themselves."""
    for node in body:
        inner = (
            [*getattr(node, "body", ()), *getattr(node, "orelse", ())]
            if isinstance(node, ast.If | ast.Try)
            else []
        )
        if any(isinstance(one, _FUNCTION | ast.ClassDef) for one in inner):
            yield from _flat(inner)
        else:
            yield node


def _before_requests(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Guard]:
    for decorator in node.decorator_list:
        if last_name(decorator) in _WIDE_MARKS:
            reader = _refusals(node)
            family = family_of(node.name) or next((g.family for g in reader.guards), None)
            if family:
                yield guard(family, "wide", f"before every request: {node.name}", node, f"def {node.name}")


def _refusals(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Refusals:
    asked = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    fallback = (family_of(node.name) or "validation") if is_check_of(node.name, asked) else None
    answers = [n for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
    if fallback is None and any(_is_compared(n.value) for n in answers):
        fallback = "integrity"
    reader = Refusals(Conditions(_locals(node)), fallback, silent=fallback is not None and not answers)
    reader.read(node.body)
    return reader


def _is_compared(value: ast.expr | None) -> bool:
    """``compare_digest(a, b)``, alone or as a part of a condition: whatever returns it is a check."""
    parts = value.values if isinstance(value, ast.BoolOp) else [value]
    return any(isinstance(one, ast.Call) and is_constant_time(last_name(one)) for one in parts)


def _locals(node: ast.AST) -> dict[str, ast.expr]:
    """Names of a function that are assigned once, with what they are assigned."""
    found: dict[str, ast.expr] = {}
    again: set[str] = set()
    for one in ast.walk(node):
        targets = one.targets if isinstance(one, ast.Assign) else []
        if isinstance(one, ast.AnnAssign | ast.AugAssign | ast.For):
            targets = [one.target]
        for target in targets:
            for name in (n.id for n in ast.walk(target) if isinstance(n, ast.Name)):
                if name in found or not isinstance(one, ast.Assign) or not isinstance(target, ast.Name):
                    again.add(name)
                else:
                    found[name] = one.value
    kinds = ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call | ast.Attribute
    return {k: v for k, v in found.items() if k not in again and isinstance(v, kinds)}


def _with_inner_routes(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    owner: str,
    django: bool,
    bases: tuple[str, ...],
    known: Constants | None,
) -> Iterator[Unit]:
    """A function, and what it registers as answers to requests (``create_app``), each by itself."""
    inner = [one for one in node.body if isinstance(one, _FUNCTION) and _is_registered(one)]
    name = f"{owner}.{node.name}" if owner else node.name
    for one in inner:
        yield from _with_inner_routes(one, name, False, (), known)
    if inner:
        rest = [one for one in node.body if one not in inner]
        node = copy(node)
        node.body = rest or [ast.copy_location(ast.Pass(), node)]
    yield _function(node, owner, django, bases, known)


def _is_registered(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(one, ast.Call) and last_name(one) in ROUTES for one in node.decorator_list)


def _function(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    owner: str,
    django: bool,
    bases: tuple[str, ...],
    known: Constants | None,
) -> Unit:
    name = f"{owner}.{node.name}" if owner else node.name
    facts: list[Guard | Weakness] = []
    for decorator in route_decorators(node.decorator_list):
        facts += decorator_guards(decorator)
    facts += parameter_guards(node.args)
    if node.name in ("get_permissions", "get_authenticators", "get_throttles"):
        for one in ast.walk(node):
            if isinstance(one, ast.Return) and one.value is not None:
                inside = [n for n in ast.walk(one.value) if isinstance(n, ast.Name)]
                facts += [fact for n in inside for fact in named_guards(n, "class")]
    reader = _refusals(node)
    facts += [*reader.guards, *reader.weaknesses]
    words = [*_words(node)]
    asserted = sum(
        isinstance(n, ast.Assert) or (isinstance(n, ast.Call) and last_name(n).lower().startswith(_ASSERTING))
        for n in ast.walk(node)
    )
    return Unit(
        name=name,
        kind="function",
        line=node.lineno,
        route=_is_route(node, owner, django, bases),
        check=reader.fallback is not None,
        guards=() if known is None else tuple(f for f in facts if isinstance(f, Guard))[:_GUARDS],
        weaknesses=() if known is None else tuple(f for f in facts if isinstance(f, Weakness)),
        strengths=() if known is None else _of_function(node, owner, known),
        calls=tuple(sorted({last_name(n) for n in ast.walk(node) if isinstance(n, ast.Call)}
                           | {last_name(d) for d in node.decorator_list} | _depended(node)))[:_WORDS],
        tokens=_tokens(words),
        digest=digest(node),
        tested=tuple(sorted(reader.tested))[:_WORDS],
        plain=tuple(reader.plain)[:_WORDS],
        acts=tuple(reader.acts)[:_WORDS],
        counted=asserted,
        skipped=_is_skipped(node),
        mentions=tuple(sorted(set(words)))[:_WORDS],
    )  # fmt: skip


def _is_skipped(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    marks = [last_name(decorator).lower() for decorator in node.decorator_list]
    calls = [last_name(n) for n in ast.walk(node) if isinstance(n, ast.Call)]
    return any("skip" in mark or "xfail" in mark for mark in marks) or not {
        "skip",
        "skipTest",
        "xfail",
    }.isdisjoint(calls)


def _depended(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    found = [
        n for n in ast.walk(node.args) if isinstance(n, ast.Call) and last_name(n) in ("Depends", "Security")
    ]
    return {last_name(call.args[0]) for call in found if call.args}


def _is_route(
    node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str, django: bool, bases: tuple[str, ...]
) -> bool:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and last_name(decorator) in ROUTES:
            first = decorator.args[0] if decorator.args else None
            text = first.value if isinstance(first, ast.Constant) else None
            if last_name(decorator) in ("api_view", "view_config", "action", "expose"):
                return True
            if isinstance(text, str) and (text.startswith("/") or text == ""):
                return True
    if owner:
        return node.name in _VERBS and any(base.endswith(_VIEWS) for base in bases)
    return django and [arg.arg for arg in node.args.args][:1] == ["request"]


def _class(
    node: ast.ClassDef, owner: str, django: bool, known: Constants | None, outer: Sequence[ast.stmt] = ()
) -> Iterator[Unit]:
    name = f"{owner}.{node.name}" if owner else node.name
    bases = tuple(last_name(base) for base in node.bases)
    rest: list[ast.stmt] = []
    for one in node.body:
        if isinstance(one, _FUNCTION):
            yield from _with_inner_routes(one, name, django, bases, known)
        elif isinstance(one, ast.ClassDef):
            yield from _class(one, name, django, known, node.body)
        else:
            rest.append(one)
    facts: list[Guard | Weakness] = []
    for decorator in node.decorator_list:
        facts += decorator_guards(decorator)
    for at, base in enumerate(node.bases):
        word = last_name(base)
        # Behind a view a mixin is never asked: the view's own `dispatch` calls no other.
        late = word.endswith("Mixin") and any(one.endswith(_WHOLE_VIEWS) for one in bases[:at])
        if (family := family_of(word)) and not late and word.endswith(("Mixin", *_WHOLE_VIEWS)):
            facts.append(guard(family, "class", word, base, f"class {node.name}({word})"))
    for one in (*rest, *_set_by_init(node)):
        facts += _attribute(one)
    reader = Refusals(Conditions({}))
    reader.read(rest)
    facts += [*reader.guards, *reader.weaknesses]
    unit = _unit(name, "class", node, facts, rest, known, bases)
    more = () if known is None else schema_strengths(node.body, outer)
    yield replace(unit, strengths=(*unit.strengths, *more)[:_GUARDS])


def _set_by_init(node: ast.ClassDef) -> Iterator[ast.stmt]:
    """What ``__init__`` sets on the object, as if the class did (``self.permission_required = ...``)."""
    for one in node.body:
        for step in one.body if isinstance(one, ast.FunctionDef) and one.name == "__init__" else ():
            match step:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name("self"), attr=name)]):
                    target = ast.copy_location(ast.Name(id=name, ctx=ast.Store()), step)
                    yield ast.copy_location(ast.Assign(targets=[target], value=step.value), step)


def _attribute(one: ast.stmt) -> Iterator[Guard | Weakness]:
    target = (
        one.targets[0]
        if isinstance(one, ast.Assign)
        else one.target
        if isinstance(one, ast.AnnAssign)
        else None
    )
    value = one.value if isinstance(one, ast.Assign | ast.AnnAssign) else None
    if not isinstance(target, ast.Name) or value is None:
        return
    if target.id in LISTS:
        yield from named_guards(value, "class")
        empty = isinstance(value, ast.List | ast.Tuple) and not value.elts
        if empty and target.id in ("permission_classes", "authentication_classes", "throttle_classes"):
            text = unparsed(one)[:160]
            yield Weakness(key=f"no {target.id}", family="authorisation", text=text, line=one.lineno)
    elif target.id in ("permission_required", "login_required", "raise_exception", "requires_auth") and not (
        (isinstance(value, ast.Constant) and not value.value)
        or (isinstance(value, ast.List | ast.Tuple | ast.Set) and not value.elts)
    ):
        yield guard("authorisation", "class", target.id, one)


def _module(rest: list[ast.stmt], wide: list[Guard], known: Constants | None) -> Unit:
    reader = Refusals(Conditions({}))
    reader.read(rest)
    facts: list[Guard | Weakness] = [*reader.guards, *reader.weaknesses, *wide]
    return _unit("", "module", None, facts, rest, known, ())


def _unit(
    name: str, kind: str, node: ast.ClassDef | None, facts: list[Guard | Weakness], rest: list[ast.stmt],
    known: Constants | None, bases: tuple[str, ...],
) -> Unit:  # fmt: skip
    return Unit(
        name=name,
        kind="class" if kind == "class" else "module",
        line=node.lineno if node else 1,
        guards=() if known is None else tuple(f for f in facts if isinstance(f, Guard))[:_GUARDS],
        weaknesses=() if known is None else tuple(f for f in facts if isinstance(f, Weakness)),
        strengths=_strengths(rest, name, known),
        bases=bases,
        calls=tuple(sorted({last_name(n) for one in rest for n in ast.walk(one) if isinstance(n, ast.Call)}))[
            :_WORDS
        ],
        mentions=tuple(sorted({word for one in rest for word in _words(one)}))[:_WORDS],
        skipped=node is not None and any("skip" in last_name(d).lower() for d in node.decorator_list),
    )


def _strengths(nodes: Sequence[ast.AST], about: str, known: Constants | None) -> tuple[Strength, ...]:
    if known is None:
        return ()
    found = (*strengths_in(nodes, about, known), *options_in(nodes, known), *told_in(nodes, known))
    return found[:_GUARDS]


def _of_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str, known: Constants
) -> tuple[Strength, ...]:
    """What is told of a function as a whole comes first: there may be many quantities."""
    whole = (*once_strengths(node, owner), *price_strengths(node), *pattern_strengths(node))
    return (*whole, *_strengths([node], owner, known))


def _words(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr
        elif isinstance(one, ast.Constant) and isinstance(one.value, str) and len(one.value) <= 60:
            yield one.value
        elif isinstance(one, ast.stmt):
            yield type(one).__name__


def _tokens(words: list[str]) -> tuple[int, ...]:
    """Digests of neighbouring words: how alike two bodies are is how many of them they share."""
    pairs = {zlib.crc32(f"{a}\0{b}".encode("utf-8", "replace")) for a, b in pairwise(words)}
    return tuple(sorted(pairs)[:_WORDS])
