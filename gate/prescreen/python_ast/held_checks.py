"""What the conditions around a use say of a text: it is one of some (an allow list), or none of some (a deny
list, which lets through whatever nobody thought of). Judged by what a check does, never by its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final, Literal

from gate.prescreen.python_ast.call_sites import called_function
from gate.prescreen.python_ast.class_bases import sources_of
from gate.prescreen.python_ast.guards import guards
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scope import FunctionNode, start_of
from gate.regex import regex

Verdict = Literal["allow", "deny", "unknown"]
_DEEPEST: Final = 4
_SHAPES: Final = frozenset({"hasattr", "isinstance", "len", "bool", "str", "callable"})
"""Calls that ask what kind of thing a text is, or whether there is one."""
_OPPOSED: Final = frozenset({"isdisjoint", "intersection"})
_WITHIN: Final = frozenset({"issubset", "issuperset", "difference"})
_BOTH: Final = (ast.In, ast.NotIn)
_PARTS: Final = frozenset({
    "keys", "items", "lower", "upper", "strip", "casefold", "split", "copy", "rstrip", "lstrip",
})  # fmt: skip


def verdicts(module: Module, use: ast.AST, names: AbstractSet[str]) -> Iterator[Verdict]:
    """What each condition that holds where ``use`` stands says of these names."""
    function = module.function_of(use)
    around = {use, *module.above(use)}
    for guard in module.kept("guards", lambda index: list(guards(index))):
        if module.function_of(guard.test) is function and not around.isdisjoint(guard.guarded):
            yield from judged(module, guard.test, guard.value, names)
    for test in module.all(ast.If):
        if module.function_of(test) is not function or start_of(test) >= start_of(use) or test in around:
            continue
        loop = next((up for up in module.above(test) if isinstance(up, ast.For)), None)
        looped = loop is not None and loop not in around and about(module, loop.iter, names)
        if looped and loop is not None and (_aborts(test.body[-1]) or isinstance(test.body[-1], _ENDS)):
            targets = {n.id for n in module.within(loop.target) if isinstance(n, ast.Name)}
            yield from judged(module, test.test, False, names | targets)
        elif _aborts(test.body[-1]):
            yield from judged(module, test.test, False, names)
    yield from _refusing_calls(module, use, names)


_ENDS: Final = (ast.Return, ast.Raise)


def _aborts(statement: ast.stmt) -> bool:
    """``abort(400)``, which raises."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    called = call.func if isinstance(call, ast.Call) else None
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in (
        "abort",
        "exit",
    )


_CHECKS: Final = regex(r"check|valid|ensure|assert|verify|guard|require|forbid|allow|safe")


def _refusing_calls(module: Module, use: ast.AST, names: AbstractSet[str]) -> Iterator[Verdict]:
    """``check(url)`` as a statement before the use: it raises where something is wrong."""
    function, at = module.function_of(use), start_of(use)
    for statement in module.all(ast.Expr):
        call = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        if not isinstance(call, ast.Call) or start_of(statement) >= at:
            continue
        if module.function_of(statement) is not function or not any(
            about(module, a, names) for a in call.args
        ):
            continue
        read = _readable(module, call)
        if read is None:
            last = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if _CHECKS.search(last.lower()):
                yield "unknown"
            continue
        owner, called = read
        passed = _passed(module, called, call, names)
        for test in owner.all(ast.If):
            if owner.function_of(test) is called and isinstance(test.body[-1], ast.Raise):
                yield from judged(owner, test.test, False, passed, 1)


def _readable(module: Module, call: ast.Call) -> tuple[Module, FunctionNode] | None:
    """The function that a call runs, in this file or in one that it imports."""
    function = called_function(module, call)
    if function is not None:
        return module, function
    for name in module.names_of(call.func):
        found = sources_of(module).find(name, module)
        if found is not None and isinstance(found[1], ast.FunctionDef | ast.AsyncFunctionDef):
            return found[0], found[1]
    return None


def _passed(module: Module, function: FunctionNode, call: ast.Call, names: AbstractSet[str]) -> set[str]:
    """The parameters of a function that a call gives what these names hold."""
    given = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    given = given[1:] if given[:1] in (["self"], ["cls"]) else given
    passed = {name for name, arg in zip(given, call.args, strict=False) if about(module, arg, names)}
    return passed | {k.arg for k in call.keywords if k.arg and about(module, k.value, names)}


