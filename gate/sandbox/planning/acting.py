"""Changed lines that can act, whatever probe reaches them: Python by its syntax, JavaScript by its words."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gate.model.change import ChangedFile, Tree
from gate.model.run import NotExercised
from gate.sandbox.planning.javascript import Act, acting_lines
from gate.sandbox.planning.javascript_words import TooLongError
from gate.sandbox.planning.source import BIGGEST, Facts

_SCRIPTS: Final = ("javascript", "typescript")
_MOST: Final = 200
"""Of one file: more need not be told."""
_SECONDS: Final = 10.0
"""Time for all the JavaScript: 120 files of 14 KB took 4.5 s on a busy machine. What is left is named."""


def acting(
    files: Sequence[ChangedFile], facts: Mapping[str, Facts | None], head: Tree
) -> tuple[dict[str, tuple[Act, ...]], list[NotExercised]]:
    """Changed lines that can act, by path, and the files whose lines could not be read for that."""
    found: dict[str, tuple[Act, ...]] = {}
    left: list[NotExercised] = []
    for file in files:
        known = facts.get(file.path)
        if known is not None:
            _keep(found, file, known.acts)
    for file, acts in _scripts(files, head):
        if acts is None:
            target = f"lines of {file.path} that can act"
            left.append(NotExercised(path=file.path, target=target, reason="too big to be read for them"))
        else:
            _keep(found, file, acts)
    return found, left


def places(
    files: Sequence[ChangedFile], facts: Mapping[str, Facts | None]
) -> dict[str, list[tuple[int, int, int, int]]]:
    """Where the calls of changed Python stand that can act, by path: a line of them can run in part."""
    found: dict[str, list[tuple[int, int, int, int]]] = {}
    for file in files:
        known = facts.get(file.path)
        touched = [place for place in known.places if file.touches(place[0], place[2])] if known else []
        if touched:
            found[file.path] = touched[:_MOST]
    return found


def _scripts(
    files: Sequence[ChangedFile], head: Tree
) -> Iterator[tuple[ChangedFile, tuple[Act, ...] | None]]:
    """JavaScript and TypeScript; None where a file is too big, or the time for all of them is over."""
    until = time.monotonic() + _SECONDS
    chosen = [f for f in files if f.language in _SCRIPTS and f.new_mode in ("100644", "100755")]
    chosen = [f for f in chosen if not f.path.endswith((".d.ts", ".d.mts", ".d.cts"))]
    texts = dict(head.read_many(tuple(f.path for f in chosen if f.size <= BIGGEST)))
    for file in chosen:
        if file.path not in texts:
            yield file, None
            continue
        try:
            yield (
                file,
                acting_lines(texts[file.path].decode("utf-8", "replace").removeprefix("\ufeff"), until),
            )
        except TooLongError:
            yield file, None


def _keep(found: dict[str, tuple[Act, ...]], file: ChangedFile, acts: Sequence[Act]) -> None:
    touched = tuple(act for act in acts if file.touches(act[0], act[1]))
    if touched:
        found[file.path] = touched[:_MOST]
