"""How a scanner ends: its findings, and every file it could not look at named with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import FindingStage
from gate.model.stage import Stage, StageOutcome
from gate.prescreen.interface import Prescreened
from gate.rules_api import RuleKind

_NAMED: Final = 5

UNSCANNED: Final = RuleKind[object, object](FindingStage.PRESCREEN).meta(
    "unscanned-file",
    "A changed file could not be looked at",
    severity="medium",
    confidence="high",
    topic="unscanned",
    cwe=(1116,),
    why="A file that stops a scanner (nesting, size, encoding, broken syntax) would otherwise be the place "
    "to hide code. What a program that no scanner could read holds is unknown, so the check cannot end "
    "green; a data file, or one that another scanner read, is only named.",
    fix="Make the file parse, split it, or leave generated data out; then run the check again.",
)


def ended(
    name: str,
    findings: Iterable[Finding],
    unlooked: Sequence[tuple[str, str]] = (),
    *,
    secrets: tuple[str, ...] = (),
) -> Prescreened:
    """What a scanner returns: done, or degraded when ``unlooked`` (path, reason) is not empty.

    Paths and reasons are named in the stage (the first few) and each path has a finding of its own.
    """
    unlooked = sorted(set(unlooked))
    stage = Stage(name=f"prescreen:{name}", outcome=StageOutcome.DONE)
    if unlooked:
        stage = replace(stage, outcome=StageOutcome.DEGRADED, reason=unread_files_text(unlooked))
    named_findings = [_unscanned(name, path, reason) for path, reason in unlooked]
    return Prescreened(findings=(*findings, *named_findings), stages=(stage,), secrets=secrets)


def unread_files_text(unlooked: Sequence[tuple[str, str]]) -> str:
    """The first few of these files (path, reason) in one line."""
    named = "; ".join(f"{_plain(path)}: {reason}" for path, reason in unlooked[:_NAMED])
    return f"could not look at {named}" + (f" and {len(unlooked) - _NAMED} more" if unlooked[_NAMED:] else "")


def _plain(path: str) -> str:
    return path.encode("ascii", "backslashreplace").decode()


def _unscanned(name: str, path: str, reason: str) -> Finding:
    message = f"{name} could not look at this file."
    evidence = {"reason": reason, "scanner": name}
    return Finding.of(UNSCANNED, message, Location(path=path), shape="unscanned", evidence=evidence)
