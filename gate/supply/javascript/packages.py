"""What a JavaScript project needs of a registry: packages with a place in node_modules, and links to
folders.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.regex import regex

MOST_BYTES: Final = 8 << 20
"""Of one lock file."""
MOST: Final = 4_000
"""Packages of one installation."""
_NAME: Final = regex(r"(?:@[a-z0-9A-Z~-][\w.~-]*/)?[a-zA-Z0-9_~-][\w.~-]*\Z", re.ASCII)
_VERSION: Final = regex(r"[0-9][0-9A-Za-z.+-]{0,100}\Z", re.ASCII)
_PROCESSORS: Final = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """``place``: its folder relative to the tree (``node_modules/a``). ``address``: of its archive, empty for
    the registry's usual one. ``integrity``: as in W3C's Subresource Integrity, empty where no lock tells.
    """

    place: str
    name: str
    version: str
    address: str = ""
    integrity: str = ""
    optional: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Packages:
    """One installation. ``links``: places in node_modules and the tree's folders behind them. ``left``: what
    is not installed (``path: what: why``). ``paths``: the files that say so. ``manifest``: what is asked for
    where no lock says which versions that is (name → range).
    """

    packages: tuple[Package, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    left: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    manifest: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.packages or self.manifest or self.links)


def is_name(text: object) -> bool:
    """A package name as registries allow them: one folder name, or two with a scope."""
    return isinstance(text, str) and len(text) <= 214 and bool(_NAME.match(text))


def is_version(text: object) -> bool:
    """One exact version, no range."""
    return isinstance(text, str) and bool(_VERSION.match(text))


def table_of(value: object) -> Mapping[str, object]:
    """The value where it is a table, else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(value: object) -> str:
    """The value where it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def texts_of(value: object) -> dict[str, str]:
    """The pairs of texts of a table."""
    return {k: v for k, v in table_of(value).items() if isinstance(k, str) and isinstance(v, str)}


def fits_machine(entry: Mapping[str, object], name: str = "") -> bool:
    """Do its ``os``, ``cpu`` and ``libc`` allow the sandboxes of this machine (Linux, glibc)? Older locks
    tell the library in the name alone.
    """
    if name.endswith("-musl") and "libc" not in entry:
        return False
    processor = _PROCESSORS.get(platform.machine().lower(), platform.machine().lower())
    return all(
        _allows(entry.get(key), here)
        for key, here in (("os", "linux"), ("cpu", processor), ("libc", "glibc"))
    )


def _allows(said: object, here: str) -> bool:
    words = [said] if isinstance(said, str) else said
    if not isinstance(words, list) or not words:
        return True
    names = [word for word in words if isinstance(word, str)]
    refused = {name[1:] for name in names if name.startswith("!")}
    wanted = {name for name in names if not name.startswith("!")}
    return here not in refused and (not wanted or here in wanted or "any" in wanted)
