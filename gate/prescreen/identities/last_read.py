"""Parties that no changed line names: computed from a default elsewhere, or set by a new file read last.

Both need more files than the changed ones: a Terraform module as a whole, the neighbours of a new file of
settings. What is compared is the value in force at base with the one in force at head.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.prescreen.identities.compare import ChangedIdentity
from gate.prescreen.identities.literals import Identifier
from gate.prescreen.identities.terraform_names import VALUES
from gate.prescreen.interface import PrescreenRequest, Source
from gate.regex import regex

_TERRAFORM: Final = (".tf", ".tofu", ".tfvars")
_MODULE: Final = Reader(
    "gate.prescreen.identities.terraform_names:read", list[Identifier], parses=True, pure=True
)
_SETTINGS: Final = Reader("gate.prescreen.identities.literals:read", list[Identifier], parses=True, pure=True)
_READ: Final = (
    ".ini", ".cfg", ".conf", ".toml", ".yaml", ".yml", ".json", ".properties", ".env", ".tfvars",
    ".cnf", ".xml",
)  # fmt: skip
_NUMBERED: Final = regex(r"^\d{1,4}[-_.]")
_OVER: Final = regex(r"(?i)(?:^|[._-])(?:override|overrides|local|zz+|final|last|auto|extra)(?=[._-]|$)")
_MOST_MODULES: Final = 10
_MOST_FILES: Final = 60
_LARGEST: Final = 1 << 18
_PARTS: Final = 8


def unwritten(request: PrescreenRequest, files: Sequence[Source], until: float) -> Iterator[ChangedIdentity]:
    """What changed beside the identifiers that stand in changed lines."""
    terraform = sorted({PurePosixPath(one.path).parent for one in files if one.path.endswith(_TERRAFORM)})
    if terraform:
        yield from _computed(request, terraform, until)
    yield from _overridden(request, [one for one in files if one.base is None], until)


def _computed(
    request: PrescreenRequest, folders: Sequence[PurePosixPath], until: float
) -> Iterator[ChangedIdentity]:
    paths = [entry.path for entry in request.head.entries() if entry.path.endswith(_TERRAFORM)]
    homes = {PurePosixPath(path).parent for path in paths if not path.endswith(".tfvars")}
    modules = {
        home
        for folder in folders
        if (home := next((p for p in (folder, *folder.parents) if p in homes), None))
    }
    for home in sorted(modules)[:_MOST_MODULES]:
        if is_test_code(f"{home}/a") or is_example(f"{home}/a"):
            continue
        base, head = (_module(tree, home, until) for tree in (request.base, request.head))
        for key, (_, before) in base.items():
            after = head.get(key)
            if after is not None and after[1].value != before.value:
                yield ChangedIdentity("computed", after[0], before, after[1])
                break


def _module(tree: Tree, home: PurePosixPath, until: float) -> dict[tuple[str, str], tuple[str, Identifier]]:
    """The computed parties of a module, each with the file in which it stands."""
    paths = [
        entry.path for entry in tree.entries()
        if entry.path.endswith(_TERRAFORM) and entry.size <= _LARGEST
        and (PurePosixPath(entry.path).parent == home
             or (entry.path.endswith(".tfvars") and home in PurePosixPath(entry.path).parents))
    ]  # fmt: skip
    text, starts = b"", []
    for path, data in tree.read_many(tuple(sorted(paths)[:_MOST_FILES])):
        if path.endswith(".tfvars"):
            text += f'{VALUES} "{path}" {{\n'.encode() + data + b"\n}\n"
        else:
            starts.append((text.count(b"\n"), path))
            text += data + b"\n"
    found = {}
    for one in _identifiers(_MODULE, [("module.tf", text)], until).get("module.tf", []):
        start, path = max((at for at in starts if at[0] < one.line), default=(0, f"{home}/main.tf"))
        placed = Identifier(one.path, one.party, one.value, one.shape, one.line - start, one.row)
        found[one.path, one.row] = (path, placed)
    return found


def _overridden(
    request: PrescreenRequest, fresh: Sequence[Source], until: float
) -> Iterator[ChangedIdentity]:
    """A new file of a folder whose files are read one after another, with a key that an earlier one has."""
    for one in fresh[:_MOST_FILES]:
        before = _earlier(request.base, one.path)
        if not before or is_test_code(one.path) or is_example(one.path) or len(one.head) > _LARGEST:
            continue
        old = _identifiers(_SETTINGS, [*request.base.read_many(tuple(before))], until)
        new = _identifiers(_SETTINGS, [(one.path, one.head)], until).get(one.path, [])
        in_force = {i.path: i for path in before for i in old.get(path, []) if i.party or i.shape != "word"}
        held = {i.value for many in old.values() for i in many if i.party}
        for after in new:
            was = in_force.get(after.path)
            if was is not None and was.value != after.value and was.shape == after.shape and after.party:
                known = after.value in held
                yield ChangedIdentity("taken" if known else "overridden", one.path, was, after)


def _earlier(base: Tree, path: str) -> list[str]:
    """The files of base that are read before this one, in the order in which they are read."""
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower() or pure.name
    if suffix not in _READ and not pure.name.startswith(".env"):
        return []
    beside = [
        e.path for e in base.entries()
        if PurePosixPath(e.path).parent == pure.parent and e.size <= _LARGEST
        and (PurePosixPath(e.path).suffix.lower() or PurePosixPath(e.path).name) == suffix
    ]  # fmt: skip
    folder = pure.parent.name.lower()
    numbered = _NUMBERED.match(pure.name) and any(_NUMBERED.match(PurePosixPath(p).name) for p in beside)
    if folder.endswith((".d", "-d", "overrides", "dropins")) or numbered:
        return sorted(p for p in beside if p < path)[-_PARTS:]
    if pure.name.endswith(".auto.tfvars"):
        return sorted(beside)[:_PARTS]
    if _OVER.search(pure.name):
        plain = _OVER.sub("", pure.stem)
        return sorted(p for p in beside if PurePosixPath(p).stem.startswith(plain[:3]))[:_PARTS]
    return []


def _identifiers(reader: Reader, files: list[tuple[str, bytes]], until: float) -> dict[str, list[Identifier]]:
    left = max(1.0, until - time.monotonic())
    results = scan_isolated(reader, files, options={"broad": True}, deadline=left) if files else []
    return {one.path: one.value or [] for one in results}
