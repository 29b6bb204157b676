"""A log one can paste when gate itself has a bug. It holds no text of the change and no environment."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from pathlib import Path

from gate import __version__

NOWHERE = Path("nowhere, for want of room")
"""In place of the log's path where none could be written."""


def write_log(error: BaseException) -> Path:
    """Write the traceback (frames and error type; messages cut at 200 characters) to a private file.

    Never raises: a full disk must not hide the first error behind a second.
    """
    try:
        return _write(error)
    except OSError:
        return NOWHERE


def _write(error: BaseException) -> Path:
    descriptor, name = tempfile.mkstemp(prefix="gate-crash-", suffix=".log")
    lines = [
        f"gate {__version__} on Python {sys.version.split()[0]}, {platform.system()} {platform.release()}",
        f"{type(error).__name__}: {str(error)[:200]!a}",
    ]
    lines += [
        f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return Path(name)
