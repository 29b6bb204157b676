"""Reads the protections of one file of JavaScript or TypeScript. Runs in the limited child.

Units are named functions, methods, and every route (``app.post("/users", requireAdmin, handler)``) by its
method and path; Express's and Nest's ways of guarding are read, Next's as functions.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import parse, walk
from gate.protections.facts import WHO, Family, FileFacts, Form, Guard, Unit, Weakness
from gate.protections.javascript.conditions import Conditions, first_in, last_name, plain
from gate.protections.javascript.refusals import FUNCTIONS, Refusals, constants
from gate.protections.overall.facts import overall_facts
from gate.protections.overall.tree_sitter import tree_sitter_script
from gate.protections.traits import with_traits
from gate.protections.tree_sitter.members import members_in
from gate.protections.tree_sitter.moving import moving_facts
from gate.protections.tree_sitter.once import once_strengths
from gate.protections.tree_sitter.shapes import text_of
from gate.protections.tree_sitter.strengths import constants_in, strengths_in
from gate.protections.tree_sitter.told import who_asks
from gate.protections.tree_sitter.traits import tree_sitter_traits
from gate.protections.vocabulary import family_of, is_check_of, is_constant_time, is_opening
from gate.regex import regex

_MOST: Final = 2_000
_WORDS: Final = 2_000
_GUARDS: Final = 200
_TIMING: Final = regex(r"compare|equal|cmp", re.IGNORECASE)
"""In the names of all calls that compare in constant time; most functions need no second look."""
_LINE: Final = 20_000
"""Bytes of one line from which a file is a bundle: made by a tool, and compared with nothing."""
_VERBS: Final = frozenset({"get", "post", "put", "patch", "delete", "all", "del", "options", "head"})
_APPS: Final = frozenset({"app", "router", "server", "fastify", "api", "route", "routes", "express"})
_PLAIN_GUARDS: Final = frozenset({"protect", "guard", "secured", "restricted", "restrict", "admin"})
_HOOKS: Final = frozenset(
    {"preHandler", "onRequest", "preValidation", "beforeEnter", "auth", "guards", "pre"}
)
_NEXT: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "handler", "middleware"})
_NEST_ROUTES: Final = frozenset({"Get", "Post", "Put", "Patch", "Delete", "All", "Query", "Mutation"})
_GUARDING: Final = frozenset({"UseGuards", "Roles", "Permissions", "Auth", "RequirePermissions", "Throttle"})
_USING: Final = frozenset({"use", "register", "addHook", "useGlobalGuards"})
_WRAPPING: Final = ("with_", "require", "protect", "ensure")
_TESTS: Final = frozenset({"it", "test", "specify"})
_OPENINGS: Final = frozenset({"Public", "SkipAuth", "SkipThrottle", "AllowAnonymous", "IsPublic"})


def read(path: str, data: bytes, options: Mapping[str, object]) -> FileFacts:
    """For scan_isolated. ``options["tests"]`` names the paths that only tests run."""
    if max(map(len, data.split(b"\n")), default=0) > _LINE:
        return FileFacts()
    sys.setrecursionlimit(20_000)
    ending = PurePosixPath(path).suffix
    grammar = (
        "tsx" if ending == ".tsx" else "typescript" if ending in (".ts", ".mts", ".cts") else "javascript"
    )
    root = parse(data, grammar)
    tests = options.get("tests")
    is_test = isinstance(tests, list) and path in tests
    units = [*_test_units(root)] if is_test else [*_units(root, path)]
    if len(units) > _MOST:
        raise ValueError("more functions than are compared")
    traits = {} if is_test else tree_sitter_traits(root, FUNCTIONS)
    overall = () if is_test else overall_facts(tree_sitter_script(root, FUNCTIONS))
    taken = () if is_test else tuple(members_in(root))[:_MOST]
    moving = FileFacts() if is_test else moving_facts(root, ending, path, _marks)
    return replace(moving, units=tuple(with_traits(units, traits)), overall=overall, members=taken)


def _marks(node: Node) -> list[tuple[str, Node]]:
    return [(last_name(first_in(one)), one) for one in _decorators(node)]


def _units(root: Node, path: str) -> Iterator[Unit]:
    routes = [node for node in walk(root, frozenset()) if _route(node)]
    named = [*_named(root)]
    skip = frozenset(n.id for n in routes) | frozenset(function.id for _, function, _ in named)
    known = constants_in(root)
    uses = [
        node for node in walk(root, frozenset())
        if node.type == "call_expression" and last_name(node) == "use"
    ]  # fmt: skip
    seen: dict[str, int] = {}
    for node in routes:
        name = _route(node)
        seen[name] = seen.get(name, 0) + 1
        late = _late(node, name, uses)
        unit = _route_unit(node, name if seen[name] == 1 else f"{name} #{seen[name]}", skip)
        measured = tuple(strengths_in(node, name, known, skip))[:_GUARDS]
        yield replace(unit, strengths=measured, weaknesses=(*unit.weaknesses, *late))
    for name, function, is_method in named:
        unit = _function_unit(name, function, is_method, skip - {function.id})
        measured = (*strengths_in(function, name, known, skip), *who_asks(function))
        asked = [text_of(n) for n in _parameters(function)]
        measured = (*measured, *once_strengths(name, function, asked, PurePosixPath(path).stem))
        yield replace(unit, strengths=measured[:_GUARDS])
    for node in walk(root, frozenset()):
        if node.type == "class_declaration":
            yield _class_unit(node)
    measured = tuple(strengths_in(root, "", known, skip))[:_GUARDS]
    yield replace(_module_unit(root, skip), strengths=measured, weaknesses=tuple(_mounted_late(uses)))


def _route(node: Node) -> str:
    """``POST /users`` of a call that declares a route; empty for any other node."""
    if node.type != "call_expression":
        return ""
    called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if called is None or given is None or called.type != "member_expression" or given.named_child_count < 2:
        return ""
    verb = last_name(called)
    of = called.child_by_field_name("object")
    while of is not None and of.type == "call_expression":  # router.get(...).post(...)
        inner = of.child_by_field_name("function")
        of = inner.child_by_field_name("object") if inner is not None else None
    owner = snake(last_name(of)).rpartition("_")[2]
    path = first_in(given)
    if (
        verb not in _VERBS
        or owner not in _APPS
        or path is None
        or path.type not in ("string", "template_string")
    ):
        return ""
    return f"{verb.upper()} {text_of(path)[1:-1].replace('.', ' ')}"


def _late(node: Node, name: str, uses: list[Node]) -> Iterator[Weakness]:
    """Guards that are registered behind a route, for a path that holds it: they never see its requests."""
    path = name.partition(" ")[2]
    for use, found in _behind(node, path, uses):
        text = f"{name} stands before {text_of(use)}"[:160]
        key = f"before its guard {found.text}"
        yield Weakness(key=key, family=found.family, text=text, line=node.start_point[0] + 1)


def _mounted_late(uses: list[Node]) -> Iterator[Weakness]:
    """``app.use("/orders", orders)`` before ``app.use(requireUser)``, of what base mounted, too."""
    for use in uses:
        items = _given(use)
        if len(items) < 2 or items[0].type != "string" or any([*_middleware(items[-1], "wide")]):
            continue
        path, router = text_of(items[0])[1:-1], last_name(items[-1])
        for guarding, found in _behind(use, path, uses):
            text = f"{text_of(use)} stands before {text_of(guarding)}"[:160]
            key = f"{path} before its guard {found.text}"
            line = use.start_point[0] + 1
            yield Weakness(key=key, family=found.family, text=text, line=line, needs=(router,))


def _behind(node: Node, path: str, uses: list[Node]) -> Iterator[tuple[Node, Guard]]:
    """Guards behind a route or a router that would see its requests if they stood before it."""
    for use in uses:
        items = _given(use)
        at = text_of(items[0])[1:-1] if items and items[0].type == "string" else ""
        holds = (path + "/").startswith(at.rstrip("/") + "/")
        if use.start_byte < node.end_byte or _owner_of(use) != _owner_of(node) or not holds:
            continue
        for found in (g for item in (items[1:] if at else items) for g in _middleware(item, "wide")):
            if at or found.family in (*WHO, "csrf"):
                yield use, found


def _given(call: Node) -> list[Node]:
    given = call.child_by_field_name("arguments")
    return [one for one in given.named_children if one.type != "comment"] if given is not None else []


def _owner_of(call: Node) -> str:
    called = call.child_by_field_name("function")
    return text_of(called.child_by_field_name("object")) if called is not None else ""


def _route_unit(node: Node, name: str, skip: frozenset[int]) -> Unit:
    given = node.child_by_field_name("arguments")
    items = given.named_children[1:] if given is not None else []
    flat = [inner for item in items for inner in (item.named_children if item.type == "array" else [item])]
    handlers = [item for item in flat if item.type in FUNCTIONS]
    others = [item for item in flat if item.type not in FUNCTIONS and item.type != "comment"]
    guards = [
        g for item in others for g in _middleware(item, "decorator", last=item is others[-1] and not handlers)
    ]
    return _unit(name, node, handlers, guards, route=True, skip=skip - {node.id})


def _middleware(node: Node, form: Form, *, last: bool = False) -> Iterator[Guard]:
    """What one function of a route's list protects; the last one is what answers."""
    if node.type == "object":
        for pair in (one for one in node.named_children if one.type == "pair"):
            value = pair.child_by_field_name("value")
            if value is not None and text_of(pair.child_by_field_name("key")) in _HOOKS:
                for item in value.named_children if value.type == "array" else [value]:
                    yield from _middleware(item, form)
        return
    name = last_name(node)
    family: Family | None = family_of(name)
    if family is None and name in _PLAIN_GUARDS:
        family = "authentication"
    if family is None and plain(node).type == "call_expression":
        called = plain(node).child_by_field_name("function")
        owner = called.child_by_field_name("object") if called is not None else None
        family = "authentication" if last_name(owner) in ("passport", "auth") else None
    if family is not None and not last:
        line = node.start_point[0] + 1
        yield Guard(
            family=family, form=form, must=(f"-{text_of(node)[:160]}",), text=text_of(node)[:160], line=line
        )


