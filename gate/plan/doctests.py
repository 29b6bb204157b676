"""Examples in docstrings and texts, where the project runs them as tests. Told from bytes alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gate.model.change import ChangedFile, Tree
from gate.plan.module_layout import module_of
from gate.plan.probes import DriverItem
from gate.plan.python_source import BIGGEST
from gate.plan.tree_context import TreeContext, driver_item
from gate.regex import regex

_ASKS: Final = regex(rb"doctest|xdoctest|sybil")
_PLACES: Final = regex(
    r"(?:pyproject\.toml|pytest\.(?:ini|toml)|setup\.cfg|tox\.(?:ini|toml)|Makefile|noxfile\.py|\.ci/.*|\.gitlab-ci\.yml"
    r"|conftest\.py|(?:tests?|docs?)/conftest\.py|\.github/workflows/[^/]*|docs?/(?:Makefile|conf\.py))\Z"
)
_PLACES_MOST: Final = 40
_EXAMPLE: Final = regex(rb"^[ \t]*>>> ", re.MULTILINE)
_TEXTS: Final = (".rst", ".txt", ".md")
MOST: Final = 20
"""Files whose examples are run."""


def doctest_items(files: Sequence[ChangedFile], head: Tree, around: TreeContext) -> Iterator[DriverItem]:
    """An item for each changed file with examples; none where nothing in the tree speaks of doctests."""
    fit = [
        f
        for f in files
        if f.size <= BIGGEST
        and f.new_mode in ("100644", "100755")
        and (f.language == "python" or f.path.endswith(_TEXTS))
    ]
    if not fit or not _asked_for(head):
        return
    count = 0
    for path, data in head.read_many(tuple(f.path for f in fit)):
        if count >= MOST or not _EXAMPLE.search(data):
            continue
        count += 1
        file = next(f for f in fit if f.path == path)
        module = module_of(path, around.head)
        item: dict[str, Any] = {"do": "doctest", "path": path, "roots": list(module.roots)}
        if path.endswith(".py"):
            item["module"] = module.name
        yield driver_item(file, around, "test", f"examples in {path}", item)


def _asked_for(head: Tree) -> bool:
    places = [e.path for e in head.entries() if e.mode.startswith("100") and _PLACES.match(e.path)]
    return any(_ASKS.search(data) for _, data in head.read_many(tuple(places[:_PLACES_MOST])))
