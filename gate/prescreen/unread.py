"""What follows from a file that one scanner could not read: what the file is, and who else read it, decides.

A program that no scanner of programs could read makes its stages degraded. A data file runs nowhere, and a
table of 20,000 numbers that Bandit needs too long for was read by our own rules: that is said, no more.
What Semgrep gives up in JavaScript (a bundle of one line, Flow's types) keeps its finding, and is judged by
what it can do where it did not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.dataclass import dataclass
from gate.languages.child_worker import UNKNOWN_SYNTAX
from gate.languages.content import reader_of
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.model.stage import Stage, StageOutcome
from gate.prescreen.interface import Prescreened, Views
from gate.prescreen.outcome import UNSCANNED, unread_files_text
from gate.regex import regex

_DATA: Final = frozenset({"yaml", "json", "prose", "config"})
_READERS: Final[Mapping[str, frozenset[str]]] = {"python": frozenset({"pyast", "bandit"})}
"""Scanners that read programs of a language as its interpreter does; Semgrep for the others."""
_READ_ONCE_MORE: Final = frozenset({"javascript", "typescript"})
"""Languages that the stage ``exercised`` reads by grammar, and by bare words where that fails: what it cannot
read and no probe ran is at least a warning there."""
_MANIFEST_READERS: Final = frozenset({"dependencies"})
_OTHERS: Final = frozenset({"semgrep"})
_AUTOMATION: Final = regex(
    r"(?:^|/)\.(?:github|gitlab|circleci|forgejo|gitea)/|(?:^|/)(?:action|\.gitlab-ci|\.travis|azure-pipelines|"
    r"bitbucket-pipelines|\.pre-commit-config|docker-compose[\w.-]*|compose)\.ya?ml$"
)
"""Data whose lines are commands."""
_MANIFEST: Final = regex(r"(?:^|/)(?:package\.json|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|pipfile)$")
"""Data that name what is installed or run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """By path: the language at head, and which scanners could not look at it."""

    languages: Mapping[str, str | None]
    unread: Mapping[str, Mapping[str, str]]
    blind: frozenset[str]
    """Scanners that failed as a whole."""

    def is_covered(self, path: str) -> bool:
        """True for data, and for a program that a scanner of programs could read."""
        known = path in self.languages
        language = self.languages[path] if known else reader_of(path, b"")
        is_manifest = _MANIFEST.search(path.lower()) is not None
        if language in _DATA and not is_manifest and not _AUTOMATION.search(path.lower()):
            return True
        unread = self.unread.get(path, {})
        if UNKNOWN_SYNTAX in unread.get("pyast", ""):
            return False  # Semgrep reads on where Python gives up: what of it, nobody knows
        if known and not is_manifest and language in _READ_ONCE_MORE:
            return True
        by_language = _READERS.get(language or "", _OTHERS)
        readers = (_MANIFEST_READERS if is_manifest else by_language) - self.blind
        return known and not readers <= unread.keys()


def settle(results: Sequence[Prescreened], views: Views) -> list[Prescreened]:
    """The same results: stages whose unread files are all covered have looked. Findings about data and what
    another scanner read are low.
    """
    unread: dict[str, dict[str, str]] = {}
    for finding in (f for result in results for f in result.findings if f.rule_id == UNSCANNED.id):
        unread.setdefault(finding.primary.path, {})[finding.evidence["scanner"]] = finding.evidence["reason"]
    read = _Read(
        languages={v.path: v.language for v in views.of(side="head") if not v.unreadable},
        unread=unread,
        blind=frozenset(
            stage.name.removeprefix("prescreen:")
            for result in results
            for stage in result.stages
            if stage.outcome is StageOutcome.FAILED
        ),
    )
    return [_settled(result, read) for result in results]


def _settled(result: Prescreened, read: _Read) -> Prescreened:
    mine = [f for f in result.findings if f.rule_id == UNSCANNED.id]
    if not mine:
        return result
    covered = {f.primary.path for f in mine if read.is_covered(f.primary.path)}
    milder = {path for path in covered if read.languages.get(path) not in _READ_ONCE_MORE}
    findings = tuple(_milder(f) if f in mine and f.primary.path in milder else f for f in result.findings)
    left = [(f.primary.path, f.evidence["reason"]) for f in mine if f.primary.path not in covered]
    if left:
        stages = tuple(_stage(s, StageOutcome.DEGRADED, unread_files_text(left)) for s in result.stages)
    else:
        told = unread_files_text([(f.primary.path, f.evidence["reason"]) for f in mine])
        why = f"{told} (data, or read elsewhere)"
        stages = tuple(_stage(s, StageOutcome.DONE, why) for s in result.stages)
    return replace(result, findings=findings, stages=stages)


def _stage(stage: Stage, outcome: StageOutcome, reason: str) -> Stage:
    degraded = stage.outcome is StageOutcome.DEGRADED
    return replace(stage, outcome=outcome, reason=reason) if degraded else stage


def _milder(finding: Finding) -> Finding:
    return replace(finding, severity=Severity.LOW)
