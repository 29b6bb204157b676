"""Registrations by calls in JavaScript, Go, C#, PHP, Ruby, Kotlin: what answers, and what stands before it.

Whatever a framework calls it, a guard of a route stands among its arguments, around its handler, in its
chain, at its group or on its router. Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import WHO, Family, Guard, Route
from gate.protections.routes.chains import (
    CLOSURES,
    around,
    assigned_to,
    before,
    behind,
    first_text,
    function_name,
    holder,
    method,
    root_of,
    text_value,
    trailing,
)
from gate.protections.routes.tables import given_by, rows_around
from gate.protections.routes.urls import joined, plain_url, verb_of
from gate.protections.tree_sitter.shapes import arguments, assigned, is_call, line_of, short_name, text_of
from gate.protections.vocabulary import family_of, is_opening
from gate.regex import regex

_VERBS: Final = {
    "get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE", "del": "DELETE",
    "all": "", "any": "", "handle": "", "handle_func": "", "head": "HEAD", "options": "OPTIONS",
    "map_get": "GET", "map_post": "POST", "map_put": "PUT", "map_patch": "PATCH", "map_delete": "DELETE",
    "map_methods": "", "map": "", "match": "",
}  # fmt: skip
_GROUPING: Final = frozenset({
    "group", "route", "map_group", "prefix", "scope", "namespace", "path_prefix", "sub_router",
})  # fmt: skip
_USING: Final = frozenset({"use", "middleware", "add_hook"})
_MOUNTING: Final = frozenset({"use", "mount", "register", "route", "routes", "include"})
_APPS: Final = frozenset(
    {"app", "router", "server", "fastify", "route", "routes", "express", "koa", "instance"}
)
_ASKING: Final = ("require", "ensure", "verify", "guard", "protect", "restrict", "check_key", "check_token")
_ASKED: Final[dict[str, Family]] = {
    "auth": "authentication", "can": "authorisation", "role": "authorisation", "permission": "authorisation",
    "verified": "authentication", "jwt": "authentication", "admin": "authorisation",
}  # fmt: skip
_WRAPPER: Final = regex(
    r"^(?:require|ensure|verify|guard|protect|restrict|check|with|wrap|only|is|has|must|authori[sz]e|authenticate)(?:_|$)"
    r"|_(?:only|required|guard|wrapper)$|auth$"
)
"""A function around a router by its name; a noun makes one."""
_CARRIERS: Final = frozenset({
    "handler_func", "async_handler", "wrap", "wrap_async", "catch_async", "express_async_handler", "bind",
    "strip_prefix", "h", "http_handler_func", "ctrl", "try_catch",
})  # fmt: skip
"""Around a handler, and no guard."""
_HINTS: Final = regex(
    rb"\.(?:get|post|put|patch|delete|all|use|route|Get|Post|Put|Patch|Delete|GET|POST|PUT|PATCH|DELETE)\s*\("
    rb"|\.(?:Handle\w*|Map\w+|Any|Group|group|register)\s*\(|Route::|->(?:get|post|map|group)\("
    rb"|\b(?:get|post|put|patch|delete|route|resources?|namespace)[ (]+[\"':]"
)
"""In every file that registers something."""
_MOST: Final = 1_000
_WORDS: Final = 200


def call_routes(root: Node, ending: str, path: str) -> tuple[Route, ...]:
    """Every registration that the file shows. ``ending``: of its path; which calls register depends on it."""
    if ending in (".jsx", ".rs", ".java") or not _HINTS.search(root.text or b""):
        return ()
    if ending == ".rb" and "routes" not in path:
        return ()
    return tuple(_Reader(root, ending).routes())[:_MOST]


class _Reader:
    def __init__(self, root: Node, ending: str) -> None:
        self.ending = ending
        self.nodes = [*walk(root, frozenset())]
        self.calls = [n for n in self.nodes if is_call(n)]
        self.uses = [
            n for n in self.calls
            if snake(method(n)) in _USING and root_of(n) and not behind(n) and ending not in (".php", ".rb")
        ]  # fmt: skip
        self.wrapped = {
            text_of(one): found for n in self.calls if (found := _wrapping(n))
            for one in arguments(n) if one.type == "identifier"
        }  # fmt: skip
        self.names = dict(self._imported()) if ending not in (".go", ".rb", ".php", ".cs", ".kt") else {}
        self.groups: dict[str, tuple[str, tuple[Guard, ...]]] = {}
        for call in self.calls:
            if snake(method(call)) in _GROUPING and (name := assigned_to(call)):
                self.groups[name] = self._around(call, own=True)

    def _imported(self) -> Iterator[tuple[str, str]]:
        """``adminRouter`` of ``require("./routes/admin")`` and of an import, by the file's last names."""
        for node in self.nodes:
            if node.type == "import_statement" and (of := node.child_by_field_name("source")) is not None:
                for one in walk(node, frozenset()):
                    if one.type == "identifier":
                        yield text_of(one), _dotted_file(text_of(of), text_of(one))
            elif (pair := assigned(node)) is not None and is_call(pair[1]) and method(pair[1]) == "require":
                for one in walk(pair[0], frozenset()):
                    if "identifier" in one.type:
                        yield text_of(one), _dotted_file(first_text(pair[1]) or "", text_of(one))

    def routes(self) -> Iterator[Route]:
        for call in self.calls:
            name = snake(method(call))
            given = arguments(call)
            if name == "route" and len(given) == 1 and given[0].type == "object":
                yield from self._written(call, given[0])
            elif name in ("resources", "resource") and self.ending == ".rb" and (what := first_text(call)):
                prefix, guards = self._around(call)
                yield Route(
                    verb="", url=joined(prefix, what), handler=_action(f"{what}#").rstrip("."), guards=guards,
                    text=text_of(call)[:160], line=line_of(call),
                )  # fmt: skip
            elif name in _VERBS and self._registers(call, given):
                yield self._route(call, _VERBS[name], given)
            elif name in _MOUNTING and len(given) > 1:
                for row in rows_around(call, self.nodes):
                    yield from self._mounted(call, given_by(given, row))

    def _registers(self, call: Node, given: list[Node]) -> bool:
        text = first_text(call)
        chained = before(call)
        if text is None and given and chained and method(chained[-1]) == "route":
            return (first_text(chained[-1]) or "").startswith("/")
        if text is None:
            return False
        if self.ending == ".rb":
            return not root_of(call)
        if self.ending == ".php":
            return (
                root_of(call).endswith(("Route", "$app", "$router", "$group", "$routes")) and len(given) > 1
            )
        if self.ending in (".kt", ".kts"):
            return not root_of(call) and trailing(call) is not None
        if self.ending == ".cs":
            return method(call).startswith("Map") and len(given) > 1
        if len(given) < 2 or not (text.startswith("/") or verb_of(text) or text == "*"):
            return False
        if self.ending == ".go":
            return True
        owner = snake(root_of(call).rpartition(".")[2]).rpartition("_")[2]
        return owner in _APPS or owner in self.groups or any(n.type in CLOSURES for n in given[1:])

    def _route(self, call: Node, verb: str, given: list[Node]) -> Route:
        text = first_text(call)
        rest = given[1:] if text is not None else given
        text = text or ""  # of router.route("/x").get(h), what it is chained to has it
        prefix, guards = self._around(call)
        at = rest[-1] if rest else None
        for one in rest[:-1]:
            guards += tuple(_asked(one, bare=True))
        handler, wraps, words, more = self._handler(at)
        if at is None and given and (pair := assigned(given[0])) is not None:
            handler = _action(text_value(pair[1]) or "")  # Ruby's get "y" => "y#index"
        block = trailing(call)
        if block is not None and not handler:
            words = _words(block)
        wraps += [
            text_of(n) for n in rest[:-1] if n.type in ("identifier", "call_expression", "member_expression")
        ]
        return Route(
            verb=verb or verb_of(text),
            url=joined(prefix, plain_url(text)),
            handler=handler,
            group=function_name(call) or root_of(call),
            guards=(*guards, *more),
            wraps=tuple(wraps),
            words=words,
            text=text_of(call)[:160],
            line=line_of(call),
        )

    def _written(self, call: Node, given: Node) -> Iterator[Route]:
        """``fastify.route({method: "GET", url: "/x", preHandler: auth, handler})``."""
        pairs = {short_name(p[0]): p[1] for n in given.named_children if (p := assigned(n)) is not None}
        at = pairs.get("url") or pairs.get("path")
        url = text_value(at) if at is not None else None
        if url is None:
            return
        prefix, guards = self._around(call)
        handler, wraps, words, more = self._handler(pairs.get("handler"))
        hooks = [
            v
            for k, v in pairs.items()
            if k in ("preHandler", "onRequest", "preValidation", "auth", "options")
        ]
        asked = [g for one in hooks for g in _asked(one, bare=True)]
        verb = pairs.get("method")
        yield Route(
            verb=(text_value(verb) or "") if verb is not None else "",
            url=joined(prefix, plain_url(url)), handler=handler, group=function_name(call) or root_of(call),
            guards=(*guards, *more, *asked),
            wraps=(*wraps, *(text_of(h) for h in hooks if not [*_asked(h, bare=True)])),
            words=words, text=text_of(call)[:160], line=line_of(call),
        )  # fmt: skip

    def _mounted(self, call: Node, given: list[Node]) -> Iterator[Route]:
        if len(given) < 2 or given[-1].type not in ("identifier", "call_expression"):
            return
        text = text_value(given[0])
        handler, _, _, more = self._handler(given[-1])
        made = self.names.get(method(given[-1])) if is_call(given[-1]) else None
        if made and not _WRAPPER.search(snake(method(given[-1]))):
            handler, more = made, []  # a function of another file that makes the router
        if text is None or not handler:
            return
        prefix, guards = self._around(call)
        asked = tuple(g for one in given[1:-1] for g in _asked(one, bare=True))
        yield Route(
            verb="", url=joined(prefix, plain_url(text)), handler=handler, mounts=True,
            guards=(*guards, *asked, *more), text=text_of(call)[:160], line=line_of(call),
        )  # fmt: skip

    def _handler(self, at: Node | None) -> tuple[str, list[str], tuple[str, ...], list[Guard]]:
        """What answers by name, what stands around it, the words of one in place, the guards among these."""
        wraps: list[str] = []
        guards: list[Guard] = []
        while at is not None and is_call(at):
            name = method(at)
            found = _wrapping(at)
            guards += found
            inner = next((n for n in reversed(arguments(at)) if "string" not in n.type), None)
            if inner is None:
                return ("" if found else f"{name}()"), wraps, (), guards
            if not found and snake(name) not in _CARRIERS:
                wraps.append(name)
            at = inner
        if at is None:
            return "", wraps, (), guards
        if at.type in CLOSURES or "lambda" in at.type:
            guards += [g for n in at.named_children if n.type == "attribute_list" for g in _asked(n)]
            return "", wraps, _words(at), guards
        if "array" in at.type:  # [MemberController::class, 'export']; Express's list
            texts = [text_of(n).removesuffix("::class").strip("'\"") for n in _flat(at)]
            if self.ending == ".php":
                return ".".join(t.rpartition("\\")[2] for t in texts), wraps, (), guards
            guards += [g for n in _flat(at)[:-1] for g in _asked(n, bare=True)]
            return (texts[-1] if texts else ""), wraps, (), guards
        if self.ending == ".rb":
            pair = assigned(at)
            text = text_value(pair[1]) if pair is not None else text_value(at)
            return _action(text or ""), wraps, (), guards
        text = (text_value(at) or text_of(at)).removesuffix("::class").replace("@", ".").replace("->", ".")
        first, mark, last = text.partition(".")
        return self.names.get(first, first) + mark + last, wraps, (), guards

    def _around(self, call: Node, *, own: bool = False) -> tuple[str, tuple[Guard, ...]]:
        """The prefix and the guards of everything that a registration stands in. ``own``: a group's, too."""
        prefixes: list[str] = []
        guards: list[Guard] = []
        holders = {holder(call), 0}
        owners = {root_of(call)}
        for closure, to in around(call):
            holders.add(closure.id)
            holders.add(holder(to))
            owners.add(root_of(to))
            for one in (to, *before(to), *behind(to)):
                prefixes += [t for t in [self._prefix(one)] if t]
                guards += [*_of_link(one)]
        for one in (*([call] if own else ()), *before(call), *behind(call)):
            guards += [*_of_link(one)]
            prefixes += [t for t in [self._prefix(one)] if t and (one is not call or own)]
        for owner in owners:
            prefix, more = self.groups.get(owner, ("", ()))
            prefixes += [prefix] if prefix else []
            guards += [*more, *self.wrapped.get(owner, ())]
        for use in self.uses:
            reaches = holder(use) in holders and use.start_byte < call.start_byte
            if reaches and root_of(use) in owners and first_text(use) is None:
                guards += [g for one in arguments(use) for g in _asked(one, bare=True)]
        return joined(*reversed(prefixes)), tuple(guards)

    def _prefix(self, call: Node) -> str:
        text = first_text(call) if snake(method(call)) in _GROUPING else None
        return plain_url(text) if text is not None else ""


