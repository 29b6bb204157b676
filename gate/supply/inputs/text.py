"""Texts as plain data, strictly: what two parsers would read differently is refused."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Final

from gate.regex import regex
from gate.supply.inputs.model import UnreadableInputError
from gate.supply.javascript.placed_lock import without_last_commas
from gate.supply.yaml_data import UnreadableYamlError, read_yaml

_MOST_NODES: Final = 400_000
"""Of a lock in YAML: fifty thousand lines."""
_MOST_OPEN: Final = 1_000
_DIRECTIVE: Final = regex(r"(?:#|//)\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(\S.{0,500})")
_JSON_SYNTAX: Final = regex(r"\"syntax\"\s*:\s*\"([^\"\n]{1,300})\"")


def json_table(text: str) -> Mapping[str, object]:
    """A JSON object. A key that occurs twice is refused: parsers differ in which one counts."""
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise UnreadableInputError("it is not JSON") from error
    return _table(data)


def plain_json(text: str) -> str:
    """JSON of what editors write: comments, and commas before a closing bracket."""
    return without_last_commas(_without_comments(text))


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise UnreadableInputError("a key occurs twice", ambiguous=True)
    return made


def toml_table(text: str) -> Mapping[str, object]:
    """A TOML document; the language itself refuses a key that occurs twice."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        twice = "overwrite" in str(error) or "twice" in str(error)
        raise UnreadableInputError(
            "a key occurs twice" if twice else "it is not TOML", ambiguous=twice
        ) from error


def yaml_table(text: str) -> Mapping[str, object]:
    """One YAML document that is a table, all scalars as texts, keys once."""
    return _table(yaml_data(text) or {})


def yaml_data(text: str) -> object:
    """One YAML document, all scalars as texts, keys once."""
    if _opens(text) > _MOST_OPEN:  # the parser's own recursion is in C, and slow
        raise UnreadableInputError("it is nested too deeply")
    try:
        return read_yaml(text.encode("utf-8", "replace"), most=_MOST_NODES).data
    except UnreadableYamlError as error:
        message = str(error)
        raise UnreadableInputError(message, ambiguous="twice" in message) from error


def _opens(text: str) -> int:
    """The most brackets that are open at once, as if none stood in quotes."""
    depth = most = 0
    for letter in text:
        if letter in "[{":
            depth += 1
            most = max(most, depth)
        elif letter in "]}":
            depth = max(0, depth - 1)
    return most


def _table(data: object) -> Mapping[str, object]:
    if not isinstance(data, dict):
        raise UnreadableInputError("it is no table")
    return data


def table_of(value: object) -> Mapping[str, object]:
    """The value where it is a table, else an empty one."""
    return value if isinstance(value, dict) else {}


def tables_of(value: object) -> list[Mapping[str, object]]:
    """The tables of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts_of(value: object) -> list[str]:
    """The texts of a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """The value where it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def _without_comments(text: str) -> str:
    """JSON of JSON with comments. In linear time."""
    out: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[at : end + 1])
            at = end + 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            at = len(text) if end < 0 else end + 2
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def directives_of_dockerfile(text: str) -> dict[str, str]:
    """The parser directives at the top, as BuildKit reads them: ``# syntax=``, ``# escape=``, ``# check=``.

    They stand before everything else, a blank line or another comment too; ``//`` and a first line of
    ``#!`` are understood for *syntax*, as is ``{"syntax": "..."}`` instead of all that.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    found: dict[str, str] = {}
    for line in lines:
        match = _DIRECTIVE.match(line.strip())
        if match is None:
            break
        found.setdefault(match[1].lower(), match[2].strip())
    if not found and text.lstrip().startswith("{"):
        match = _JSON_SYNTAX.search(text)
        found = {"syntax": match[1]} if match else {}
    return found


def lines_of_dockerfile(text: str) -> Iterator[str]:
    """The instructions of a Dockerfile, each on one line, without comments."""
    joined = ""
    escape = directives_of_dockerfile(text).get("escape", "\\")
    for raw in text.splitlines():
        if raw.lstrip().startswith("#"):
            continue
        bare = raw.rstrip()
        if bare.endswith(escape):
            joined += bare[:-1] + " "
            continue
        if line := (joined + bare).strip():
            yield line
        joined = ""
    if joined.strip():
        yield joined.strip()
