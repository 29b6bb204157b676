"""Where a value comes from: follows an expression back through names, calls and strings to its sources.

Within a function, through attributes of ``self``, and from a parameter to the calls of its function, in the
same file and as far as ``Module.outside`` tells in others, that pass on what outsiders decide. Nothing is
run. It answers "may text of this kind reach this place", so it over-approximates through unknown calls and
stops at the cleaning functions a rule names.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gate.prescreen.python_ast.call_sites import (
    CallSites,
    argument_for,
    call_sites,
    called_function,
    passed_from_outside,
)
from gate.prescreen.python_ast.containers import added, constant_key, held
from gate.prescreen.python_ast.dead_code import is_dead, truth
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.routes import is_django_view, is_route, is_tool
from gate.prescreen.python_ast.scope import Binding, FunctionNode, start_of
from gate.prescreen.python_ast.sources import (
    CALL_SOURCES,
    ENVIRONMENT,
    FILE,
    GIVEN,
    HANDLER_PARTS,
    HARMLESS_CALLS,
    INJECTED,
    INPUT,
    MODEL,
    MODEL_STEMS,
    MODEL_VERBS,
    NETWORK,
    NETWORK_STEMS,
    NUMBERS,
    OUTSIDERS,
    PARAMETER,
    REQUEST,
    REQUEST_METHODS,
    REQUEST_PARTS,
    REQUEST_STEMS,
    VERBS,
)

_ESCAPES = re.compile(r"escap|quote|sanitiz|sanitis|bleach|placeholder", re.IGNORECASE)
_LIMIT = 600
_DEEPEST = 4
"""Functions that a value is followed through, from the callee to its callers."""
_WEAK_TESTS = frozenset(
    {"exists", "isfile", "isdir", "isinstance", "hasattr", "len", "access", "lexists", "get"}
)


@dataclass(frozen=True, slots=True)
class Traced:
    """Where an expression comes from: kinds of sources, variables, calls and nodes met on the way."""

    kinds: frozenset[str]
    names: frozenset[str]
    calls: frozenset[str]
    nodes: tuple[ast.AST, ...]


def _lines(source: ast.AST, came_from: Mapping[ast.AST, ast.AST], sink: ast.AST) -> tuple[int, ...]:
    node, lines = source, [getattr(source, "lineno", 0)]
    while node is not sink:
        node = came_from[node]
        lines.append(getattr(node, "lineno", 0))
    return tuple(line for n, line in enumerate(lines) if line and (n == 0 or line != lines[n - 1]))


class Flow:
    """Follows values in one module. Make one per check (it keeps what it found)."""

    def __init__(self, module: Module, clean: frozenset[str] = frozenset()) -> None:
        self._module = module
        self._clean = HARMLESS_CALLS | clean
        self._known: dict[ast.AST, Traced] = {}
        self._asked: set[Binding] = set()
        self._inside: set[ast.AST] = set()

    def kinds(self, expr: ast.AST | None) -> frozenset[str]:
        """The kinds of sources an expression may carry text of."""
        return self.trace(expr).kinds

    def trace(self, expr: ast.AST | None) -> Traced:
        """Follows an expression back to its sources, at most a few hundred steps."""
        if expr is None:
            return Traced(frozenset(), frozenset(), frozenset(), ())
        known = self._known.get(expr)
        if known is not None:
            return known
        kinds: set[str] = set()
        names: set[str] = set()
        calls: set[str] = set()
        seen: dict[ast.AST, None] = {}
        stack: list[ast.AST] = [expr]
        while stack and len(seen) < _LIMIT:
            node = stack.pop()
            if node in seen:
                continue
            seen[node] = None
            stack.extend(self._step(node, kinds, names, calls))
        traced = Traced(frozenset(kinds), frozenset(names), frozenset(calls), tuple(seen))
        self._known[expr] = traced
        return traced

    def way(self, sink: ast.AST) -> tuple[int, ...]:
        """Lines from where outsiders decide a value to ``sink``, its own last; empty where none does.

        The shortest way; it goes through the calls of functions in this file, as ``kinds`` does.
        """
        starts = [*sink.args, *(k.value for k in sink.keywords)] if isinstance(sink, ast.Call) else [sink]
        came_from: dict[ast.AST, ast.AST] = dict.fromkeys(starts, sink)
        queue = deque[ast.AST](starts)
        while queue and len(came_from) < _LIMIT:
            node = queue.popleft()
            kinds: set[str] = set()
            following = [*self._step(node, kinds, set(), set())]
            if not OUTSIDERS.isdisjoint(kinds):
                given = [*self._given_for(node)]
                if not given:
                    return _lines(node, came_from, sink)
                following += given
            for further in following:
                if further not in came_from and further is not sink:
                    came_from[further] = node
                    queue.append(further)
        return ()

    def _given_for(self, node: ast.AST) -> Iterator[ast.expr]:
        """What calls in this file pass on from outsiders, where the node is a parameter."""
        for binding in self._module.bindings_of(node) if isinstance(node, ast.Name) else ():
            if binding.kind != "param" or self._parameter(binding) != PARAMETER:
                continue
            function = self._module.function_of(binding.node)
            if function is None:
                continue
            for call in self._sites.get(function, ()):
                given = argument_for(self._module, function, getattr(binding.node, "arg", ""), call)
                if given is not None and self.kinds(given) & OUTSIDERS:
                    yield given

    def _step(  # noqa: C901 - one case a kind of node
        self, node: ast.AST, kinds: set[str], names: set[str], calls: set[str]
    ) -> Iterator[ast.AST]:
        match node:
            case ast.Constant() | ast.Compare() | ast.Lambda():
                return
            case ast.Name():
                names.add(node.id)
                yield from self._name(node, kinds)
            case ast.Attribute():
                yield from self._attribute(node, kinds, names)
            case ast.Call():
                yield from self._call(node, kinds, calls)
            case ast.Subscript():
                self._known_source(node, kinds)
                yield from self._item(node, names)
            case ast.Dict():
                yield from (item for item in (*node.keys, *node.values) if item is not None)
            case ast.IfExp():
                taken = truth(self._module, node.test)
                yield from (node.body,) if taken is not False else ()
                yield from (node.orelse,) if taken is not True else ()
            case ast.BinOp():
                yield from (node.left, node.right)
            case ast.UnaryOp():
                if not isinstance(node.op, ast.Not):
                    yield node.operand
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                yield node.elt
            case ast.DictComp():
                yield from (node.key, node.value)
            case ast.expr() | ast.keyword():
                yield from (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))

    def _item(self, node: ast.Subscript, names: set[str]) -> Iterator[ast.AST]:
        """What stands under a constant key, where the container's stores are known; else all it holds."""
        owner = node.value
        if not isinstance(owner, ast.Name):
            made = owner.elts if isinstance(owner, ast.List | ast.Tuple) else None
            index = self._module.const(node.slice)
            known = made is not None and isinstance(index, int) and -len(made) <= index < len(made)
            yield made[index] if known and made is not None and isinstance(index, int) else owner
            return
        key = constant_key(self._module, [node.slice])
        values = held(self._module, owner, key) if key is not None else None
        if values is None:
            yield owner
        else:
            names.add(owner.id)
            yield from values

    def _name(self, node: ast.Name, kinds: set[str]) -> Iterator[ast.AST]:
        yield from added(self._module, node)
        for binding in self._module.bindings_of(node):
            if binding.kind != "param" and is_dead(self._module, binding.node):
                continue
            if binding.kind == "param":
                kind = self._parameter(binding)
                if kind:
                    kinds.add(kind)
                if kind == PARAMETER:
                    kinds |= self._passed(binding)
            elif binding.kind == "import":
                self._known_source(node, kinds)
            elif binding.value is not None:
                yield binding.value

    def _parameter(self, binding: Binding) -> str | None:
        module, node = self._module, binding.node
        name = getattr(node, "arg", "")
        if name in ("self", "cls", "mcs"):
            return None
        annotation = set(module.names_of(getattr(node, "annotation", None)))
        if annotation & NUMBERS:
            return None
        function = next(
            (up for up in module.above(node) if isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef)), None
        )
        if function is None:
            return PARAMETER
        if is_route(module, function):
            default = binding.value
            injected = isinstance(default, ast.Call) and any(
                n.rpartition(".")[2] in INJECTED for n in module.names_of(default.func)
            )
            plain = name not in ("request", "req", "db", "session", "response", "user", "current_user")
            return REQUEST if plain and not injected else None
        arguments = [arg.arg for arg in function.args.args]
        if is_django_view(module, function) and name not in GIVEN:
            return REQUEST
        if name == "event" and arguments[:2] == ["event", "context"]:
            return REQUEST
        return MODEL if is_tool(module, function) else PARAMETER

    def _passed(self, binding: Binding) -> frozenset[str]:
        """What outsiders decide of a parameter: calls in this file pass it on, untested."""
        function = self._module.function_of(binding.node)
        if function is None or binding in self._asked or len(self._asked) >= _DEEPEST:
            return frozenset()
        self._asked.add(binding)
        try:
            return frozenset(self._outsiders(function, getattr(binding.node, "arg", "")))
        finally:
            self._asked.discard(binding)

    def _outsiders(self, function: FunctionNode, name: str) -> Iterator[str]:
        for call in self._sites.get(function, ()):
            given = argument_for(self._module, function, name, call)
            if given is None or self._module.function_of(call) is function:
                continue
            kinds = self.kinds(given) & OUTSIDERS
            if kinds and not self.tested(call, given):
                yield from kinds
        yield from passed_from_outside(self._module, function, name)

    @property
    def _sites(self) -> CallSites:
        return self._module.kept("call sites", call_sites)

    def _known_source(self, node: ast.AST, kinds: set[str]) -> bool:
        for name in self._module.names_of(node):
            if name.startswith(REQUEST_STEMS):
                kinds.add(REQUEST)
                return True
            if name.startswith(("sys.argv", "argparse.ArgumentParser().parse_args()")):
                kinds.add(INPUT)
                return True
            if name.startswith("os.environ"):
                kinds.add(ENVIRONMENT)
                return True
        return False

    def _attribute(self, node: ast.Attribute, kinds: set[str], names: set[str]) -> Iterator[ast.AST]:
        if self._known_source(node, kinds):
            return
        base = node.value
        owner = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
        if owner in ("request", "req") and node.attr in REQUEST_PARTS and self._is_free(base):
            kinds.add(REQUEST)
            return
        if isinstance(base, ast.Name) and base.id == "self":
            if node.attr in HANDLER_PARTS and self._in_http_handler(node):
                kinds.add(REQUEST)
                return
            names.add(f"self.{node.attr}")
            cls = self._module.class_of(node)
            yield from self._module.attribute_values(cls, node.attr)
            return
        values = held(self._module, base, (".", node.attr)) if isinstance(base, ast.Name) else None
        yield from values or (base,)

    def _is_free(self, base: ast.AST) -> bool:
        """True when ``request`` is a parameter, an attribute or something imported, not a local value."""
        if isinstance(base, ast.Name):
            bindings = self._module.bindings_of(base)
            if any(
                b.kind == "import"
                and not b.dotted.startswith(("flask", "django", "bottle", "quart", "sanic"))
                for b in bindings
            ):
                return False
            return not bindings or (
                any(b.kind in ("param", "import") for b in bindings) and self._module.is_web
            )
        return self._module.is_web

    def _in_http_handler(self, node: ast.AST) -> bool:
        cls = self._module.class_of(node)
        bases = [name for base in cls.bases for name in self._module.names_of(base)] if cls else []
        return any(base.endswith("HTTPRequestHandler") for base in bases)

    def _call(  # noqa: C901 - one case a kind of callee
        self, node: ast.Call, kinds: set[str], calls: set[str]
    ) -> Iterator[ast.AST]:
        found = self._module.names_of(node.func)
        last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        calls.update(found or ({node.func.id} if isinstance(node.func, ast.Name) else ()))
        if last:
            calls.add(f".{last}")
        if self._cleans(node.func, found, last):
            return
        if last in REQUEST_METHODS and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "self":
                kinds.add(REQUEST)
                return
        for name in found:
            kind = CALL_SOURCES.get(name)
            if kind is None and name.startswith(NETWORK_STEMS) and name.rpartition(".")[2] in VERBS:
                kind = NETWORK
            if kind is None and name.endswith((".read_text", ".read_bytes")):
                kind = FILE
            if kind is None and name.startswith(MODEL_STEMS) and name.rpartition(".")[2] in MODEL_VERBS:
                kind = MODEL
            if kind:
                kinds.add(kind)
                return
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
            got = self._got(node, owner) if last in ("get", "pop") else None
            if got is not None:
                yield from got
                return
            asked = isinstance(owner, ast.Name) and owner.id in ("request", "req")
            yield node.func if asked and last in REQUEST_PARTS else owner
        elif isinstance(node.func, ast.Name):
            self._known_source(node.func, kinds)
            yield from self._returned(node.func)
        else:
            self._known_source(node.func, kinds)
        yield from self._handed_back(node)

    def _got(self, call: ast.Call, owner: ast.expr) -> list[ast.expr] | None:
        """What ``d.get("key", default)`` or a configuration's ``get(section, key)`` gives of a local one."""
        if not isinstance(owner, ast.Name) or not call.args:
            return None
        key = constant_key(self._module, call.args[:1])
        values = held(self._module, owner, key) if key is not None else None
        default = call.args[1:]
        if len(call.args) > 1 and not values:
            pair = constant_key(self._module, call.args[:2])
            of_pair = held(self._module, owner, pair) if pair is not None else None
            values, default = (of_pair, []) if of_pair else (values, default)
        return None if values is None else [*values, *default]

    def _handed_back(self, call: ast.Call) -> Iterator[ast.AST]:
        """The arguments that what a call gives back may hold: of a function of this file those it returns."""
        function = called_function(self._module, call)
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        plain = function is not None and not isinstance(function, ast.AsyncFunctionDef | ast.Lambda)
        if function is None or not plain or function in self._inside or len(self._inside) >= _DEEPEST:
            yield from given
            return
        self._inside.add(function)
        try:
            ends = [end for end in self._module.returns_of(function) if not is_dead(self._module, end)]
            names = frozenset(name for end in ends for name in self.trace(end).names)
        finally:
            self._inside.discard(function)
        if isinstance(call.func, ast.Attribute):
            yield from ends
        passed = {name: argument_for(self._module, function, name, call) for name in _parameters(function)}
        unmatched = [item for item in given if item not in passed.values()]
        yield from (item for name, item in passed.items() if item is not None and name in names)
        yield from unmatched

    def _cleans(self, function: ast.expr, found: tuple[str, ...], last: str) -> bool:
        """True for a call whose result carries no text of its arguments."""
        if any(name in self._clean for name in found) or f".{last}" in self._clean:
            return True
        if isinstance(function, ast.Name):
            return function.id in self._clean
        # What a database has under a key is not the text of the key.
        return isinstance(function, ast.Attribute) and getattr(function.value, "attr", "") == "objects"

    def _returned(self, name: ast.Name) -> Iterator[ast.AST]:
        """What a function of this file gives back."""
        for binding in self._module.bindings_of(name):
            if binding.kind == "def":
                ends = self._module.returns_of(binding.node)
                yield from (end for end in ends if not is_dead(self._module, end))

    def escaped(self, expr: ast.AST | None) -> bool:
        """True when some call on the way says by its name that it quotes or escapes."""
        return any(_ESCAPES.search(call) for call in self.trace(expr).calls)

    # --- checks on the way ----------------------------------------------------------------------

    def tested(
        self, use: ast.AST, expr: ast.AST, *, calls_only: bool = False, plain_too: bool = False
    ) -> bool:
        """True when an ``if``, ``assert`` or comparison before the use looks at where ``expr`` comes from.

        Tests that only ask whether something is there (``exists``, ``is None``, plain truth) do not
        count, but with ``plain_too``; with ``calls_only`` comparisons do not count either.
        """
        module = self._module
        wanted = self.trace(expr).names
        if not wanted:
            return False
        function = module.function_of(use)
        at = start_of(use)
        kinds: tuple[type[ast.If | ast.While | ast.Assert | ast.IfExp], ...] = (
            ast.If,
            ast.While,
            ast.Assert,
            ast.IfExp,
        )
        for kind in kinds:
            for test in module.all(kind):
                if start_of(test) > at or module.function_of(test) is not function:
                    continue
                if self._looks_at(test.test, wanted, calls_only, plain_too):
                    return True
        return False

    def _looks_at(self, test: ast.AST, wanted: frozenset[str], calls_only: bool, plain_too: bool) -> bool:
        for node in self._module.within(test):
            parts: list[ast.expr] = []
            if isinstance(node, ast.Name) and plain_too:
                parts = [node]
            elif isinstance(node, ast.Compare):
                empty = all(isinstance(c, ast.Constant) and not c.value for c in node.comparators)
                if calls_only or (empty and not plain_too):
                    continue
                parts = [node.left, *node.comparators]
            elif isinstance(node, ast.Call):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                if name in _WEAK_TESTS:
                    continue
                parts = [*node.args]
                if isinstance(node.func, ast.Attribute):
                    parts.append(node.func.value)
            if any(self.trace(part).names & wanted for part in parts):
                return True
        return False


def _parameters(function: FunctionNode) -> list[str]:
    args = function.args
    return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
