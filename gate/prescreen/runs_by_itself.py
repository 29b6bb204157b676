"""Commands in files that an editor, a version control hook or a coding agent executes by itself.

Opening a folder, committing, or building a container is enough; no probe of the sandbox does any of these.
Only lines that base has not are looked at, as text: the files are of a dozen formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, Severity
from gate.prescreen.interface import Source
from gate.prescreen.text_rule import about, finding

META: Final = about(
    "governance.runs-by-itself",
    "A command that runs without being asked for",
    Severity.HIGH,
    Confidence.HIGH,
    topic="persistence",
    cwe=(506, 829),
    attack=("T1546", "T1204.002"),
    why="Editors, hooks, agents and task runners execute these files when a folder is opened, a commit made "
    "or a session begun: on the machines of whoever works on the project, with all their rights.",
    fix="Keep fetched programs out of such files; check what is downloaded; let people start it themselves.",
)
_LONGEST: Final = 1 << 17
_LONGEST_LINE: Final = 1 << 15
"""Bytes and characters that are looked at; nobody writes more of it by hand, and that is told."""
_GOES_ON: Final = ("|", "\\", "&&")
_MOST: Final = 5
_PLACES: Final = re.compile(
    r"(?:^|/)(?:\.vscode/(?:tasks|launch|settings)\.json|[^/]+\.code-workspace|\.idea/.+\.xml|\.devcontainer/.+"
    r"|\.devcontainer\.json|\.gitpod\.ya?ml|\.claude/settings[^/]*\.json|\.(?:cursor|gemini|vscode)/(?:hooks|mcp|settings)\.json"
    r"|\.codex/.+\.toml|\.?mcp\.json|\.pre-commit-(?:config|hooks)\.ya?ml|\.?lefthook\.ya?ml|\.husky/[^/]+"
    r"|\.?git-?hooks/[^/]+|\.gitconfig|\.envrc|\.?mise\.toml|CMakeLists\.txt|[^/]+\.cmake|build\.rs|build\.gradle(?:\.kts)?"
    r"|noxfile\.py|tasks\.py|fabfile\.py|dodo\.py|SConstruct|wscript)$",
    re.IGNORECASE,
)
_ANY_SHELL: Final = (
    r"(?:sudo\s+)?(?:-\S+\s+)?(?:[\w./]*/)?"
    r"(?:(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby|php|bun|deno|iex)\b"
)
_FETCH: Final = r"\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)\b"
_GIVES: Final = re.compile(rf"{_FETCH}|\bbase64\s+(?:-d|--decode)\b", re.IGNORECASE)
_TAKES: Final = re.compile(rf"\s*{_ANY_SHELL}", re.IGNORECASE)
_FETCHED: Final = re.compile(_FETCH, re.IGNORECASE)
_STARTS: Final = re.compile(r"\s*(?:chmod\s+\S*x|(?:ba|z|da)?sh\s|\./|/tmp/)", re.IGNORECASE)
_THEN: Final = re.compile(r"&&|;")
_OTHERWISE: Final = re.compile(
    rf"\b(?:sh|bash|zsh|eval|source)\b[^\n]{{0,40}}(?:<\(|\$\(|`)\s*{_FETCH}"
    r"|/dev/(?:tcp|udp)/[\w.]"
    r"|\bpowershell(?:\.exe)?\b[^\n]{0,120}\s-e(?:nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{20}"
    r"|\b(?:python[\d.]*|node|perl|ruby|php)\b[^\n]{0,40}\s\"?,?\s*\"?-(?:c|e|r)\b[^\n]{0,300}"
    r"(?:urlopen|requests\.get|https?\.get|fetch\(|socket|exec\(|eval\(|child_process)",
    re.IGNORECASE,
)
_FETCHES: Final = "Fetches code and runs it, in a file that is executed by itself."
_UNREADABLE: Final = "Too long to be read, in a file that is executed by itself."
_BY_ITSELF: Final = (
    (re.compile(r"\"runOn\"\s*:\s*\"folderOpen\""), "A task starts as soon as the folder is opened."),
    (
        re.compile(r"allowAutomaticTasks\"\s*:\s*(?:\"on\"|true)"),
        "Tasks may start as soon as the folder is opened.",
    ),
    (re.compile(r"\"initializeCommand\"\s*:"), "A command runs on the host before the container is made."),
)


def commands(source: Source) -> Iterator[Finding]:
    """Commands of such a file that fetch and execute, or that nobody has to start. At most a few."""
    if not _PLACES.search(source.path):
        return
    if len(source.head) > _LONGEST:
        yield finding(META, _UNREADABLE, Location(path=source.path), shape="too long")
        return
    old = set(_lines(source.base or b""))
    lines = _lines(source.head)
    count = 0
    for number, line in enumerate(lines, 1):
        if line in old or line.lstrip().startswith(("#", "//")):
            continue
        message = _told(line)
        if message is None and line.rstrip().endswith(_GOES_ON):
            message = _told(line.rstrip().rstrip("\\") + " ".join(lines[number : number + 2]))
        if message is not None and count < _MOST:
            count += 1
            yield finding(META, message, Location(path=source.path, line=number), shape=line.strip()[:200])


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").split("\n")


def _told(line: str) -> str | None:
    if len(line) > _LONGEST_LINE:
        return _UNREADABLE
    if _joined(line.split("|"), _GIVES, _TAKES) or _joined(_THEN.split(line), _FETCHED, _STARTS):
        return _FETCHES
    if _OTHERWISE.search(line):
        return _FETCHES
    return next((message for pattern, message in _BY_ITSELF if pattern.search(line)), None)


def _joined(parts: list[str], first: re.Pattern[str], second: re.Pattern[str]) -> bool:
    """Does a part with the one stand before a part that begins as the other? In linear time."""
    return any(second.match(after) and first.search(before) for before, after in pairwise(parts))
