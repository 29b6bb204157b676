"""Recipes of make that verify something, and whether make goes on when they fail."""

from __future__ import annotations

from typing import Final, NamedTuple

from gate.regex import regex

_MAKEFILE: Final = regex(r"(?i)(?:^|/)(?:[^/]*makefile[^/]*|[^/]+\.mk)$")
_VERIFIES: Final = regex(
    r"\b(?:md5|sha\d{1,3}|b2)sum\b[^|;&]*\s(?:-c|--check)\b|\bshasum\b[^|;&]*\s-[a-z]*c\b|\bgpgv?2?\b.*--verify\b"
    r"|\bcosign\s+verify|\bminisign\s+-V"
    r"|\bopenssl\b.*\s-verify\b|\bslsa-verifier\b|\bcmp\s|\bdiff\s+-q\b"
    r"|\bgh\s+attestation\b"
)
_IGNORES: Final = regex(r"^(?:\.IGNORE\s*:|MAKEFLAGS\s*[+:]?=.*(?:\s-?[a-z]*i|--ignore-errors))")


_ONE_SHELL: Final = regex(r"^\.ONESHELL\s*:")
_ENDS: Final = regex(r"^\.SHELLFLAGS\s*[:+?]*=.*(?:^|\s)-[a-z]*e|^SHELL\s*[:?]*=.*\s-[a-z]*e")


class Recipe(NamedTuple):
    """One line of a recipe that verifies. ``goes_on``: why make goes on when it fails; empty: it stops."""

    command: str
    line: int
    goes_on: str


def is_makefile(path: str) -> bool:
    """Is this a file of make?"""
    return bool(_MAKEFILE.search(path))


def goes_on(text: str) -> list[Recipe]:
    """The recipes that verify."""
    lines = text.split("\n")
    whole = next((line.split("#")[0].strip() for line in lines if _IGNORES.match(line)), "")
    one_shell = any(map(_ONE_SHELL.match, lines)) and not any(map(_ENDS.search, lines))
    found: list[Recipe] = []
    for number, line in enumerate(lines, 1):
        if not line.startswith("\t") or len(line) > 500:
            continue
        bare = line.strip()
        command = bare.lstrip("@+- ")
        if _VERIFIES.search(command):
            by = "-" if "-" in bare[: len(bare) - len(command)] else whole
            if not by and one_shell and lines[number : number + 1] and lines[number].startswith("\t"):
                by = ".ONESHELL"  # one script without -e: only what its last line says counts
            found.append(Recipe(command, number, by))
    return found
