"""Lines of scripts and build files as commands: comments left out, lines that go on joined, statements apart.

The text is of a dozen formats (shell, Dockerfile, YAML, JSON, INI, Make ...), with commands inside quotes of
theirs; so nothing here parses. Where it is unsure, the text stays a command: it is never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.languages.commands.printed_text import printed_lines
from gate.regex import regex

_MOST_JOINED: Final = 40
"""Lines that are taken for one; nobody writes more of them by hand."""
_GOES_ON: Final = regex(r"(?:\\|\||&&)$")
_TEXT_ENDS: Final = regex(r"['\"]\s*(?:;|&|\||\$\(|`)")
"""What looks like a comment may stand in a text over several lines that ends on it, and commands follow."""
_GOES_BACK: Final = regex(r"\|(?!\|)|&&")
_FOLDED: Final = regex(r":\s*>[-+\d]{0,2}$")
_LITERAL: Final = regex(r":\s*\|[-+\d]{0,2}$")
"""YAML's sign for the lines that follow, which is no pipe."""
_TOKENS: Final = regex(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|(?<=\s)\#.*""", re.DOTALL)
_SAID: Final = regex(r"(?:^|[\s;&|@(])(?:echo|printf|Write-Host|Write-Output)\s+(?:-[neE]+\s+)?$")
_TAKEN_ON: Final = regex(r"\s*(?:\||>(?!&2))")
_QUOTED: Final = regex(r"'[^'|`$\n]{0,4096}'|\"[^\"|`$\n]{0,4096}\"")
_SEPARATOR: Final = regex(r"&&|\|\||;|\n|\\n|(?<=\s)&(?=\s)")
_SLASHES: Final = (
    ".json",
    ".jsonc",
    ".json5",
    ".code-workspace",
    ".gradle",
    ".kts",
    ".rs",
    ".js",
    ".ts",
    "jenkinsfile",
)


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """Physical lines ``first..last`` (1-based) that are one to the machine."""

    first: int
    last: int
    text: str


def comment_marks(path: str) -> tuple[str, ...]:
    """What a whole line of a comment begins with in a file of this name (lower case)."""
    name = path.lower()
    if name.endswith(_SLASHES):
        return ("//",)
    if name.endswith((".bat", ".cmd")):
        return ("rem ", "::")
    return ("#", ";") if name.endswith((".ini", ".cfg", ".conf")) else ("#",)


def lines_of(text: str, marks: tuple[str, ...] = ("#",), *, folding: bool = False) -> Iterator[LogicalLine]:
    r"""Commands line by line. ``folding``: YAML, whose ``key: >`` joins the more indented ones."""
    lines = text.split("\n")
    only_shown = printed_lines(lines) if "<<" in text else frozenset[int]()
    kept = [(n, line) for n, line in enumerate(lines, 1) if n - 1 not in only_shown and _counts(line, marks)]
    at = 0
    while at < len(kept):
        end = _end(kept, at, folding=folding)
        parts = [_plain(line, hashes="#" in marks) for _, line in kept[at:end]]
        joined = " ".join(re.sub(r"\\$", "", part.rstrip()) for part in parts)
        yield LogicalLine(kept[at][0], kept[end - 1][0], joined)
        at = end


def _counts(line: str, marks: tuple[str, ...]) -> bool:
    begin = line.lstrip()[:4].lower()
    return bool(begin) and (not begin.startswith(marks) or bool(_TEXT_ENDS.search(line)))


def _end(kept: list[tuple[int, str]], at: int, *, folding: bool) -> int:
    """The index after the last line that belongs to the one at ``at``."""
    end, limit = at + 1, min(len(kept), at + _MOST_JOINED)
    if folding and _LITERAL.search(kept[at][1].rstrip()):
        return end
    if folding and _FOLDED.search(kept[at][1].rstrip()):
        depth = _depth(kept[at][1])
        while end < limit and _depth(kept[end][1]) > depth:
            end += 1
        return end
    while end < limit:
        goes_on = _GOES_ON.search(kept[end - 1][1].rstrip())
        if not goes_on and not _GOES_BACK.match(kept[end][1].lstrip()):
            break
        end += 1
    return end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _plain(line: str, *, hashes: bool) -> str:
    """Without a comment at its end, and without what it only prints."""
    if (
        "#" not in line and "echo" not in line and "rint" not in line and "Write-" not in line
    ) or "$'" in line:
        return line
    out: list[str] = []
    at = 0
    for token in _TOKENS.finditer(line):
        out.append(line[at : token.start()])
        at = token.end()
        whole = token[0]
        if whole.startswith("#") and hashes:
            return "".join(out)
        start = token.start()
        spoken = whole[0] in "'\"" and _SAID.search(line[max(0, start - 40) : start])
        runs = "`" in whole or "$(" in whole
        out.append('""' if spoken and not runs and not _TAKEN_ON.match(line, at) else whole)
    return "".join(out) + line[at:]


def statements(line: str, *, within: bool = False) -> Iterator[tuple[str, str]]:
    r"""The statements of a line with what ended each; separators inside of plain quotes do not.

    ``within``: they do, as in ``"test": "a; b"``, where the quotes are those of JSON.
    """
    masked = line if within else _QUOTED.sub(_masked, line)
    at = 0
    for mark in _SEPARATOR.finditer(masked):
        yield line[at : mark.start()], mark[0]
        at = mark.end()
    yield line[at:], ""


def _masked(quoted: re.Match[str]) -> str:
    return quoted[0].replace(";", "_").replace("&", "_").replace("\\n", "__")


def bare(words: str) -> str:
    """An argument list as a command line: quotes, commas and brackets are blanks."""
    return re.sub(r"[\"',\[\]()]+", " ", words)
