"""Dangerous calls of JavaScript, TypeScript and shell behind conditions that ordinary use does not meet.

Python's are told by `py.guarded-act` and `py.dated-action`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_example, is_test_code
from gate.languages.script_guards.read import GuardedAct
from gate.model.finding import Finding
from gate.model.forced import GUARDS
from gate.model.rule import Confidence, RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended, unread_files_text
from gate.prescreen.scanners.digest_grants import digest_grants
from gate.prescreen.scope import only_new
from gate.prescreen.text_rule import finding, rule
from gate.prescreen.views import make_views

GUARDED: Final = rule.meta(
    "script.guarded-act",
    "Dangerous action behind an unusual condition",
    severity="high",
    confidence="medium",
    topic="guard",
    cwe=(511, 506),
    attack=("T1480", "T1480.001"),
    languages=("javascript", "typescript", "shell"),
    why="What only one machine, one user, one day or the holder of one value switches on is seen by nobody "
    "else: no reviewer, no test, no sandbox.",
    fix="Make the condition a named setting, or remove the call.",
)
RULES: Final[tuple[RuleMeta, ...]] = (GUARDED,)
PAGES: Final = {
    GUARDED.id: """
## What is looked at

Conditions of JavaScript, TypeScript and shell (branches, `&&`, `case`, what follows an early end), read as
syntax trees. Names and local functions are followed to what they are made from, so a condition in a helper
(`eligible()`) counts where it decides. Behind it, there or in a function that is called there, stands a call
that starts a process, reaches the network, runs made-up code, deletes files or arranges to be run later.

| asked for | example |
|---|---|
| a digest that is written down | `createHash("sha256").update(key).digest("hex") === "5e88…"` |
| the machine, the user | `os.hostname().startsWith("prod-")`, `[ "$(whoami)" = deploy ]` |
| a day, not a span of time | `new Date().getFullYear() >= 2031`, `[ "$(date +%Y%m)" -gt 203102 ]` |
| traits of a sandbox (medium) | `/.dockerenv`, `os.cpus().length < 4`, `nproc` |
| CI: low, medium where one project, runner or person is chosen | `case $GITHUB_REPOSITORY in acme/billing)` |

In tests, examples and what only CI decides the finding is *low*.

## What it does not see

Conditions on a counter (`computed.decides` has those), on a data file or on what another machine answers;
conditions that another file defines; digests that are compared with a value from a file.
""",
}
_READER: Final = Reader(
    "gate.languages.script_guards.read:read", tuple[GuardedAct, ...], parses=True, pure=True
)
_LANGUAGES: Final = ("javascript", "typescript", "shell")


class GuardedScripts:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "guarded-scripts"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Read every changed script of head, and of base those that had a finding."""
        views = make_views(request)
        head, unlooked = _look([v for v in views.of(_LANGUAGES, "head") if not v.unreadable], request)
        named = {id(view.source) for view, _ in head}
        base, _ = _look([v for v in views.of(_LANGUAGES, "base") if id(v.source) in named], request)
        found = only_new([*_findings(head)], [*_findings(base)], request.change)
        granted, unread = digest_grants(request)
        result = ended(self.name, [*found, *granted], unread)
        why = f"{unread_files_text(unlooked)} (read elsewhere)" if unlooked else ""
        return replace(result, stages=tuple(replace(s, reason=s.reason or why) for s in result.stages))


def _look(
    views: Sequence[View], request: PrescreenRequest
) -> tuple[list[tuple[View, GuardedAct]], list[tuple[str, str]]]:
    """What was found, and what could not be read: the sensitive calls of the same text are read elsewhere."""
    results = scan_isolated(
        _READER,
        [(view.path, view.text.encode("utf-8", "replace")) for view in views],
        options={"shell": [view.path for view in views if view.language == "shell"]},
        deadline=request.deadline,
    )
    found = [(view, act) for view, result in zip(views, results, strict=True) for act in result.value or ()]
    return found, [(result.path, result.reason) for result in results if result.value is None]


def _findings(found: Sequence[tuple[View, GuardedAct]]) -> Iterator[Finding]:
    for view, act in found:
        yield finding(
            GUARDED,
            f"Whether {act.call} is called depends on {GUARDS[act.kind]}.",
            view.location(act.line, act.last),
            shape=f"{act.kind} {act.text} {act.call}",
            evidence={"condition": act.text, "can": act.act.text},
            severity=_severity(view, act),
            confidence=Confidence.LOW if act.kind == "ci" else None,
        )


def _severity(view: View, act: GuardedAct) -> Severity | None:
    """None: the rule's own. Traits such as the number of processors are asked for by honest code, too."""
    if is_test_code(view.path) or is_example(view.path) or (act.kind == "ci" and not act.is_one):
        return Severity.LOW
    return Severity.MEDIUM if act.kind in ("ci", "sandbox") else None