def _of_link(call: Node) -> Iterator[Guard]:
    """A link of a chain that guards: ``With(auth)``, ``middleware("auth")``, ``RequireAuthorization()``."""
    name = method(call)
    if is_opening(name) or snake(name) in _VERBS:
        return
    if "AllowAnonymous" in name:
        return
    found = [*_named(name, call)]
    yield from found
    if not found and snake(name) not in ("with_name", "with_summary"):
        for one in arguments(call):
            if one.type not in CLOSURES and "lambda" not in one.type:
                yield from _asked(
                    one, bare=snake(name) in ("with", "use", "middleware", "group", "map_group")
                )


def _wrapping(call: Node) -> list[Guard]:
    """The guard that a function around a handler or a router is: by its name, or by what it is of."""
    return [*_named(method(call), call)] or [*_named(root_of(call).rpartition(".")[2], call)]


def _asked(node: Node, *, bare: bool = False) -> Iterator[Guard]:
    """Guards that an argument names; bodies of functions are not looked into. ``bare``: by its verb alone."""
    if "AllowAnonymous" in text_of(node):
        return
    for one in walk(node, CLOSURES):
        if "identifier" in one.type or one.type in ("name", "constant"):
            yield from _named(text_of(one), node, verbs=bare)
        elif "string" in one.type and (text := text_value(one)) is not None:
            word = text.partition(":")[0].partition(".")[0]
            if family := _ASKED.get(word):
                yield _guard(family, node)