def judged(
    module: Module, test: ast.expr, value: bool, names: AbstractSet[str], depth: int = 0
) -> Iterator[Verdict]:
    """What a condition says of these names where it is ``value``; nothing where it is not about them."""
    if depth > _DEEPEST:
        return
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from judged(module, test.operand, not value, names, depth)
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from judged(module, part, value, names, depth)
    elif isinstance(test, ast.NamedExpr):
        yield from judged(module, test.value, value, names, depth)
    elif isinstance(test, ast.Name):
        yield from _name(module, test, value, names, depth)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield from _compared(module, test, value, names)
    elif isinstance(test, ast.Call):
        yield from _called(module, test, value, names, depth)
    elif isinstance(test, ast.BinOp) and about(module, test, names):
        left = isinstance(test.op, ast.Sub) and about(module, test.left, names)
        yield ("deny" if value or not left else _listed(module, test.right))
    elif isinstance(test, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        yield from _several(module, test, value, names, depth)


def _name(
    module: Module, test: ast.Name, value: bool, names: AbstractSet[str], depth: int
) -> Iterator[Verdict]:
    """``unknown = set(changes) - ALLOWED``, then ``if unknown:``."""
    made = [b.value for b in module.bindings_of(test) if b.kind == "assign" and b.value is not None]
    if test.id not in names and len(made) == 1:
        inner = made[0]
        if isinstance(inner, ast.Call) and module.names_of(inner.func) in (("sorted",), ("list",), ("set",)):
            inner = inner.args[0] if inner.args else inner
        yield from judged(module, inner, value, names, depth + 1)


def _compared(module: Module, test: ast.Compare, value: bool, names: AbstractSet[str]) -> Iterator[Verdict]:
    op, left, right = test.ops[0], test.left, test.comparators[0]
    if isinstance(op, _BOTH):
        if about(module, left, names):
            yield _listed(module, right) if isinstance(op, ast.In) == value else "deny"
        elif about(module, right, names):  # a piece of the text, or of the keys
            yield "deny" if isinstance(op, ast.NotIn) == value else "unknown"
    elif isinstance(op, ast.Eq | ast.NotEq) and (about(module, left, names) or about(module, right, names)):
        yield "allow" if isinstance(op, ast.Eq) == value else "deny"
    elif isinstance(op, ast.LtE | ast.Lt | ast.GtE | ast.Gt):
        inner, outer = (left, right) if isinstance(op, ast.LtE | ast.Lt) else (right, left)
        sized = any(
            isinstance(side, ast.Call) and module.names_of(side.func) == ("len",) for side in (left, right)
        )
        if about(module, inner, names) and not sized:
            yield _listed(module, outer) if value else "deny"


def _called(
    module: Module, test: ast.Call, value: bool, names: AbstractSet[str], depth: int
) -> Iterator[Verdict]:
    called = module.names_of(test.func)
    first = test.args[0] if test.args else None
    if called in (("any",), ("all",)) and isinstance(first, ast.GeneratorExp | ast.ListComp):
        yield from judged(module, first.elt, value, names | _targets(module, first, names), depth + 1)
        return
    if not any(about(module, part, names) for part in (*test.args, *(k.value for k in test.keywords))):
        owner = test.func.value if isinstance(test.func, ast.Attribute) else None
        if owner is None or not about(module, owner, names):
            return
        attribute = getattr(test.func, "attr", "")
        if attribute in _WITHIN and first is not None:
            holds = value if attribute == "issubset" else not value
            yield _listed(module, first) if holds else "deny"
        elif attribute in _OPPOSED or _is_weak(module, attribute, first, value):
            yield "deny"
        elif attribute not in ("get", "keys", "items"):
            yield "unknown"
        return
    opposed = isinstance(test.func, ast.Attribute) and test.func.attr in _OPPOSED
    if opposed or any(name in _SHAPES for name in called):
        yield "deny"
    elif any(name in ("re.match", "re.search", "re.fullmatch") for name in called):
        yield "unknown" if value else "deny"
    elif (read := _readable(module, test)) is not None:
        yield from _returned(*read, _passed(module, read[1], test, names), value, depth)
    else:
        yield "unknown"


def _returned(
    module: Module, function: FunctionNode, passed: AbstractSet[str], value: bool, depth: int
) -> Iterator[Verdict]:
    """What the returns of a function say of the parameters that it is given the text for."""
    ends = module.returns_of(function)
    said: list[Verdict] = []
    for end in ends:
        if not isinstance(end, ast.Constant):
            said += judged(module, end, value, passed, depth + 1)
        elif bool(end.value) == value:
            said += verdicts(module, end, passed)
    yield from said or (["unknown"] if ends else [])


def _several(
    module: Module,
    made: ast.ListComp | ast.SetComp | ast.GeneratorExp,
    value: bool,
    names: AbstractSet[str],
    depth: int,
) -> Iterator[Verdict]:
    """``[key for key in changes if key not in ALLOWED]``, which is empty where all is well."""
    inner = names | _targets(module, made, names)
    for test in made.generators[0].ifs:
        yield from judged(module, test, value, inner, depth + 1)


def kept_by(module: Module, made: ast.expr, names: AbstractSet[str]) -> Iterator[Verdict]:
    """What the conditions of a comprehension say of what it takes."""
    if isinstance(made, ast.DictComp | ast.ListComp | ast.SetComp | ast.GeneratorExp):
        targets = _targets(module, made, None)
        for generator in made.generators:
            for test in generator.ifs:
                yield from judged(module, test, True, names | targets)


def _targets(
    module: Module,
    made: ast.DictComp | ast.ListComp | ast.SetComp | ast.GeneratorExp,
    names: AbstractSet[str] | None,
) -> set[str]:
    return {
        node.id
        for generator in made.generators
        if names is None or about(module, generator.iter, names)
        for node in module.within(generator.target)
        if isinstance(node, ast.Name)
    }


def _is_weak(module: Module, attribute: str, first: ast.expr | None, value: bool) -> bool:
    """A beginning or an end that a text must not have, or one that says nothing of where it leads."""
    if attribute not in ("startswith", "endswith"):
        return False
    return not value or (attribute == "startswith" and first is not None and _names_schemes(module, first))


def _names_schemes(module: Module, given: ast.expr) -> bool:
    """``("http://", "https://")``: any host follows."""
    texts = given.elts if isinstance(given, ast.Tuple) else [given]
    return all((module.text_of(one) or "-").endswith(("://", "http", "https")) for one in texts)


_OTHER_PARTS: Final = frozenset({"scheme", "port", "fragment", "query", "username", "password"})
"""Parts of an address that say nothing of where it leads."""


def about(module: Module, expr: ast.expr, names: AbstractSet[str], depth: int = 0) -> bool:
    """True where the expression is made of these names, in one step or two: ``set(changes)``."""
    for node in module.within(expr):
        if not isinstance(node, ast.Name):
            continue
        if getattr(module.parents.get(node), "attr", "") in _OTHER_PARTS:
            continue
        if node.id in names:
            return True
        if depth < 2:
            made = [b.value for b in module.bindings_of(node) if b.kind in ("assign", "unpack")]
            if len(made) == 1 and made[0] is not None and about(module, made[0], names, depth + 1):
                return True
    return False


_EVERY_FIELD: Final = frozenset({
    "concrete_fields", "get_fields", "_meta", "__dict__", "__table__", "__fields__", "model_fields",
    "columns", "__mapper__", "__dataclass_fields__", "_fields", "__slots__",
})  # fmt: skip
_EVERY_CALL: Final = frozenset({"vars", "dir", "dataclasses.fields", "sqlalchemy.inspect"})


def _listed(module: Module, listed: ast.expr) -> Verdict:
    """A list that somebody wrote allows; all fields that there are, but for some, are a deny list."""
    todo, seen = [listed], 0
    while todo and seen < 40:
        seen += 1
        one = todo.pop()
        for node in module.within(one):
            if isinstance(node, ast.Attribute) and node.attr in _EVERY_FIELD:
                return _chosen(module, node)
            if isinstance(node, ast.Call):
                if _EVERY_CALL & {*module.names_of(node.func)}:
                    return _chosen(module, node)
                function = called_function(module, node)
                todo += module.returns_of(function) if function is not None else []
            elif isinstance(node, ast.Name):
                todo += [
                    b.value for b in module.bindings_of(node) if b.kind == "assign" and b.value is not None
                ]
    return "allow"


def _chosen(module: Module, fields: ast.AST) -> Verdict:
    """All fields of a kind: ``{f.name for f in fields if f.name in EDITABLE}`` is an allow list after all."""
    made = next((up for up in module.above(fields) if isinstance(up, _MADE)), None)
    if made is None:
        return "deny"
    said = list(kept_by(module, made, frozenset()))
    return "allow" if "allow" in said or "unknown" in said else "deny"


_MADE: Final = (ast.DictComp, ast.ListComp, ast.SetComp, ast.GeneratorExp)
