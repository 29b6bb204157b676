"""Where a value comes from: follows an expression back through names, calls and strings to its sources.

Within a function, through attributes of ``self``, and from a parameter to the calls of its function, in the
same file and as far as ``Module.outside`` tells in others, that pass on what outsiders decide. It answers
"may text of this kind reach this place": it goes on through unknown calls and stops at a rule's cleaners.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator, Mapping

from gate.dataclass import dataclass
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
from gate.prescreen.python_ast.origins import origins_of
from gate.prescreen.python_ast.scope import Binding, FunctionNode, start_of
from gate.prescreen.python_ast.sources import (
    HANDLER_PARTS,
    HARMLESS_CALLS,
    OUTSIDERS,
    PARAMETER,
    REQUEST,
    REQUEST_PARTS,
)
from gate.prescreen.python_ast.stored.reads import kinds_stored
from gate.prescreen.python_ast.values.library import LETTERS, SANITISERS, is_standard
from gate.prescreen.python_ast.values.reach import reach_of
from gate.regex import regex

_ESCAPES = regex(r"(?<!un)escap|(?<!un)quote|sanitiz|sanitis|bleach|placeholder", re.IGNORECASE)
_LIMIT = 600
_DEEPEST = 4
"""Functions that a value is followed through, from the callee to its callers."""
_TELLS = frozenset({"debug", "info", "warning", "error", "exception", "log", "append", "add", "write"})
_WEAK_TESTS = frozenset(
    {
        *("exists", "isfile", "isdir", "isinstance", "hasattr", "len", "access", "lexists", "get"),
        *("is_file", "is_dir", "is_symlink", "islink"),
    }
)


@dataclass(frozen=True, slots=True)
class Traced:
    """Where an expression comes from: kinds of sources, variables, calls and nodes met on the way."""

    kinds: frozenset[str]
    names: frozenset[str]
    calls: frozenset[str]
    nodes: tuple[ast.AST, ...]


_NOTHING = Traced(frozenset(), frozenset(), frozenset(), ())


def _lines(source: ast.AST, came_from: Mapping[ast.AST, ast.AST], sink: ast.AST) -> tuple[int, ...]:
    node, lines = source, [getattr(source, "lineno", 0)]
    while node is not sink:
        node = came_from[node]
        lines.append(getattr(node, "lineno", 0))
    return tuple(line for n, line in enumerate(lines) if line and (n == 0 or line != lines[n - 1]))


class Flow:
    """Follows values in one module. Make one per check (it keeps what it found)."""

    def __init__(self, module: Module, clean: frozenset[str] = frozenset(), *, plain: bool = False) -> None:
        """``clean``: calls that take away what matters; ``plain``: without the forward reading."""
        self._module = module
        self._clean = HARMLESS_CALLS | clean
        self._origins = origins_of(module)
        self._met_clean = False
        self._plain = plain
        self._known: dict[ast.AST, Traced] = {}
        self._whole: dict[ast.AST, Traced] = {} if clean or not plain else module.kept("traced", lambda _: {})
        """What was followed to its end: the same for every plain reading."""
        self._cut = False
        self._asked: set[Binding] = set()
        self._inside: set[ast.AST] = set()

    def kinds(self, expr: ast.AST | None) -> frozenset[str]:
        """The kinds of sources an expression may carry text of."""
        return self.trace(expr).kinds

    def trace(self, expr: ast.AST | None) -> Traced:
        """Follows an expression back to its sources, at most a few hundred steps; not when it is late."""
        if expr is None:
            return _NOTHING
        known = self._known.get(expr) or self._whole.get(expr)
        if known is not None:
            self._cut = self._cut or expr not in self._whole
            return known
        if self._module.is_late():
            return _NOTHING
        cut, self._cut = self._cut, False
        self._met_clean, kinds = False, set[str]()
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
        found = frozenset(kinds) if self._plain else self._seen_forwards(expr, frozenset(kinds))
        traced = Traced(found, frozenset(names), frozenset(calls), tuple(seen))
        (self._known if self._cut or stack else self._whole)[expr] = traced
        self._cut = self._cut or cut
        return traced

    def _seen_forwards(self, expr: ast.AST, kinds: frozenset[str]) -> frozenset[str]:
        """The kinds as the forward reading has them, where it is sure of the value."""
        if not isinstance(expr, ast.expr):
            return kinds
        value = reach_of(self._module, self._passed_to).value(expr)
        if value is None:
            return kinds
        if kinds:
            return kinds & value.taint or (kinds if value.taint else frozenset())
        return frozenset() if value.safe or self._met_clean else value.taint

    def text_of(self, expr: ast.expr | None) -> str | None:
        """The constant text of an expression, also where it stands in another file of the tree."""
        text = self._module.text_of(expr)
        if text is not None or expr is None:
            return text
        value = reach_of(self._module, self._passed_to).value(expr)
        return value.const if value is not None and isinstance(value.const, str) else None

    def is_harmless(self, expr: ast.expr, kind: str) -> bool:
        """True when the forward reading is certain that the value cannot do harm of this class."""
        value = reach_of(self._module, self._passed_to).value(expr)
        return value is not None and (not value.taint or kind in value.safe)

    def _passed_to(self, arg: ast.arg) -> frozenset[str]:
        """What outsiders decide of a parameter, without the forward reading."""
        return Flow(self._module, plain=True)._passed(Binding("param", arg, start_of(arg)))

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
            if binding.kind != "param" or self._origins.parameter(binding.node, binding.value) != PARAMETER:
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
                self._origins.known(node, kinds)
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
                kind = self._origins.parameter(binding.node, binding.value)
                if kind:
                    kinds.add(kind)
                if kind == PARAMETER:
                    kinds |= self._passed(binding)
            elif binding.kind == "import":
                self._origins.known(node, kinds)
            elif binding.value is not None:
                if binding.kind in ("loop", "unpack"):
                    kinds |= kinds_stored(self._module, node)
                yield binding.value

    def _passed(self, binding: Binding) -> frozenset[str]:
        """What outsiders decide of a parameter: calls in this file pass it on, untested."""
        function = self._module.function_of(binding.node)
        if function is None or binding in self._asked or len(self._asked) >= _DEEPEST:
            self._cut = self._cut or function is not None
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

    def _attribute(self, node: ast.Attribute, kinds: set[str], names: set[str]) -> Iterator[ast.AST]:
        base = node.value
        if self._origins.known(node, kinds):
            if isinstance(base, ast.Name) and kinds_stored(self._module, node):
                names.add(base.id)
            return
        owner = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
        if owner in ("request", "req") and node.attr in REQUEST_PARTS and self._origins.is_free(base):
            kinds.add(REQUEST)
            return
        if isinstance(base, ast.Name) and base.id == "self":
            if node.attr in HANDLER_PARTS and self._origins.in_http_handler(node):
                kinds.add(REQUEST)
                return
            names.add(f"self.{node.attr}")
            cls = self._module.class_of(node)
            yield from self._module.attribute_values(cls, node.attr)
            return
        if node.attr in ("name", "stem") and "os.path.basename" in self._clean and self._is_path(base):
            return  # the last part of a path, without its folders
        values = held(self._module, base, (".", node.attr)) if isinstance(base, ast.Name) else None
        yield from values or (base,)

    def _is_path(self, expr: ast.expr) -> bool:
        return any(name.startswith("pathlib.") for name in self._module.names_of(expr))

    def _call(self, node: ast.Call, kinds: set[str], calls: set[str]) -> Iterator[ast.AST]:
        found = self._module.names_of(node.func)
        last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        calls.update(found or ({node.func.id} if isinstance(node.func, ast.Name) else ()))
        if last:
            calls.add(f".{last}")
        if self._cleans(node.func, found, last):
            return
        if kind := self._origins.called(node):
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
            if last == "get" and len(node.args) == 1 and not node.keywords:
                return  # what stands under a key is not the key's text
        elif isinstance(node.func, ast.Name):
            self._origins.known(node.func, kinds)
            yield from self._returned(node.func)
        else:
            self._origins.known(node.func, kinds)
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
        plain = function is not None and not isinstance(function, ast.Lambda)
        if function is None or not plain or function in self._inside or len(self._inside) >= _DEEPEST:
            self._cut = self._cut or (function is not None and plain)
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
        named = {*found, f".{last}"} if last else {*found, getattr(function, "id", "")}
        if named & self._clean:
            self._met_clean = self._met_clean or not named.isdisjoint(self._clean - SANITISERS.keys())
            return True
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
        value = reach_of(self._module, self._passed_to).value(expr) if isinstance(expr, ast.expr) else None
        if value is not None and value.taint and not value.safe:
            return False
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
        value = reach_of(module, self._passed_to).value(expr) if isinstance(expr, ast.expr) else None
        certain = False
        if value is not None:  # the forward reading knows comparisons, not what functions check
            certain = bool(value.taint & OUTSIDERS) and not value.safe
            calls_only, plain_too = calls_only or certain, plain_too and not certain
        function = module.function_of(use)
        at = start_of(use)
        for kind in _TESTS:
            for test in module.all(kind):
                if start_of(test) > at or module.function_of(test) is not function:
                    continue
                if isinstance(test, ast.If) and not self._decides(test, use, wanted):
                    continue
                if self._looks_at(test.test, wanted, calls_only, plain_too, certain):
                    return True
        return False

    def _is_known(self, call: ast.Call) -> bool:
        """A call in a test that the forward reading has understood, so that it need not be trusted."""
        if isinstance(call.func, ast.Attribute) and call.func.attr in _KNOWN_TESTS:
            return True
        names = self._module.names_of(call.func)  # what ipaddress says of one, nobody knows before
        return bool(names) and all(
            is_standard(n) and not n.startswith(("ipaddress.", "socket.")) for n in names
        )

    def _decides(self, test: ast.If, use: ast.AST, wanted: frozenset[str]) -> bool:
        """True when the use depends on the test: it stands in a branch, or a branch ends or changes it."""
        for branch in (test.body, test.orelse):
            if branch and isinstance(branch[-1], ast.Return | ast.Raise | ast.Continue | ast.Break):
                return True
            for part in branch:
                for node in self._module.within(part):
                    if node is use:
                        return True
                    stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                    if stored and getattr(node, "id", "") in wanted:
                        return True
                    if (
                        isinstance(node, ast.Expr)
                        and isinstance(node.value, ast.Call)
                        and not self._prints(node.value)
                    ):
                        return True
        return False

    def _prints(self, call: ast.Call) -> bool:
        """A call that only tells: it ends nothing."""
        names = self._module.names_of(call.func)
        told = isinstance(call.func, ast.Attribute) and call.func.attr in _TELLS
        return told or "print" in names

    def _looks_at(
        self, test: ast.AST, wanted: frozenset[str], calls_only: bool, plain_too: bool, certain: bool
    ) -> bool:
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
                if name in _WEAK_TESTS or (certain and self._is_known(node)):
                    continue
                parts = [*node.args]
                if isinstance(node.func, ast.Attribute):
                    parts.append(node.func.value)
            if any(self.trace(part).names & wanted for part in parts):
                return True
        return False


_TESTS: tuple[type[ast.If | ast.While | ast.Assert | ast.IfExp], ...] = (
    *(ast.If, ast.While, ast.Assert, ast.IfExp),
)
_KNOWN_TESTS = LETTERS | {
    *("startswith", "endswith", "find", "getlist", "lower", "upper", "strip", "split", "keys"),
}


def _parameters(function: FunctionNode) -> list[str]:
    args = function.args
    return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
