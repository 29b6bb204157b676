"""Where the project's programs and settings send to: addresses that changed while all around them stayed.

A line of base and one of head that differ in nothing but the address they hold are the same call, the same
setting; whoever answers there is another one. No run is needed to see it, and where the run reaches the line,
the new connection confirms it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_example, is_test_code
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.supply.inputs.readers import reader_of
from gate.supply.lookalike import is_nearly
from gate.supply.manifests import is_manifest
from gate.supply.owners import owner_of

CHANGED: Final = rule.meta(
    "destination.changed",
    "What is sent goes to another owner's machine than before",
    severity="high",
    confidence="medium",
    topic="network",
    cwe=(506, 200),
    attack=("T1041", "T1567", "T1036"),
    why="The same call with the same data now goes to somebody else: nothing else in the change tells that "
    "it is another's, and tests that replace the network pass as before.",
    fix="Say in the change whose address that is; have its owner confirm it.",
)
RULES: Final[tuple[RuleMeta, ...]] = (CHANGED,)
_MOST: Final = 5
_LONGEST: Final = 1 << 20
_LONGEST_LINE: Final = 2_000
_TOP: Final = (
    r"(?:com|net|org|io|dev|app|co|cloud|ai|xyz|site|online|top|info|biz|me|sh|so|gg|tech|live|pro|systems|us|uk|eu"
    r"|de|fr|nl|ch|at|it|es|pl|ru|cn|jp|in|br|ca|au|se|no|fi|dk|cz|ua|kr|tw|example|invalid|internal|test|local)"
)
_HOST: Final = rf"(?:[a-zA-Z0-9](?:[\w-]{{0,62}}[a-zA-Z0-9])?\.){{1,8}}{_TOP}"
_ADDRESS: Final = re.compile(
    rf"(?P<url>\b[a-z][a-z0-9+.-]{{1,15}}://[^\s\"'`<>(){{}}|\\^,;]{{3,400}})"
    rf"|(?<=[\"'`\s=@:])(?P<host>(?:[\w.+-]{{1,64}}@)?{_HOST}(?::[\w/.~-]{{1,200}})?)(?=[\"'`\s,;)\]]|$)"
    r"|\b(?P<wallet>0x[0-9a-fA-F]{40}|bc1[a-z0-9]{25,60}|[13][a-km-zA-HJ-NP-Z1-9]{25,34})\b"
)
_HELD: Final = re.compile(r"(?:\x00[\"'`,\s]{0,6})+")
_COMMENT: Final = ("#", "//", "*", "/*", "<!--", "--", ";;", "%", '"""', "'''")
_TELLS: Final = re.compile(
    r"home_?page|documentation|docs?_?url|repository|bug|issue|licen[cs]e|schema|xmlns|\bsee\b|changelog|author|badge|@id"
    r"|project_url|maintainer|contact|source_?code|sponsor|funding|doctype|https?://(?:www\.)?w3\.org|help|release_?notes|\bhref\b",
    re.IGNORECASE,
)
"""Lines that tell people where to look; nothing is sent there by them."""
_PROSE: Final = (
    *(".md", ".rst", ".txt", ".adoc", ".html", ".htm", ".svg", ".po", ".pot", ".css", ".lock", ".sum"),
    *(".ipynb", ".csv"),
)


class Destinations:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "destinations"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the lines of both sides of every changed program and settings file."""
        return ended(self.name, [f for s in sources(request).files if _is_read(s) for f in _one(s)])


def _is_read(source: Source) -> bool:
    path = source.path.lower()
    if source.base is None or max(len(source.head), len(source.base)) > _LONGEST or path.endswith(_PROSE):
        return False
    told_elsewhere = is_manifest(path) or reader_of(path) is not None
    told_elsewhere = told_elsewhere and not path.endswith(("pyproject.toml", "package.json", ".yml", ".yaml"))
    return not told_elsewhere and b"\x00" not in source.head[:4096] and not _is_changelog(path)


def _is_changelog(path: str) -> bool:
    return PurePosixPath(path).name.startswith(("change", "history", "news", "readme", "contribut"))


def _one(source: Source) -> Iterator[Finding]:
    gone = defaultdict[str, list[list[str]]](list)
    old, new = _lines(source.base or b""), _lines(source.head)
    kept = set(new)
    for line in old:
        if line not in kept and (read := _read(line)):
            gone[read[0]].append(read[1])
    had = set(old)
    count = 0
    for number, line in enumerate(new, 1):
        read = _read(line) if line not in had else None
        if not read or not gone.get(read[0]):
            continue
        before = gone[read[0]].pop(0)
        for address in read[1]:
            made = _judged(address, before) if address not in before else None
            if made and count < _MOST:
                count += 1
                yield _finding(source, number, address, before, *made)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").split("\n")


def _read(line: str) -> tuple[str, list[str]] | None:
    """What the line is without its addresses, and these; None where nothing is sent to one."""
    if len(line) > _LONGEST_LINE or line.lstrip().startswith(_COMMENT) or _TELLS.search(line):
        return None
    found = [match[0] for match in _ADDRESS.finditer(line)]
    return (_HELD.sub("\x00", _ADDRESS.sub("\x00", line)).strip(), found) if found else None


def _judged(address: str, before: list[str]) -> tuple[Severity, Confidence, str] | None:
    """How grave it is that this address stands where those stood, and what is told."""
    if "://" not in address and re.fullmatch(r"(?:0x|bc1|[13])\w{25,}", address):
        was = any(re.fullmatch(r"(?:0x|bc1|[13])\w{25,}", one) for one in before)
        return (Severity.HIGH, Confidence.HIGH, "Payments go to another account.") if was else None
    now, was_owned = owner_of(address), [owner for one in before if (owner := owner_of(one)).host]
    if not now.host or now.is_own or not was_owned or any(now.same_as(one) for one in was_owned):
        return None
    if now.is_bucket and any(one.is_bucket for one in was_owned):
        nearly = any(is_nearly(now.name, one.name) for one in was_owned)
        grave = Severity.HIGH if nearly else Severity.MEDIUM
        return grave, Confidence.MEDIUM, "What is kept in a bucket now goes to another one."
    like = next((one for one in was_owned if now.poses_as(one) or is_nearly(now.name, one.name)), None)
    if like is not None and not like.is_own:
        message = f"What went to {like.name} now goes to a name that is nearly the same."
        return Severity.CRITICAL, Confidence.HIGH, message
    if all(one.is_own for one in was_owned):
        return Severity.MEDIUM, Confidence.MEDIUM, "What stayed on this machine goes to another."
    if any(now.name != one.name and now.label == one.label for one in was_owned):
        return Severity.MEDIUM, Confidence.LOW, "The same name under another top level domain."
    if any(now.name == one.name for one in was_owned):
        return Severity.HIGH, Confidence.MEDIUM, "What is sent here goes to another account of the same host."
    return Severity.HIGH, Confidence.MEDIUM, "What is sent here goes to another owner's machine."


def _finding(
    source: Source,
    number: int,
    address: str,
    before: list[str],
    severity: Severity,
    sure: Confidence,
    said: str,
) -> Finding:
    mild = is_test_code(source.path) or is_example(source.path)
    clean = [re.sub(r"//[^/@\s]*@", "//[redacted]@", one)[:200] for one in (address, *before[:3])]
    return finding(
        CHANGED,
        said,
        Location(path=source.path, line=number),
        shape=f"{clean[1]} {clean[0]}",
        evidence={"before": ", ".join(clean[1:]), "after": clean[0]},
        severity=Severity.LOW if mild else severity,
        confidence=sure,
    )
