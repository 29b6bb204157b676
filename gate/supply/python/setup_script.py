"""The keywords of setup.py's ``setup()``, as far as they are plain data. The file is parsed, never run."""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Collection, Iterator
from typing import Final

_DEPTH: Final = 20
_MOST: Final = 5000
_REQUIREMENTS: Final = (".txt", ".in", ".pip")


class _NotPlainError(Exception):
    """Needs to be run to be known."""


def parse(text: str) -> ast.Module:
    """The syntax tree. Raises ValueError."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"no Python: {type(error).__name__}") from error


NEEDS: Final = ("install_requires", "tests_require", "extras_require")
"""Keywords that name packages."""


def keywords(text: str) -> dict[str, object]:
    """Keyword → value. What would have to be run is left out; of a list, those items only.

    Raises ValueError for text that is no Python.
    """
    tree = parse(text)
    reader = _Reader(_assigned(tree))
    found: dict[str, object] = {}
    for call in calls(tree, ("setup",)):
        for keyword in call.keywords:
            given: dict[str, ast.expr] = {keyword.arg: keyword.value} if keyword.arg else {}
            if keyword.arg is None:  # setup(**options)
                given = reader.items(keyword.value)
            for name, node in given.items():
                with contextlib.suppress(_NotPlainError):
                    found[name] = reader.value(node)
    return found


def computed(text: str) -> dict[str, tuple[str, ...]]:
    """Of NEEDS what has to be run to be known, as a whole: the files that its expression names
    (``read("requirements.txt")``), as far as they are written out. Raises ValueError.
    """
    tree = parse(text)
    reader = _Reader(_assigned(tree))
    found: dict[str, tuple[str, ...]] = {}
    for call in calls(tree, ("setup",)):
        for keyword in call.keywords:
            if keyword.arg not in NEEDS:
                continue
            try:
                reader.value(keyword.value)
            except _NotPlainError:
                found[keyword.arg] = tuple(dict.fromkeys(reader.files(keyword.value)))
    return found


def _assigned(tree: ast.AST) -> dict[str, ast.expr]:
    names: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.setdefault(node.targets[0].id, node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            names.setdefault(node.target.id, node.value)
        elif isinstance(node, ast.With):
            for item in node.items:
                if isinstance(item.optional_vars, ast.Name):
                    names.setdefault(item.optional_vars.id, item.context_expr)
    return names


def calls(tree: ast.AST, called: Collection[str]) -> Iterator[ast.Call]:
    """Calls of functions or methods by these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
            if isinstance(name, str) and name in called:
                yield node


def _joined(node: ast.AST) -> list[str]:
    """The written-out parts of a path: a text, ``join(here, "a", "b")``, ``here / "a" / "b"``."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return [*_joined(node.left), *_joined(node.right)]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("join", "joinpath"):
        return [part for word in node.args for part in _joined(word)]
    return []


class _Reader:
    """Values of expressions, as far as they are plain; a bounded amount of work for all of them."""

    def __init__(self, names: dict[str, ast.expr]) -> None:
        self._names = names
        self._left = _MOST

    def items(self, node: ast.expr) -> dict[str, ast.expr]:
        """The entries of a dictionary with plain keys; none for anything else."""
        node = self._names.get(node.id, node) if isinstance(node, ast.Name) else node
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            return {k.value: v for k, v in pairs if isinstance(k, ast.Constant) and isinstance(k.value, str)}
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "dict":
            return {k.arg: k.value for k in node.keywords if k.arg}
        return {}

    def files(self, node: ast.AST, depth: int = 0) -> Iterator[str]:
        """Names of requirements files in an expression, and in those of the names that it uses."""
        self._left -= 1
        if depth > _DEPTH or self._left < 0:
            return
        if isinstance(node, ast.Name) and node.id in self._names:
            yield from self.files(self._names[node.id], depth + 1)
            return
        parts = _joined(node)
        if parts and parts[-1].endswith(_REQUIREMENTS):
            yield "/".join(part.strip("/") for part in parts)
            return
        for inner in ast.iter_child_nodes(node):
            yield from self.files(inner, depth + 1)

    def value(self, node: ast.expr, depth: int = 0) -> object:
        """Raises _NotPlainError."""
        self._left -= 1
        if depth > _DEPTH or self._left < 0:
            raise _NotPlainError
        match node:
            case ast.Constant(value=str() | int() | float() | None):
                return node.value
            case ast.Name() if node.id in self._names:
                return self.value(self._names[node.id], depth + 1)
            case ast.List() | ast.Tuple() | ast.Set():
                return list(self._each(node.elts, depth))
            case ast.Dict() | ast.Call(func=ast.Name(id="dict"), args=[]):
                return dict(self._pairs(node, depth))
            case ast.BinOp(op=ast.Add()):
                left, right = self.value(node.left, depth + 1), self.value(node.right, depth + 1)
                if isinstance(left, str) and isinstance(right, str):
                    return (left + right)[:_MOST]
                if isinstance(left, list) and isinstance(right, list):
                    return [*left, *right][:_MOST]
        raise _NotPlainError

    def _each(self, nodes: list[ast.expr], depth: int) -> Iterator[object]:
        for node in nodes[:_MOST]:
            with contextlib.suppress(_NotPlainError):
                if isinstance(node, ast.Starred):
                    value = self.value(node.value, depth + 1)
                    yield from value[:_MOST] if isinstance(value, list) else ()
                else:
                    yield self.value(node, depth + 1)

    def _pairs(self, node: ast.expr, depth: int) -> Iterator[tuple[str, object]]:
        for name, item in self.items(node).items():
            with contextlib.suppress(_NotPlainError):
                yield name, self.value(item, depth + 1)
