"""Commands in files that an editor, a version control hook or a coding agent executes by itself.

Opening a folder, committing, or building a container is enough; no probe of the sandbox does any of these.
Only lines that base has not are looked at, as text: the files are of a dozen formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.languages.commands.addresses import Origin, leads_to_nobody
from gate.languages.commands.fetched import in_text
from gate.languages.commands.reading import comment_marks
from gate.languages.commands.versions import without_versions
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.prescreen.interface import Source
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

META: Final = rule.meta(
    "governance.runs-by-itself",
    "A command that runs without being asked for",
    severity="high",
    confidence="high",
    topic="persistence",
    cwe=(506, 494, 829),
    attack=("T1546", "T1204.002", "T1105", "T1059"),
    why="Editors, hooks, agents and task runners execute these files when a folder is opened, a commit made "
    "or a session begun: on the machines of whoever works on the project, with all their rights.",
    fix="Keep fetched programs out of such files; check what is downloaded; let people start it themselves.",
)
_LONGEST: Final = 1 << 17
_LONGEST_LINE: Final = 1 << 15
"""Bytes and characters that are looked at; nobody writes more of it by hand, and that is told."""
_MOST: Final = 5
_PLACES: Final = regex(
    r"(?:^|/)(?:\.vscode/(?:tasks|launch|settings)\.json|[^/]+\.code-workspace|\.idea/.+\.xml|\.devcontainer/.+"
    r"|\.devcontainer\.json|\.gitpod\.ya?ml|\.claude/settings[^/]*\.json|\.(?:cursor|gemini|vscode)/(?:hooks|mcp|settings)\.json"
    r"|\.codex/.+\.toml|\.?mcp\.json|\.pre-commit-(?:config|hooks)\.ya?ml|\.?lefthook\.ya?ml|\.husky/[^/]+"
    r"|\.?git-?hooks/[^/]+|\.gitconfig|\.envrc|\.?mise\.toml|CMakeLists\.txt|[^/]+\.cmake|build\.rs|build\.gradle(?:\.kts)?"
    r"|noxfile\.py|tasks\.py|fabfile\.py|dodo\.py|SConstruct|wscript)$",
    re.IGNORECASE,
)
_CONNECTS: Final = regex(
    r"/dev/(?:tcp|udp)/[\w.]"
    r"|\b(?:python[\d.]*|node|perl|ruby|php)\b[^\n]{0,40}\s\"?,?\s*\"?-(?:c|e|r)\b[^\n]{0,300}"
    r"(?:urlopen|requests\.get|https?\.get|fetch\(|socket|exec\(|eval\(|child_process)",
    re.IGNORECASE,
)
_RUNS_ANSWER: Final = regex(
    r"/dev/(?:tcp|udp)/|(?:exec|eval)\W{1,3}[^\n]{0,200}(?:urlopen|requests\.|https?\.get|fetch\(|socket)"
    r"|(?:urlopen|fetch\(|https?\.get)[^\n]{0,200}\b(?:exec|eval|system|Function)\b",
    re.IGNORECASE,
)
"""What another machine answers is run as code, or a shell is handed to it."""
_STEPS: Final = (Severity.LOW, Severity.MEDIUM, Severity.HIGH)
_FETCHES: Final = "Fetches code and runs it, in a file that is executed by itself."
_DECODES: Final = "Decodes something and runs it, in a file that is executed by itself."
_TALKS: Final = "Uses the network or runs text as code, in a file that is executed by itself."
_UNREADABLE: Final = "Too long to be read, in a file that is executed by itself."
_BY_ITSELF: Final = (
    (regex(r"\"runOn\"\s*:\s*\"folderOpen\""), "A task starts as soon as the folder is opened."),
    (
        regex(r"allowAutomaticTasks\"\s*:\s*(?:\"on\"|true)"),
        "Tasks may start as soon as the folder is opened.",
    ),
    (regex(r"\"initializeCommand\"\s*:"), "A command runs on the host before the container is made."),
)


def acts_alone(path: str) -> bool:
    """Is this one of the files that editors, hooks and agents execute?"""
    return bool(_PLACES.search(path))


def commands(source: Source) -> Iterator[Finding]:
    """Commands of such a file that fetch and execute, or that nobody has to start. At most a few."""
    if not acts_alone(source.path):
        return
    if len(source.head) > _LONGEST:
        yield finding(META, _UNREADABLE, Location(path=source.path), shape="too long")
        return
    old = {without_versions(line) for line in _lines(source.base or b"")}
    lines = _lines(source.head)
    told: set[int] = set()
    for first, last, message, evidence, severity in (*_fetched(source, lines), *_by_line(source.path, lines)):
        if first in told or len(told) == _MOST or _both_in(old, lines, first, last):
            continue
        told.add(first)
        place = Location(path=source.path, line=first, end_line=last)
        shape = lines[last - 1].strip()[:200]
        yield finding(META, message, place, shape=shape, evidence=evidence, severity=severity)


def _both_in(old: set[str], lines: list[str], first: int, last: int) -> bool:
    """Are the first and the last line at base, be it with other versions?"""
    return all(without_versions(lines[number - 1]) in old for number in (first, last))


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").split("\n")


_Told = tuple[int, int, str, dict[str, str], Severity | None]


def _fetched(source: Source, lines: list[str]) -> Iterator[_Told]:
    """Code from elsewhere; what vendors tell everybody to do is medium, one step less with a checked sum."""
    short = "\n".join(line if len(line) <= _LONGEST_LINE else "" for line in lines)
    for one in in_text(short, comment_marks(source.path), folding=source.path.endswith(("yml", "yaml"))):
        vendor = one.origin <= Origin.VENDOR or (one.how == "cloned" and one.origin is not Origin.DOUBTFUL)
        level = _STEPS[max(0, 2 - vendor - one.checked)]
        if not one.checked and leads_to_nobody(one.address):
            level = Severity.CRITICAL
        seen = {"how": one.how, "from": one.address or "?", "which is": one.origin.description}
        yield one.first, one.last, _DECODES if one.how == "decoded" else _FETCHES, seen, level


def _by_line(path: str, lines: list[str]) -> Iterator[_Told]:
    marks = comment_marks(path)
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE:
            yield number, number, _UNREADABLE, {}, None
        elif not line.lstrip().lower().startswith(marks):
            message = _TALKS if _CONNECTS.search(line) else None
            message = message or next((words for what, words in _BY_ITSELF if what.search(line)), None)
            if message is not None:
                grave = message is _TALKS and _RUNS_ANSWER.search(line)
                yield number, number, message, {}, Severity.CRITICAL if grave else None
