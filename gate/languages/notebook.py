"""Jupyter notebooks: the code cells as one program, each line knowing its place in the file.

Format: nbformat 4 (and 3), https://nbformat.readthedocs.io/en/latest/format_description.html.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from gate.dataclass import dataclass
from gate.regex import regex

_MAGIC: Final = regex(r"^\s*(?:[%!?]|\w[\w, ]*=\s*[%!])")
_CELL_MAGIC_CODE: Final = frozenset({"%%time", "%%timeit", "%%capture", "%%prun"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Cells:
    """``text``: all code cells; ``lines``: for each text line its line in the notebook file (1-based).

    Shell escapes (``!pip ...``, ``%run``) become ``get_ipython().system(...)``, as IPython reads them.
    """

    text: str
    lines: tuple[int, ...]
    language: str


def read_notebook(text: str) -> Cells | None:
    """The notebook's code, or None when it is not one. Never raises."""
    try:
        book = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(book, dict) or _cells(book) is None:
        return None
    found = Finder(text)
    out: list[str] = []
    lines: list[int] = []
    for parts in code_cells(book):
        shell = bool(parts) and parts[0].startswith("%%") and parts[0].split()[0] not in _CELL_MAGIC_CODE
        for part in parts:
            lines.append(found.line_of(part))
            out.append(_as_python(part, shell=shell))
        out.append("")
        lines.append(lines[-1] if lines else 1)
    return Cells(
        text="\n".join(out) + "\n", lines=(*lines, lines[-1] if lines else 1), language=_language(book)
    )


def code_cells(book: object) -> Iterator[list[str]]:
    """The lines of each code cell of a parsed notebook."""
    for cell in _cells(book) or () if isinstance(book, dict) else ():
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        yield source.splitlines() if isinstance(source, str) else _joined(source)


def _cells(book: dict[str, Any]) -> list[object] | None:
    cells = book.get("cells")
    if cells is None and (sheets := _list(book.get("worksheets"))):
        cells = [c for s in sheets if isinstance(s, dict) for c in _list(s.get("cells"))]
    return cells if isinstance(cells, list) else None


def _language(book: dict[str, Any]) -> str:
    meta = book.get("metadata")
    info = meta.get("language_info") if isinstance(meta, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return {"javascript": "javascript", "typescript": "typescript", "bash": "shell"}.get(str(name), "python")


_SHOWS: Final = regex(
    r"\s*%(?:matplotlib|pylab|autoreload|config|precision|(?:re)?load_ext\s+(?:autoreload|tensorboard|line_profiler|memory_profiler)"
    r"|who|whos|pwd|lsmagic|reset)\b[\w\s=.'\"{},+-]*\Z"
)
"""Magics that only say how results are shown."""


def _joined(source: object) -> list[str]:
    return "".join(part for part in _list(source) if isinstance(part, str)).splitlines()


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _as_python(line: str, *, shell: bool) -> str:
    if shell and not line.startswith("%%"):
        return f"get_ipython().system({line!r})" if line.strip() else ""
    if line.startswith("%%"):
        return f"get_ipython().run_line_magic({line!r}, '')"
    if not _MAGIC.match(line):
        return line
    indent = line[: len(line) - len(line.lstrip())]
    if _SHOWS.match(line):
        return f"{indent}pass"
    return f"{indent}get_ipython().system({line.strip().lstrip('!%')!r})"


class Finder:
    """Finds each source line in the file's text, going forward, so that equal lines get their own place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1

    def line_of(self, part: str) -> int:
        """The line of the next place where this stands; of the last one found where it stands nowhere."""
        for needle in (json.dumps(part, ensure_ascii=False)[1:-1], json.dumps(part)[1:-1]):
            if not needle:
                return self._line
            at = self._text.find(needle, self._at)
            if at >= 0:
                self._line += self._text.count("\n", self._at, at)
                self._at = at
                return self._line
        return self._line
