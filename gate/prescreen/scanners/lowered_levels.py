"""Findings about older levels of a language, and switches that bring a weaker behaviour back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.meanings.levels import Lowered, is_read, lowered
from gate.prescreen.read_files import SEARCHED, Unread, first_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule

LEVEL: Final = rule.meta(
    "meaning.level-lowered",
    "An older, weaker behaviour of a language or a library is brought back",
    severity="medium",
    confidence="medium",
    topic="weak-check",
    cwe=(1188, 757, 693),
    why="A line of settings decides what unchanged code means: how loops keep their variables (`go 1.21`), "
    "which keys and signatures are taken (`GODEBUG=tlsrsakex=1`), which defaults protect "
    "(`load_defaults`), who may talk to a server. No line of the program shows it. The table is "
    "`rules/compatibility.toml`.",
    fix="Keep the level of base; where one program needs the old behaviour, switch it on there alone and say "
    "why.",
)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 3_000
_MOST: Final = 5


def level_findings(request: PrescreenRequest, unread: Unread) -> Iterator[Finding]:
    """Of every changed file that the table knows. What is too large is added to ``unread``."""
    known = [one for one in sources(request).files if is_read(one.path) and not is_example(one.path)]
    files, left = first_files(known, len(known), SEARCHED)  # line by line
    unread += left
    told: set[tuple[str, str]] = set()
    for source in files:
        base = source.base.decode("utf-8", "replace") if source.base is not None else None
        for one in lowered(source.path, source.head.decode("utf-8", "replace"), base):
            if (one.name, one.what) not in told and len(told) < _MOST:
                told.add((one.name, one.what))
                yield _finding(
                    source, one, known=not one.was and _is_known(one.what, source.path, request.base)
                )


def _is_known(what: str, path: str, base: Tree) -> bool:
    """Does another file of base, of the same kind, say the same?"""
    kind = PurePosixPath(path).suffix or PurePosixPath(path).name
    paths = [e.path for e in base.entries() if e.path.endswith(kind) and e.size <= _LARGEST]
    return any(what.encode() in data for _, data in base.read_many(tuple(paths[:_MOST_FILES])))


def _finding(source: Source, one: Lowered, *, known: bool) -> Finding:
    evidence = {"set": one.what, "so that": one.why} | ({"was": one.was} if one.was else {})
    return finding(
        LEVEL,
        "What unchanged code means goes back to an older, weaker behaviour.",
        Location(path=source.path, line=one.line),
        shape=f"{one.name} {one.what}",
        evidence=evidence,
        severity=Severity.LOW if known or not one.is_grave or is_test_code(source.path) else None,
    )
