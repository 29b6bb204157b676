"""Reads Python sources as data and prints what the planner wants to know. A program of its own.

    python -I -S reader.py < {"path": "source", ...}   ->   {"path": {...facts} | null, ...}

It runs in a child because CPython's parser can be made to crash or to eat memory
(python/cpython#95185); standard library only, nothing is imported or compiled to code.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # isolated: nothing but the standard library can be imported otherwise
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from gate.languages.python_syntax.newer_python import parse
from gate.regex import regex

RISKY = regex(
    r"\b(socket|subprocess|popen|system|exec|eval|compile|__import__|importlib|ctypes|pickle|marshal|urllib|requests|"
    r"http|ftplib|smtplib|paramiko|base64|environ|expanduser|home|unlink|rmtree|remove|chmod|kill|fork|spawn|"
    r"open|write|pty|crontab|getattr|setattr|globals|builtins)\b",
    re.IGNORECASE,
)
_TYPING = ("typing", "typing_extensions")
_CHECKING = "TYPE_CHECKING"
_FIRST = regex(r"#!|#.*coding[:=]")
_OBEYED = regex(r"#\s*(?:(?:distutils|cython)\s*:|[%!]|\+)")
_DEPTH = 3
_EXITS = {"exit", "quit", "main", "cli", "run"}


def facts(source: str) -> dict[str, Any]:
    """What one module defines and does at its top level. Lines are 1-based and inclusive.

    ``defs``: [qualified name, first line with decorators, last line, risk, names used];
    ``names``: [name, first, last] bound at the top level otherwise; ``guard``: runs something as
    ``__main__``; ``ends``: its top level calls something that usually ends the program;
    ``imports``: absolute dotted names; ``statements``: [first, last line] of each statement that an
    interpreter runs, of one with a body its head alone; ``code``: the same for the same syntax tree,
    wherever it stands in the file, ``bare``: also where docstrings without examples differ.
    """
    tree = parse(source)
    lines = source.splitlines()
    out: dict[str, Any] = {"defs": [], "names": [], "guard": False, "ends": False, "imports": []}
    out["statements"] = sorted(_statements(tree))
    out["code"], out["bare"] = _digests(source)
    _body(tree.body, "", out, lines, 0)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            out["imports"] += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            out["imports"].append(node.module)
            out["imports"] += [f"{node.module}.{alias.name}" for alias in node.names]
    out["imports"] = sorted(set(out["imports"]))[:500]
    return out


def _digests(source: str) -> tuple[str, str]:
    """Both empty where this interpreter cannot tell: what newer syntax is rewritten to may lose something."""
    try:
        tree = ast.parse(source)
        said = "\n".join(_comments_that_act(source))
        code = _digest(tree, said)
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(body, list):
                node.body = [one for one in body if not _is_text(one)]  # type: ignore[attr-defined]
        return code, _digest(tree, said)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", ""


def _digest(tree: ast.Module, said: str) -> str:
    return hashlib.sha256(f"{ast.dump(tree)}\n{said}".encode("utf-8", "surrogatepass")).hexdigest()


def _comments_that_act(source: str) -> Iterator[str]:
    """Lines that some program obeys though Python does not: which interpreter and encoding (first two lines),
    what to install before a script is run (PEP 723), how Cython builds, magics of notebooks.
    """
    within = False
    for number, line in enumerate(source.splitlines()):
        text = line.strip()
        begins = text.startswith("# ///")
        if begins or within or (number < 2 and _FIRST.match(text)) or _OBEYED.match(text):
            yield text
        within = (begins != within) and text.startswith("#")


def _is_text(node: ast.stmt) -> bool:
    """A docstring, also one of an attribute; not one with examples, which tests may run."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str) and ">>>" not in value.value


def _statements(tree: ast.Module) -> Iterator[list[int]]:
    """Docstrings, names of scopes, annotations without a value and what is there for type checkers alone run
    nothing.
    """
    typed = _for_type_checkers(tree)
    for node in ast.walk(tree):
        if node in typed:
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)) or (
            isinstance(node, ast.AnnAssign) and node.value is None
        ):
            continue
        if not isinstance(node, (ast.stmt, ast.ExceptHandler)):
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        last = node.end_lineno or node.lineno
        body = getattr(node, "cases", None) or getattr(node, "body", None)
        if body:
            starts = [getattr(body[0], "lineno", 0) or body[0].pattern.lineno]
            starts += [d.lineno for d in getattr(body[0], "decorator_list", ())]
            last = max(first, min(starts) - 1)
        yield [first, last]


def _for_type_checkers(tree: ast.Module) -> set[ast.AST]:
    """What stands below ``if TYPE_CHECKING:``, where that is typing's name and the file does not set it."""
    modules: set[str] = set()
    names: set[str] = set()
    stored: set[str] = set()
    asked: list[ast.If] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(a.asname or a.name for a in node.names if a.name in _TYPING)
        elif isinstance(node, ast.ImportFrom) and node.module in _TYPING and not node.level:
            names.update(a.asname or a.name for a in node.names if a.name == _CHECKING)
        elif isinstance(node, ast.If):
            asked.append(node)
        elif isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            stored.add(getattr(node, "id", "") or getattr(node, "attr", ""))
    if _CHECKING in stored:
        return set()
    typed = [one for one in asked if _is_checking(one.test, modules - stored, names - stored)]
    return {node for one in typed for part in one.body for node in ast.walk(part)}


def _is_checking(test: ast.expr, modules: set[str], names: set[str]) -> bool:
    if isinstance(test, ast.Attribute):
        return test.attr == _CHECKING and isinstance(test.value, ast.Name) and test.value.id in modules
    return isinstance(test, ast.Name) and test.id in names


def _body(body: list[ast.stmt], prefix: str, out: dict[str, Any], lines: list[str], depth: int) -> None:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            last = node.end_lineno or node.lineno
            text = "\n".join(lines[first - 1 : last])
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            used |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            risk = len({hit.lower() for hit in RISKY.findall(text)})
            out["defs"].append([prefix + node.name, first, last, risk, sorted(used)[:300]])
            if isinstance(node, ast.ClassDef) and depth < _DEPTH:
                _body(node.body, f"{prefix}{node.name}.", out, lines, depth + 1)
            continue
        if not prefix:
            _top_level(node, out)
        if depth < 2 * _DEPTH:
            for block in ("body", "orelse", "finalbody"):
                _body(getattr(node, block, []), prefix, out, lines, depth + 1)
            for handler in getattr(node, "handlers", []):
                _body(handler.body, prefix, out, lines, depth + 1)


def _top_level(node: ast.stmt, out: dict[str, Any]) -> None:
    last = node.end_lineno or node.lineno
    if isinstance(node, ast.If) and "__name__" in {
        n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)
    }:
        out["guard"] = True
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            out["names"] += [[n.id, node.lineno, last] for n in ast.walk(target) if isinstance(n, ast.Name)]
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            out["names"].append([(alias.asname or alias.name).partition(".")[0], node.lineno, last])
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        name = (
            called.id
            if isinstance(called, ast.Name)
            else called.attr
            if isinstance(called, ast.Attribute)
            else ""
        )
        if name in _EXITS:
            out["ends"] = True


def main() -> int:
    """Read sources, print facts; a source that does not parse gets null."""
    sources: dict[str, str] = json.load(sys.stdin)
    told: dict[str, Any] = {}
    for path, source in sources.items():
        try:
            told[path] = facts(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            told[path] = None
    json.dump(told, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
