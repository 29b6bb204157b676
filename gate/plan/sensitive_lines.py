"""Changed lines that can act, whatever probe reaches them: Python by its syntax, JavaScript by its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.model.change import ChangedFile, Tree
from gate.model.run import NotExercised
from gate.model.sensitive import SensitiveCall
from gate.plan.python_source import BIGGEST
from gate.plan.source_readings import Readings, new_calls

Act = tuple[int, int, str]
_SCRIPTS: Final = ("javascript", "typescript")
_MOST: Final = 200
"""Of one file: more need not be told."""
_SECONDS: Final = 10.0
"""Wall time for all the JavaScript, once by its grammar and once by bare words: what is left is named."""


def acting(
    files: Sequence[ChangedFile], readings: Readings, head: Tree
) -> tuple[dict[str, tuple[Act, ...]], list[NotExercised]]:
    """Changed lines that can act, by path, and the files whose lines could not be read for that."""
    found: dict[str, tuple[Act, ...]] = {}
    left: list[NotExercised] = []
    for file in files:
        known = readings.head.get(file.path)
        if known is not None and known.language == "python":
            _keep(found, file, [(c.first, c.last, c.kind.text) for c in known.calls])
    for file, acts in _scripts(files, head):
        if acts is None:
            target = f"lines of {file.path} that can act"
            left.append(NotExercised(path=file.path, target=target, reason="too big to be read for them"))
        else:
            _keep(found, file, acts)
    return found, left


def asked_calls(files: Sequence[ChangedFile], readings: Readings) -> dict[str, tuple[SensitiveCall, ...]]:
    """The calls of changed Python of which the driver is to tell whether they were made, by path: those on
    changed lines and those that are new. One of which it is not asked is not confirmed.
    """
    new = new_calls(files, readings)
    found: dict[str, tuple[SensitiveCall, ...]] = {}
    for file in files:
        known = readings.head.get(file.path)
        if known is None or known.language != "python":
            continue
        fresh = new.get(file.path, ())
        chosen = [*fresh, *(c for c in known.calls if file.touches(c.first, c.last) and c not in fresh)]
        if chosen:
            found[file.path] = tuple(chosen[:_MOST])
    return found


def _scripts(
    files: Sequence[ChangedFile], head: Tree
) -> Iterator[tuple[ChangedFile, tuple[Act, ...] | None]]:
    """JavaScript and TypeScript; None where a file is too big, or the time for all of them is over."""
    chosen = [f for f in files if f.language in _SCRIPTS and f.new_mode in ("100644", "100755")]
    chosen = [f for f in chosen if not f.path.endswith((".d.ts", ".d.mts", ".d.cts"))]
    texts = list(head.read_many(tuple(f.path for f in chosen if f.size <= BIGGEST)))
    acts = _read("read_acts", texts)
    # A text that brings the parser down must not hide what it can do.
    acts |= _read("read_bare_acts", [text for text in texts if text[0] not in acts])
    for file in chosen:
        yield file, acts.get(file.path)


def _read(function: str, texts: Sequence[tuple[str, bytes]]) -> dict[str, tuple[Act, ...]]:
    """What a function of javascript.py says of those that it can read in its time and memory."""
    results = scan_isolated(
        Reader(f"gate.plan.javascript.calls:{function}", tuple[Act, ...]), texts, deadline=_SECONDS
    )
    return {result.path: result.value for result in results if result.value is not None}


def _keep(found: dict[str, tuple[Act, ...]], file: ChangedFile, acts: Sequence[Act]) -> None:
    touched = tuple(act for act in acts if file.touches(act[0], act[1]))
    if touched:
        found[file.path] = touched[:_MOST]
