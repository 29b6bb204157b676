"""Line numbers of a commit, mapped to lines of the head version that the change touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gate.model.attribution import AttributedLines
from gate.model.change import Change, ChangedFile, LineOrigin

Spans = tuple[tuple[int, int], ...]
Origins = Callable[[str], tuple[LineOrigin, ...]]
Claims = Mapping[tuple[str, str], Spans]
"""(path in the commit, tool) -> lines of that commit's version, 1-based and inclusive."""

_MOST_FILES = 200


def merged(spans: Iterable[tuple[int, int]]) -> Spans:
    """Sorted, overlapping and touching spans joined."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return tuple(out)


def overlap(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> Spans:
    """Lines that are in both; each side sorted and without overlaps."""
    out: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        first, last = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if first <= last:
            out.append((first, last))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(out)


def touched(file: ChangedFile) -> Spans:
    """The head lines of a file that the change added or rewrote."""
    return merged((h.new_start, h.new_start + h.new_count - 1) for h in file.hunks if h.new_count)


def to_head(
    change: Change, claims: Mapping[str, Claims], origins: Origins | None
) -> dict[str, tuple[AttributedLines, ...]]:
    """Claims by commit, as changed lines of head by commit. Lines that did not survive are gone.

    Without ``origins`` (no history to ask) only the last commit's claims can be placed.
    """
    found: dict[str, dict[tuple[str, str], list[tuple[int, int]]]] = {}
    noted = {path for by_file in claims.values() for path, _ in by_file}
    moved = not noted <= {file.path for file in change.files}
    files = [f for f in change.files if f.hunks and (moved or f.path in noted)]
    for file in files[:_MOST_FILES] if claims else ():
        changed = touched(file)
        for origin in origins(file.path) if origins else _as_head(change, file):
            for (path, tool), spans in claims.get(origin.commit, {}).items():
                if path != origin.path:
                    continue
                last = origin.original_line + origin.count - 1
                here = overlap(spans, ((origin.original_line, last),))
                shift = origin.line - origin.original_line
                lines = overlap(tuple((a + shift, b + shift) for a, b in here), changed)
                found.setdefault(origin.commit, {}).setdefault((file.path, tool), []).extend(lines)
    return {
        commit: tuple(
            AttributedLines(path=path, lines=merged(spans), tool=tool)
            for (path, tool), spans in sorted(by_file.items())
            if spans
        )
        for commit, by_file in found.items()
    }


def _as_head(change: Change, file: ChangedFile) -> tuple[LineOrigin, ...]:
    if not change.commits:
        return ()
    last = change.commits[-1].sha
    return tuple(
        LineOrigin(line=first, count=end - first + 1, commit=last, path=file.path, original_line=first)
        for first, end in touched(file)
    )
