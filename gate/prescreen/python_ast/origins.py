"""Whether one expression, by itself, is something that somebody else decides; nothing is followed here."""

from __future__ import annotations

import ast

from gate.prescreen.python_ast.allowed_values import is_one_of
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.routes import is_django_view, is_route, is_tool, takes_number
from gate.prescreen.python_ast.sources import (
    CALL_SOURCES,
    ENVIRONMENT,
    FILE,
    GIVEN,
    HANDLER_PARTS,
    INJECTED,
    INPUT,
    MODEL,
    MODEL_STEMS,
    MODEL_VERBS,
    NETWORK,
    NETWORK_STEMS,
    NUMBERS,
    PARAMETER,
    REQUEST,
    REQUEST_METHODS,
    REQUEST_PARTS,
    REQUEST_STEMS,
    VERBS,
)
from gate.prescreen.python_ast.stored.reads import STORED_CALLS, kinds_stored


class Origins:
    """Asks about the names and calls of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def source(self, node: ast.expr) -> frozenset[str]:
        """The kinds of a name's part, an item or a call that is a source by itself."""
        kinds: set[str] = set()
        if isinstance(node, ast.Attribute):
            if self.known(node, kinds):
                return frozenset(kinds)
            return frozenset({REQUEST}) if self._is_part(node) else frozenset()
        if isinstance(node, ast.Subscript):
            self.known(node, kinds)
        elif isinstance(node, ast.Call):
            if kind := self.called(node):
                return frozenset({kind})
            if isinstance(node.func, ast.Attribute):
                owner = node.func.value
                asked = isinstance(owner, ast.Name) and owner.id in ("request", "req")
                if asked and node.func.attr in REQUEST_PARTS and self.is_free(owner):
                    return frozenset({REQUEST})
            else:
                self.known(node.func, kinds)
        return frozenset(kinds)

    def _is_part(self, node: ast.Attribute) -> bool:
        base = node.value
        owner = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
        if owner in ("request", "req") and node.attr in REQUEST_PARTS and self.is_free(base):
            return True
        own = isinstance(base, ast.Name) and base.id == "self"
        return own and node.attr in HANDLER_PARTS and self.in_http_handler(node)

    def called(self, node: ast.Call) -> str | None:
        """The kind of what a call gives back by itself."""
        last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if last in STORED_CALLS and (stored := kinds_stored(self._module, node)):
            return min(stored)
        if last in REQUEST_METHODS and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "self":
                return REQUEST
        for name in self._module.names_of(node.func):
            kind = CALL_SOURCES.get(name)
            if kind is None and name.startswith(NETWORK_STEMS) and name.rpartition(".")[2] in VERBS:
                kind = NETWORK
            if kind is None and name.endswith((".read_text", ".read_bytes")):
                kind = FILE
            if kind is None and name.startswith(MODEL_STEMS) and name.rpartition(".")[2] in MODEL_VERBS:
                kind = MODEL
            if kind:
                return kind
        return None

    def parameter(self, node: ast.AST, default: ast.expr | None) -> str | None:
        """The kind of a parameter: what calls its function decides."""
        module = self._module
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
            if takes_number(module, function, name):
                return None
            if module.imports_any("fastapi") and is_one_of(module, getattr(node, "annotation", None)):
                return None
            injected = isinstance(default, ast.Call) and any(
                n.rpartition(".")[2] in INJECTED for n in module.names_of(default.func)
            )
            if injected and isinstance(default, ast.Call) and not default.args and not default.keywords:
                injected = not annotation  # a class without more: its fields are the request's
            plain = name not in ("request", "req", "db", "session", "response", "user", "current_user")
            return REQUEST if plain and not injected else None
        arguments = [arg.arg for arg in function.args.args]
        if is_django_view(module, function) and name not in GIVEN:
            return REQUEST
        if name == "event" and arguments[:2] == ["event", "context"]:
            return REQUEST
        return MODEL if is_tool(module, function) else PARAMETER

    def known(self, node: ast.AST, kinds: set[str]) -> bool:
        """Adds the kind that a name stands for by itself; False where it stands for none."""
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Name) and (
            stored := kinds_stored(self._module, node)
        ):
            kinds |= stored
            return True
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

    def is_free(self, base: ast.AST) -> bool:
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

    def in_http_handler(self, node: ast.AST) -> bool:
        """True in a method of the standard library's handler of requests."""
        cls = self._module.class_of(node)
        bases = [name for base in cls.bases for name in self._module.names_of(base)] if cls else []
        return any(base.endswith("HTTPRequestHandler") for base in bases)


def origins_of(module: Module) -> Origins:
    """The questions about this module, made once."""
    return module.kept("origins", Origins)