def _named(root: Node) -> Iterator[tuple[str, Node, bool]]:
    """Functions with a name: declarations, constants, methods, properties of exported objects, and what a
    file exports by default (``default``, also where a constant holds it: its name is nobody else's).
    """
    exported = [n.child_by_field_name("value") for n in root.named_children if n.type == "export_statement"]
    main = {text_of(value) for value in exported if value is not None and value.type == "identifier"}
    for node in walk(root, frozenset()):
        if node.type in ("function_declaration", "generator_function_declaration"):
            yield text_of(node.child_by_field_name("name")), node, False
        elif node.type == "method_definition":
            owner = _owner(node)
            name = text_of(node.child_by_field_name("name"))
            yield f"{owner}.{name}" if owner else name, node, bool(owner)
        elif node.type in ("variable_declarator", "assignment_expression", "pair", "public_field_definition"):
            left = (
                node.child_by_field_name("name")
                or node.child_by_field_name("left")
                or node.child_by_field_name("key")
            )
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            function = _wrapped(value) if value is not None else None
            if function is not None and left is not None and _is_outside(node):
                name = last_name(left)
                is_main = node.type == "variable_declarator" and name in main
                yield "default" if is_main else name, function, False
        elif node.type == "export_statement":
            value = node.child_by_field_name("value")
            function = _wrapped(value) if value is not None else None
            if function is not None:
                yield "default", function, False


