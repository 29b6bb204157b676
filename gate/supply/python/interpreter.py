"""The interpreter that packages are chosen for, as environment markers see it (PEP 508)."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from gate.regex import regex
from gate.supply.inputs.images import dockerfile

PINS: Final = (".python-version", ".tool-versions", "runtime.txt", "Dockerfile")
"""Files of pyenv and uv, of asdf and mise, of Heroku: the version a project is developed on. Of an image: the
one it is deployed with, which is the least that it needs.
"""
_VERSION: Final = regex(r"(\d+)\.(\d+)(?:\.(\d+))?")
_PIN: Final = regex(r"(?:cpython[-@]?|python[-@]?)?3\.(\d{1,2})(?:\.\d+)?(?:[a-z.-].*)?")
_LATEST_PATCH: Final = 99
_LONGEST_DOCKERFILE: Final = 100_000


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


def pinned(name: str, raw: bytes) -> str:
    """What one of PINS asks for, as a specifier (``==3.13.*``); empty where it names no such CPython."""
    if name == "Dockerfile":
        return _built_upon(raw[:_LONGEST_DOCKERFILE].decode("utf-8", "replace"))
    for line in raw[:4000].decode("utf-8", "replace").splitlines():
        words = line.partition("#")[0].split()
        if name == ".tool-versions":
            words = words[1:] if words[:1] == ["python"] else []
        for word in words:
            if found := _PIN.fullmatch(word):
                return f"==3.{found[1]}.*"
    return ""


def _built_upon(text: str) -> str:
    """The Python of the images that a Dockerfile names: ``python:3.13-slim``, ``uv:python3.13-alpine``."""
    for one in dockerfile(text).inputs:
        tag = one.version if one.where.endswith("/python") or one.version.startswith("python3") else ""
        if found := _PIN.fullmatch(tag):
            return f">=3.{found[1]}"
    return ""


def chosen(asked: Sequence[str], own: str, others: Sequence[str]) -> str:
    """Which Python serves a project that asks for one (specifiers, the weightiest first; empty ones do not
    count): ``own`` (``3.11.2``) where it will do, else the oldest of ``others`` (``3.13``) that does, else
    the nearest newer one. Where all of them cannot be met together the first counts. Empty: own.
    """
    wanted = [text for text in dict.fromkeys(asked) if text]
    for count in range(len(wanted), 0, -1):
        of = wanted[:count]
        if all(fits(text, own) for text in of):
            return ""
        for minor in sorted(others, key=_numbers):
            if all(fits(text, f"{minor}.{_LATEST_PATCH}") for text in of):
                return minor
    if not wanted:
        return ""
    least = _least(wanted[0])
    newer = [m for m in others if _numbers(m) >= least > _numbers(own)]
    return min(newer, key=_numbers, default="")


def _least(asked: str) -> tuple[int, ...]:
    """The oldest Python that a specifier names as good; empty where it names none."""
    try:
        parts = [s for s in SpecifierSet(asked) if s.operator in (">=", ">", "==", "~=", "===")]
    except InvalidSpecifier:
        return ()
    return max((_numbers(part.version.removesuffix(".*")) for part in parts), default=())


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
