"""CMake's ``FetchContent_Declare``, ``ExternalProject_Add`` and ``CPMAddPackage`` as inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.regex import regex
from gate.supply.inputs.model import Archive, Input, Inputs

_TOKEN: Final = regex(r"#\[(=*)\[.*?\]\1\]|#[^\n]*|\"(?:[^\"\\\\]|\\\\.)*\"|[()]|[^\s()#\"]+", re.DOTALL)
_TAKES: Final = frozenset({"fetchcontent_declare", "externalproject_add", "cpmaddpackage"})
_KEYS: Final = frozenset({"URL", "URL_HASH", "GIT_REPOSITORY", "GIT_TAG", "GITHUB_REPOSITORY", "NAME"})


def read(text: str) -> Inputs:
    """What a ``CMakeLists.txt`` takes from elsewhere, by name."""
    return Inputs(kind="manifest", inputs=tuple(_inputs(text)))


def _inputs(text: str) -> Iterator[Input]:
    words: list[str] | None = None
    before = ""
    depth = 0
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word.startswith("#"):
            continue
        if word == "(":
            depth += 1
            words = [] if depth == 1 and before.lower() in _TAKES else words
        elif word == ")":
            depth -= 1
            if depth == 0 and words is not None:
                yield from _one(words)
                words = None
        elif words is not None:
            words.append(word.strip('"'))
        before = word


def _one(words: list[str]) -> Iterator[Input]:
    said = {key: words[at + 1] for at, key in enumerate(words[:-1]) if key in _KEYS}
    name = said.get("NAME") or (words[0] if words else "")
    if address := said.get("GIT_REPOSITORY") or said.get("GITHUB_REPOSITORY"):
        where = address if "://" in address or "@" in address else f"https://github.com/{address}"
        yield Input(name=name, kind="vcs", where=where, revision=said.get("GIT_TAG", ""))
    elif address := said.get("URL"):
        digest = said.get("URL_HASH", "").lower().replace("=", ":")
        version = address.rpartition("/")[2]
        yield Input(
            name=name,
            kind="url",
            where=address,
            version=version,
            archives=(Archive(digest=digest),) if digest else (),
        )
