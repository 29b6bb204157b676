"""What the functions of a module hand on to sensitive calls, and which functions elsewhere it calls: from
this the import graph tells which calls of a change are sensitive by what is behind them.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from gate.languages.sensitive_calls.python.calls import Place
from gate.languages.sensitive_calls.python.evaluate import Evaluator, Meaning
from gate.languages.sensitive_calls.python.feeds import Feeds, dotted, roots_of
from gate.languages.sensitive_calls.python.methods import BY_NAME
from gate.languages.sensitive_calls.python.patterns import matches
from gate.languages.sensitive_calls.python.scopes import Scopes
from gate.languages.sensitive_calls.table import Language
from gate.model.sensitive import HANDED_THROUGH, FunctionReading, SensitiveKind

_MOST: Final = 2_000
OWN: Final = "."
"""Begins the name of a function of this very file."""


def own_name(meaning: Meaning) -> str:
    """How a function that is called is named to the import graph; empty for what is none of a project."""
    if meaning[0] == "def" and len(meaning) == 2:
        return f"{OWN}{meaning[1]}"
    if meaning[0] == "class" and len(meaning) == 2:
        return f"{OWN}{meaning[1]}.__init__"
    if meaning[0] in ("?", "'", "def", "class", "?module", "?scope", "object") or len(meaning) < 2:
        return ""
    return dotted(meaning)


def _is_generator(function: ast.AST) -> bool:
    """Is there a ``yield`` in its own body?"""
    body: list[ast.AST] | ast.AST = getattr(function, "body", [])
    todo = list(body) if isinstance(body, list) else [body]  # a lambda's is one expression
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return False


def _by_name_last(name: str) -> tuple[bool, str]:
    return name.startswith(BY_NAME), name


def _ordered(kinds: set[SensitiveKind]) -> tuple[SensitiveKind, ...]:
    return tuple(sorted(kinds, key=lambda kind: kind.value))


class Functions:
    """Collects what is known of the functions of one module."""

    def __init__(self, language: Language, scopes: Scopes, evaluator: Evaluator, feeds: Feeds) -> None:
        self._language = language
        self._scopes = scopes
        self._evaluator = evaluator
        self._feeds = feeds
        self._kinds: dict[ast.AST, set[SensitiveKind]] = defaultdict(set)
        self._called: dict[ast.AST, set[SensitiveKind]] = defaultdict(set)
        self._calls: dict[ast.AST, set[str]] = defaultdict(set)

    def place(self, place: Place, parent: ast.AST | None) -> None:
        """A sensitive place: functions of which a parameter reaches it hand that on."""
        if place.kind in HANDED_THROUGH and place.way in ("call", "make", "hand"):
            for owner in self._feeds.of(roots_of(place.node, parent)).parameters:
                self._kinds[owner].add(place.kind)
                if place.way != "hand":
                    self._called[owner].add(place.kind)

    def call(self, node: ast.Call, names: Iterable[str]) -> None:
        """A call of something else: functions of which a parameter reaches it hand that on to there, and to
        functions of this file that it is given (``asyncio.to_thread(self.post, values)``). An object that
        only has the method that is called hands nothing on.
        """
        known = {name for name in names if not name.startswith(BY_NAME)}
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        known |= {own_name(m) for each in given for m in self._evaluator.of(each) if m[0] == "def"} - {""}
        for owner in self._feeds.of(roots_of(node, None) if known else given).parameters:
            self._calls[owner].update(known or names)

    def all(self) -> tuple[FunctionReading, ...]:
        """Every function that hands something on, and every name of the module for one that does."""
        found = [
            FunctionReading(
                name=self._evaluator.called[node],
                kinds=_ordered(self._kinds.get(node, set())),
                calls=tuple(sorted(self._calls.get(node, ()), key=_by_name_last)[:100]),
                generator=_is_generator(node),
                handed=_ordered(self._kinds.get(node, set()) - self._called.get(node, set())),
            )
            for node in {**self._kinds, **self._calls}
            if node in self._evaluator.called
        ]
        found += self._aliases()
        return tuple(sorted(found, key=lambda one: one.name)[:_MOST])

    def _aliases(self) -> Iterable[FunctionReading]:
        """``run = subprocess.run`` and ``from .shell import run`` at the top of the module."""
        for name, bindings in self._scopes.top.names.items():
            if not any(binding.how in ("value", "import") for binding in bindings):
                continue
            kinds: set[SensitiveKind] = set()
            names = set()
            for meaning in self._evaluator.bound(name, self._scopes.top):
                kinds |= {match.kind for match in matches(self._language, meaning, "calls")}
                if other := own_name(meaning):
                    names.add(other)
            kinds &= HANDED_THROUGH
            if kinds or names:
                yield FunctionReading(
                    name=name, kinds=_ordered(kinds), calls=tuple(sorted(names)), alias=True
                )
