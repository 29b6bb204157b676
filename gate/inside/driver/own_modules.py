"""The driver's own modules, which the code under test does not find among those that are loaded."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator

PACKAGE = __name__.partition(".")[0]
_KEPT: dict[str, types.ModuleType] = {}


def hide() -> None:
    """Take them out of ``sys.modules``; not where the driver is a part of a larger program (tests)."""
    if PACKAGE != "gate_driver":
        return
    for name in [name for name in sys.modules if str(name).partition(".")[0] == PACKAGE]:
        _KEPT[name] = sys.modules.pop(name)


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """For an import of one of them from here on; what else stands there under their name is not asked."""
    sys.modules.update(_KEPT)
    try:
        yield
    finally:
        hide()
