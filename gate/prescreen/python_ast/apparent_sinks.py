"""Places that another tool took for a sink and that no harmful text reaches: one file, in a limited child."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gate.prescreen.python_ast.dead_code import is_dead
from gate.prescreen.python_ast.harmless import is_harmless_sink
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.scanner import parse
from gate.prescreen.python_ast.sinks import CODE_CALLS, PROCESS_CALLS, SHELL_CALLS

Place = tuple[int, int, str]
"""First and last line, and the class of values/library.py that counts there."""
_NAMED: Final[dict[str, frozenset[str]]] = {
    "shell": frozenset(name.rpartition(".")[2] for name in (*SHELL_CALLS, *PROCESS_CALLS)),
    "code": frozenset(CODE_CALLS),
    "object": frozenset({"load", "loads", "load_all", "Unpickler", "open", "DbfilenameShelf", "read_pickle"}),
    "address": frozenset({"urlopen", "urlretrieve", "Request", "URLopener", "FancyURLopener"}),
    "xml": frozenset(
        {"parse", "iterparse", "fromstring", "XMLParser", "parseString", "create_parser", "make_parser"}
    ),
    "html": frozenset({"Markup", "mark_safe"}),
}
"""The last part of a sink's name, by class."""


def read_places(path: str, data: bytes, options: Mapping[str, object]) -> tuple[int, ...]:
    """Numbers of the places asked for (``options``: path -> places) that are only apparent.

    Raises what the parser raises.
    """
    asked = options.get("places")
    places: Sequence[Place] = asked.get(path, ()) if isinstance(asked, dict) else ()
    module = parse(path, data)
    return tuple(n for n, place in enumerate(places) if _is_apparent(module, place))


def _is_apparent(module: Module, place: Place) -> bool:
    """True when there is a sink of that class in these lines, and nothing harmful reaches any."""
    first, last, kind = place
    nodes = [node for node in _sinks(module, kind) if first <= node.lineno <= last]
    return bool(nodes) and all(
        is_dead(module, node) or is_harmless_sink(module, kind, node) for node in nodes
    )


def _sinks(module: Module, kind: str) -> Iterator[ast.Call]:
    """Calls of that class."""
    names = _NAMED.get(kind, frozenset())
    for call in module.all(ast.Call):
        last = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if last in names:
            yield call
