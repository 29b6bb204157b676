"""What a stand-in does in ``with`` and ``await``: it is itself then."""

from __future__ import annotations

from typing import Any


class Entered:
    """Can be entered and awaited, and gives itself."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: object) -> None:
        return None

    def __await__(self) -> Any:
        yield from ()
        return self

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *args: object) -> None:
        return None
