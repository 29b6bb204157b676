"""What Swift packages and CocoaPods take: ``Package.resolved`` and ``Podfile.lock``."""

from __future__ import annotations

from gate.supply.inputs.model import Archive, Input, Inputs, SourceKind
from gate.supply.inputs.text import json_table, table_of, tables_of, text_of, texts_of, yaml_table


def resolved(text: str) -> Inputs:
    """``Package.resolved``, versions 1 to 3: repositories with their commits."""
    data = json_table(text)
    found = []
    for pin in tables_of(data.get("pins")) or tables_of(table_of(data.get("object")).get("pins")):
        state = table_of(pin.get("state"))
        found.append(
            Input(
                name=text_of(pin.get("identity")) or text_of(pin.get("package")).lower(),
                kind="vcs",
                where=text_of(pin.get("location")) or text_of(pin.get("repositoryURL")),
                version=text_of(state.get("version")) or text_of(state.get("branch")),
                revision=text_of(state.get("revision")),
            )
        )
    return Inputs(inputs=tuple(found))


def pods(text: str) -> Inputs:
    """``Podfile.lock``: pods with the hash of their description; those of a repository with its commit."""
    data = yaml_table(text)
    sums = table_of(data.get("SPEC CHECKSUMS"))
    outside = table_of(data.get("EXTERNAL SOURCES"))
    commits = table_of(data.get("CHECKOUT OPTIONS"))
    found: dict[str, Input] = {}
    rows = data.get("PODS")
    for row in rows if isinstance(rows, list) else ():
        said = next(iter(row), "") if isinstance(row, dict) else text_of(row)
        full, _, version = said.partition(" ")
        name = full.partition("/")[0]
        place = table_of(outside.get(name))
        where = text_of(place.get(":git")) or text_of(place.get(":podspec")) or text_of(place.get(":path"))
        kind: SourceKind = "url" if where else "registry"
        kind = "vcs" if ":git" in place else "path" if ":path" in place else kind
        digest = text_of(sums.get(name))
        found[name] = Input(
            name=name,
            kind=kind,
            where=where,
            version=version.strip("() "),
            revision=text_of(table_of(commits.get(name)).get(":commit")),
            archives=(Archive(digest=f"sha1:{digest}"),) if digest else (),
        )
    asked = tuple(text.partition(" ")[0] for text in texts_of(data.get("DEPENDENCIES")))
    return Inputs(inputs=tuple(found.values()), asked=asked)
