"""Whether this package is gate's: ``pip install gate`` brings somebody else's program under the same name."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.regex import regex

if TYPE_CHECKING:
    from importlib.metadata import Distribution

DISTRIBUTION: Final = "gate-ci"
_OTHER: Final = "gate"
"""On the public index since 2017: a generator of boolean expressions; its package is called ``gate``, too."""
_RECORD: Final = regex(rf"{_OTHER}(?:-.*)?\.(?:dist-info|egg-info|egg)", re.IGNORECASE)


def mixed_up(package: Path | None = None) -> str:
    """Why this installation cannot be trusted to be whole; empty where nothing speaks against it.

    ``package``: the folder that is imported as ``gate``. Two distributions that write into one folder
    overwrite each other's files, and removing one breaks the other.
    """
    here = (package or Path(__file__).parent).resolve()
    if not any(map(_may_hold, sys.path)):
        return ""  # as nearly always: the standard library's reader costs more than the rest of a start
    from importlib.metadata import distributions

    others = [one for one in distributions(name=_OTHER) if _writes(one, here)]
    if not others:
        return ""
    version = others[0].version
    return (
        f"the distribution {_OTHER} {version}, an unrelated program, is installed into gate's own folder "
        f"({here}): files of both are mixed"
    )


def _may_hold(place: str) -> bool:
    """Could that entry of the path hold a record of the other one? What is no folder could."""
    folder = Path(place or ".")
    if not folder.is_dir():
        return folder.exists()
    return any(_RECORD.fullmatch(one.name) for one in folder.iterdir())


def _writes(one: Distribution, here: Path) -> bool:
    if (one.metadata["Name"] or "").lower() != _OTHER:
        return False
    return any(
        file.parts[:1] == ("gate",) and Path(str(one.locate_file("gate"))).resolve() == here
        for file in one.files or ()
    )
