"""Which function of a project a call is of: by imports, by folders, by classes, by names that are
used once.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from gate.regex import regex
from gate.taint.facts import Call, FileFlows, Function
from gate.taint.languages.javascript import JAVASCRIPT

_SCRIPTS: Final = (
    "",
    ".ts",
    ".tsx",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".mts",
    "/index.ts",
    "/index.js",
    "/index.tsx",
)
SCRIPT_ENDINGS: Final = frozenset(JAVASCRIPT.suffixes)
_TWO_WORDS: Final = regex(r"[a-z0-9][A-Z]|[a-z0-9]_[a-z]|^[A-Z][a-z]+[A-Z]")
_FEW: Final = 2


class Paths:
    """The paths of a tree by what calls say of them. ``aliases``: of tsconfig.json, prefix and folders."""

    def __init__(self, paths: Iterable[str], aliases: Iterable[tuple[str, str]] = ()) -> None:
        self.all = frozenset(paths)
        self.aliases = tuple(aliases)
        self.by_stem: dict[str, list[str]] = defaultdict(list)
        self.by_folder: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.all):
            folder, name = posixpath.split(path)
            self.by_stem[posixpath.splitext(name)[0].lower().replace("_", "")].append(path)
            self.by_folder[folder].append(path)

    def module(self, path: str, module: str) -> str | None:
        """The file of a JavaScript module's name; None for a package of others."""
        starts = []
        if module.startswith("."):
            starts.append(posixpath.normpath(posixpath.join(posixpath.dirname(path), module)))
        for prefix, folder in self.aliases:
            if module.startswith(prefix):
                starts.append(posixpath.normpath(posixpath.join(folder, module[len(prefix) :])))
        for start in starts:
            bare = re.sub(r"\.[cm]?jsx?$", "", start)
            for stem in (start, bare):
                for ending in _SCRIPTS:
                    if stem + ending in self.all:
                        return stem + ending
        return None

    def folder(self, module: str) -> list[str]:
        """The files of a Go package by its import's end."""
        parts = module.split("/")
        for count in range(min(len(parts), 6), 0, -1):
            end = "/".join(parts[-count:])
            if end in self.by_folder and (count > 1 or len(parts) == 1):
                return self.by_folder[end]
        last = "/".join(parts[-2:])
        return next((paths for at, paths in sorted(self.by_folder.items()) if at.endswith(f"/{last}")), [])

    def of_class(self, name: str, ending: str) -> list[str]:
        """The files that are named as a class is, or as what implements it."""
        found: list[str] = []
        stem = name.rpartition(".")[2].lower().replace("_", "")
        for one in (stem, f"{stem}impl", stem[1:] if stem[:1] == "i" else "", f"default{stem}"):
            found += [p for p in self.by_stem.get(one, ()) if one and p.endswith(ending)]
        return found[:_FEW]


def wanted(paths: Paths, path: str, facts: FileFlows) -> dict[str, set[str]]:
    """Files that the calls of a file may lead to, with the functions that are looked for in each; those first
    that are given something of an outsider.
    """
    found: dict[str, set[str]] = {}
    ending = PurePosixPath(path).suffix
    own = {function.name for function in facts.functions}
    ranked = sorted(facts.calls, key=lambda call: not _is_given(call))
    for call in ranked:
        if not any(call.arguments) and call.function == 0:
            continue
        name = call.path.replace("()", "").rpartition(".")[2]
        if ending == ".go" and name in own and "." not in call.path:
            continue
        for one in _files(paths, path, facts, call, ending):
            found.setdefault(one, set()).add(name)
    found.pop(path, None)
    return found


def _is_given(call: Call) -> bool:
    return any(taint.kind == "source" for given in call.arguments for taint in given)


def _files(paths: Paths, path: str, facts: FileFlows, call: Call, ending: str) -> list[str]:
    head = call.path.partition(".")[0]
    if ending in SCRIPT_ENDINGS:
        for _, module, _ in facts.imports:
            if module and call.path.startswith(module) and (at := paths.module(path, module)):
                return [at]
        kind = call.kind
        if kind and kind[0].isupper():
            for local, module, _ in facts.imports:
                of_kind = paths.module(path, module) if local == kind else None
                if of_kind is not None:
                    return [of_kind]
        return []
    if ending == ".go":
        imported = next((m for local, m, _ in facts.imports if local == head or m == head), None)
        package = next((m for _, m, _ in facts.imports if m and call.path.startswith(f"{m}.")), imported)
        if package is not None:
            return paths.folder(package) if "/" in package else []
        return paths.by_folder.get(posixpath.dirname(path), [])[:40]
    names = [call.kind] if call.kind and call.kind not in ("new", "@import") else []
    owner = call.path.rpartition(".")[0].rpartition(".")[2].rpartition("\\")[2]
    names += [one for one in (owner, owner[:1].upper() + owner[1:]) if one and one not in ("this", "new")]
    if ending == ".rb":
        names += [one.rpartition("::")[2] for one in names]
    return [at for name in names for at in paths.of_class(name.strip("_$"), ending)]


