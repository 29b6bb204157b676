"""Reads Python sources as data and prints what the planner wants to know. A program of its own.

    python -I -S reader.py < {"path": "source", ...}   ->   {"path": {...facts} | null, ...}

It runs in a child because CPython's parser can be made to crash or to eat memory
(python/cpython#95185); standard library only, nothing is imported or compiled to code.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

RISKY = re.compile(
    r"\b(socket|subprocess|popen|system|exec|eval|compile|__import__|importlib|ctypes|pickle|marshal|urllib|requests|"
    r"http|ftplib|smtplib|paramiko|base64|environ|expanduser|home|unlink|rmtree|remove|chmod|kill|fork|spawn|"
    r"open|write|pty|crontab|getattr|setattr|globals|builtins)\b",
    re.IGNORECASE,
)
ACTS = {
    "start a process": r"""subprocess\.\w+ | os\.(system|popen|exec\w+|spawn\w+|posix_spawnp?|fork|forkpty)
        | pty\.(spawn|fork) | asyncio\.create_subprocess_\w+ | multiprocessing\.\w+ | pexpect\.\w+""",
    "reach the network": r"""socket\.(socket(\.(connect|connect_ex|sendto|bind))?|create_connection
        |create_server|getaddrinfo|gethostbyname\w*) | logging\.handlers\.(HTTP|Socket|Datagram|SMTP)Handler
        | urllib\.request\.\w+ | http\.client\.[\w.]+ | xmlrpc\.client\.\w+ | webbrowser\.open\w*
        | (ftplib|smtplib|telnetlib|imaplib|poplib)\.[\w.]+ | asyncio\.(open_connection|start_server)
        | (requests|httpx|aiohttp|urllib3|paramiko|websockets?|niquests)\.[\w.]+""",
    "run code that it is given": r"""exec | eval | compile | __import__ | importlib\.import_module
        | runpy\.\w+ | types\.(FunctionType|CodeType)
        | (pickle|marshal|dill|cloudpickle|joblib|shelve)\.(loads?|open|Unpickler)""",
    "load native code": r"ctypes\.[\w.]+ | cffi\.\w+",
    "delete files": r"os\.(remove|unlink|rmdir|removedirs) | shutil\.rmtree | pathlib\.Path\.(unlink|rmdir)",
    "signal other processes": r"os\.(kill|killpg) | signal\.pidfd_send_signal",
}
"""What a call to such a name can do. Told only of lines that no probe ran (EV-5); no rule of its own."""
_ACTS = tuple((what, re.compile(names, re.VERBOSE)) for what, names in ACTS.items())
_MODULES = re.compile(
    r"""(socket|subprocess|os|pty|asyncio|multiprocessing|pexpect|urllib|http|xmlrpc|ftplib|smtplib|telnetlib|imaplib
    |poplib|requests|httpx|aiohttp|urllib3|paramiko|websockets?|niquests|runpy|pickle|marshal|dill|cloudpickle|joblib
    |shelve|ctypes|cffi|shutil|signal|pathlib|importlib)\..+ | exec | eval""",
    re.VERBOSE,
)
"""What a name has to come from to be followed."""
_DEPTH = 3
_MOST_ACTS = 20_000
"""Of one file; which of them are on changed lines is told from all."""
_EXITS = {"exit", "quit", "main", "cli", "run"}


def facts(source: str) -> dict[str, Any]:
    """What one module defines and does at its top level. Lines are 1-based and inclusive.

    ``defs``: [qualified name, first line with decorators, last line, risk, names used];
    ``names``: [name, first, last] bound at the top level otherwise; ``guard``: runs something as
    ``__main__``; ``ends``: its top level calls something that usually ends the program;
    ``imports``: absolute dotted names; ``acts``: [first line, last line, what a call there can do, its first
    and last column in bytes].
    """
    tree = ast.parse(source)
    lines = source.splitlines()
    out: dict[str, Any] = {"defs": [], "names": [], "guard": False, "ends": False, "imports": [], "acts": []}
    _body(tree.body, "", out, lines, 0)
    known: dict[str, str] = {}
    calls: list[ast.Call] = []
    bound: list[tuple[ast.expr, ast.expr]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            out["imports"] += [alias.name for alias in node.names]
            known |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            out["imports"].append(node.module)
            out["imports"] += [f"{node.module}.{alias.name}" for alias in node.names]
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call):
            calls.append(node)
        elif isinstance(node, ast.Assign):
            bound += [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            bound.append((node.optional_vars, node.context_expr))
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            bound.append((node.target, node.value))
    _bind(bound, known)
    out["acts"] = sorted(_acts(calls, known))[:_MOST_ACTS]
    out["imports"] = sorted(set(out["imports"]))[:500]
    return out


def _acts(calls: list[ast.Call], known: dict[str, str]) -> Iterator[list[Any]]:
    """Calls by a name that can act on more than the program itself. ``known``: what imports bind."""
    for call in calls:
        name = _named(call.func, known)
        what = name and next((what for what, names in _ACTS if names.fullmatch(name)), None)
        if what:
            end = call.end_lineno or call.lineno
            yield [call.lineno, end, what, call.col_offset, call.end_col_offset or 0]


def _bind(bound: list[tuple[ast.expr, ast.expr]], known: dict[str, str]) -> None:
    """``run = os.system``, ``self.s = socket.socket()``, ``with requests.Session() as s``: what such a name
    is for the calls by it. Whatever its scope: this is about what is told, not about what is run.
    """
    for target, value in bound:
        made = _named(value, known)
        name = _written(target)
        if made and name and made != name and _MODULES.fullmatch(made):
            known.setdefault(name, made)


def _written(target: ast.expr) -> str:
    """``a`` and ``self.a`` as they stand there."""
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        return f"{target.value.id}.{target.attr}"
    return target.id if isinstance(target, ast.Name) else ""


def _named(target: ast.expr, known: dict[str, str]) -> str:
    """The full name of what is called; of an object that is made here, that of its class."""
    parts: list[str] = []
    while True:
        if isinstance(target, ast.Attribute):
            if (written := _written(target)) in known:
                return ".".join([known[written], *reversed(parts)])
            parts.append(target.attr)
            target = target.value
        elif isinstance(target, ast.Await):
            target = target.value
        elif isinstance(target, ast.Call):
            target = target.func
            maker = _written(target).rpartition(".")[2] or getattr(target, "attr", "")
            if not (maker[:1].isupper() or maker in ("socket", "session")):
                return ""  # what a function gives is anything
        elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            # sys.modules["os"].system
            if _named(target.value, known) != "sys.modules" or not isinstance(target.slice.value, str):
                return ""
            return ".".join([target.slice.value, *reversed(parts)])
        elif isinstance(target, ast.Name):
            return ".".join([known.get(target.id, target.id), *reversed(parts)])
        else:
            return ""


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
