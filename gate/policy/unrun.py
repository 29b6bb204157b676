"""What changed code that did not run could do: findings of its sensitive calls, and of what nobody can read.

The verdict that they come to at least is data (``[least_verdict]`` in rules/policy.toml) and a setting of the
base (``policy.unrun``); their points are ordinary ones, so the score says nothing that was not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from gate.model.exercised import Exercised, FileExercised, UnrunCall
from gate.model.finding import Finding
from gate.model.forced import ForcedLine
from gate.model.location import Location
from gate.model.rule import FindingStage
from gate.rules_api import RuleKind

MOST: Final = 100
"""Findings of one check: a hundred lines to read are as many as anybody reads."""

_rule: Final = RuleKind[object, object](FindingStage.POLICY)
SENSITIVE: Final = _rule.meta(
    "unrun-sensitive",
    "Changed code that can do harm did not run",
    severity="medium",
    confidence="low",
    topic="unrun",
    cwe=(1127,),
    why="The line can start a process, reach the network, delete files or the like, base does not have it, "
    "and no probe ran it: what it does was not seen.",
    fix="Have it run (each finding says what to set), or read the line and answer for it with an override.",
)
UNREADABLE: Final = _rule.meta(
    "unrun-unreadable",
    "Changed code that nobody can read did not run",
    severity="medium",
    confidence="low",
    topic="unrun",
    cwe=(1127,),
    why="The file is generated, minified or in a language that gate has no grammar for, and no probe ran "
    "it: what it does was neither seen nor read.",
    fix="Change what it is made from instead, and let CI make it; or have a person answer for it.",
)
_SENSITIVE_PAGE: Final = """\
A line that ran under observation is judged by what it did; one that did not run can only be judged by what it
*can* do. Calls are read from the syntax tree (docs/probes.md). A call counts as new when base does not have
it in any changed file: moved, renamed and reformatted code is not new.

A probe's word alone is not enough for such a line. Where the driver says that it ran, the trace of the same
run must show a call of that kind (a program, a connection, a deletion), otherwise the line is *not
confirmed*. A test that replaces the call (a mock) shows nothing of what the call would do.

The verdict is at least *warn*. `policy.unrun` at base makes it `"fail"` or `"pass"`; the finding stays.
"""
_UNREADABLE_PAGE: Final = """\
A minified bundle or a generated blob is where a payload is hidden most easily: reviewers skip it, and the
rules that read source have nothing to hold on to. A file counts as run only when every part of its changed
lines did.

The verdict is at least *warn*. `policy.unrun` at base makes it `"fail"` or `"pass"`; the finding stays.
"""
RULES: Final = ((SENSITIVE, _SENSITIVE_PAGE), (UNREADABLE, _UNREADABLE_PAGE))


def unrun_findings(exercised: Exercised, forced: Iterable[ForcedLine] = ()) -> tuple[Finding, ...]:
    """One finding a line with new sensitive calls that did not run, one a file that nobody can read: at most
    100, those of product code first. ``forced``: what forcing such lines showed, which is named beside.
    """
    shown = {(line.path, line.line): line for line in forced}
    found: list[tuple[bool, Finding]] = []
    for file in exercised.files:
        if file.unreadable:
            found.append((False, _unreadable(file)))
        by_line = groupby(sorted(file.calls, key=lambda c: (c.first, c.kind.value)), key=lambda c: c.first)
        found += [(in_tests, finding) for in_tests, finding in _sensitive(file, by_line, shown)]
    found.sort(key=lambda pair: pair[0])
    return tuple(finding for _, finding in found[:MOST])


def _sensitive(
    file: FileExercised,
    by_line: Iterator[tuple[int, Iterator[UnrunCall]]],
    shown: Mapping[tuple[str, int], ForcedLine],
) -> Iterator[tuple[bool, Finding]]:
    for line, group in by_line:
        calls = tuple(group)
        first = calls[0]
        yield (
            first.in_tests,
            Finding.of(
                SENSITIVE,
                f"Line {line} can {_kinds(calls)}, and it did not run: {first.reason.text}.",
                Location(path=file.path, line=line, end_line=max(c.last for c in calls)),
                shape=f"{' '.join(sorted({c.call for c in calls}))} {first.text}",
                evidence={
                    "call": ", ".join(dict.fromkeys(c.call for c in calls)),
                    "why it did not run": f"{first.reason.text}{f': {first.detail}' if first.detail else ''}",
                    "to have it run": first.reason.advice,
                    **_when_forced(shown.get((file.path, line))),
                },
            ),
        )


def _when_forced(line: ForcedLine | None) -> dict[str, str]:
    """What forcing the line showed, and what has to hold for it to run."""
    if line is None:
        return {}
    told = "; ".join(dict.fromkeys(act.text for act in line.acts[:6]))
    if not told and line.told:
        told = line.told if "line" in line.told else f"{line.told}; nothing was seen that comes from the code"
    only = "  and  ".join(line.conditions)
    return {name: text[:600] for name, text in (("when forced, it", told), ("only when", only)) if text}


def _kinds(calls: Sequence[UnrunCall]) -> str:
    return " and ".join(dict.fromkeys(call.kind.text for call in calls))


def _unreadable(file: FileExercised) -> Finding:
    return Finding.of(
        UNREADABLE,
        "This file did not run, and nobody can read what it would do.",
        Location(path=file.path),
        shape=file.language,
        evidence={"why it cannot be read": file.unreadable},
    )
