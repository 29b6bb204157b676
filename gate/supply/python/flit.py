"""The manifest of flit before PEP 621 (``[tool.flit.metadata]``), as the table that became of it."""

from __future__ import annotations

from collections.abc import Mapping

from gate.supply.python.requirements import list_of, table_of, text_of


def as_project(tool: Mapping[str, object]) -> dict[str, object]:
    """``[project]`` of the same meaning; empty where ``tool`` (the table of that name) has no flit of old."""
    flit = table_of(tool.get("flit"))
    said = table_of(flit.get("metadata"))
    if not said:
        return {}
    extras = dict(table_of(said.get("requires-extra")))
    if list_of(said.get("dev-requires")):
        extras["dev"] = [*list_of(extras.get("dev")), *list_of(said.get("dev-requires"))]
    return {
        "name": text_of(said.get("dist-name")) or text_of(said.get("module")),
        "dependencies": list_of(said.get("requires")),
        "optional-dependencies": extras,
        "requires-python": text_of(said.get("requires-python")),
        "scripts": table_of(flit.get("scripts")),
        "entry-points": table_of(flit.get("entrypoints")),
    }