class Resolver:
    """Resolves the calls of files that were read."""

    def __init__(self, files: Mapping[str, FileFlows], paths: Paths) -> None:
        self.files = files
        self.paths = paths
        self.by_name: dict[str, list[tuple[str, Function]]] = defaultdict(list)
        self.endings = {path: posixpath.splitext(path)[1] for path in files}
        for path, facts in files.items():
            for function in facts.functions:
                if function.name:
                    self.by_name[function.name].append((path, function))

    def __call__(self, path: str, call: Call) -> list[tuple[str, Function]]:
        """The functions that the call may be of; none where that is not known."""
        found = self._all(path, call)
        given = len(call.arguments) - 1
        fitting = [(p, f) for p, f in found if len(f.parameters) == given]
        return (fitting or found)[:_FEW]

    def _all(self, path: str, call: Call) -> list[tuple[str, Function]]:  # noqa: C901 - one case a language
        whole = call.path.replace("()", "")
        head, _, name = whole.rpartition(".")
        facts = self.files[path]
        ending = self.endings[path]
        if call.kind == "new":
            name = whole.rpartition(".")[2]
            makers = ("constructor", "__construct", name, "initialize", "<init>")
            return [(p, f) for maker in makers for p, f in self.by_name.get(maker, ()) if f.owner == name][
                :_FEW
            ]
        known = [(p, f) for p, f in self.by_name.get(name, ()) if _alike(self.endings[p], ending)]
        scripts = ending in SCRIPT_ENDINGS
        if scripts:
            for local, module, _ in facts.imports:
                if module and (whole == module or whole.startswith(f"{module}.")):
                    at = self.paths.module(path, module)
                    if at is None:
                        return []
                    rest = whole[len(module) :].strip(".")
                    inner = rest.rpartition(".")[2] or local
                    default = [(p, f) for p, f in self.by_name.get("default", ()) if p == at]
                    own = [(p, f) for p, f in self.by_name.get(inner, ()) if p == at]
                    return (own or default if not rest else own)[:_FEW]
        if not head or head in ("this", "super", "self"):
            here = [(p, f) for p, f in known if p == path]
            owner = facts.functions[call.function].owner if call.function < len(facts.functions) else ""
            same = [(p, f) for p, f in here if f.owner == owner]
            if same or here:
                return (same or here)[:_FEW]
            if ending == ".go":
                folder = posixpath.dirname(path)
                return [(p, f) for p, f in known if posixpath.dirname(p) == folder and not f.owner][:1]
            return known[:1] if len(known) == 1 and not scripts else []
        if ending == ".go":
            package = next((m for local, m, _ in facts.imports if head in (local, m)), None)
            if package is not None:
                inside = self.paths.folder(package) if "/" in package else []
                folders = {posixpath.dirname(p) for p in inside}
                return [(p, f) for p, f in known if posixpath.dirname(p) in folders][:1]
        kind = call.kind if call.kind not in ("", "@import") else head.rpartition(".")[2].strip("$_")
        if ending == ".php" and kind in ("self", "static", "parent"):
            kind = facts.functions[call.function].owner
        owned = [(p, f) for p, f in known if _is_owner(f.owner, kind)]
        if owned:
            return owned
        if call.kind and call.kind[:1].isupper() and known and not scripts:
            return []
        return known if len(known) == 1 and _TWO_WORDS.search(name) and known[0][1].owner else []


def _alike(own: str, ending: str) -> bool:
    return own == ending or (own in SCRIPT_ENDINGS and ending in SCRIPT_ENDINGS)


def _is_owner(owner: str, kind: str) -> bool:
    if not owner or not kind:
        return False
    asked = kind.lower().replace("_", "").rpartition("::")[2].rpartition("\\")[2]
    mine = owner.lower().replace("_", "")
    return (
        mine == asked
        or mine == f"{asked}impl"
        or (asked[:1] == "i" and mine == asked[1:])
        or mine == f"default{asked}"
    )
