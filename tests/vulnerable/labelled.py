"""Labelled handlers for the static look: the made-up mixture (mixed/), short files (small/, fresh/)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from tests.paths import TESTS
from tests.vulnerable.mixed.generate import Handler, handlers
from tests.vulnerable.running import Case

SHORT = ("small", "fresh")
"""Folders of short files. ``fresh`` was written when the rules had been mended for the others."""


def short(corpus: str) -> Iterator[Handler]:
    """The short files of a folder: a hole and its twin, one after the other."""
    for file in sorted((TESTS / "vulnerable" / corpus).glob("*.toml")):
        for pair in tomllib.loads(file.read_text())["pair"]:
            for hole in (True, False):
                text = pair["hole" if hole else "secure"].lstrip("\n")
                yield Handler(
                    name=f"{pair['name']}-{'hole' if hole else 'secure'}",
                    weakness=pair["class"],
                    cwes=frozenset(pair["cwe"]),
                    hole=hole,
                    framework="",
                    how=pair["name"],
                    main="app.py",
                    files={"app.py": text},
                )


def labelled(corpus: str, seed: int = 18, per_class: int = 12) -> list[Handler]:
    """``mixed``, a folder of short files, or ``all``."""
    made = list(handlers(seed, per_class)) if corpus in ("mixed", "all") else []
    return made + [one for name in SHORT if corpus in (name, "all") for one in short(name)]


_PATHS = ("path-read", "path-write", "archive")
PROVEN_AS: dict[str, tuple[str, ...]] = {
    "command": ("command",),
    "code": ("code",),
    "sql": ("sql",),
    "template": ("template",),
    "deserialisation": ("deserialisation",),
    "header": ("header",),
    "token": ("token",),
    "ldap": ("query",),
    "xpath": ("query",),
    "nosql": ("query",),
    "xss": ("html",),
    "xxe": ("xml",),
    "redirect": ("open-redirect",),
    "ssrf": ("request-forgery",),
    "path": _PATHS,
    "redos": ("slow-pattern",),
}
"""Class of the labels -> weaknesses of which a proof is one of it."""


def attacked(corpus: str, seed: int = 18, per_class: int = 12) -> list[Case]:
    """The handlers whose class an attack can prove, as cases for a sandbox."""
    return [
        Case(
            weakness=PROVEN_AS[handler.weakness][0],
            also=frozenset(PROVEN_AS[handler.weakness]),
            name=f"{handler.how} {handler.name}",
            right="proven" if handler.hole else "secure",
            head=handler.files,
            file=corpus,
        )
        for handler in labelled(corpus, seed, per_class)
        if handler.weakness in PROVEN_AS
    ]
