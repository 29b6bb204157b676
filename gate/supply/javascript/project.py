"""Which JavaScript projects of a tree a change is about, and what each of them needs: locks, else manifests.

A project is the folder of the package.json that is nearest to a changed file; its lock may lie above it, for
the whole workspace. Reads only the tree that it is given, as data.
"""

from __future__ import annotations

import fnmatch
import json
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from gate.model.change import Tree
from gate.supply.javascript import graph_lock, placed_lock
from gate.supply.javascript.indented import read_indented
from gate.supply.javascript.packages import MOST_BYTES, Packages, is_name, table_of, texts_of

MOST: Final = 3
"""Locks of one change."""
MOST_FOLDERS: Final = 8
"""Projects of one lock whose needs count."""
SOURCES: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")
MANIFEST: Final = "package.json"
LOCKS: Final = (
    "npm-shrinkwrap.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock",
)  # fmt: skip
"""In the order in which they count where there are several."""
_RUN_WITH: Final = ("dependencies", "optionalDependencies", "peerDependencies")
_WORKSPACE: Final = "pnpm-workspace.yaml"
_TOOLS: Final = (
    "@arethetypeswrong/*", "@biomejs/*", "@changesets/*", "@cloudflare/*", "@commitlint/*", "@eslint/*",
    "@fastly/js-compute", "@lerna/*", "@microsoft/api-extractor*", "@nx/*", "@playwright/*",
    "@semantic-release/*",
    "@storybook/*", "@types/*", "@typescript-eslint/*", "@typescript/native-preview", "@vitest/coverage-*",
    "auto-changelog", "automd", "browserslist-generator", "bun-types", "c8", "changelogen", "commitizen",
    "concurrently", "coveralls", "cypress", "electron", "electron-builder", "eslint", "eslint-*", "gts",
    "husky",
    "jsr", "knip", "lerna", "lint-staged", "madge", "markdownlint*", "mitata", "np", "npm-run-all*", "nx",
    "nyc", "obuild", "oxlint*", "playwright", "prettier", "prettier-*", "publint", "puppeteer", "recheck",
    "release-it",
    "rimraf", "semantic-release", "size-limit", "standard", "standard-version", "storybook", "stylelint",
    "stylelint-*", "supershy", "tsdown", "tshy", "tsup", "turbo", "typedoc", "typedoc-*", "unbuild",
    "webpack-cli", "webpack-dev-server", "workerd", "wrangler", "xo", "zshy",
)  # fmt: skip
"""What a project develops with and neither its modules nor its tests load: tools of editors, builds and
releases, and types."""
_MOST_SOURCES, _SOURCE_BYTES = 100, 256 << 10
"""Changed files that are looked at for names of tools, and their size."""
_ELSEWHERE: Final = ("workspace:", "file:", "link:", "portal:", "catalog:", "git", "http")
"""In front of what comes from no registry."""


class Files:
    """The manifests and locks of a tree, by path; each is read once. ``changed``: paths of changed files."""

    def __init__(self, tree: Tree, changed: Iterable[str] = ()) -> None:
        self._tree = tree
        self._changed = frozenset(changed)
        self._sources = ""
        self.blobs: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._manifests: dict[str, Mapping[str, object]] = {}
        sources: list[str] = []
        for entry in tree.entries():
            name = posixpath.basename(entry.path)
            wanted = name in (MANIFEST, _WORKSPACE, *LOCKS) and "node_modules/" not in entry.path
            if entry.path in self._changed and name.endswith(SOURCES) and entry.size <= _SOURCE_BYTES:
                sources.append(entry.path)
            if wanted and entry.mode.startswith("100"):
                self.blobs[entry.path] = entry.blob
                self._sizes[entry.path] = entry.size

        read = tree.read_many(tuple(sources[:_MOST_SOURCES]))
        self._sources = "\n".join(data.decode("utf-8", "replace") for _, data in read)

    def is_tool(self, name: str) -> bool:
        """A tool of development that no changed file names: settings of a linter name its plugins."""
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in _TOOLS):
            return False
        return not any(f"{quote}{name}{quote}" in self._sources for quote in "\"'`")

    def text(self, path: str) -> str:
        """Raises ValueError for one that is too large or no UTF-8."""
        if self._sizes.get(path, MOST_BYTES + 1) > MOST_BYTES:
            raise ValueError("too large")
        return self._tree.read(path).decode("utf-8-sig")

    def manifest(self, folder: str) -> Mapping[str, object]:
        """The folder's package.json; empty where there is none that can be read."""
        path = posixpath.join(folder, MANIFEST)
        if path not in self._manifests:
            try:
                self._manifests[path] = table_of(json.loads(self.text(path))) if path in self.blobs else {}
            except (ValueError, RecursionError):
                self._manifests[path] = {}
        return self._manifests[path]


def folders_of(paths: Iterable[str], files: Files) -> dict[str, tuple[str, ...]]:
    """The folder with the lock (else of the outermost project) → the projects below it that the changed files
    belong to, those with the most of them first. Empty text: the tree's root.
    """
    count: dict[str, int] = {}
    for path in paths:
        name = posixpath.basename(path)
        if name.endswith(SOURCES) or name == MANIFEST or name in LOCKS:
            folder = _nearest(path, (MANIFEST,), files)
            if folder is not None:
                count[folder] = count.get(folder, 0) + 1
    found: dict[str, list[str]] = {}
    for folder in sorted(count, key=lambda f: (-count[f], f)):
        inside = posixpath.join(folder, MANIFEST)
        top = _nearest(inside, LOCKS, files)
        found.setdefault(folder if top is None else top, []).append(folder)
    return {top: tuple(folders[:MOST_FOLDERS]) for top, folders in list(found.items())[:MOST]}


