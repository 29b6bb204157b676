"""A connection gets so many seconds for the head of a request, and no more.

uvicorn bounds how many connections there are, and waits for ever for the heads of their requests: strangers
who begin a thousand and finish none would leave no place for GitHub, which sends a webhook once.
"""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS: Final = 10.0


class Impatient(H11Protocol):
    """uvicorn's protocol, which closes what says nothing whole in time."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A new one: its first request is due."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """With the end of a head a request is in hand; until then the time that began goes on."""
        super().data_received(data)
        if self._idle:
            self._expect()
        else:
            self._forget()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is due any more."""
        self._forget()
        super().connection_lost(exc)

    @property
    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self._too_late)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _too_late(self) -> None:
        self._late = None
        if self._idle and not self.transport.is_closing():
            self.transport.close()
