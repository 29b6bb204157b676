"""composer.lock as inputs: each package with the archive and the repository that it is built from."""

from __future__ import annotations

from gate.supply.inputs.model import Archive, Input, Inputs
from gate.supply.inputs.text import json_table, table_of, tables_of, text_of


def lock(text: str) -> Inputs:
    """composer.lock. The archive's address and the repository's are both places of the package."""
    data = json_table(text)
    found = []
    for section in ("packages", "packages-dev"):
        for package in tables_of(data.get(section)):
            dist, source = table_of(package.get("dist")), table_of(package.get("source"))
            address = text_of(dist.get("url"))
            digest = text_of(dist.get("shasum"))
            archive = Archive(where=address, digest=f"sha1:{digest}" if digest else "")
            repository = text_of(source.get("url"))
            found.append(
                Input(
                    name=text_of(package.get("name")),
                    kind="vcs" if repository else "url" if address else "registry",
                    where=repository or address,
                    version=text_of(package.get("version")),
                    revision=text_of(source.get("reference")) or text_of(dist.get("reference")),
                    archives=(archive,) if address else (),
                    needs=tuple(table_of(package.get("require"))),
                    runs=text_of(package.get("type")) == "composer-plugin",
                )
            )
    return Inputs(inputs=tuple(dict.fromkeys(found)), tells_runs=True)