def _wrapped(value: Node) -> Node | None:
    """The function itself, or the one that ``asyncHandler(...)``, ``withAuth(...)`` wrap."""
    value = plain(value)
    if value.type in FUNCTIONS:
        return value
    if value.type == "call_expression":
        given = value.child_by_field_name("arguments")
        for item in given.named_children if given is not None else []:
            if item.type in FUNCTIONS:
                return item
    return None


def _is_outside(node: Node) -> bool:
    """Does it stand in no function?"""
    above = node.parent
    while above is not None:
        if above.type in FUNCTIONS:
            return False
        above = above.parent
    return True


def _owner(node: Node) -> str:
    body = node.parent
    holder = body.parent if body is not None else None
    if holder is None or holder.type not in ("class_declaration", "class"):
        return ""
    return text_of(holder.child_by_field_name("name"))


def _decorators(node: Node) -> list[Node]:
    """A class's or method's decorators, which stand in it or before it."""
    found = [child for child in node.children if child.type == "decorator"]
    above = node.parent
    if above is not None and above.type == "export_statement":
        found += [child for child in above.children if child.type == "decorator"]
    before = node.prev_named_sibling
    while before is not None and before.type in ("decorator", "comment"):
        found += [before] if before.type == "decorator" else []
        before = before.prev_named_sibling
    return found


