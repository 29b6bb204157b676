"""Where the relative paths of gVisor's log begin.

Packets tell the folder themselves. Lines of the log do not, and they are read after packets that were sent
later: so their folders come from the log alone, by time. A new process begins where its parent was when it
was made, which is known when the first line of its own is read.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

_CLONE_FS: Final = 0x200
_KEPT: Final = 1000
"""Earlier folders of one process, for children of which the log tells later."""


class Folder:
    """The working folder of one process, or of several that share it. Times in nanoseconds."""

    def __init__(self, above: Folder | None = None, born: int = 0) -> None:
        self._above, self._born = above, born
        self._was: list[tuple[int, str]] = [] if above else [(0, "/")]

    def child(self, clone_flags: int, born: int) -> Folder:
        """That of a process made by this one."""
        return self if clone_flags & _CLONE_FS else Folder(self, born)

    def at(self, moment: int) -> str:
        """The folder at that moment; "" where that is not known any more. Only for the log's moments."""
        if self._above is not None:
            line: list[Folder] = [self]
            while (above := line[-1]._above) is not None:
                line.append(above)
            for younger, older in zip(reversed(line[:-1]), reversed(line), strict=False):
                younger._was.insert(0, (0, older._then(younger._born)))
                younger._above = None
        return self._then(moment)

    def _then(self, moment: int) -> str:
        return self._was[bisect_right(self._was, moment, key=lambda one: one[0]) - 1][1]

    def is_now(self, path: str, moment: int) -> None:
        """The code changed it."""
        self._was.append((max(moment, self._was[-1][0] if self._was else 0), path))
        if len(self._was) > 2 * _KEPT:
            self._was[:_KEPT] = [(0, "")]
