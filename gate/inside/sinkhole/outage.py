"""An endpoint that fails for a while: the first requests to each destination are answered with an error.

What acts only when an endpoint fails (a fallback, a spool, the third failure in a row) is not seen as long as
every request succeeds. Later requests succeed, so that what waits for the end of an outage runs as well.
"""

from __future__ import annotations

UNAVAILABLE, CLOSED = "unavailable", "closed"
_EVERY = 4
"""Each fourth failure closes the connection; most clients tell that apart from an answer 503."""


class Outage:
    """Counts the failures of every destination, a host with a port. None fails before ``begin``."""

    def __init__(self) -> None:
        self._most = 0
        self._seen: dict[tuple[str, int], int] = {}

    def begin(self, failures: int) -> None:
        """From now on so many requests fail at each destination."""
        self._most = failures

    def next(self, host: str, port: int) -> str:
        """How this request fails: ``unavailable``, ``closed``; empty: it does not."""
        if not self._most:
            return ""
        seen = self._seen[host, port] = self._seen.get((host, port), 0) + 1
        if seen > self._most:
            return ""
        return UNAVAILABLE if seen % _EVERY else CLOSED
