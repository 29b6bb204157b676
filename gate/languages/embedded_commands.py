"""Commands for a shell that stand in other formats: notebooks' magics and Terraform's provisioners.

Each becomes a script whose lines know their place in the file, so that whatever reads shell scripts reads
these, too. For the limited child: the formats are read as trees.
"""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from gate.dataclass import dataclass
from gate.languages import hcl
from gate.languages.notebook import Finder, code_cells, read_notebook

if TYPE_CHECKING:  # a grammar is needed where files are read, not where results are published
    from tree_sitter import Node

_TERRAFORM: Final = (".tf", ".tofu")
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "ksh", "dash", "script", "system", "sx", "!", "!!"})
_LINES: Final = frozenset({"system", "sx", "sc"})
_INSTALLERS: Final = frozenset({"pip", "conda", "mamba", "micromamba", "uv"})
_RUNS: Final = frozenset({"system", "system_piped", "system_raw", "getoutput", "getoutputs"})
_LISTS: Final = frozenset({"inline", "program", "command"})
_TEXTS: Final = frozenset(
    {"command", "user_data", "startup_script", "metadata_startup_script", "custom_data"}
)
_BLOCKS: Final = frozenset({"provisioner", "data", "resource", "module"})
_DEPTH: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedCommands:
    """One script; ``lines``: for each of its lines the line in the file (from 1)."""

    text: str
    lines: tuple[int, ...]


def may_hold_commands(path: str) -> bool:
    """Is this a file of a format that is read here?"""
    return path.lower().endswith((".ipynb", *_TERRAFORM))


def read(path: str, data: bytes, options: Mapping[str, Any]) -> EmbeddedCommands:
    """For gate/languages/limited_child.py. Empty where the file holds no command."""
    del options
    if path.lower().endswith(_TERRAFORM):
        found = [*_terraform(hcl.parse(data))]
    else:
        text = data.decode("utf-8", "replace")
        found = [*_magics(text), *_calls(text)]
    found.sort(key=lambda one: one[0])
    return EmbeddedCommands(text="".join(f"{line}\n" for _, line in found), lines=tuple(n for n, _ in found))


def _magics(text: str) -> Iterator[tuple[int, str]]:
    """``%%bash`` cells, ``!command``, ``x = !command`` and ``%system command``, as IPython reads them."""
    finder = Finder(text)
    for parts in code_cells(json.loads(text)):
        first = parts[0].split() if parts else []
        cell = first[0].removeprefix("%%") if first and first[0].startswith("%%") else ""
        for number, part in enumerate(parts):
            line = finder.line_of(part)
            if cell:
                if cell in _SHELLS and number:
                    yield line, part
                continue
            bare = part.strip()
            name, equals, value = bare.partition("=")
            if equals and name.strip().isidentifier() and value.strip()[:1] in ("!", "%"):
                bare = value.strip()
            if bare.startswith("!"):
                yield line, bare.lstrip("!")
            elif bare.startswith("%") and bare[1:].partition(" ")[0] in _LINES:
                yield line, bare.partition(" ")[2]
            elif bare.startswith("%") and bare[1:].partition(" ")[0] in _INSTALLERS:
                yield line, bare[1:]


def _calls(text: str) -> Iterator[tuple[int, str]]:
    """``get_ipython().system("...")`` and its like, with a text that is written there."""
    cells = read_notebook(text)
    if cells is None or cells.language != "python" or "get_ipython" not in text:
        return
    try:
        tree = ast.parse(cells.text)
    except (SyntaxError, ValueError):
        return
    own = text.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        given = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        at = cells.lines[min(node.lineno, len(cells.lines)) - 1]
        if not given or "get_ipython" not in (own[at - 1] if at <= len(own) else ""):
            continue  # what the reader made of a magic
        if node.func.attr in _RUNS:
            yield from ((at, line) for line in given[0].split("\n"))
        elif node.func.attr in ("run_cell_magic", "run_line_magic") and given[0] in _SHELLS:
            yield from ((at, line) for line in given[-1].split("\n"))


def _terraform(root: Node) -> Iterator[tuple[int, str]]:
    """Commands of provisioners and of ``data "external"``, and scripts that a machine begins with."""
    waiting = [(root, "", 0)]
    while waiting:
        node, kind, depth = waiting.pop()
        for words, body in hcl.blocks(node):
            named = " ".join(words[:2])
            if words[0] in _BLOCKS and depth < _DEPTH:
                waiting.append((body, named, depth + 1))
        for name, value in hcl.attributes(node):
            acts = kind.startswith("provisioner ") or (kind == "data external" and name == "program")
            if (acts and name in _LISTS | _TEXTS) or (name in _TEXTS and name != "command"):
                yield from _script(value, as_one=name in ("program", "command"))


def _script(value: Node, *, as_one: bool) -> Iterator[tuple[int, str]]:
    """The lines of an attribute's texts; the words of a list as one command."""
    texts = [*_templates(value)]
    if as_one and len(texts) > 1:
        yield texts[0][0], shlex.join(text for _, text in texts)
        return
    for first, text in texts:
        lines = text.split("\n")
        yield from ((first + n, line) for n, line in enumerate(lines))


def _templates(node: Node) -> Iterator[tuple[int, str]]:
    """Each text below an expression with the line it begins on, escapes undone, interpolations as written."""
    if node.type in ("string_lit", "quoted_template"):
        said = hcl.text_of(node)
        yield node.start_point[0] + 1, said.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
    elif node.type == "heredoc_template":
        lines = (node.text or b"").decode("utf-8", "replace").split("\n")
        yield node.start_point[0] + 2, "\n".join(lines[1:-1])
    else:
        for child in node.named_children:
            yield from _templates(child)
