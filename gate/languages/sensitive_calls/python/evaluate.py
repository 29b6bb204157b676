"""What an expression may stand for: dotted names of modules and what is in them, texts, functions of the
file.

A meaning is a tuple of words. ``("os", "system")`` is what an import names; ``("pathlib", "Path()",
"parent")`` something of an object that was made; ``("'", "text")`` a text; ``("?", "client", "post")`` a
member of what nobody knows, which the code calls ``client``; ``("def", name)`` and ``("class", name)``
are of this file. ``*`` is a member whose name is made while running. A container means all that is in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final

from gate.languages.sensitive_calls.python.scopes import Binding, Scope, Scopes

Meaning = tuple[str, ...]
Meanings = frozenset[Meaning]
NOTHING: Final[Meanings] = frozenset()
UNKNOWN: Final[Meanings] = frozenset({("?",)})
ANY_MODULE: Final[Meaning] = ("?module",)
GATHERED: Final[Meaning] = ("[]", "*")
"""End of a meaning: any of the fields of something, gathered by a comprehension."""
_MOST: Final = 48
_DEEPEST: Final = 200
_STEPS: Final = 200_000
"""Expressions that are evaluated for one file; beyond, everything is unknown."""
_TEXT: Final = 400
_MAKERS: Final = frozenset(
    {
        "socket",
        "session",
        "client",
        "resource",
        "create_connection",
        "create_server",
        "connect",
        "build_opener",
        "insecure_channel",
        "secure_channel",
        "get_ipython",
        "get_keyring",
        "new_event_loop",
        "get_event_loop",
        "get_running_loop",
        "open_connection",
    }
)
"""Functions that give an object of their module. Classes are known by their capital letter."""
_IMPORTERS: Final = frozenset(
    {
        ("__import__",),
        ("builtins", "__import__"),
        ("importlib", "import_module"),
        ("importlib", "__import__"),
        ("importlib", "reload"),
        ("pkgutil", "resolve_name"),
        ("importlib", "_bootstrap", "_gcd_import"),
        ("runpy", "_get_module_details"),
        ("django", "utils", "module_loading", "import_string"),
        ("werkzeug", "utils", "import_string"),
    }
)
SAME: Final = frozenset(
    {
        ("functools", "partial"),
        ("functools", "wraps"),
        ("staticmethod",),
        ("classmethod",),
        ("list",),
        ("tuple",),
        ("set",),
        ("iter",),
        ("next",),
        ("sorted",),
        ("reversed",),
        ("copy", "copy"),
        ("copy", "deepcopy"),
        ("dict",),
        ("enumerate",),
        ("zip",),
        ("typing", "cast"),
        ("functools", "lru_cache"),
        ("functools", "cache"),
        ("property",),
        ("asyncio", "coroutine"),
        ("weakref", "proxy"),
        ("types", "MappingProxyType"),
        ("frozenset",),
        ("max",),
        ("min",),
    }
)
"""Calls that give what they are given."""
_PATH_MEMBERS: Final = frozenset(
    {
        "parent",
        "joinpath",
        "resolve",
        "absolute",
        "expanduser",
        "with_suffix",
        "with_name",
        "glob",
        "rglob",
        "iterdir",
    }
)
_PATHS: Final = frozenset({"Path()", "PosixPath()", "WindowsPath()"})


class Evaluator:
    """Evaluates expressions of one module, never running any of them."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._known: dict[ast.AST, Meanings] = {}
        self._under_way: set[ast.AST] = set()
        self._steps = 0
        self._deep = 0
        self.tangled = False
        """True once something was too deep or too much to be followed."""
        self.functions: dict[str, ast.AST] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.called: dict[ast.AST, str] = {}
        self._returns: dict[Scope, list[ast.expr]] = {}
        for node, scope in scopes.inside.items():
            if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
                self._returns.setdefault(scope, []).append(node.value)
        for node in scopes.of:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                name = self._qualified(node)
                self.called[node] = name
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(name, node)
                else:
                    self.functions.setdefault(name, node)

    def _qualified(self, node: ast.AST) -> str:
        words = []
        scope: Scope | None = self._scopes.of[node]
        while scope is not None and scope.parent is not None:
            name = getattr(scope.node, "name", "")
            if name:
                words.append(name)
            elif isinstance(scope.node, ast.Lambda):
                words.append(f"<lambda {scope.node.lineno}:{scope.node.col_offset}>")
            scope = scope.parent
        return ".".join(reversed(words))

    def of(self, node: ast.AST | None) -> Meanings:
        """What an expression may stand for, at most some dozens of meanings."""
        if node is None:
            return NOTHING
        if node in self._known:
            return self._known[node]
        if node in self._under_way:
            return NOTHING
        if self._deep > _DEEPEST or self._steps > _STEPS:
            self.tangled = True
            return UNKNOWN
        self._under_way.add(node)
        self._deep += 1
        self._steps += 1
        whole = len(self._under_way) == 1
        try:
            found = frozenset(sorted(set(self._evaluated(node)))[:_MOST])
        finally:
            self._deep -= 1
            self._under_way.discard(node)
        # What was evaluated within a circle may lack a part: only outermost results and plain ones are kept.
        if (
            whole
            or isinstance(node, (ast.Constant, ast.Name))
            or (len(self._known) < _STEPS and self._steps > 2_000)
        ):
            self._known[node] = found
        return found

    def texts(self, node: ast.AST | None) -> list[str]:
        """The texts that an expression may be."""
        return [meaning[1] for meaning in sorted(self.of(node)) if meaning[0] == "'"]

    def bound(self, name: str, scope: Scope) -> Meanings:
        """What a name stands for, seen from a scope."""
        found = scope.find(name)
        if found is None:
            stars = scope.module.stars
            return frozenset({(name,), *((*module, name) for module in stars)})
        return self._union(self._of_binding(each) for each in found)

    def _of_binding(self, binding: Binding) -> Meanings:
        if binding.how == "import":
            return frozenset({binding.name})
        if binding.how == "value":
            return self.of(binding.node)
        if binding.how in ("function", "class") and binding.node is not None:
            kind = "def" if binding.how == "function" else "class"
            return frozenset({(kind, self.called[binding.node])})
        if binding.how == "self" and binding.node is not None:
            return frozenset({("?", "self"), ("class", self.called[binding.node])})
        if binding.how == "parameter":
            return frozenset({("?", *binding.name), *self._annotated(binding)})
        if binding.how == "annotated":
            return self._annotated(binding)
        return UNKNOWN

    def _annotated(self, binding: Binding) -> Meanings:
        """An object of the class that a parameter's annotation names."""
        node = binding.node
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 100:
            try:
                node = ast.parse(node.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return NOTHING
        names = [n for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))] if node else []
        made: set[Meaning] = set()
        for name in names[:8]:
            for meaning in self._dotted(name, binding.scope):
                if meaning[0] == "class" and len(meaning) == 2:
                    made |= {meaning, *self._inherited(meaning[1])}
                elif meaning[0] not in ("?", "'", "def") and meaning[-1][:1].isupper():
                    made.add((*meaning[:-1], f"{meaning[-1]}()"))
        return frozenset(made)

    def _dotted(self, node: ast.expr, scope: Scope) -> Meanings:
        if isinstance(node, ast.Name):
            return self.bound(node.id, scope)
        if isinstance(node, ast.Attribute):
            return frozenset((*base, node.attr) for base in self._dotted(node.value, scope))
        return NOTHING

    @staticmethod
    def _union(groups: Iterable[Meanings]) -> Meanings:
        found: set[Meaning] = set()
        for group in groups:
            found |= group
            if len(found) > 4 * _MOST:
                break
        return frozenset(found)

    def _evaluated(self, node: ast.AST) -> Meanings:
        if isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, bytes):
                value = value.decode("latin-1")
            return frozenset({("'", value[:_TEXT])}) if isinstance(value, str) else NOTHING
        if isinstance(node, ast.Name):
            return self.bound(node.id, self._scopes.inside.get(node, self._scopes.top))
        if isinstance(node, ast.Attribute):
            return self._attribute(self.of(node.value), frozenset({node.attr}))
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.JoinedStr):
            return self._joined(node.values, "")
        if isinstance(node, ast.FormattedValue):
            return frozenset(m for m in self.of(node.value) if m[0] == "'") or UNKNOWN
        if isinstance(node, ast.Lambda):
            return frozenset({("def", self.called[node])}) if node in self.called else UNKNOWN
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return frozenset(map(_gathered, self._union(self.of(part) for part in parts_of(node)))) or UNKNOWN
        return self._union(self.of(part) for part in parts_of(node)) or (
            NOTHING if isinstance(node, (ast.Compare, ast.List, ast.Dict, ast.Tuple, ast.Set)) else UNKNOWN
        )

    def _attribute(self, base: Meanings, names: Iterable[str]) -> Meanings:
        found: set[Meaning] = set()
        for meaning, name in product(sorted(base) or [("?",)], sorted(names)):
            if meaning[0] == "'":
                continue
            if meaning[0] == "class" and len(meaning) == 2:
                found |= self._member(meaning[1], name)
                found |= {(*made, name) for made in self._inherited(meaning[1])}
            if meaning[0] in ("?", "class", "def", "object"):
                found |= self._union(self._of_binding(each) for each in self._scopes.members.get(name, ()))
            if meaning[-1] in _PATHS and name in _PATH_MEMBERS:
                found.add(meaning)
                continue
            found.add((*meaning, name) if len(meaning) < 12 else ("?",))
        return frozenset(found) or UNKNOWN

    def _member(self, owner: str, name: str) -> Meanings:
        """A name in the body of a class of this file, or of those it is made from."""
        node = self.classes.get(owner)
        if node is None:
            return NOTHING
        found = self._scopes.of[node].names.get(name)
        if found:
            return self._union(self._of_binding(each) for each in found)
        return self._union(
            self._member(base[1], name)
            for expression in node.bases
            for base in self.of(expression)
            if base[0] == "class" and base[1] != owner
        )

    def _subscript(self, node: ast.Subscript) -> Meanings:
        base = self.of(node.value)
        keys = self.texts(node.slice)
        tables = {m for m in base if self._is_table(m)}
        if not tables:
            return base
        found: set[Meaning] = set(base - tables)
        for table in tables:
            owner = table[:-1]
            if table == ("sys", "modules"):
                found |= {tuple(key.split(".")) for key in keys} or {ANY_MODULE}
            elif table in (("globals()",), ("locals()",), ("vars()",)):
                scope = self._scopes.inside.get(node, self._scopes.top)
                found |= self._union(self.bound(key, scope) for key in keys) if keys else {("?scope", "*")}
            elif table in (("__builtins__",), ("builtins",)):
                found |= {("builtins", key) for key in keys} or {("builtins", "*")}
            else:
                found |= {(*owner, key) for key in keys} or {(*owner, "*")}
        return frozenset(found)

    @staticmethod
    def _is_table(meaning: Meaning) -> bool:
        return (
            meaning == ("sys", "modules")
            or meaning[-1] in ("__dict__", "__globals__")
            or meaning in (("globals()",), ("locals()",), ("vars()",), ("__builtins__",))
        )

    def _operation(self, node: ast.BinOp) -> Meanings:
        left, right = self.of(node.left), self.of(node.right)
        if isinstance(node.op, ast.Add):
            joined = self._joined([node.left, node.right], "")
            return joined | frozenset(m for m in left | right if m[0] != "'")
        if isinstance(node.op, ast.Div):
            paths = frozenset(m for m in left | right if m[-1] in _PATHS)
            return paths | (self._joined([node.left, node.right], "/") if paths else NOTHING) or UNKNOWN
        if isinstance(node.op, ast.Mod) and any(m[0] == "'" for m in left):
            return UNKNOWN
        return left | right

    def _joined(self, nodes: Iterable[ast.expr], between: str) -> Meanings:
        """Texts put together from parts of which each is a known text."""
        options: list[list[str]] = []
        for node in nodes:
            texts = self.texts(node)
            if not texts:
                return UNKNOWN
            options.append(texts[:4])
        if len(options) > 40:
            return UNKNOWN
        made = set()
        for count, words in enumerate(product(*options)):
            if count >= _MOST:
                break
            made.add(("'", between.join(words)[:_TEXT]))
        return frozenset(made)

    def _call(self, node: ast.Call) -> Meanings:
        return self._union(self._result(node, meaning) for meaning in sorted(self.of(node.func)) or [("?",)])

    def _result(self, node: ast.Call, called: Meaning) -> Meanings:
        first = node.args[0] if node.args else None
        plain = called[1:] if called[0] == "builtins" and len(called) == 2 else called
        if plain == ("getattr",) and len(node.args) >= 2:
            return self._got(node) | (self.of(node.args[2]) if len(node.args) > 2 else NOTHING)
        if plain in _IMPORTERS:
            return self._imported(self.texts(first), plain)
        if plain in (("vars",), ("globals",), ("locals",)):
            if first is None:
                return frozenset({(f"{plain[0]}()",)})
            return frozenset((*m, "__dict__") for m in self.of(first))
        if plain in SAME:
            given = node.args[1:] if plain == ("typing", "cast") else node.args
            return self._union(self.of(each) for each in given) or frozenset({plain})
        if called[-1] in ("__getattribute__", "__getattr__") and node.args:
            names = self.texts(node.args[-1])
            owners = self.of(node.args[0]) if len(node.args) > 1 else frozenset({called[:-1] or ("?",)})
            return self._attribute(owners, names or ["*"])
        if called[-1] in ("get", "pop", "__getitem__", "setdefault") and len(called) > 1 and node.args:
            table = called[:-1]
            if self._is_table(table):
                slot = ast.Subscript(value=_fixed(table), slice=node.args[0], ctx=ast.Load())
                self._known[slot.value] = frozenset({table})
                self._scopes.inside[slot] = self._scopes.inside.get(node, self._scopes.top)
                return self._subscript(slot)
        made = self._operator(node, plain)
        return made if made is not None else self._made(node, called)

    def _made(self, node: ast.Call, called: Meaning) -> Meanings:
        """What a function or a class gives that is none of the ways to other names."""
        if called[0] == "def":
            return self._returned(called[1])
        if called[0] == "class":
            return frozenset({called}) | self._inherited(called[1]) if len(called) == 2 else UNKNOWN
        if called[0] == "'" or (called[-1] == "join" and bool(node.args)):
            return UNKNOWN
        if called[:2] == ("os", "path"):
            return self._joined(node.args, "/") if called[-1] == "join" else UNKNOWN
        word = called[-1]
        if called[0] != "?" and (word[:1].isupper() or word in _MAKERS or word == "*"):
            return frozenset({(*called[:-1], f"{word}()")})
        if len(called) > 1 and called[-2] in _PATHS:
            return frozenset({called[:-1]}) if word in ("cwd", "home") else UNKNOWN
        if called[-2:] in (("Path", "home"), ("Path", "cwd")):
            return frozenset({(*called[:-2], "Path()")})
        return UNKNOWN

    def _operator(self, node: ast.Call, called: Meaning) -> Meanings | None:
        """``operator.attrgetter("system")(os)`` and ``methodcaller``: what they make, and what that gives."""
        if called in (("operator", "attrgetter"), ("operator", "methodcaller"), ("operator", "itemgetter")):
            names = self.texts(node.args[0] if node.args else None)
            return frozenset({("operator", f"{called[1]}()", name) for name in names or ["*"]})
        if len(called) == 3 and called[0] == "operator" and node.args:
            return self._attribute(self.of(node.args[0]), [called[2]])
        return None

    def _got(self, node: ast.Call) -> Meanings:
        owners = self.of(node.args[0])
        names = [name for name in self.texts(node.args[1]) if name]
        return self._attribute(owners, names or ["*"])

    def _imported(self, names: list[str], importer: Meaning) -> Meanings:
        if not names:
            return frozenset({ANY_MODULE})
        parts = frozenset(tuple(word for word in name.replace(":", ".").split(".") if word) for name in names)
        if importer[-1] == "__import__":  # the first part is what it gives
            return frozenset(p[:1] for p in parts if p) | frozenset(p for p in parts if p)
        return frozenset(p for p in parts if p)

    def _returned(self, name: str) -> Meanings:
        return self._union(self.of(value) for value in self.returned(name)) or UNKNOWN

    def returned(self, name: str) -> list[ast.expr]:
        """The expressions that a function of this file gives back."""
        node = self.functions.get(name)
        if isinstance(node, ast.Lambda):
            return [node.body]
        return [] if node is None else self._returns.get(self._scopes.of[node], [])

    def _inherited(self, name: str, depth: int = 0) -> Meanings:
        """Objects of the foreign classes that a class of this file is made from."""
        node = self.classes.get(name)
        if node is None or depth > 5:
            return NOTHING
        found: set[Meaning] = set()
        for expression in node.bases:
            for base in self.of(expression):
                if base[0] == "class" and base[1] != name:
                    found |= self._inherited(base[1], depth + 1)
                elif base[0] not in ("?", "'", "def") and base[-1][:1].isupper():
                    found.add((*base[:-1], f"{base[-1]}()"))
        return frozenset(found)


def _gathered(meaning: Meaning) -> Meaning:
    """``[getattr(x, n) for n in names]``, of what nobody knows: fields gathered, not one that was chosen."""
    return (*meaning[:-1], *GATHERED) if meaning[0] == "?" and meaning[-1] == "*" else meaning


def _fixed(meaning: Meaning) -> ast.Name:
    return ast.Name(id="\0".join(meaning), ctx=ast.Load())


def parts_of(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions whose meaning an expression of several has: elements, both branches, what is
    awaited.
    """
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        yield from node.elts
    elif isinstance(node, (ast.Dict, ast.BoolOp)):
        yield from node.values
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, (ast.NamedExpr, ast.Await, ast.Starred, ast.YieldFrom, ast.Yield)):
        if node.value is not None:
            yield node.value
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        yield node.elt
    elif isinstance(node, ast.DictComp):
        yield node.value
