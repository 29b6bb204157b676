"""Settings that keep packages from being replaced, base against head: which of them are gone.

All changed files count together: a safeguard that moved to another file is still there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_unshipped
from gate.model.finding import Finding
from gate.model.location import Location
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.scanners.manifest_lines import line_naming
from gate.prescreen.scanners.supply_rules import SAFEGUARD
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.supply.install_safeguards import Safeguards, may_hold

_MANIFESTS: Final = ("package.json", "pyproject.toml")
_READER: Final = Reader("gate.supply.install_safeguards:read", Safeguards)


def safeguard_findings(request: PrescreenRequest) -> Iterator[Finding]:
    """Safeguards of changed settings that base has and head has not, or that head newly switches off."""
    changed = [s for s in sources(request).files if may_hold(s.path) and not is_unshipped(s.path)]
    gone = _deleted(request)
    if not changed and not gone:
        return
    old = [(s.path, s.base) for s in changed if s.base is not None] + gone
    read = scan_isolated(_READER, [(s.path, s.head) for s in changed] + old, deadline=request.deadline)
    heads = {r.path: r.value for r in read[: len(changed)] if r.value is not None and not r.value.unreadable}
    bases = {r.path: r.value for r in read[len(changed) :] if r.value is not None}
    places = {source.path: source for source in changed}
    kept = {name for one in heads.values() for name in one.holds}
    off = {name for one in bases.values() for name in one.loose}
    told: set[str] = set()
    for path in dict.fromkeys((*places, *bases)):
        # What cannot be read at head holds nothing: a key that stands twice must not hide what is gone.
        lost = [name for name in bases.get(path, Safeguards()).holds if name not in kept]
        loose = [name for name in heads.get(path, Safeguards()).loose if name not in off]
        for name in (*lost, *loose):
            if name not in told:
                told.add(name)
                yield _told(path, places.get(path), name, was_set=name in lost)


def _deleted(request: PrescreenRequest) -> list[tuple[str, bytes]]:
    """Settings that are deleted, at base. With the manifest of its folder a file has nothing to keep."""
    paths = {f.path for f in request.change.files if f.status == "deleted" and not f.binary}
    left = [
        path
        for path in sorted(paths)
        if may_hold(path)
        and not is_unshipped(path)
        and PurePosixPath(path).name not in _MANIFESTS
        and not any(str(PurePosixPath(path).with_name(name)) in paths for name in _MANIFESTS)
    ]
    return list(request.base.read_many(tuple(left)))


def _told(path: str, source: Source | None, name: str, *, was_set: bool) -> Finding:
    at_line = source is not None and not was_set
    place = line_naming(source, name.rpartition(" ")[2]) if source and at_line else Location(path=path)
    message = "A safeguard of base's settings is gone" if was_set else "A safeguard is switched off"
    return finding(SAFEGUARD, f"{message}: {name}.", place, shape=name, evidence={"no longer": name})
