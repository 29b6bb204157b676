"""What .NET takes from NuGet: ``packages.lock.json``."""

from __future__ import annotations

from gate.supply.inputs.model import Archive, Input, Inputs
from gate.supply.inputs.text import json_table, table_of, text_of


def lock(text: str) -> Inputs:
    """``packages.lock.json``: by target framework, version and hash of each package."""
    found = []
    asked = []
    for framework in map(table_of, table_of(json_table(text).get("dependencies")).values()):
        for name, value in framework.items():
            row = table_of(value)
            if text_of(row.get("type")) == "Project":
                continue
            digest = text_of(row.get("contentHash"))
            version = text_of(row.get("resolved"))
            archives = (Archive(name=f"{name}.{version}", digest=f"sha512:{digest}"),) if digest else ()
            needs = tuple(table_of(row.get("dependencies")))
            found.append(Input(name=name, version=version, archives=archives, needs=needs))
            asked += [name] if text_of(row.get("type")) == "Direct" else []
    return Inputs(kind="lock", inputs=tuple(dict.fromkeys(found)), asked=tuple(dict.fromkeys(asked)))
