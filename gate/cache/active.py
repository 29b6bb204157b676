"""The store of the check that is going on, for readers and scanners that are far from it.

Two checks of one process that differ in trust or program share nothing: while both go on, neither's is used.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gate.cache.store import Store

_LOCK: Final = threading.Lock()
_STORES: Final[list[Store | None]] = []


@contextmanager
def in_use(store: Store | None) -> Iterator[None]:
    """While the block lasts ``current`` gives this store. None: whoever looks keeps nothing."""
    with _LOCK:
        _STORES.append(store)
    try:
        yield
    finally:
        with _LOCK:
            _STORES.remove(store)


def current() -> Store | None:
    """The store of whoever asks; None where there is none, or where that is not clear."""
    with _LOCK:
        return _STORES[0] if _STORES and all(each == _STORES[0] for each in _STORES) else None
