"""Commands of documents that install a package whose name is easily taken for the project's own.

Readers copy them, on their own machines and into pipelines that hold secrets.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.supply.document_commands import posing

DOCUMENTED: Final = rule.meta(
    "dependency.documented-lookalike",
    "A document tells readers to install a package whose name is nearly the project's own",
    severity="medium",
    confidence="medium",
    topic="dependency",
    cwe=(1357, 829),
    attack=("T1195.001", "T1204"),
    why="`@acorn/cli` and `acorn-cli` are two packages, and anybody may publish the second. Who follows the "
    "document installs it, often where secrets are.",
    fix="Name the package that the project publishes; if it was renamed, rename it in its manifest, too.",
)
RULES: Final[tuple[RuleMeta, ...]] = (DOCUMENTED,)
_DOCUMENTS: Final = (".md", ".mdx", ".rst", ".adoc", ".txt", ".markdown", ".html")
_MANIFESTS: Final = frozenset(("package.json", "pyproject.toml", "cargo.toml", "composer.json"))
_LONGEST: Final = 1 << 19
_SURROUNDING: Final = 200
_MOST: Final = 5


def document_findings(request: PrescreenRequest) -> Iterator[Finding]:
    """Of every changed document, base against head. Text is only split into words."""
    changed = [one for one in sources(request).files if _is_document(one)]
    if not changed:
        return
    own, before = _own(request.head), _own(request.base)
    for source in changed:
        base, head = ((data or b"").decode("utf-8", "replace") for data in (source.base, source.head))
        for one in [*posing(base, head, own | before)][:_MOST]:
            yield finding(
                DOCUMENTED,
                "Readers are told to install a package that is easily taken for another one.",
                Location(path=source.path, line=one.now.line),
                shape=f"{one.now.registry} {one.now.name}",
                evidence={"now": one.now.name, "reads like": one.like, "registry": one.now.registry},
            )


def _is_document(source: Source) -> bool:
    name = PurePosixPath(source.path).name.lower()
    text = name.endswith(_DOCUMENTS) or name.startswith("readme")
    listed = "requirements" in name or name.startswith("constraints")
    return text and not listed and len(source.head) <= _LONGEST and "node_modules/" not in source.path


def _own(tree: Tree) -> frozenset[str]:
    """Names that the tree's manifests give their own packages."""
    paths = [
        e.path
        for e in tree.entries()
        if PurePosixPath(e.path).name.lower() in _MANIFESTS
        and e.size <= _LONGEST
        and "node_modules/" not in e.path
    ]
    found: set[str] = set()
    for path, data in tree.read_many(tuple(paths[:_SURROUNDING])):
        found |= {name for name in _names(path, data.decode("utf-8", "replace")) if name}
    return frozenset(found)


def _names(path: str, text: str) -> Iterator[str]:
    try:
        table = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError):
        return
    tables = [table, *(table.get(key) for key in ("project", "package"))] if isinstance(table, dict) else []
    for one in tables:
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            yield one["name"]
