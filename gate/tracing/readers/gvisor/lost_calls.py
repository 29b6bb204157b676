"""Calls whose packet with the text did not come, found again in the sentry's log.

Text that is no UTF-8 cannot be put into a packet (protobuf), and the sentry drops it without a word; the raw
packet beside it tells that the call was made. The log tells of the same calls, with the damaged bytes
replaced. In one thread the first raw packet of a name belongs to the first line of that name, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gate.tracing.readers.gvisor.log import DOUBLED, Logged
from gate.tracing.readers.gvisor.plain_calls import Args

_Key = tuple[int, str, int]


class Lost:
    """Packets and lines of all threads, counted against each other."""

    def __init__(self) -> None:
        self._packets: Counter[tuple[int, str]] = Counter()
        self._lines: Counter[tuple[int, str]] = Counter()
        self._missed: dict[_Key, tuple[int, Args]] = {}
        self._early: dict[int, tuple[int, Logged]] = {}

    def begun(self, thread: int, name: str) -> None:
        """A raw packet came."""
        if name in DOUBLED:
            self._packets[thread, name] += 1
            self._early.pop(thread, None)

    def came(self, thread: int) -> None:
        """And the one with its text."""
        self._early.pop(thread, None)

    def missed(self, name: str, thread: int, group: int, args: Args) -> Logged | None:
        """It did not come: the line where that has been read; else ``shown`` or ``rest`` tell of it."""
        count = self._packets[thread, name]
        number, line = self._early.pop(thread, (0, None))
        if line is not None and (line.call, number) == (name, count) and _same(line, args):
            return line
        self._missed[thread, name, count] = (group, args)
        return None

    def missed_arguments(self, said: Logged) -> Args | None:
        """The beginning of such a call in the log: its arguments, when its text was missed."""
        self._lines[said.thread, said.call] += 1
        count = self._lines[said.thread, said.call]
        if self._packets[said.thread, said.call] == count:
            self._early[said.thread] = (count, said)
        key = (said.thread, said.call, count)
        if key not in self._missed or not _same(said, self._missed[key][1]):
            return None
        return self._missed.pop(key)[1]

    def rest(self) -> Iterator[tuple[str, int, int, Args]]:
        """What the log did not tell of either: name, thread, process, arguments."""
        for (thread, name, _), (group, args) in self._missed.items():
            yield name, thread, group, args
        self._missed.clear()


def _same(line: Logged, args: Args) -> bool:
    """The address of the path is in both."""
    return f"{args[1] if line.call in ('openat', 'execveat') else args[0]:#x} " in line.arguments
