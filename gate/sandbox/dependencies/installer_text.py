"""Runs inside the installing sandbox: reads requirement lines, and what an installer says of them.

Standard library only: it is sent into the sandbox beside installer.py.
"""

from __future__ import annotations

import re

PINNED = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[^\]]*\])?\s*==\s*(?P<version>[\w.!+-]+)(?=[\s;]|$)"
)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_FIRST = re.compile(r"(?:Because|for|build|download|fetch|of|package) `?([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?")
_FOUND = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[\w.!+-]+)\s*$")


def plain(name: str) -> str:
    """As an index compares names (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower().rstrip("-")


def name_of(line: str) -> str:
    """Of a requirement line, as an index compares it; empty where there is none."""
    found = _NAME.match(line)
    return plain(found[0]) if found else ""


def pin_of(line: str) -> str:
    """The one version that a line allows; empty where it allows more."""
    found = PINNED.match(line)
    return found["version"] if found else ""


def has_hash(line: str) -> bool:
    """Does the line say which files count?"""
    return " --hash" in line


def with_version(line: str, wanted: str) -> str:
    """A pinned line with something else (``==2.1``, ``>=2``) for its version."""
    return PINNED.sub(lambda m: f"{m['name']}{m['extras'] or ''}{wanted}", line, count=1)


def at_least(line: str) -> str:
    """A pinned line that newer versions satisfy, too; without hashes, which name files of that version."""
    return with_version(line.split(" --hash", maxsplit=1)[0], f">={pin_of(line)}")


def blames(said: str, line: str) -> bool:
    """Is that line's package the first that the text says something about?"""
    text = " ".join(re.sub(r"[^\x20-\x7e]", " ", said).split())
    first = _FIRST.search(text)
    return first is not None and bool(name_of(line)) and plain(first[1]) == name_of(line)


def blamed(said: str, lines: list[str]) -> list[str]:
    """The lines that the text is about: of several for one package those with one version."""
    found = [line for line in lines if blames(said, line)]
    return [line for line in found if pin_of(line)] or found


def versions(text: str) -> dict[str, str]:
    """``name==version`` lines, by name."""
    found = (_FOUND.match(line) for line in text.splitlines())
    return {plain(match["name"]): match["version"] for match in found if match}


def same_version(one: str, other: str) -> bool:
    """Are these one version, however written (``6.0`` and ``6.0.0``)?"""
    return _parts(one) == _parts(other)


def _parts(version: str) -> list[str]:
    parts = [part.lstrip("0") or "0" if part.isdecimal() else part.lower() for part in version.split(".")]
    while parts and parts[-1] == "0":
        parts.pop()
    return parts


def shortened(said: str, most: int) -> str:
    """Beginning and end: uv names the package first and the cause last."""
    half = most // 2
    return said if len(said) <= most else f"{said[:half]} ... {said[-half:]}"
