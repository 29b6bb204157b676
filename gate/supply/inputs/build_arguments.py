"""Images that a build argument puts into a Dockerfile: whose they are, whatever file gives the argument.

A ``FROM ${PHP_IMAGE}`` is as good as what Compose, a Makefile, a pipeline, a script or an ``.env`` says for
PHP_IMAGE. The Dockerfile shows a default that nobody builds with. Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from gate.regex import regex
from gate.supply.inputs.images import SYNTAX_ARGUMENT, dockerfile, image
from gate.supply.inputs.places import owners
from gate.supply.inputs.text import lines_of_dockerfile

_VARIABLE: Final = regex(r"\$(?:\{(\w+)(?::?[-+]([^}]*))?\}|(\w+))")
_MOST: Final = 50
_GIVEN: Final = (
    r"(?<![\w$]){name}[\"']?[ \t]*(?:\?=|:=|\+=|=|:(?!//))[ \t]*[\"']?"
    r"(?P<value>[A-Za-z0-9][\w./:@-]{{1,250}})"
)
"""``NAME=value``, ``NAME: value``, ``NAME ?= value``, ``"NAME": "value"``: the forms of all files alike."""


class Asked(msgspec.Struct, frozen=True):
    """What a Dockerfile builds upon. ``templates``: names of images with arguments in them, and their
    defaults. ``owners``: whose images it builds upon by itself.
    """

    templates: list[str]
    defaults: dict[str, str]
    owners: list[str]


def read(path: str, data: bytes, options: Mapping[str, object]) -> Asked:
    """A Dockerfile's images that have arguments in their names."""
    del path, options
    text = data.decode("utf-8", "replace")
    templates: list[str] = []
    defaults: dict[str, str] = {}
    for line in lines_of_dockerfile(text):
        words = line.split()
        word = words[0].upper()
        if word == "ARG":
            for pair in words[1:]:
                name, _, value = pair.partition("=")
                defaults.setdefault(name, value.strip("\"'"))
        elif word in ("FROM", "COPY", "RUN"):
            templates += [name for name in _named(words) if "$" in name]
    templates = [*templates[:_MOST], f"${{{SYNTAX_ARGUMENT}}}"]
    had = {p for one in dockerfile(text).inputs for p in owners(one)}
    return Asked(templates=templates, defaults=defaults, owners=sorted(had))


def _named(words: list[str]) -> Iterator[str]:
    if words[0].upper() == "FROM":
        yield from [one for one in words[1:] if not one.startswith("--")][:1]
    for one in words[1:]:
        if one.startswith("--from="):
            yield one.removeprefix("--from=")
        elif one.startswith("--mount="):
            yield from (part.removeprefix("from=") for part in one.split(",") if part.startswith("from="))


def arguments_of(template: str) -> list[str]:
    """The arguments in an image's name."""
    return [one[0] or one[2] for one in _VARIABLE.findall(template)]


def given(name: str, line: str) -> str:
    """The value that a line gives an argument; empty where it gives none."""
    match = re.search(_GIVEN.format(name=re.escape(name)), line)
    return match["value"].rstrip(".:,") if match else ""


def owner_of(template: str, defaults: Mapping[str, str], values: Mapping[str, str]) -> tuple[str, str]:
    """Whose the image is with these arguments, and its name; empty where a part of it is not known."""
    filled = _VARIABLE.sub(
        lambda m: values.get(m[1] or m[3], "") or defaults.get(m[1] or m[3], "") or m[2] or m[0], template
    )
    if "$" in filled or not filled:
        return "", filled
    return next(iter(owners(image(filled)))), filled
