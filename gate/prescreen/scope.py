"""What the scanners look at (every changed file, read once) and which of their findings are new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from gate.languages.content import reader_of
from gate.model.change import Change, ChangedFile
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.prescreen.interface import PrescreenRequest, Source, Sources

TOO_LARGE = 48 << 20
"""Bytes; a larger file is named as not looked at, never read into memory."""
_TELLING = 8
"""Characters a line must have for two equal ones to be the same line moved."""
_BLOB_MODES = ("100644", "100755", "100664")


def sources(request: PrescreenRequest) -> Sources:
    """Every changed file of head with its old version, read once per check (``request.sources``).

    Symlinks and submodules are left out: they hold no text of their own.
    """
    if request.sources is not None:
        return request.sources
    wanted = [f for f in request.change.files if f.status != "deleted" and f.new_mode in _BLOB_MODES]
    unread = [(f.path, f"larger than {TOO_LARGE >> 20} MiB") for f in wanted if f.size > TOO_LARGE]
    wanted = [f for f in wanted if f.size <= TOO_LARGE]
    heads = dict(request.head.read_many(tuple(f.path for f in wanted)))
    old = {f.path: f.old_path or f.path for f in wanted if f.old_blob and f.old_mode in _BLOB_MODES}
    bases = dict(request.base.read_many(tuple(sorted(set(old.values())))))
    files = []
    for f in wanted:
        if f.path not in heads:
            unread.append((f.path, "its content is missing from the repository"))
            continue
        base = bases.get(old[f.path]) if f.path in old else None
        files.append(
            Source(
                path=f.path,
                changed=f,
                language=reader_of(f.path, heads[f.path]) or f.language,
                head=heads[f.path],
                base=base,
            )
        )
    return Sources(files=tuple(files), unread=tuple(unread))


def only_new(
    head_findings: Iterable[Finding],
    base_findings: Iterable[Finding],
    change: Change,
    *,
    unread_base: Iterable[str] = (),
) -> tuple[Finding, ...]:
    """The findings that head has and base has not, by rule, path and shape, counted.

    Run your rules over the whole head file and the whole base file (where one existed; give base
    findings the old path, renames are followed here). Code that only moved is not new; three copies
    of an old finding are three minus the old ones, and those on changed lines are the ones kept. A
    finding on an unchanged line is kept when base did not have it: the change caused it.
    Code that moved to another file is still shown, as low, with where it came from: its new place may
    matter. ``shape`` must therefore be the normalised source line(s), without line numbers.
    ``unread_base``: files of base that could not be looked at (no time was left). What stands on their
    unchanged lines is low: nobody can say that it is new.
    """
    now_at = {f.old_path or f.path: f.path for f in change.files}
    changed = {f.path: f for f in change.files}
    had = Counter((f.rule_id, now_at.get(f.primary.path, f.primary.path), _shape(f)) for f in base_findings)
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in head_findings:
        key = (finding.rule_id, finding.primary.path, _shape(finding))
        groups.setdefault(key, []).append(finding)
    kept: list[Finding] = []
    for key, group in groups.items():
        surplus = len(group) - had[key]
        had[key] -= len(group)
        if surplus > 0:
            kept += sorted(group, key=lambda f: (not _touched(f, changed), -(f.primary.line or 0)))[:surplus]
    gone: dict[tuple[str, str], list[str]] = {}
    for (rule, path, shape), count in had.items():
        gone.setdefault((rule, shape), []).extend([path] * max(0, count))
    unread = {now_at.get(path, path) for path in unread_base}
    kept = [_moved(f, gone) for f in kept]
    kept = [_unproven(f) if f.primary.path in unread and not _touched(f, changed) else f for f in kept]
    return tuple(sorted(kept, key=lambda f: (f.primary.path, f.primary.line or 0, f.rule_id)))


def _moved(finding: Finding, gone: dict[tuple[str, str], list[str]]) -> Finding:
    """The finding, or its low form when another file lost the same one (each lost one counts once)."""
    lost = gone.get((finding.rule_id, _shape(finding)))
    if not lost or len(_shape(finding)) < _TELLING:
        return finding
    evidence = {**finding.evidence, "moved from": lost.pop()}
    return replace(finding, severity=Severity.LOW, evidence=evidence)


def _unproven(finding: Finding) -> Finding:
    """Its low form: it stands on an unchanged line of a file whose old version nobody looked at."""
    evidence = {**finding.evidence, "base": "could not be looked at"}
    low = min(finding.severity, Severity.LOW, key=lambda severity: severity.rank)
    return replace(finding, severity=low, evidence=evidence)


def _shape(finding: Finding) -> str:
    return " ".join(finding.shape.split())


def _touched(finding: Finding, changed: dict[str, ChangedFile]) -> bool:
    place = finding.primary
    file = changed.get(place.path)
    return file is None or place.line is None or file.touches(place.line, place.end_line)