def _nearest(path: str, names: Iterable[str], files: Files) -> str | None:
    for parent in PurePosixPath(path).parents:
        folder = "" if str(parent) == "." else str(parent)
        if any(posixpath.join(folder, name) in files.blobs for name in names):
            return folder
    return None


def read(top: str, folders: Iterable[str], files: Files) -> Packages:
    """What these projects need. What cannot be read is told in ``left``; raises nothing for what a tree
    has.
    """
    inside = [posixpath.relpath(folder or ".", top or ".") for folder in folders]
    wanted = ["" if folder == "." else folder for folder in inside]
    wanted = list(dict.fromkeys((*wanted, "")))  # the workspace's own tools run the tests of its parts
    left: list[str] = []
    for name in LOCKS:
        path = posixpath.join(top, name)
        if path not in files.blobs:
            continue
        try:
            found = _lock(name, path, wanted, files)
            if found or not _asked(top, wanted, files):
                return replace(found, left=(*left, *found.left))
            left.append(f"{path}: the lock: it names nothing of what package.json asks for")
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            left.append(f"{path}: the lock: it cannot be read ({str(error)[:100]})")
    asked = _asked(top, wanted, files)
    return Packages(
        manifest=asked, left=tuple(left), paths=(posixpath.join(top, MANIFEST),),
        links=tuple((posixpath.join(top, "node_modules", n), posixpath.join(top, f))
                    for n, f in _workspaces(top, files).items() if n in _names(top, wanted, files)),
    )  # fmt: skip


def _lock(name: str, path: str, wanted: list[str], files: Files) -> Packages:
    top = posixpath.dirname(path)
    leave = _names(top, wanted, files, ("devDependencies",)) - _names(top, wanted, files, _RUN_WITH)
    leave = {n for n in leave if files.is_tool(n)}
    text = files.text(path)
    if name == "pnpm-lock.yaml":
        return graph_lock.pnpm(path, text, wanted, leave)
    if name == "yarn.lock":
        manifests = {"": files.manifest(top)}
        manifests |= {f: files.manifest(posixpath.join(top, f)) for f in _workspaces(top, files).values()}
        manifests |= {f: files.manifest(posixpath.join(top, f)) for f in wanted}
        return graph_lock.yarn(path, text, manifests, wanted, leave)
    return (placed_lock.bun if name == "bun.lock" else placed_lock.npm)(path, text, wanted, leave)


def _names(
    top: str, wanted: Iterable[str], files: Files, kinds: Sequence[str] = graph_lock.KINDS
) -> set[str]:
    """What the wanted folders name, tools and all."""
    return {
        name
        for folder in wanted
        for kind in kinds
        for name in texts_of(files.manifest(posixpath.join(top, folder)).get(kind))
    }


def _asked(top: str, wanted: Iterable[str], files: Files) -> dict[str, str]:
    """Name → range of what is to be installed, the first folder's range where several name it."""
    own = _workspaces(top, files)
    asked: dict[str, str] = {}
    for folder in wanted:
        manifest = files.manifest(posixpath.join(top, folder))
        for kind in (*graph_lock.KINDS, "peerDependencies"):
            for name, version in texts_of(manifest.get(kind)).items():
                local = version.startswith(_ELSEWHERE) or ("/" in version and not version.startswith("npm:"))
                from_registry = is_name(name) and name not in own and not local
                dev = kind == "devDependencies" and files.is_tool(name)
                if from_registry and not dev:
                    asked.setdefault(name, version)
    return asked


def _workspaces(top: str, files: Files) -> dict[str, str]:
    """Names of the workspace's own packages → their folders, relative to the top."""
    said = files.manifest(top).get("workspaces")
    patterns = table_of(said).get("packages", []) if isinstance(said, dict) else said
    if not isinstance(patterns, list):
        patterns = _of_pnpm(top, files)
    found: dict[str, str] = {}
    for path in files.blobs:
        folder = posixpath.relpath(posixpath.dirname(path) or ".", top or ".")
        if path.endswith(MANIFEST) and not folder.startswith(".") and _is_member(folder, patterns):
            name = files.manifest(posixpath.dirname(path)).get("name")
            if isinstance(name, str) and is_name(name):
                found.setdefault(name, folder)
    return found


def _of_pnpm(top: str, files: Files) -> list[str]:
    """The patterns of pnpm-workspace.yaml: the items of its list."""
    path = posixpath.join(top, _WORKSPACE)
    if path not in files.blobs:
        return []
    try:
        text = files.text(path)
    except ValueError:
        return []
    if "packages" not in read_indented(text):
        return []
    lines = [line.strip() for line in text.split("\n")]
    return [line[2:].strip().strip("\"'") for line in lines if line.startswith("- ")]


def _is_member(folder: str, patterns: Iterable[object]) -> bool:
    """Does a pattern of folders (``packages/*``, ``packages/**``) take it, and none leave it out?"""
    taken = False
    for pattern in patterns:
        if isinstance(pattern, str):
            plain = pattern.removeprefix("!").removeprefix("./").rstrip("/")
            deep = plain.endswith("/**") and folder.startswith(plain[:-2])
            same = plain.count("/") == folder.count("/") and fnmatch.fnmatchcase(folder, plain)
            taken = not pattern.startswith("!") if deep or same else taken
    return taken
