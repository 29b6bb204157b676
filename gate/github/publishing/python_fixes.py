"""Safe fixes for one line of Python, as text: nothing is imported or run, and what is not understood is left.

A fix is offered only where the result does what was plainly meant, with the danger gone. A hash that is
exchanged or a query that is bound anew changes what a program does elsewhere: there is none for those.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Callable
from typing import Final

from gate.dataclass import dataclass

LONGEST: Final = 300
"""Characters of a line that is looked at."""
_HTTP: Final = frozenset({"requests", "httpx"})
_RUNS: Final = frozenset({"run", "call", "check_call", "check_output", "Popen"})
_OPEN_LOADERS: Final = frozenset(
    {"Loader", "UnsafeLoader", "FullLoader", "CLoader", "CUnsafeLoader", "CFullLoader"}
)

Edit = tuple[int, int, str]
"""From column, to column (UTF-8 bytes), what stands there instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fix:
    """``line``: the whole line anew, no line end. ``why``: our words."""

    line: str
    why: str


def fix_of(rule_id: str, line: str) -> Fix | None:
    """The fix of a line that this rule found something in, if there is one."""
    if rule_id not in FIXES or not _plain(line):
        return None
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    text = line[len(indent) :]
    tree = _parsed(text)
    if tree is None:
        return None
    find, why = FIXES[rule_id]
    edits = [edit for node in ast.walk(tree) if isinstance(node, ast.Call) for edit in find(node)]
    raw = text.encode()
    for start, end, put in sorted(edits, reverse=True):
        raw = raw[:start] + put.encode() + raw[end:]
    made = raw.decode()
    return Fix(line=indent + made, why=why) if edits and _parsed(made) is not None else None


def _plain(line: str) -> bool:
    """Short, and nothing in it that a reader would not see as what it is."""
    return len(line) <= LONGEST and all(
        c == "\t" or unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp") for c in line
    )


def _parsed(text: str) -> ast.Module | None:
    """The line as a whole statement, or as the head of a block."""
    for whole in (text, f"{text}\n pass"):
        try:
            return ast.parse(whole)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _method_of(call: ast.Call, modules: frozenset[str]) -> str:
    """``get`` of ``requests.get(...)``, empty for anything else."""
    named = call.func
    if isinstance(named, ast.Attribute) and isinstance(named.value, ast.Name) and named.value.id in modules:
        return named.attr
    return ""


def _without(call: ast.Call, keyword: ast.keyword) -> list[Edit]:
    """Take one keyword out, with the comma before it (or behind it, where it is the first argument)."""
    parts: list[ast.expr | ast.keyword] = sorted(
        [*call.args, *call.keywords], key=lambda part: (part.lineno, part.col_offset)
    )
    at = parts.index(keyword)
    if keyword.end_col_offset is None or call.end_col_offset is None or call.end_lineno != 1:
        return []
    if at > 0:
        return [(parts[at - 1].end_col_offset or 0, keyword.end_col_offset, "")]
    if len(parts) > 1:
        return [(keyword.col_offset, parts[1].col_offset, "")]
    return [(keyword.col_offset, call.end_col_offset - 1, "")]


def _is(keyword: ast.keyword, name: str, value: object) -> bool:
    return keyword.arg == name and isinstance(keyword.value, ast.Constant) and keyword.value.value is value


def _unchecked_certificates(call: ast.Call) -> list[Edit]:
    if _method_of(call, frozenset({"ssl"})) == "_create_unverified_context" and not (
        call.args or call.keywords
    ):
        return [(call.func.col_offset, call.func.end_col_offset or 0, "ssl.create_default_context")]
    if not _method_of(call, _HTTP):
        return []
    return [e for k in call.keywords if _is(k, "verify", False) for e in _without(call, k)]


def _open_yaml(call: ast.Call) -> list[Edit]:
    if _method_of(call, frozenset({"yaml"})) != "load" or not call.args or len(call.args) > 2:
        return []
    loaders = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "Loader")]
    if any(k.arg != "Loader" for k in call.keywords) or not all(_open_loader(at) for at in loaders):
        return []
    end, first = call.end_col_offset, call.args[0].end_col_offset
    if end is None or first is None or call.end_lineno != 1:
        return []
    safe = (call.func.col_offset, call.func.end_col_offset or 0, "yaml.safe_load")
    return [safe, (first, end - 1, "")] if loaders else [safe]


def _open_loader(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Attribute)
        and isinstance(value.value, ast.Name)
        and value.value.id == "yaml"
        and value.attr in _OPEN_LOADERS
    )


def _needless_shell(call: ast.Call) -> list[Edit]:
    """A list goes to the program as it is; with a shell only its first item would be the command."""
    listed = bool(call.args) and isinstance(call.args[0], ast.List)
    if _method_of(call, frozenset({"subprocess"})) not in _RUNS or not listed:
        return []
    return [e for k in call.keywords if _is(k, "shell", True) for e in _without(call, k)]


def _debugger(call: ast.Call) -> list[Edit]:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "run":
        return []
    return [e for k in call.keywords if _is(k, "debug", True) for e in _without(call, k)]


_Find = Callable[[ast.Call], list[Edit]]
_TLS: Final = (_unchecked_certificates, "Checks the other side's certificate, as it does by default.")
_YAML: Final = (_open_yaml, "Loads plain values only: no file can make it build objects or call functions.")
_SHELL: Final = (_needless_shell, "The list reaches the program as it is; no shell reads it.")
_DEBUG: Final = (_debugger, "Without the debugger, which lets whoever reaches it run code.")
FIXES: Final[dict[str, tuple[_Find, str]]] = {
    "bandit-b201": _DEBUG,
    "bandit-b323": _TLS,
    "bandit-b501": _TLS,
    "bandit-b506": _YAML,
    "bandit-b602": _SHELL,
    "bandit-b604": _SHELL,
    "py.debug-server": _DEBUG,
    "py.shell-command": _SHELL,
    "py.tls-unverified": _TLS,
    "py.unsafe-deserialisation": _YAML,
}
"""Rule to what is looked for in a call, and why the new line is better."""
