"""Which of the files that we put into a sandbox the code then wrote to.

No call tells whether a file was there before it was opened with O_CREAT. For what was sent in we know: the
tree's entries, and planted files. Kept of a run are only those that it touched, so that a record stays small.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from typing import Final

from gate.tracing.events import Event, File, Open

_LINKS: Final = 20_000


class OverwrittenFiles:
    """Fed with a whole trace; ``files`` are absolute paths inside, as a trace writes them."""

    def __init__(self, *files: Collection[str]) -> None:
        self._files = files
        self._written: set[str] = set()
        self.appended: set[str] = set()
        """Those that were opened to append to: an open that by itself takes nothing away."""
        self._links: dict[str, str] = {}

    def feed(self, event: Event) -> None:
        """One event: an open that may change a file, a rename onto one, another name for one."""
        if isinstance(event, Open):
            if event.writes:
                self._note(event.path, appends="O_APPEND" in event.flags)
        elif isinstance(event, File) and event.call.startswith("rename"):
            self._note(event.path)
        elif isinstance(event, File) and event.call.startswith("link"):
            self._link(event)

    def _link(self, event: File) -> None:
        old = posixpath.normpath(event.other)
        old = self._links.get(old, old)
        if len(self._links) < _LINKS:
            if self._is_ours(old):
                self._links[posixpath.normpath(event.path)] = old
        else:
            self._note(old)  # too many to follow: none of them is forgotten

    def _note(self, path: str, *, appends: bool = False) -> None:
        path = posixpath.normpath(path)
        path = self._links.get(path, path)
        if self._is_ours(path):
            self._written.add(path)
            if appends:
                self.appended.add(path)

    def _is_ours(self, path: str) -> bool:
        return any(path in files for files in self._files)

    @property
    def written(self) -> tuple[str, ...]:
        """Those of the files that were written to or replaced, sorted; no more than were sent in."""
        return tuple(sorted(self._written))
