"""JavaScript tests that have to do with a change: the changed ones, and those that import what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_component, is_javascript_test
from gate.model.change import ChangedFile, Side, Tree
from gate.plan.javascript.imports import Imports
from gate.plan.probes import DriverItem
from gate.plan.tree_context import TreeContext, watched_spans
from gate.regex import regex

_RUN_FIRST: Final = regex(rb"\b(?:describe|it|test|suite|tap|ava)\s{0,4}(?:\.\w{1,20}\s{0,4})?\(")
_NODES_OWN: Final = regex(rb"""(?:\bfrom|\brequire\s{0,4}\()\s{0,4}["']node:test["']""")
_READ: Final = 400


def javascript_test_items(
    files: Sequence[ChangedFile], head: Tree, around: TreeContext, *, most: int
) -> Iterator[DriverItem]:
    """One item for the changed tests, one for tests of what changed."""
    sources = [
        f
        for f in files
        if (f.language in ("javascript", "typescript") or is_component(f.path)) and f.new_mode != "120000"
    ]
    if not sources:
        return
    imports = Imports(head)
    texts = dict(head.read_many(tuple(f.path for f in sources if is_javascript_test(f.path))))
    changed = [f for f in sources if _RUN_FIRST.search(texts.get(f.path, b""))]
    others = [f for f in sources if f not in changed]
    names = {f.path for f in changed}
    near = [
        path
        for path, _ in imports.importers([f.path for f in others])
        if is_javascript_test(path) and path not in names
    ]
    texts = dict(head.read_many(tuple(near[:_READ])))
    near = [path for path in near if _RUN_FIRST.search(texts.get(path, b""))]
    stems = {PurePosixPath(f.path).name.partition(".")[0] for f in others}
    near.sort(key=lambda path: PurePosixPath(path).name.partition(".")[0] not in stems)  # stable
    watched = {f.path: watched_spans(f, None) for f in sources}
    instead = [*near[:1], *_standing(imports, around, [f.path for f in changed])][:2]
    if changed:
        yield _item(changed[0], [f.path for f in changed], instead, around, watched)
    if near:
        yield _item(others[0], near[:most], instead, around, watched)


def without_imports_of_tests(
    wanted: Sequence[DriverItem], tests: Sequence[DriverItem], head: Tree
) -> list[DriverItem]:
    """``wanted`` without what imports and calls tests of Node's own runner, which ``tests`` run: an import
    begins them, too, but does not wait for them, and they print how long each took.
    """
    paths = {path for item in tests for path in item.item["paths"]}
    imported = [i.item["path"] for i in wanted if i.item["do"] == "javascript" and i.item["path"] in paths]
    texts = dict(head.read_many(tuple(dict.fromkeys(imported))))
    own = {path for path, text in texts.items() if _NODES_OWN.search(text)}
    return [i for i in wanted if i.item["do"] != "javascript" or i.item["path"] not in own]


def _standing(imports: Imports, around: TreeContext, paths: Sequence[str]) -> list[str]:
    """Tests that both sides have, beside the changed ones first: what a runner itself does shows at base by
    them, where the changed tests are new.
    """
    folders = {str(PurePosixPath(path).parent) for path in paths}
    both = [
        p for p in sorted(imports.sources) if is_javascript_test(p) and p in around.base and p not in paths
    ]
    beside = sorted(
        both, key=lambda path: (str(PurePosixPath(path).parent) not in folders, imports.sources[path])
    )
    return beside[:1]


def _item(
    file: ChangedFile,
    paths: list[str],
    instead: list[str],
    around: TreeContext,
    watched: dict[str, tuple[tuple[int, int], ...]],
) -> DriverItem:
    there = any(path in around.base for path in (*paths, *instead))
    sides: list[Side] = ["base"] if there else []
    return DriverItem(
        phase="test",
        target="test " + " ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else ""),
        file=file,
        item={"do": "javascript_test", "paths": paths, "else": [p for p in instead if p in around.base]},
        sides=(*sides, "head"),
        lines=watched,
    )