def _decorated(decorators: list[Node], form: Form) -> Iterator[Guard | Weakness]:
    for decorator in decorators:
        inner = first_in(decorator)
        name = last_name(inner)
        line = decorator.start_point[0] + 1
        if name in _OPENINGS or is_opening(name):
            yield Weakness(key=name, family="authentication", text=text_of(decorator)[:160], line=line)
        elif inner is not None and name in _GUARDING:
            given = inner.child_by_field_name("arguments") if inner.type == "call_expression" else None
            if name == "UseGuards" and given is not None:
                for item in given.named_children:
                    family = family_of(last_name(item)) or "authorisation"
                    yield _guard(family, form, text_of(item), line)
            else:
                yield _guard(family_of(name) or "authorisation", form, text_of(decorator), line)


def _guard(family: Family, form: Form, text: str, line: int) -> Guard:
    return Guard(family=family, form=form, must=(f"-{text[:160]}",), text=text[:160], line=line)


def _function_unit(name: str, function: Node, is_method: bool, skip: frozenset[int]) -> Unit:
    facts = [*_decorated(_decorators(function), "decorator")] if is_method else []
    facts += _around(function)
    marks = {last_name(first_in(one)) for one in _decorators(function)} if is_method else set()
    route = bool(marks & _NEST_ROUTES) or name in _NEXT
    guards = [f for f in facts if isinstance(f, Guard)]
    weak = [f for f in facts if isinstance(f, Weakness)]
    return _unit(name, function, [function], guards, weak, route=route, skip=skip)


def _around(function: Node) -> Iterator[Guard]:
    """``withAuth(handler)``, ``requireAdmin(async (req) => ...)``: a guard that wraps."""
    above = function.parent.parent if function.parent is not None else None
    if above is None or above.type != "call_expression":
        return
    for name in (last_name(above), _root(above)):
        if family := family_of(name):
            yield _guard(family, "decorator", name, above.start_point[0] + 1)


def _root(call: Node) -> str:
    """``protectedProcedure`` of ``protectedProcedure.input(x).query(f)``."""
    at: Node | None = call
    name = ""
    while at is not None and at.type in ("call_expression", "member_expression"):
        at = at.child_by_field_name("function") or at.child_by_field_name("object")
        name = text_of(at) if at is not None and at.type == "identifier" else ""
    return name


def _class_unit(node: Node) -> Unit:
    facts = [*_decorated(_decorators(node), "class")]
    heritage = [
        last_name(n)
        for n in walk(node, frozenset({"class_body"}))
        if n.type in ("identifier", "member_expression")
    ]
    return Unit(
        name=text_of(node.child_by_field_name("name")),
        kind="class",
        line=node.start_point[0] + 1,
        guards=tuple(f for f in facts if isinstance(f, Guard)),
        weaknesses=tuple(f for f in facts if isinstance(f, Weakness)),
        bases=tuple(heritage),
    )


def _module_unit(root: Node, skip: frozenset[int]) -> Unit:
    guards: list[Guard] = []
    for node in (n for n in walk(root, frozenset()) if n.type == "call_expression"):
        given = node.child_by_field_name("arguments")
        items = given.named_children if given is not None else []
        name = last_name(node)
        if name in _USING:
            for item in items:
                if item.type not in FUNCTIONS and item.type != "string":
                    guards += _middleware(item, "wide")
        elif snake(name).startswith(_WRAPPING) and items and items[0].type == "identifier":
            family = family_of(name)  # ``export default withAuth(handler)``
            text = f"{name}({text_of(items[0])})"
            guards += [_guard(family, "wide", text, node.start_point[0] + 1)] if family else []
    calls = {last_name(n) for n in walk(root, FUNCTIONS) if n.type == "call_expression"}
    reader = Refusals(Conditions({}), skip=skip)  # functions without a name, as ``server.on("x", () => ...)``
    reader.read(root)
    return Unit(
        name="",
        kind="module",
        line=1,
        guards=(*guards, *reader.guards)[:_GUARDS],
        calls=tuple(sorted(calls))[:_WORDS],
        tested=tuple(sorted(reader.tested))[:_WORDS],
        plain=tuple(reader.plain)[:_WORDS],
        acts=tuple(reader.acts)[:_WORDS],
        mentions=tuple(sorted({text_of(n) for n in walk(root, FUNCTIONS) if n.type.endswith("identifier")}))[
            :_WORDS
        ],
    )


