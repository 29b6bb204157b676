"""Findings about changed workflows, actions and pipelines: by what a change comes to, not by its path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.model.change import ChangedFile
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import PrescreenRequest
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.supply.workflows.change import ChangedPart, is_compared, pack
from gate.supply.workflows.own_tasks import FILES

_MOST: Final = 5
"""Findings of one file; the rest of what is high is counted in the last one."""
_LONGEST: Final = 512 << 10
"""Bytes of a file that are compared; CI systems refuse more."""


def compared_paths(changed: ChangedFile) -> bool:
    """Is one of the file's two paths that of a workflow, an action or a pipeline in YAML?"""
    return any(is_compared(path) for path in (changed.path, changed.old_path) if path)


def workflow_findings(request: PrescreenRequest, rule: RuleMeta) -> Iterator[Finding]:
    """One finding for each high difference (a few), else one for the whole file with its worst level."""
    files = [changed for changed in request.change.files if compared_paths(changed)]
    heads = {source.path: source.head for source in sources(request).files}
    tasks = [dict(side.read_many(FILES)) for side in (request.base, request.head)] if files else [{}, {}]
    packed = [
        (changed.path, _versions(changed, heads.get(changed.path), request, tasks)) for changed in files
    ]
    results = scan_isolated(
        Reader("gate.supply.workflows.change:compare", list[ChangedPart]), packed, deadline=request.deadline
    )
    for changed, result in zip(files, results, strict=True):
        if result.value is None:  # hostile, or a bug of ours: a person has to look
            yield _finding(rule, changed, _unread(result.reason))
        else:
            yield from _of(rule, changed, result.value)


def _versions(
    changed: ChangedFile, head: bytes | None, request: PrescreenRequest, tasks: list[dict[str, bytes]]
) -> bytes:
    before = changed.old_path or changed.path
    base = None
    if changed.old_blob and is_compared(before):
        base = dict(request.base.read_many((before,))).get(before)
    if changed.status == "deleted" or not is_compared(changed.path):
        head = None
    elif head is None:  # a link or a submodule in its place
        head = b"?"
    too_long = any(data is not None and len(data) > _LONGEST for data in (base, head))
    return pack(None, b"?") if too_long else pack(base, head, tasks)


def _of(rule: RuleMeta, changed: ChangedFile, parts: list[ChangedPart]) -> Iterator[Finding]:
    grave = [part for part in parts if part.level in ("critical", "high")]
    for part in grave[:_MOST]:
        more = len(grave) - _MOST if part is grave[:_MOST][-1] else 0
        yield _finding(rule, changed, part, more=more)
    if not grave:
        yield _finding(rule, changed, parts[0], more=len(parts) - 1)


def _finding(rule: RuleMeta, changed: ChangedFile, part: ChangedPart, *, more: int = 0) -> Finding:
    evidence = {"what": changed.status, "where": part.where, "now": part.text}
    evidence |= {"and": f"{more} more changes"} if more > 0 else {}
    line = part.line if changed.status != "deleted" else None
    return finding(
        rule,
        f"What CI runs changes. {part.what}",
        Location(path=changed.path, line=line, end_line=line),
        shape=f"{part.what} {part.where} {part.text}".strip(),
        evidence={key: value for key, value in evidence.items() if value},
        severity=Severity(part.level),
    )


def _unread(reason: str) -> ChangedPart:
    return ChangedPart(level="high", what=f"It could not be read: {reason}.", where="", line=None, text="")
