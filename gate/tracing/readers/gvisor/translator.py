"""gVisor's own report of a sandbox (packets and log lines) to a trace: the seccheck tracer.

The trace begins where the launcher's child becomes the code under test; what the launcher itself does is
left out, as with the other tracer. Limits of this tracer: calls that gVisor does not know are answered in it
and not seen; the first bytes of a ``sendto`` are not seen; ``denied`` is set for what the launcher's filter
refused (then the arguments are not known), not for what the sentry refuses.
"""

from __future__ import annotations

from typing import Final

from gate.tracing.readers.gvisor import log
from gate.tracing.readers.gvisor.descriptors import Descriptors
from gate.tracing.readers.gvisor.log_calls import FromLog
from gate.tracing.readers.gvisor.packets import FromPackets
from gate.tracing.readers.gvisor.session import LOGGED

_MOST_LINE: Final = 1 << 20


class Translator(FromPackets, FromLog):
    """Feed packets and log bytes as they come; take trace lines out. Never raises for their content.

    ``packets`` and ``lines`` return encoded trace lines; ``round`` says that both sources were emptied
    once more: ends of processes wait for that, so that nothing of theirs comes after them.
    """

    @property
    def begun(self) -> bool:
        """The sandbox's kernel has reported something."""
        return self._t0 is not None

    def packets(self, packets: list[bytes]) -> list[bytes]:
        """Trace lines for these packets."""
        for packet in packets:
            self._tried(self._packet, packet)
        return self._taken()

    def lines(self, data: bytes) -> list[bytes]:
        """Trace lines for these bytes of the sentry's log (cut anywhere)."""
        *whole, self._rest = log.apart(self._rest + data).split(b"\n")
        if len(self._rest) > _MOST_LINE:
            self._rest = b""
            self.unparsed += 1
        for line in whole:
            self._tried(self._line, line)
        return self._taken()

    def round(self) -> list[bytes]:
        """Both sources were emptied."""
        self._rounds += 1
        self._followed(self._rounds - 1)
        while self._ends and self._ends[0][0] < self._rounds - 1:
            _, fields, it = self._ends.pop(0)
            self._emit("exit", fields, bare=True)
            it.files, it.sockets = Descriptors(), {}  # there may be very many, one after another
        return self._taken()

    def finish(self, *, whole: bool) -> list[bytes]:
        """The last lines. ``whole``: the sentry itself closed the stream, and the observer lived."""
        for thread in list(self._waiting):
            self._tried(self._missed, thread)
        for name, thread, group, args in self._lost.rest():
            self._without_text(name, thread, group, args)
        self._followed(self._rounds + 1)
        self.unparsed += self._links.missed
        if self._passed:  # a descriptor was sent to somebody: nobody knows under which number it came
            self.unparsed += self._by_fd
        while self._ends:
            self._emit("exit", self._ends.pop(0)[1], bare=True)
        self.unparsed += sum(abs(self._raw[name] - self._logged[name]) for name in LOGGED)
        counts = {"events": self.events, "dropped": self.dropped + self._sentry_dropped}
        end = "exited" if whole else "error"
        fields = {**counts, "unparsed": self.unparsed, "calls": dict(self.calls), "end": end}
        self._start()
        self._emit("summary", fields, bare=True)
        return self._taken()
