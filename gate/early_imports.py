"""A check's own modules, imported while git answers what is asked of it first.

Opening a change is some twenty commands of git, one after another, in which this process only waits. What is
imported in that time is one module after another, so that it ends within a moment when the change is open: a
check that is told again (gate/kept_check.py) needs none of them.
"""

from __future__ import annotations

import pkgutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Final

_FIRST: Final = ("gate.stages.context", "gate.stages.attribution")
_SCANNERS: Final = "gate.prescreen.scanners"
_LAST: Final = ("gate.prescreen.run", "gate.stages.behaviour", "gate.stages.interpreter", "gate.check")


@contextmanager
def early_imports() -> Iterator[None]:
    """While the block lasts, modules are imported beside it. Who imports one then says what is wrong."""
    enough = threading.Event()
    beside = threading.Thread(target=_import, args=(enough,), name="early-imports")
    beside.start()
    try:
        yield
    finally:
        enough.set()
        beside.join()


def _import(enough: threading.Event) -> None:
    with suppress(Exception):
        for name in _names():
            if enough.is_set():
                return
            import_module(name)


def _names() -> Iterator[str]:
    """Small ones first, what joins them last."""
    yield from _FIRST
    scanners = import_module(_SCANNERS).__path__
    yield from (f"{_SCANNERS}.{info.name}" for info in pkgutil.iter_modules(scanners))
    yield from _LAST
