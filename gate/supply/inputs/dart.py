"""What Dart and Flutter take: ``pubspec.lock`` and ``pubspec.yaml``."""

from __future__ import annotations

from typing import Final

from gate.supply.inputs.model import Archive, Input, Inputs
from gate.supply.inputs.text import table_of, text_of, yaml_table

_SECTIONS: Final = ("dependencies", "dev_dependencies", "dependency_overrides")


def lock(text: str) -> Inputs:
    """``pubspec.lock``: hosted packages with their hash, repositories with their commit, folders."""
    found, asked = [], []
    for name, entry in table_of(yaml_table(text).get("packages")).items():
        row = table_of(entry)
        said = table_of(row.get("description"))
        source, version = text_of(row.get("source")), text_of(row.get("version"))
        actual = text_of(said.get("name"))
        alias = actual if actual not in ("", name) else ""
        if text_of(row.get("dependency")).startswith("direct"):
            asked.append(name)
        if source == "hosted":
            digest = text_of(said.get("sha256"))
            archive = Archive(digest=f"sha256:{digest}" if digest else "")
            place = text_of(said.get("url"))
            found.append(Input(name=name, where=place, version=version, actual=alias, archives=(archive,)))
        elif source == "git":
            commit = text_of(said.get("resolved-ref"))
            place = text_of(said.get("url"))
            found.append(Input(name=name, kind="vcs", where=place, version=version, revision=commit))
        elif source == "path":
            found.append(Input(name=name, kind="path", where=text_of(said.get("path")), version=version))
    return Inputs(inputs=tuple(found), asked=tuple(asked))


def manifest(text: str) -> Inputs:
    """``pubspec.yaml``: what the project asks for, and what it puts in another's place."""
    data = yaml_table(text)
    found = []
    for section in _SECTIONS:
        for name, asked in table_of(data.get(section)).items():
            made = _asked(name, asked)
            if made is not None:
                found.append(made)
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys(found)))


def _asked(name: str, asked: object) -> Input | None:
    row = table_of(asked)
    if "sdk" in row:
        return None
    if "path" in row:
        return Input(name=name, kind="path", where=text_of(row["path"]))
    if "git" in row:
        git = table_of(row["git"])
        where = text_of(row["git"]) or text_of(git.get("url"))
        return Input(name=name, kind="vcs", where=where, revision=text_of(git.get("ref")))
    hosted = table_of(row.get("hosted"))
    where = text_of(row.get("hosted")) or text_of(hosted.get("url"))
    actual = text_of(hosted.get("name"))
    version = text_of(asked) or text_of(row.get("version"))
    return Input(name=name, where=where, version=version, actual=actual if actual != name else "")
