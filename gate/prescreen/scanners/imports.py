"""The import allow-list (`prescreen.allowed_imports`): what a new import is used for decides its severity.

Without a list there is nothing to say. With one, a module that is not on it is reported: as medium when it
is used to start programs, reach a network, load code or data that runs, or reach into memory; as low
otherwise. Harmless uses of the standard library (``os.environ``, ``os.path`` ...) are never reported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.python_syntax import newer_python
from gate.model.finding import Finding
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended
from gate.prescreen.scope import only_new
from gate.prescreen.text_rule import finding, rule
from gate.prescreen.views import make_views
from gate.regex import regex

NOT_ALLOWED: Final = rule.meta(
    "import.not-allowed",
    "An import that is not on the project's list",
    severity="medium",
    confidence="high",
    topic="dependency",
    cwe=(829,),
    attack=("T1059.006",),
    languages=("python",),
    why="The project says which modules its code may use; a new one widens what the code can do.",
    fix="Use an allowed module, or have an owner add this one to prescreen.allowed_imports.",
)
RULES: Final[tuple[RuleMeta, ...]] = (NOT_ALLOWED,)

# Modules whose every use is an act, and calls that are one in modules that are harmless otherwise.
_ACTS: Final = frozenset(
    {
        "subprocess",
        "socket",
        "ctypes",
        "pickle",
        "marshal",
        "pty",
        "code",
        "codeop",
        "runpy",
        "importlib",
        "imp",
    }
    | {"ftplib", "telnetlib", "smtplib", "http", "urllib", "requests", "httpx", "aiohttp", "paramiko", "cffi"}
    | {
        "multiprocessing",
        "shelve",
        "dill",
        "asyncio.subprocess",
        "xmlrpc",
        "socketserver",
        "webbrowser",
        "mmap",
    }
)
_CALLS: Final = regex(
    r"^os\.(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*|fork\w*|kill\w*|remove|unlink|rmdir|removedirs|setuid"
    r"|chmod|chown|putenv|dup2?|startfile)$|^shutil\.(?:rmtree|move|chown)$|^sys\.(?:settrace|setprofile|modules|path)"
    r"|^builtins\.(?:exec|eval|compile|__import__)$|^asyncio\.(?:create_subprocess\w+|open_connection|start_server)$"
)
_STANDARD: Final = sys.stdlib_module_names


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """One imported module: its dotted name, the import's line, and what of it is used (dotted, sorted)."""

    module: str
    line: int
    used: tuple[str, ...]


_READER: Final = Reader("gate.prescreen.scanners.imports:imports_of", list[Use], parses=True, pure=True)


class Imports:
    """New imports that the project's list does not have."""

    name: str = "imports"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Nothing without a list. A file that does not parse is named by the other scanners, and here."""
        if not request.allowed_imports:
            return ended(self.name, ())
        allowed = frozenset(request.allowed_imports)
        own = {PurePosixPath(entry.path).parts for entry in request.head.entries()}
        local = {part.removesuffix(".py") for parts in own for part in parts[:2]}
        views = make_views(request).of(("python",))
        files = [(view.path, view.text.encode("utf-8", "replace")) for view in views]
        results = scan_isolated(_READER, files, deadline=request.deadline) if files else []
        head: list[Finding] = []
        base: list[Finding] = []
        unlooked: list[tuple[str, str]] = []
        for view, result in zip(views, results, strict=True):
            if result.value is None:
                if view.side == "head" and not view.guessed:
                    unlooked.append((view.path, result.reason))
                continue
            side = head if view.side == "head" else base
            side += _judged(view, result.value, allowed, local)
        return ended(self.name, only_new(head, base, request.change), unlooked)


def imports_of(path: str, data: bytes, options: Mapping[str, object]) -> list[Use]:
    """Inside the child: every import of a file with what it is used for, aliases followed."""
    del path, options
    tree = newer_python.parse_bytes(data)
    names: dict[str, str] = {}
    modules: dict[str, int] = {}
    used: dict[str, set[str]] = {}
    chains: list[ast.Attribute | ast.Name] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules.setdefault(alias.name, node.lineno)
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.setdefault(node.module, node.lineno)
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                used.setdefault(node.module, set()).add(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Attribute | ast.Name):
            chains.append(node)
    for chain in chains:
        dotted = _dotted(chain, names)
        for module in modules:
            if dotted and dotted.startswith(f"{module}."):
                used.setdefault(module, set()).add(dotted)
    return [Use(module=m, line=n, used=tuple(sorted(used.get(m, ())))[:50]) for m, n in modules.items()]


def _dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return ".".join([names[node.id], *reversed(parts)])


def _judged(view: View, uses: list[Use], allowed: frozenset[str], local: set[str]) -> Iterator[Finding]:
    for use in uses:
        root = use.module.partition(".")[0]
        if root in local or _on_list(use.module, allowed) or root == "__future__":
            continue
        left = [name for name in use.used if not _on_list(name, allowed)]
        if use.used and not left:
            continue
        acts = root in _ACTS or use.module in _ACTS or any(_CALLS.match(name) for name in left)
        if root in _STANDARD and not acts:
            continue
        yield finding(
            NOT_ALLOWED,
            "This module is not on the project's list of allowed imports.",
            view.location(use.line),
            shape=use.module,
            evidence={"module": use.module, "used for": ", ".join(left[:6])},
            severity=None if acts else Severity.LOW,
        )


def _on_list(name: str, allowed: frozenset[str]) -> bool:
    """True when the name or a module above it is on the list (``os`` allows ``os.path.join``)."""
    parts = name.split(".")
    return any(".".join(parts[: n + 1]) in allowed for n in range(len(parts)))
