"""Programs that a change acts on without touching them: readers of changed data files, modules behind links.

An unchanged ``exec(open("table.txt").read())`` does what the new table.txt says; an unchanged sample becomes
part of a package when a link is laid to it. Both are planned like changed files.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_javascript_test, is_test
from gate.model.change import ChangedFile, Hunk, Tree, TreeEntry
from gate.regex import regex

READERS: Final = 4
"""Modules looked at for what they read."""
BEHIND_LINKS: Final = 8
_READ: Final = 2_000
_BIGGEST: Final = 256 << 10
_PYTHON: Final = (".py", ".pyw")
_JAVASCRIPT: Final = {
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript",
}  # fmt: skip
_NOT_OURS: Final = ("node_modules", "dist", "vendor")
# Named in half the Python files there are, and read as text by builds.
_EVERYWHERE: Final = regex(
    r"(?:readme|changelog|changes|history|news|license|licence|copying|authors|contributing)\b.*"
    r"|pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|pytest\.ini|requirements.*\.txt|manifest\.in|makefile|dockerfile"
    r"|py\.typed|package(?:-lock)?\.json|\.git.*|.{0,4}",
    re.IGNORECASE,
)


def acted_on(files: Sequence[ChangedFile], head: Tree) -> list[ChangedFile]:
    """Unchanged Python and JavaScript of the head tree, given the form of changed files (their telling lines
    as hunks).
    """
    known = {f.path for f in files if f.new_mode != "120000"}
    entries = head.entries()
    found = [*_behind_links(files, head, entries)]
    for are_readers in (_is_python_module, _is_javascript_module):
        found += _readers(files, head, [e for e in entries if e.size <= _BIGGEST and are_readers(e)])
    return list({f.path: f for f in found if f.path not in known}.values())


def _is_python_module(entry: TreeEntry) -> bool:
    path = entry.path
    named = path.endswith(_PYTHON) and entry.mode.startswith("100")
    return named and not is_test(path) and PurePosixPath(path).name != "setup.py"


def _is_javascript_module(entry: TreeEntry) -> bool:
    path = PurePosixPath(entry.path)
    named = path.suffix in _JAVASCRIPT and entry.mode.startswith("100") and not entry.path.endswith(".d.ts")
    return named and not is_javascript_test(entry.path) and not any(part in _NOT_OURS for part in path.parts)


def _readers(files: Sequence[ChangedFile], head: Tree, entries: Sequence[TreeEntry]) -> Iterator[ChangedFile]:
    """Modules that name a changed file which is no program, nearest folder first; after them those that take
    all files of its ending (``glob("*.yaml")``).
    """
    names = {
        PurePosixPath(f.path).name: f.path
        for f in files
        if f.language not in ("python", "javascript", "typescript") and f.new_mode in ("100644", "100755")
    }
    names = {name: path for name, path in names.items() if not _EVERYWHERE.fullmatch(name)}
    if not names or not entries:
        return
    written = [re.escape(_bytes(n)) for n in sorted(names)]
    # JavaScript leaves the ending out: ``require("./config/default")``.
    stems = sorted(n.removesuffix(".json") for n in names if n.endswith(".json"))
    written += [rb"/" + re.escape(_bytes(n)) + rb"[\"'`]" for n in stems]
    pattern = re.compile(b"|".join(written))
    endings = {PurePosixPath(n).suffix for n in names} - {"", ".txt", ".md"}
    taken = "|".join(re.escape(n) for n in sorted(endings)) or r"(?!)"
    taking = re.compile(_bytes(rf"""\*(?:{taken})\b|\bends_?[wW]ith\(\s*["'](?:{taken})["']"""))
    modules = {e.path: e for e in entries}
    near = sorted(modules, key=lambda path: (-max(_shared(path, p) for p in names.values()), path))
    named: dict[str, list[int]] = {}
    all_of_them: dict[str, list[int]] = {}
    for path, data in head.read_many(tuple(near[:_READ])):
        for found, what in ((named, pattern), (all_of_them, taking)):
            lines = [n for n, line in enumerate(data.split(b"\n"), 1) if what.search(line)]
            if lines and path not in named:
                found[path] = lines
    for path, lines in [*named.items(), *all_of_them.items()][:READERS]:
        yield _as_changed(modules[path], path, tuple(map(_line, lines[:50])))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _shared(one: str, other: str) -> int:
    """How many leading folders two paths have in common."""
    return len(PurePosixPath(posixpath.commonpath(("/" + one, "/" + other))).parts)


def _behind_links(
    files: Sequence[ChangedFile], head: Tree, entries: Sequence[TreeEntry]
) -> Iterator[ChangedFile]:
    """What a new or changed symbolic link makes importable under a new name."""
    links = [f.path for f in files if f.new_mode == "120000"]
    if not links:
        return
    python = {e.path: e for e in entries if e.path.endswith(_PYTHON) and e.mode.startswith("100")}
    for link, raw in head.read_many(tuple(links)):
        text = raw.decode("utf-8", "surrogateescape")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(link), text))
        if target in python and link.endswith(_PYTHON):
            yield _as_changed(python[target], link, ())
        inside = [path for path in python if path.startswith(target + "/") and not link.startswith(target)]
        for path in sorted(inside)[:BEHIND_LINKS]:
            yield _as_changed(python[path], link + path[len(target) :], ())


def _line(number: int) -> Hunk:
    return Hunk(old_start=number, old_count=1, new_start=number, new_count=1)


def _as_changed(entry: TreeEntry, path: str, hunks: tuple[Hunk, ...]) -> ChangedFile:
    return ChangedFile(
        path=path,
        old_path=None,
        status="modified",
        language=_JAVASCRIPT.get(PurePosixPath(path).suffix, "python"),
        hunks=hunks,
        old_mode=entry.mode,
        new_mode=entry.mode,
        old_blob=entry.blob,
        new_blob=entry.blob,
        binary=False,
        size=entry.size,
    )
