"""Packages installed by an address instead of a name: their own scripts run as they are installed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gate.languages.commands.addresses import Origin, filled_in, origin_of
from gate.languages.commands.reading import LogicalLine, bare, statements
from gate.languages.commands.vocabulary import Fetched
from gate.regex import regex

INSTALLS: Final = regex(
    r"(?<![\w./-])(?:/\S{0,80}/)?(?:pip[\d.]{0,5}|pipx|uv|npm|yarn|pnpm|bun|gem|easy_install|npx|bunx|rpm|dnf|yum)[\s\"',]"
)
_ORDER: Final = regex(
    r"\s(?:install|i|add)(?=\s)|^\S*(?:easy_install\b|rpm\s(?=[^\n]{0,60}-\w*[iUF]))"
    r"|(?:^\S{0,80}\b(?:npx|bunx)|\s(?:dlx|exec|x))\s+(?:-\S+\s+){0,6}(?=(?:git\+)?(?:https?|ftp)://)"
)
"""``npx wait-on http://app:3000`` installs nothing from there: a package's address comes first."""
_OWN: Final = regex(r"https?://[a-z][\w-]*(?:[:/]|$)", re.IGNORECASE)
"""A name without a dot: a service of the same network (``http://verdaccio:4873``)."""
_GIVEN: Final = regex(
    r"(?P<before>\S{0,40})(?P<between>[\s=]{1,4})(?:git\+)?(?P<address>(?:https?|ftp)://[^\s;|&<>]{1,500})"
)
_NO_SOURCE: Final = regex(r"--?(?:proxy|https?-proxy|noproxy|cert|user-agent)$", re.IGNORECASE)


def installed(line: LogicalLine, values: Mapping[str, str]) -> Fetched | None:
    """The worst address that a package (or an index of packages) is installed from, if it is a doubtful one.

    By TLS and a name it is what projects do every day: a wheel of a release, a company's index.
    """
    for statement, _ in statements(line.text):
        match = INSTALLS.search(statement)
        if match is None:
            continue
        command = filled_in(bare(statement[match.start() :]), values)
        if _ORDER.search(command) is None:
            continue
        for given in _GIVEN.finditer(command):
            address = given["address"]
            if _NO_SOURCE.search(given["before"]) or _OWN.match(address):
                continue
            if origin_of(address) is Origin.DOUBTFUL:
                return Fetched("installed", Origin.DOUBTFUL, address, line.first, line.last)
    return None
