"""The other files of the tree that a file imports, parsed when somebody asks for them."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Mapping

from gate.languages.python_syntax import newer_python
from gate.prescreen.python_ast.module import Module

Found = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | str | None


class Sources:
    """``texts``: dotted names of modules, as seen from the root of the tree or of its sources, to texts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._modules: dict[str, Module | None] = {}

    def find(self, dotted: str, asking: Module) -> tuple[Module, Found] | None:
        """The module that a dotted name is in, and what it names there; None outside of the tree."""
        if not self._texts or "(" in dotted or "[" in dotted:
            return None
        name = absolute(dotted, asking.path)
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            module = self._module(".".join(parts[:end]))
            if module is None or module is asking:
                continue
            rest = parts[end:]
            return None if len(rest) != 1 else self._within(module, rest[0])
        return None

    def _within(self, module: Module, name: str, depth: int = 0) -> tuple[Module, Found] | None:
        for binding in module.scope.bindings.get(name, ()):
            if isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                return module, binding.node
            if binding.kind == "import" and depth < 3:
                return self.find(binding.dotted, module)
            if binding.kind in ("assign", "augment", "unpack", "with", "loop"):
                return module, name
        return None

    def _module(self, name: str) -> Module | None:
        if name not in self._modules:
            self._modules[name] = None
            text = self._texts.get(name)
            if text is not None:
                try:
                    tree = newer_python.parse_bytes(text.encode("utf-8", "surrogatepass"))
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return None
                self._modules[name] = Module(name.replace(".", "/") + ".py", text, tree)
        return self._modules[name]


def absolute(dotted: str, path: str) -> str:
    """``.db.find`` in ``app/views.py`` -> ``app.db.find``."""
    if not dotted.startswith("."):
        return dotted
    level = len(dotted) - len(dotted.lstrip("."))
    folder = posixpath.dirname(path)
    for _ in range(level - 1):
        folder = posixpath.dirname(folder)
    return ".".join(part for part in (folder.replace("/", "."), dotted.lstrip(".")) if part)
