"""What a project says that packages of others need: tables that correct somebody's metadata.

Such a table is meant for what a package forgot. Its words are installed like the package's own needs, and
they stand in none of the tables that say what the project asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.regex import regex
from gate.supply.inputs import npm, requirements
from gate.supply.inputs.model import Input, Inputs
from gate.supply.inputs.text import json_table, table_of, tables_of, text_of, texts_of, yaml_table

_Table = Mapping[str, object]
_NEEDS: Final = ("dependencies", "optionalDependencies", "peerDependencies")
_TOKEN: Final = regex(
    r"//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/|\"\"\"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|[{}]"
)
_COORDINATES: Final = regex(r"[\w.-]{1,200}:[\w.-]{1,200}(?::[\w.+\-\[\],()]{0,60})?")


def of_pyproject(tool: _Table) -> Iterator[Input]:
    """Uv's ``dependency-metadata`` and ``extra-build-dependencies``, Poetry's ``requires-plugins``."""
    uv = table_of(tool.get("uv"))
    for row in tables_of(uv.get("dependency-metadata")):
        yield from _lines(text_of(row.get("name")), row.get("requires-dist"))
    for name, lines in table_of(uv.get("extra-build-dependencies")).items():
        rows = lines if isinstance(lines, list) else []
        given = [text_of(row) or text_of(table_of(row).get("requirement")) for row in rows]
        yield from _lines(name, given)
    plugins = table_of(table_of(tool.get("poetry")).get("requires-plugins"))
    for name, asked in plugins.items():
        yield Input(name=name, version=text_of(asked), claimed="poetry")


def of_extensions(data: _Table) -> Iterator[Input]:
    """``packageExtensions`` of pnpm and yarn."""
    for selector, value in table_of(data.get("packageExtensions")).items():
        at = selector.find("@", 1)
        name = selector[:at] if at > 0 else selector
        for key in _NEEDS:
            for other, asked in table_of(table_of(value).get(key)).items():
                one = npm.wanted(other, text_of(asked))
                yield Input(name=other, version=one.version, actual=one.actual, claimed=name)


def package_json(text: str) -> Inputs:
    """``package.json`` with what it says of others' packages, for pnpm or for yarn."""
    data = json_table(text)
    said = [*of_extensions(data), *of_extensions(table_of(data.get("pnpm")))]
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys([*npm.manifest(text).inputs, *said])))


def install_settings(text: str) -> Inputs:
    """``pnpm-workspace.yaml`` and ``.yarnrc.yml``: what is put in whose place, and needed by whom."""
    data = yaml_table(text)
    found = [*npm.overrides(data), *of_extensions(data)]
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys(found)))


def gradle(text: str) -> Inputs:
    """Rules of a Gradle build: needs that are added to a module, and modules that stand for others.

    ``withModule("a:b") { allVariants { withDependencies { add("c:d:1") } } }`` and ``substitute module("a:b")
    using module("c:d:1")``, ``useTarget``. Groovy and Kotlin write them alike, word by word.
    """
    found: list[Input] = []
    module, added_at, depth, replaced, verb = "", 0, 0, "", ""
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word in "{}":
            depth += 1 if word == "{" else -1
            added_at = 0 if depth < added_at else added_at
        elif word[0] in "\"'":
            said = _COORDINATES.fullmatch(word[1:-1])
            if said is None:
                continue
            name, version = _split(word[1:-1])
            if verb in ("withModule", "substitute"):
                module = name if verb == "withModule" else module
                replaced = name if verb == "substitute" else replaced
            elif verb == "add" and added_at and depth >= added_at and module:
                found.append(Input(name=name, version=version, claimed=module))
            elif verb in ("using", "useTarget") and (replaced or verb == "useTarget") and name != replaced:
                found.append(
                    Input(name=replaced or "a module that a rule chooses", version=version, actual=name)
                )
                replaced = ""
            verb = ""
        elif word == "withDependencies":
            added_at = depth + 1
        elif word in ("withModule", "substitute", "add", "using", "useTarget"):
            verb = word
        elif word == "with" and replaced:
            verb = "using"
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys(found)))


def _lines(name: str, lines: object) -> Iterator[Input]:
    for line in texts_of(lines):
        if one := requirements.requirement(line):
            yield Input(name=one.name, kind=one.kind, where=one.where, version=one.version, claimed=name)


def _split(text: str) -> tuple[str, str]:
    group, _, rest = text.partition(":")
    artifact, _, version = rest.partition(":")
    return f"{group}:{artifact}", version
