"""Parties that stand within a longer text: options of a command, headers of a request.

A tenant of a shared service is often no value of its own but a word of a command (``--tenant 31``,
``-H "X-Scope-OrgID: 31"``), in compose files, units, charts and scripts alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gate.prescreen.identities.names import is_tenancy
from gate.prescreen.identities.written import Written
from gate.regex import regex

_OPTION: Final = regex(
    r"(?<![\w-])--?(?P<name>[A-Za-z][\w.-]{2,40})(?:=|[\s\"',]{1,8})(?P<value>[A-Za-z0-9][\w.@:/+-]{0,99})(?![\w$(])"
)
_HEADER: Final = regex(
    r"\b(?P<name>X-[A-Za-z][\w-]{2,40})[\"']?\s{0,4}[:=,]?\s{0,4}[\"']?(?P<value>[A-Za-z0-9][\w.@:/+-]{0,99})(?![\w$(])"
)
_ALONE: Final = regex(r"--?([A-Za-z][\w.-]{2,40})")
_LONGEST: Final = 4_000


def with_options(found: Iterable[Written]) -> Iterator[Written]:
    """Every value, and behind it what it gives to an option or a header that names a tenancy."""
    before: Written | None = None
    for one in found:
        yield one
        option = _ALONE.fullmatch(before.value) if before is not None and before.path == one.path else None
        if option and is_tenancy(option[1]) and one.value and not one.value.startswith("-"):
            yield Written((*one.path, option[1]), one.value, one.line, one.row)
        if len(one.value) <= _LONGEST and ("-" in one.value):
            for name, value in given(one.value):
                yield Written((*one.path, name), value, one.line, one.row)
        before = one


def given(text: str) -> Iterator[tuple[str, str]]:
    """Option or header and its value, where the name is a tenancy's."""
    for pattern in (_OPTION, _HEADER):
        for match in pattern.finditer(text):
            if is_tenancy(match["name"]):
                yield match["name"], match["value"]


def in_lines(text: str) -> Iterator[Written]:
    """The same of a text that no reader takes apart: units, web servers, Dockerfiles, make files."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) <= _LONGEST and not line.lstrip().startswith(("#", ";", "//")):
            for name, value in given(line):
                yield Written((name,), value, number)
