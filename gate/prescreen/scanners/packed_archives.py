"""Archives of the tree, base against head: other content under the same version, members that do not belong.

A review shows "binary file changed". What the name promises, and what the archive says about itself, can be
compared without running anything of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.languages.content import binary_kind
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_unshipped
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.read_files import Unread
from gate.prescreen.scanners.supply_rules import CONTENT
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.regex import regex
from gate.supply.packed import Packed, is_archive

_READER: Final = Reader("gate.supply.packed:read", Packed)
_VERSION: Final = regex(r"[-_@.](?:v|npm-)?\d+(?:\.\d+)+")
_CODE: Final = frozenset(
    {
        *(".py", ".pyc", ".pyd", ".so", ".dll", ".dylib", ".exe", ".class", ".js", ".cjs", ".mjs", ".ts"),
        *(
            ".rb",
            ".php",
            ".sh",
            ".ps1",
            ".bat",
            ".rs",
            ".go",
            ".c",
            ".cc",
            ".cpp",
            ".h",
            ".java",
            ".kt",
            ".cs",
        ),
        *(".pl", ".lua", ".wasm", ".node", ".targets", ".props", ".json", ".toml", ".gz", ""),
    }
)
_NAMED: Final = 4
_TAIL: Final = 66_000
"""Bytes in which the end of a ZIP archive is found."""


def archive_findings(request: PrescreenRequest, program: RuleMeta, unread: Unread) -> Iterator[Finding]:
    """Findings about every changed archive; ``program`` is the rule about what is compiled. What could not be
    read is added to ``unread``.
    """
    files = [one for one in sources(request).files if not is_unshipped(one.path) and _is_archive(one)]
    if not files:
        return
    asked = [(one.path, one.head) for one in files]
    asked += [(one.path, one.base) for one in files if one.base is not None]
    results = scan_isolated(_READER, asked, deadline=request.deadline)
    bases = {result.path: result.value for result in results[len(files) :] if result.value is not None}
    for source, result in zip(files, results, strict=False):
        if result.value is None:
            unread.append((source.path, result.reason or result.outcome))
        elif not result.value.unreadable:
            yield from _told(source, bases.get(source.path), result.value, program)


def _is_archive(source: Source) -> bool:
    """By its name and its bytes; a program of Python may have its archive behind a first line of text."""
    if binary_kind(source.head) == "ZIP archive":
        return True
    begun = source.head.startswith(b"#!") and b"PK\5\6" in source.head[-_TAIL:]
    return begun or (is_archive(source.path) and binary_kind(source.head) is not None)


def _told(source: Source, old: Packed | None, new: Packed, program: RuleMeta) -> Iterator[Finding]:
    place = Location(path=source.path)
    known = {*old.foreign} if old else set()
    foreign = [one for one in new.foreign if one not in known]
    if foreign:
        yield finding(
            program, "Parts of this archive do not belong to what it says of them.", place, shape=foreign[0],
            evidence={"told": _listed(foreign)}, severity=Severity.HIGH,
        )  # fmt: skip
    if old is None or old.unreadable:
        return
    before = {one.name: one.digest for one in old.members}
    after = {one.name: one.digest for one in new.members}
    other = sorted(name for name, digest in after.items() if before.get(name) != digest and _is_code(name))
    gone = sorted(name for name in before.keys() - after.keys() if _is_code(name))
    fresh = [name for name in new.compiled if name not in old.compiled]
    if fresh and not foreign:
        yield finding(
            program, "Compiled modules are new in this archive and run in place of sources.", place,
            shape=fresh[0], evidence={"new": _listed(fresh)}, severity=Severity.MEDIUM,
        )  # fmt: skip
    if (other or gone) and _VERSION.search(PurePosixPath(source.path).name):
        changed = [*other, *(f"{name} (gone)" for name in gone)]
        told = (
            f"{PurePosixPath(source.path).name} has other content under the same version: {_listed(changed)}"
        )
        yield finding(
            CONTENT, "The same version of a package has other content than before.", place,
            shape=told, evidence={"told": told, "name": source.path}, severity=Severity.MEDIUM,
        )  # fmt: skip


def _is_code(name: str) -> bool:
    """Is this a member that runs, or decides what does? Lists and sums of the archive follow from it."""
    folder = PurePosixPath(name).parent.name
    return PurePosixPath(name).suffix.lower() in _CODE and not folder.endswith((".dist-info", "META-INF"))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
