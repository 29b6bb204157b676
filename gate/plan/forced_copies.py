"""Instrumented copies of JavaScript, TypeScript and shell for the places that are forced, made in the limited
child: the sandbox gets edits, and applies them to the file that it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from gate.dataclass import dataclass
from gate.languages.limited_child import Reader, scan_isolated
from gate.model.change import ChangedFile, Side
from gate.model.forced import ForcedCopy, ForcedTarget

LANGUAGES: Final = frozenset({"javascript", "typescript", "shell"})
"""Languages that are forced by a copy; Python is rewritten where it runs."""
_MAKING: Final = 10.0
"""Seconds for all copies of one side."""
_Place = tuple[str, int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Copies:
    """Of both sides, by path, line and column; what could not be made is not there."""

    head: Mapping[_Place, ForcedCopy] = field(default_factory=dict)
    base: Mapping[_Place, ForcedCopy] = field(default_factory=dict)

    def of(self, side: Side, path: str, line: int, column: int) -> ForcedCopy | None:
        """The copy for a place."""
        return (self.head if side == "head" else self.base).get((path, line, column))


def base_path(file: ChangedFile) -> str:
    """Where base has the file."""
    return file.old_path or file.path


def copies_of(
    targets: Sequence[ForcedTarget],
    files: Mapping[str, ChangedFile],
    head: Mapping[str, bytes],
    base: Mapping[str, bytes],
) -> Copies:
    """Copies for all targets. ``head`` and ``base``: texts, each by that side's paths."""
    own = [t for t in targets if files[t.path].language in LANGUAGES]
    if not own:
        return Copies()
    before = [(base_path(files[t.path]), *place) for t in own for place in t.before]
    shell = {
        path for t in own if files[t.path].language == "shell" for path in (t.path, base_path(files[t.path]))
    }
    return Copies(
        head=_made([(t.path, t.line, t.column) for t in own], head, shell),
        base=_made(before, base, shell),
    )


def _made(places: Iterable[_Place], texts: Mapping[str, bytes], shell: set[str]) -> dict[_Place, ForcedCopy]:
    wanted: dict[str, list[tuple[int, int]]] = {}
    for path, line, column in dict.fromkeys(places):
        if path in texts:
            wanted.setdefault(path, []).append((line, column))
    results = scan_isolated(
        Reader("gate.languages.forcing.copies:make_copies", tuple[ForcedCopy, ...], parses=True),
        [(path, texts[path]) for path in wanted],
        options={"targets": wanted, "shell": sorted(shell & set(wanted))},
        deadline=_MAKING,
    )
    return {
        (result.path, copy.line, copy.column): copy
        for result in results
        for copy in result.value or ()
        if copy.ways
    }


def copy_items(
    path: str, language: str | None, copy: ForcedCopy, seed: int, mark: str
) -> list[dict[str, Any]]:
    """Items for the driver: one for each way of forcing one place."""
    force = {"line": copy.line, "module": copy.module, "seed": seed, "mark": mark}
    verb = {"do": "shell"} if language == "shell" else {"do": "javascript", "call": True}
    return [{**verb, "path": path, "force": {**force, "edits": way}} for way in copy.ways]
