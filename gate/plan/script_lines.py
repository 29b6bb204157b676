"""Which command of a script a program in the trace was started by, as far as the trace can tell.

A program vouches for a command only where the process that started it was running that script, its words
are those of the command in their order, and no other command of the scripts that the process ran would have
started it with the same words. What a shell does by itself leaves no trace, so nothing vouches for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gate.model.run import ActingCommand, RunRecord
from gate.tracing.behaviour.paths import path_as_replaced, path_in_tree
from gate.tracing.codec import read_trace
from gate.tracing.events import Event, Exec, Open, Process

_RUNNERS: Final = frozenset(
    ("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "busybox", "make", "gmake", "just")
)
_MOST: Final = 50_000
_DEEPEST: Final = 200


def vouched(
    runs: Iterable[RunRecord], steps: Mapping[str, Sequence[ActingCommand]]
) -> Mapping[str, frozenset[ActingCommand]]:
    """The commands of each script that were seen to have been started, and could be no others."""
    found: dict[str, set[ActingCommand]] = {path: set() for path in steps}
    for run in runs:
        if run.trace is None or not run.completeness.whole:
            continue
        reader = _Processes(frozenset(steps))
        read_trace(run.trace, reader.event)
        for scripts, names, words in reader.starts():
            fitting = [
                (path, step)
                for path in scripts
                for step in steps.get(path, ())
                if step.program in names and _fits(step.words, step.whole, words)
            ]
            places = {(path, step.first, step.last) for path, step in fitting}
            elsewhere = any(_fits(other, whole, words) for _, step in fitting for other, whole in step.rivals)
            if len(places) == 1 and not elsewhere:
                for path, step in fitting:
                    found[path].add(step)
    return {path: frozenset(some) for path, some in found.items()}


def _fits(wanted: Sequence[str], all_of_them: bool, words: Sequence[str]) -> bool:
    """True where these are the words; of a command with words that only its run knows, the plain ones in
    their order.
    """
    if all_of_them:
        return tuple(wanted) == tuple(words)
    rest = iter(words)
    return all(word in rest for word in wanted)


class _Processes:
    """Who started what, and which scripts the starter was running."""

    def __init__(self, scripts: frozenset[str]) -> None:
        self._scripts = {spelled: path for path in scripts for spelled in (path_as_replaced(path), path)}
        self._parents: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._running: dict[int, set[str]] = {}
        self._starts: list[tuple[int, frozenset[str], tuple[str, ...]]] = []

    def event(self, event: Event) -> None:
        """One line of the trace."""
        if isinstance(event, Process):
            self._names[event.pid] = event.exe.rpartition("/")[2]
            if event.ppid != event.pid:
                self._parents.setdefault(event.pid, event.ppid)
        elif isinstance(event, Open) and self._names.get(event.pid) in _RUNNERS:
            path = self._scripts.get(path_in_tree(event.path) or "")
            if path is not None:
                self._running.setdefault(event.pid, set()).add(path)
        elif isinstance(event, Exec) and not event.denied and len(self._starts) < _MOST:
            said = (event.path, event.asked, *event.argv[:1])
            names = frozenset(path.rpartition("/")[2] for path in said if path)
            self._starts.append((event.pid, names, event.argv[1:]))

    def starts(self) -> Iterator[tuple[frozenset[str], frozenset[str], tuple[str, ...]]]:
        """Every program started below a process that ran scripts: those of the nearest one, names, words."""
        for pid, names, words in self._starts:
            here: int | None = pid
            for _ in range(_DEEPEST):
                if here is None or here in self._running:
                    break
                here = self._parents.get(here)
            if here is not None and here in self._running:
                yield frozenset(self._running[here]), names, words