def _unit(
    name: str, node: Node, bodies: list[Node], guards: list[Guard],
    weak: list[Weakness] | None = None, *, route: bool, skip: frozenset[int],
) -> Unit:  # fmt: skip
    short = name.rpartition(".")[2]
    asked = [text_of(n) for one in bodies for n in _parameters(one)]
    decides = is_check_of(short, asked) and not route
    fallback: Family | None = (family_of(short) or "validation") if decides else None
    if fallback is None and not route and any(_is_compared(one) for one in bodies):
        fallback = "integrity"
    tested: set[str] = set()
    plains: list[int] = []
    acts: list[int] = []
    found = [*guards]
    for function in bodies:
        body = function.child_by_field_name("body")
        if body is None:
            continue
        reader = Refusals(Conditions(constants(function)), fallback, skip)
        reader.read(body)
        found += reader.guards
        tested |= reader.tested
        plains += reader.plain
        acts += reader.acts
        weak = [*(weak or ()), *reader.weaknesses]
    words = [*_words(node)]
    calls = {last_name(n) for n in walk(node, frozenset()) if n.type == "call_expression"}
    calls |= {g.text.partition("(")[0].rpartition(".")[2] for g in guards}
    pairs = {zlib.crc32(f"{a}\0{b}".encode("utf-8", "replace")) for a, b in pairwise(words)}
    return Unit(
        name=name,
        kind="function",
        line=node.start_point[0] + 1,
        route=route,
        check=fallback is not None,
        guards=tuple(found)[:_GUARDS],
        weaknesses=tuple(weak or ()),
        calls=tuple(sorted(calls))[:_WORDS],
        tokens=tuple(sorted(pairs)[:_WORDS]),
        digest=zlib.crc32(text_of(node).encode("utf-8", "replace")),
        tested=tuple(sorted(tested))[:_WORDS],
        plain=tuple(plains)[:_WORDS],
        acts=tuple(acts)[:_WORDS],
        mentions=tuple(sorted(set(words)))[:_WORDS],
    )


def _parameters(function: Node) -> list[Node]:
    given = function.child_by_field_name("parameters")
    return [n for n in walk(given, frozenset()) if n.type == "identifier"] if given is not None else []


def _is_compared(function: Node) -> bool:
    """Does it return ``timingSafeEqual(a, b)``, alone or as a part of a condition?"""
    if not _TIMING.search(text_of(function)):
        return False
    for node in walk(function, frozenset()):
        if node.type == "call_expression" and is_constant_time(last_name(node)):
            above = node.parent
            while above is not None and above.type in ("binary_expression", "parenthesized_expression"):
                above = above.parent
            if above is not None and above.type in ("return_statement", "arrow_function"):
                return True
    return False


def _words(node: Node) -> Iterator[str]:
    for inner in walk(node, frozenset({"string", "template_string"})):
        if inner.type.endswith("identifier") or inner.type == "string":
            yield text_of(inner)
        elif inner.type.endswith("_statement"):
            yield inner.type


def _test_units(root: Node) -> Iterator[Unit]:
    """``it("...", ...)`` and ``test("...", ...)``."""
    for node in walk(root, frozenset()):
        if node.type != "call_expression":
            continue
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        first = first_in(given)
        if called is None or first is None or first.type not in ("string", "template_string"):
            continue
        of = called.child_by_field_name("object") if called.type == "member_expression" else None
        name = last_name(of) if of is not None else last_name(called)
        if name not in _TESTS and last_name(called) not in ("xit", "xtest"):
            continue
        calls = [last_name(n) for n in walk(node, frozenset()) if n.type == "call_expression"]
        words = sorted(set(_words(node)))
        yield Unit(
            name="test " + text_of(first)[1:-1].replace(".", " "),
            kind="function",
            line=node.start_point[0] + 1,
            counted=sum(call in ("expect", "assert", "should") for call in calls),
            skipped=last_name(called) in ("skip", "todo", "xit", "xtest"),
            mentions=tuple(words)[:_WORDS],
            digest=zlib.crc32(text_of(node).encode("utf-8", "replace")),
        )
