"""The interpreter that packages are chosen for, as environment markers see it (PEP 508)."""

from __future__ import annotations

import platform
import re
from typing import Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet

_VERSION: Final = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def fits(asked: str, version: str) -> bool:
    """Does that version (``3.11.2``) meet a specifier (PEP 440)? True for text that is none."""
    try:
        return SpecifierSet(asked).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True


def environment(version: str) -> dict[str, str]:
    """Marker values of CPython ``version`` (``3.11.2``) on Linux and this machine's processor."""
    found = _VERSION.match(version)
    major, minor, patch = (found[1], found[2], found[3] or "0") if found else ("3", "11", "0")
    full = f"{major}.{minor}.{patch}"
    return {
        "implementation_name": "cpython",
        "implementation_version": full,
        "os_name": "posix",
        "platform_machine": platform.machine(),
        "platform_python_implementation": "CPython",
        "platform_release": "6.1.0",
        "platform_system": "Linux",
        "platform_version": "1",
        "python_full_version": full,
        "python_version": f"{major}.{minor}",
        "sys_platform": "linux",
    }
