"""Markup that acts, among texts: an event handler or a script in a translation, a seed, a settings file.

Base's own code shows such a text, often unescaped, because who translates writes bold and links. No program
changes, so nothing that runs here shows it: what a browser would do is read from the markup itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_unshipped
from gate.model.rule import Severity
from gate.prescreen.interface import View
from gate.prescreen.text_rule import TextHit, rule
from gate.regex import regex

_TEXTS: Final = frozenset({
    ".json", ".json5", ".jsonl", ".arb", ".yml", ".yaml", ".toml", ".po", ".pot", ".properties", ".ftl",
    ".resx",
    ".xlf", ".xliff", ".strings", ".csv", ".tsv", ".ini", ".sql", ".txt", ".lang",
})  # fmt: skip
"""Files whose texts programs show. Pages, templates and prose are markup by themselves."""
_BEGINS: Final = regex(r"(?:<|\\u003[cC])[A-Za-z]")
_ESCAPES: Final = (("\\u003c", "<"), ("\\u003C", "<"), ("\\u003e", ">"), ("\\u0022", '"'), ('\\"', '"'))
_MAY_ACT: Final = regex(r"\bon[a-z]{3,24}\s*=|<\s*script|(?:href|src|srcdoc|action|data)\s*=", re.IGNORECASE)
_HANDLER: Final = regex(r"on[a-z]{3,24}")
_LINKS: Final = frozenset({"href", "src", "action", "formaction", "xlink:href", "data", "srcdoc"})
_BLANKS: Final = regex(r"[\x00-\x20]+")
_SENDS: Final = regex(
    r"cookie|localStorage|sessionStorage|fetch\s*\(|XMLHttpRequest|sendBeacon|\bimport\s*\(|\beval\s*\(|\.src\s*="
    r"|\blocation\b|atob\s*\(|Function\s*\(|https?:|WebSocket",
    re.IGNORECASE,
)
_TAG: Final = 4_000
"""Characters of one tag that are read."""
_MOST: Final = 5_000
"""Tags of one file that are read, of those that may act."""


class _FirstTagError(Exception):
    """The first tag is read."""


class _Acts(HTMLParser):
    """What acts in the first tag of a piece of text: ``(what, code)``."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handlers, links that are scripts, scripts."""
        if tag == "script":
            self.found.append(("a script", str(dict(attrs).get("src") or "https:")))
        for name, value in attrs:
            bare = _BLANKS.sub("", value or "").lower()
            if _HANDLER.fullmatch(name) and value and re.search(r"[(=.]", value):
                self.found.append((f"the handler {name}", value))
            elif name in _LINKS and bare.startswith(("javascript:", "vbscript:", "data:text/html")):
                self.found.append((f"a link that is a script ({name})", value or ""))
            elif name == "srcdoc" and value:
                self.found.append(("a page within (srcdoc)", value))
        raise _FirstTagError


@rule(
    "markup.active",
    "A text that acts where it is shown",
    severity="medium",
    confidence="medium",
    topic="hidden-text",
    cwe=(79, 80),
    attack=("T1059.007",),
    why="Translations and seeds are shown as they are; a handler in one runs for everybody who sees it.",
    fix="Keep handlers and scripts in the program; escape texts, or allow a list of tags.",
)
def active_markup(view: View) -> Iterator[TextHit]:
    """An event handler, a `javascript:` link or a script in a data file: high where it reads or sends.

    Tags of up to 4,000 characters are read. A file with more than 5,000 that may act says so by itself.
    """
    if PurePosixPath(view.path).suffix.lower() not in _TEXTS:
        return
    line, until = 1, 0
    for number, (start, tag) in enumerate(_may_act(view.text)):
        if number == _MOST:
            yield TextHit(message="This text has more tags than are read.", shape="more tags than are read")
            return
        line += view.text.count("\n", until, start)
        until = start
        for what, code in _acts(tag):
            severity = Severity.HIGH if _SENDS.search(code) else Severity.MEDIUM
            yield TextHit(
                message=f"This text holds {what}, which runs where it is shown.",
                first=line,
                evidence={"code": code.strip()[:120]},
                shape=f"{what} {code}"[:500],
                severity=Severity.LOW if is_unshipped(view.path) else severity,
            )


def _may_act(text: str) -> Iterator[tuple[int, str]]:
    """Where a tag begins that may act, and the text from there on without the escapes of its file."""
    for begin in _BEGINS.finditer(text):
        tag = text[begin.start() : begin.start() + _TAG]
        for escaped, plain in _ESCAPES:
            tag = tag.replace(escaped, plain)
        if ">" in tag and _MAY_ACT.search(tag):
            yield begin.start(), tag


def _acts(text: str) -> list[tuple[str, str]]:
    reader = _Acts()
    with suppress(_FirstTagError):
        reader.feed(text)  # and no close(): what is left of a tag that does not end is read once for each `<`
    return reader.found
