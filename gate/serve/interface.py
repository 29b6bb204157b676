"""The serve room's contract: deliveries, the queue that keeps them, and what may become of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Final, Literal, Protocol

from gate.dataclass import dataclass

Accepted = Literal["new", "again"]
LOOK: Final = "gate.look"
"""The one kind of job that takes minutes; it has workers of its own."""
BEGIN: Final = "gate.begin"
TELL: Final = "gate.tell"
JUDGE: Final = "gate.judge"
Lane = Literal["answers", "looks"]
GIVE_UP: Final = 24 * 3600.0
KEEP: Final = 14 * 24 * 3600.0
"""Seconds for which ids are remembered; GitHub redelivers for three days."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """One webhook, or one job of our own (``event`` begins with ``gate.``).

    ``received`` and times elsewhere are seconds since 1970; ``attempts`` before this one.
    """

    id: str
    event: str
    body: bytes
    received: float
    attempts: int


class NotKeptError(Exception):
    """The queue cannot take or say anything now."""


class HopelessError(Exception):
    """Asking again will not help; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """``note`` is kept beside the delivery."""

    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Later:
    """Once more in so many seconds, or when something happens to ``sha``."""

    note: str
    seconds: float
    sha: str | None = None


Handle = Callable[[Delivery], Done | Later]
"""Must be idempotent: what is in hand when the program is killed is handled again from the start, and nothing
else is.
"""


class Queue(Protocol):
    """Deliveries that are accepted once and never lost, whichever program of whichever machine dies.

    Thread-safe. Everything raises NotKeptError, StoreClosedError or sqlite3.Error if it cannot be done now.
    """

    def accept(self, name: str, event: str, body: bytes, now: float, *, lock: str = "") -> Future[Accepted]:
        """Durable when the future is done. ``again``: this id or these very bytes were taken before.

        ``lock``: no two deliveries of one lock are worked on at the same time; empty: any may.
        """
        ...

    def known(self, name: str) -> bool:
        """A delivery of this id was taken before."""
        ...

    def wake(self, commits: Sequence[str], now: float) -> int:
        """Something happened to these commits: what waits for them is due now. Returns how much."""
        ...

    def keep(self, key: str, value: bytes, now: float) -> None:
        """Remember a value for KEEP seconds, in place of what stood under the key."""
        ...

    def kept(self, prefix: str) -> list[bytes]:
        """All values whose key begins so, by key."""
        ...

    def count(self) -> Mapping[str, int]:
        """Deliveries by state."""
        ...