def _named(name: str, node: Node, *, verbs: bool = True) -> Iterator[Guard]:
    if is_opening(name):
        return
    family = family_of(name)
    if family in WHO:
        yield _guard(family, node)
    elif verbs and snake(name).startswith(_ASKING):
        yield _guard("authentication", node)


def _guard(family: Family, node: Node) -> Guard:
    text = text_of(node)[:160]
    return Guard(family=family, form="wide", must=(f"-{text}",), text=text, line=line_of(node))


def _words(node: Node) -> tuple[str, ...]:
    found = {text_of(n) for n in walk(node, frozenset()) if "identifier" in n.type or n.type == "name"}
    return tuple(sorted(found))[:_WORDS]


def _flat(node: Node) -> list[Node]:
    return [
        n.named_children[-1] if "element" in n.type and n.named_children else n for n in node.named_children
    ]


def _dotted_file(source: str, name: str) -> str:
    """``routes.admin.adminRouter`` of ``"./routes/admin"``."""
    parts = [p for p in source.strip("'\"`").split("/") if p not in (".", "..", "")]
    return ".".join([*(p.rsplit(".", 1)[0] if p.endswith((".js", ".ts")) else p for p in parts), name])


def _action(text: str) -> str:
    """``MembersController.export`` of ``members#export``."""
    of, mark, action = text.partition("#")
    word = "".join(part.capitalize() for part in of.rpartition("/")[2].split("_"))
    return f"{word}Controller.{action}" if mark else ""
