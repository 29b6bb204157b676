"""go.mod and go.sum as inputs. In Go the name is the address; ``replace`` puts another in its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.supply.inputs.model import Archive, Input, Inputs, SourceKind


def module(text: str) -> Inputs:
    """go.mod: requirements and replacements. A replacement is an alias, or a folder."""
    found: list[Input] = []
    replaced: dict[str, Input] = {}
    for word, words in _directives(text):
        if word == "require" and len(words) >= 2:
            found.append(Input(name=words[0], version=words[1]))
        elif word == "replace" and "=>" in words:
            at = words.index("=>")
            if at and len(words) > at + 1:
                replaced[words[0]] = _replacement(words[0], words[at + 1 :])
    asked = tuple(one.name for one in found)
    found = [replaced.pop(one.name, one) for one in found]
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys([*found, *replaced.values()])), asked=asked)


def other_module(text: str) -> Inputs:
    """A module file that builds take by ``-modfile``: what it replaces stands for go.mod's."""
    found = module(text)
    told = (
        replace(one, actual=one.where.removeprefix("https://")) if one.kind == "vcs" else one
        for one in found.inputs
    )
    return replace(found, inputs=tuple(told))


def _replacement(name: str, words: list[str]) -> Input:
    target, version = words[0], words[1] if len(words) > 1 else ""
    if target.startswith((".", "/")):
        return Input(name=name, kind="path", where=target)
    kind: SourceKind = "registry" if target == name else "vcs"
    return Input(name=name, kind=kind, where="" if target == name else f"https://{target}", version=version)


def _directives(text: str) -> Iterator[tuple[str, list[str]]]:
    """``(directive, words)`` of every line, blocks in parentheses opened."""
    block = ""
    for raw in text.splitlines():
        words = raw.partition("//")[0].replace('"', "").split()
        if not words:
            continue
        if block:
            if words == [")"]:
                block = ""
            else:
                yield block, words
        elif words[-1] == "(" and len(words) == 2:
            block = words[0]
        else:
            yield words[0], words[1:]


def vendored(text: str) -> Inputs:
    """vendor/modules.txt: ``# module version => other version`` says what a folder was made of."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) > 2 and words[0] == "#":
            name = words[1]
            at = words.index("=>") if "=>" in words else 0
            one = _replacement(name, words[at + 1 :]) if at and len(words) > at + 1 else None
            found.append(one or Input(name=name, version=words[2]))
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys(found)))


def sums(text: str) -> Inputs:
    """go.sum: a hash for each module and version, and one for its go.mod."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3:
            file = "go.mod" if words[1].endswith("/go.mod") else "zip"
            version = words[1].removesuffix("/go.mod")
            found.append(
                Input(name=words[0], version=version, archives=(Archive(name=file, digest=words[2]),))
            )
    return Inputs(inputs=tuple(dict.fromkeys(found)))
