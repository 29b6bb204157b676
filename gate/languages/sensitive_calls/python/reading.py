"""Reads one Python text by its syntax tree. Runs in the limited child, where a tangle can do no harm."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_unshipped
from gate.languages.python_syntax.newer_python import parse
from gate.languages.sensitive_calls.matching import Hit
from gate.languages.sensitive_calls.python.calls import Finder
from gate.languages.sensitive_calls.python.evaluate import Evaluator
from gate.languages.sensitive_calls.python.feeds import Feeds, roots_of
from gate.languages.sensitive_calls.python.functions import Functions, own_name
from gate.languages.sensitive_calls.python.loopback import stays_here
from gate.languages.sensitive_calls.python.methods import by_name, defined_methods
from gate.languages.sensitive_calls.python.scopes import Scopes
from gate.languages.sensitive_calls.python.strings import striking_strings
from gate.languages.sensitive_calls.table import Language
from gate.model.sensitive import HANDED_THROUGH, FunctionReading, SensitiveKind

Found = tuple[list[Hit], tuple[FunctionReading, ...], tuple[str, ...]]
_FRAMES: Final = 20_000
_OPEN: Final = SensitiveKind.PROCESS
"""What stands in the place of a reference's kind until the import graph says which it is."""


class TangledError(ValueError):
    """Values that nobody can follow in a bounded time."""


def hits(
    language: Language, path: str, text: bytes, told: Callable[[str], SensitiveKind | None]
) -> Found | None:
    """The sensitive places and references of a text, its functions and its methods; None where no Python
    that is known here parses it. Raises TangledError.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        tree = parse(text.decode("utf-8"))
    except (SyntaxError, ValueError, RecursionError):
        return None
    else:
        return _hits(language, path, text, tree, told)
    finally:
        sys.setrecursionlimit(before)


def _hits(
    language: Language, path: str, text: bytes, tree: ast.Module, told: Callable[[str], SensitiveKind | None]
) -> Found:
    starts = [0, *accumulate(len(line) + 1 for line in text.split(b"\n"))]

    def span(node: ast.AST) -> tuple[int, int]:
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        return (
            starts[first - 1] + getattr(node, "col_offset", 0),
            starts[last - 1] + getattr(node, "end_col_offset", 0),
        )

    def segment(node: ast.AST) -> str:
        start, end = span(node)
        return text[start:end].decode("utf-8", "replace")

    scopes = Scopes(tree, PurePosixPath(path).parent.parts)
    evaluator = Evaluator(scopes)
    finder = Finder(language, tree, scopes, evaluator, segment, told, shipped=not is_unshipped(path))
    feeds = Feeds(scopes, evaluator)
    functions = Functions(language, scopes, evaluator, feeds)
    found = []
    sensitive: set[ast.AST] = set()
    for place in finder.places():
        start, end = span(place.node)
        parent = finder.parent(place.node)
        functions.place(place, parent)
        sensitive.add(place.node)
        fed = feeds.of(roots_of(place.node, parent)).told if place.kind in HANDED_THROUGH else ()
        found.append(Hit(start=start, end=end, kind=place.kind, call=place.call, way=place.way, fed=fed))
    for node in tuple(scopes.inside):
        if not isinstance(node, ast.Call) or node in sensitive:
            continue
        names = tuple(sorted({name for each in evaluator.of(node.func) if (name := own_name(each))}))[:8]
        if unknown := by_name(node, evaluator):
            names = (*names, unknown)
        if names and (node.args or node.keywords):
            functions.call(node, names)
            start, end = span(node)
            words = " ".join(segment(node.func).split())[:80]
            fed = feeds.of(roots_of(node, None)).told
            here = is_unshipped(path) and stays_here(node, scopes)
            found.append(Hit(start=start, end=end, kind=_OPEN, call=words, fed=fed, names=names, here=here))
    for each in striking_strings(scopes, evaluator):
        start, end = span(each.node)
        fed = feeds.of([each.node]).told
        names = (f"={each.name}",)
        found.append(Hit(start=start, end=end, kind=_OPEN, call=each.text, fed=fed, names=names, way="hand"))
    if evaluator.tangled:
        raise TangledError("values that cannot be followed")
    return found, functions.all(), defined_methods(scopes, evaluator)
