"""Container images as inputs: Dockerfiles, compose files, devcontainer.json with its features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gate.regex import regex
from gate.supply.inputs.model import Archive, Input, Inputs, UnreadableInputError
from gate.supply.inputs.text import (
    directives_of_dockerfile,
    json_table,
    lines_of_dockerfile,
    plain_json,
    table_of,
    tables_of,
    text_of,
    texts_of,
    yaml_table,
)

_DEPTH: Final = 12
_VARIABLE: Final = regex(r"\$(?:\{(\w+)(?::?[-+]([^}]*))?\}|(\w+))")
SYNTAX_ARGUMENT: Final = "BUILDKIT_SYNTAX"
"""The build argument that takes the place of ``# syntax=``."""
_HUB: Final = frozenset({"index.docker.io", "registry-1.docker.io", "registry.hub.docker.com", "docker.io"})


def image(text: str, name: str = "") -> Input:
    """An image's name as docker reads it: ``python:3.12`` is ``docker.io/library/python`` at the tag 3.12."""
    bare, _, digest = text.strip().removeprefix("docker://").partition("@")
    front, colon, tag = bare.rpartition(":")
    if not colon or "/" in tag:
        front, tag = bare, ""
    parts = front.lower().split("/")
    is_host = len(parts) > 1 and ("." in parts[0] or ":" in parts[0] or parts[0] == "localhost")
    host, path = (parts[0], parts[1:]) if is_host else ("docker.io", parts)
    if host in _HUB:
        host, path = "docker.io", path if len(path) > 1 else ["library", *path]
    return Input(
        name=name or path[-1],
        kind="vcs",
        where=f"oci://{host}/{'/'.join(path)}",
        version=tag,
        archives=(Archive(digest=digest),) if digest else (),
    )


def frontend(text: str) -> Input:
    """The image that reads a Dockerfile (``# syntax=``): it runs, and sees the context and the secrets."""
    return replace(image(text, "syntax"), credentialed=True)


def dockerfile(text: str) -> Inputs:
    """Every image that is built upon, copied from or that reads the file; the file's own stages are none.
    ARG's defaults count.
    """
    found: list[Input] = []
    if asked := directives_of_dockerfile(text).get("syntax", "").split():
        found.append(frontend(asked[0]))
    stages: set[str] = {"scratch"}
    values: dict[str, str] = {}
    for line in lines_of_dockerfile(text):
        words = line.split()
        word = words[0].upper()
        if word == "ARG" and len(words) > 1:
            for pair in words[1:]:
                name, equals, value = pair.partition("=")
                if equals:
                    values.setdefault(name, value.strip("\"'"))
        elif word in ("FROM", "COPY", "ADD", "RUN"):
            for name in _named(word, words, stages):
                filled = _filled(name, values)
                if filled.lower() not in stages and not filled.isdigit() and "$" not in filled:
                    found.append(image(filled))
            if word == "FROM" and len(words) > 2 and words[-2].upper() == "AS":
                stages.add(words[-1].lower())
    return Inputs(kind="images", inputs=tuple(dict.fromkeys(found)))


def _named(word: str, words: list[str], stages: set[str]) -> list[str]:
    plain = [each for each in words[1:] if not each.startswith("--")]
    if word == "FROM":
        return plain[:1]
    options = [each for each in words[1:] if each.startswith("--")]
    found = [each.removeprefix("--from=") for each in options if each.startswith("--from=")]
    for each in options:
        if each.startswith("--mount="):
            parts = dict(p.partition("=")[::2] for p in each.removeprefix("--mount=").split(","))
            found += [parts["from"]] if "from" in parts else []
    return [each for each in found if each.lower() not in stages]


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda m: values.get(m[1] or m[3]) or m[2] or m[0], text)


def compose(text: str) -> Inputs:
    """The images of a compose file's services."""
    services = table_of(yaml_table(text).get("services"))
    named = {name: text_of(table_of(service).get("image")) for name, service in services.items()}
    found = [image(_filled(asked, {}), name) for name, asked in named.items() if asked]
    return Inputs(kind="images", inputs=tuple(one for one in found if "$" not in one.where))


def helm_values(text: str) -> Inputs:
    """Images among the values of a Helm chart, by where they stand: ``image: {registry, repository, tag}``,
    ``image: name:tag``, ``repository`` beside ``tag``. Other YAML has none of it, and is nothing.
    """
    try:
        table = yaml_table(text)
    except UnreadableInputError:
        return Inputs(kind="images")
    found = [*_images_in(table, "")]
    return Inputs(kind="images", inputs=tuple(one for one in dict.fromkeys(found) if "{" not in one.where))


def _images_in(table: Mapping[str, object], at: str, depth: int = 0) -> Iterator[Input]:
    named, tag = text_of(table.get("repository")), text_of(table.get("tag"))
    about = at.lower().endswith("image") or not {"tag", "digest", "pullPolicy", "registry"}.isdisjoint(table)
    if named and about and "://" not in named:
        host = text_of(table.get("registry"))
        digest = text_of(table.get("digest"))
        whole = f"{host}/{named}" if host else named
        yield image(whole + (f":{tag}" if tag else "") + (f"@{digest}" if digest else ""), at or "image")
    for key, value in table.items():
        place = f"{at}.{key}" if at else key
        if key.lower().endswith("image") and (plain := text_of(value)) and " " not in plain:
            yield image(plain, place)
        elif isinstance(value, Mapping) and depth < _DEPTH:
            yield from _images_in(value, place, depth + 1)
        elif isinstance(value, list) and depth < _DEPTH:
            for number, one in enumerate(tables_of(value)):
                label = text_of(one.get("name")) or str(number)
                yield from _images_in(one, f"{place}.{label}", depth + 1)


def kustomization(text: str) -> Inputs:
    """What a kustomization puts in the place of images."""
    found = []
    for one in tables_of(yaml_table(text).get("images")):
        name, other = text_of(one.get("name")), text_of(one.get("newName"))
        digest, tag = text_of(one.get("digest")), text_of(one.get("newTag"))
        if name:
            whole = (other or name) + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")
            found.append(image(whole, name))
    return Inputs(kind="images", inputs=tuple(dict.fromkeys(found)))


def devcontainer(text: str) -> Inputs:
    """devcontainer.json, JSON with comments: its image and its features, which run code when it is built."""
    data = json_table(plain_json(text))
    found = [image(text_of(data.get("image")), "image")] if text_of(data.get("image")) else []
    for feature in table_of(data.get("features")):
        if feature.startswith(("http://", "https://")):
            name = feature.rpartition("/")[2].partition(".")[0]
            found.append(Input(name=name, kind="url", where=feature))
        elif not feature.startswith((".", "/")):
            found.append(image(feature))
    for name in texts_of(table_of(table_of(data.get("customizations")).get("vscode")).get("extensions")):
        publisher, dot, extension = name.lower().partition(".")
        if dot:
            found.append(Input(name=extension, kind="vcs", where=f"vscode://extensions/{publisher}"))
    return Inputs(kind="images", inputs=tuple(dict.fromkeys(found)))
