"""Packages that are built from source only, whose makers publish the same code as a wheel under a sibling.

Building psycopg2 takes a compiler and PostgreSQL's headers, which no sandbox has; ``psycopg2-binary`` is the
same module in the same versions. So the sibling is installed, and the report says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.regex import regex
from gate.supply.python.requirements import Requirements, names_of

TWINS: Final = {"psycopg2": "psycopg2-binary"}
_EXTRAS: Final = {"psycopg": ("c", "binary")}
"""Package -> its extra that is built, and the one that is a wheel."""
_NAME: Final = regex(r"[A-Za-z0-9][\w.-]*")
_ASKED: Final = regex(r"\[([^\]]*)\]")


def with_wheels(needs: Requirements) -> Requirements:
    """The same with siblings that have wheels. A line with hashes names its very files, and stays."""
    left: list[str] = []
    every = {*names_of((*needs.lines, *needs.tests, *needs.extras))}

    def swapped(lines: tuple[str, ...]) -> tuple[str, ...]:
        out = []
        for line, name in zip(lines, names_of(lines), strict=True):
            other = line if "--hash" in line else _other(line, name, every)
            if other != line:
                left.append(f"{needs.paths[0] if needs.paths else name}: {line}, but {other} in its place")
            out.append(other)
        return tuple(dict.fromkeys(line for line in out if line))

    found = replace(
        needs,
        lines=swapped(needs.lines),
        tests=swapped(needs.tests),
        extras=swapped(needs.extras),
        constraints=tuple(_other(line, _name(line), frozenset()) for line in needs.constraints),
    )
    return replace(found, left=(*needs.left, *dict.fromkeys(left)))


def _other(line: str, name: str, every: set[str] | frozenset[str]) -> str:
    """The line with its sibling; empty where the project asks for that one besides."""
    if name in TWINS:
        return "" if TWINS[name] in every else _NAME.sub(TWINS[name], line, count=1)
    built, wheel = _EXTRAS.get(name, ("", ""))
    asked = _ASKED.match(line, len(name)) if built else None
    if asked is None:
        return line
    extras = [wheel if one.strip() == built else one.strip() for one in asked[1].split(",")]
    return f"{line[: asked.start()]}[{','.join(dict.fromkeys(extras))}]{line[asked.end() :]}"


def _name(line: str) -> str:
    return next(iter(names_of((line,))), "")
