"""A webhook's body before its signature is known: hashed as it comes, kept in little memory."""

from __future__ import annotations

import hashlib
import hmac
import tempfile
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Final, Self

from gate.regex import regex

IN_MEMORY: Final = 32 << 10
"""Bytes of one unsigned body that stay in memory; the rest waits in a temporary file."""
MOST_ON_DISK: Final = 128 << 20
"""Bytes of all unsigned bodies beyond IN_MEMORY, together."""
_SIGNATURE: Final = regex(r"sha256=([0-9a-f]{64})")


class TooLargeError(Exception):
    """More than one body may have."""


class CrowdedError(Exception):
    """More than all unsigned bodies together may have. Small ones never meet this."""


class Allowance:
    """What all unsigned bodies together may put on disk. For one event loop: no lock."""

    def __init__(self, most: int = MOST_ON_DISK) -> None:
        self._left = most

    def take(self, count: int) -> None:
        """Raises CrowdedError when it is spent."""
        if count > self._left:
            raise CrowdedError
        self._left -= count

    def give_back(self, count: int) -> None:
        """Return what ``take`` had taken."""
        self._left += count


class Unsigned:
    """One body on its way. A context manager: what it holds is given back at the end."""

    def __init__(self, secrets: Sequence[bytes], allowance: Allowance, most: int) -> None:
        self._macs = [hmac.new(secret, digestmod=hashlib.sha256) for secret in secrets]
        self._allowance, self._most = allowance, most
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed in __exit__
        self._size = self._taken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._allowance.give_back(self._taken)

    async def read(self, chunks: AsyncIterator[bytes]) -> None:
        """Read all of it. Raises TooLargeError, CrowdedError."""
        async for chunk in chunks:
            self._size += len(chunk)
            if self._size > self._most:
                raise TooLargeError
            if self._size > IN_MEMORY:
                more = self._size - self._taken
                self._allowance.take(more)
                self._taken += more
            for mac in self._macs:
                mac.update(chunk)
            self._file.write(chunk)

    def signed(self, header: str) -> bool:
        """``X-Hub-Signature-256`` over the raw body, under one of the secrets; in constant time."""
        found = _SIGNATURE.fullmatch(header)
        told = found[1] if found else "0" * 64
        good = False
        for mac in self._macs:
            good |= hmac.compare_digest(mac.hexdigest(), told)
        return good and found is not None

    def body(self) -> bytes:
        """The whole body, in memory: for a signed one."""
        self._file.seek(0)
        return self._file.read()
