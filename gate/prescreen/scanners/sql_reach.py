"""SQL that leaves the database: it starts programs on the server's machine, or reads and writes its files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.languages.path_roles import is_test_code
from gate.model.rule import Confidence, Severity
from gate.prescreen.interface import View
from gate.prescreen.text_rule import TextHit, rule
from gate.regex import regex

_FILES: Final = (".sql", ".psql", ".pgsql", ".mysql", ".tsql", ".ddl", ".dml", ".plsql")
_CODE: Final = ("python", "notebook", "javascript", "typescript", "other", "shell")
_STARTS: Final = regex(
    r"\bCOPY\b[^;]{0,400}?\b(?:TO|FROM)\s{1,40}PROGRAM\s{0,40}[E'\"$:{%?\\]"
    r"|\bEXEC(?:UTE)?\b[\s\w.\[\]\"']{0,60}\b(?:xp_cmdshell|sp_OACreate|xp_regwrite)\b|\bsp_configure\b\W{1,8}xp_cmdshell\b"
    r"|\bLANGUAGE\s{1,8}[\"']?(?:plpython[23]?u|plperlu|pltclu|plsh)\b|\bRETURNS\s{1,8}\w{1,20}\s{1,8}SONAME\b",
    re.IGNORECASE,
)
_NAMED: Final = regex(r"\bxp_cmdshell\b|\bsp_OACreate\b", re.IGNORECASE)
_TOUCHES: Final = regex(
    r"\bLOAD_FILE\s{0,4}\(|\bINTO\s{1,40}(?:OUTFILE|DUMPFILE)\b|\bpg_read(?:_binary)?_file\s{0,4}\(|\blo_(?:import|export)\s{0,4}\(",
    re.IGNORECASE,
)
_COMMENTS: Final = r"(?P<comment>--[^\n]*|/\*(?!!).*?\*/)|/\*(?!!).*\Z"
_READINGS: Final = (
    regex(rf"'(?:[^']|'')*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|\$(\w*)\$.*?\$\1\$|{_COMMENTS}", re.DOTALL),
    regex(
        r"'(?:[^'\\]|\\.)*(?:'|\\?\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z)|`[^`]*(?:`|\Z)"
        rf"|{_COMMENTS}",
        re.DOTALL,
    ),
)
"""Texts and comments as PostgreSQL and as MySQL read them: a comment to one can be SQL to the other."""


def wants(view: View) -> bool:
    """SQL files, and code, whose strings may hold SQL."""
    return view.path.lower().endswith(_FILES) or view.language in _CODE


@rule(
    "sql.leaves-database",
    "SQL that starts programs or touches files",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(78, 73),
    attack=("T1505.001", "T1059"),
    why="It runs on the database's machine with the server's rights, past every check of the application; a "
    "migration runs it without anybody asking.",
    fix="Export and import through the client (`\\copy`, a driver's cursor); never start programs from SQL.",
)
def leaves_database(view: View) -> Iterator[TextHit]:
    """`COPY ... TO PROGRAM`, `xp_cmdshell`, untrusted languages: high. `LOAD_FILE`, `INTO OUTFILE`,
    `pg_read_file`, `lo_export`: medium. In SQL files and in strings of code (less sure there, low in tests).
    """
    if not wants(view):
        return
    sql = view.path.lower().endswith(_FILES)
    if not any(pattern.search(view.text) for pattern in (_STARTS, _NAMED, _TOUCHES)):
        return
    text = _without_comments(view.text) if sql else view.text
    rows = (
        (_STARTS, "SQL starts a program.", Severity.HIGH),
        (_NAMED if sql else None, "SQL starts a program.", Severity.HIGH),
        (_TOUCHES, "SQL reads or writes the server's files.", Severity.MEDIUM),
    )
    told: set[int] = set()
    for pattern, message, severity in rows:
        for match in pattern.finditer(text) if pattern else ():
            first = text.count("\n", 0, match.start()) + 1
            if first not in told:
                told.add(first)
                yield TextHit(
                    message=message,
                    first=first,
                    last=text.count("\n", 0, match.end()) + 1,
                    severity=Severity.LOW if not sql and is_test_code(view.path) else severity,
                    confidence=None if sql else Confidence.MEDIUM,
                )


def _without_comments(text: str) -> str:
    """The text with blanks in place of what is a comment to both."""
    marks = []
    for reading in _READINGS:
        mark = bytearray(len(text))
        for match in reading.finditer(text):
            if match["comment"]:
                mark[match.start() : match.end()] = b"\1" * len(match[0])
        marks.append(mark)
    pairs = zip(text, *marks, strict=True)
    return "".join(" " if one and two and char != "\n" else char for char, one, two in pairs)
