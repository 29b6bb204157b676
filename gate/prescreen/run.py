"""The static look: every scanner side by side over the same decoded files, each with a stage of its own."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, cast

from gate import crash_log, plugins
from gate.errors import InconclusiveError
from gate.model.finding import Finding
from gate.model.stage import Stage, StageOutcome
from gate.prescreen.apparent import lower_apparent
from gate.prescreen.interface import Prescreened, PrescreenRequest, Progress, Scanner
from gate.prescreen.outcome import UNSCANNED, ended
from gate.prescreen.python_ast.scanner import PyAst
from gate.prescreen.scanners.bandit import Bandit
from gate.prescreen.scanners.builds import Builds
from gate.prescreen.scanners.collisions import Collisions
from gate.prescreen.scanners.commands import Commands
from gate.prescreen.scanners.computed import ComputedNumbers
from gate.prescreen.scanners.deletions import DeletionsTaken
from gate.prescreen.scanners.dependencies import Dependencies
from gate.prescreen.scanners.destinations import Destinations
from gate.prescreen.scanners.dispatch import DispatchByName
from gate.prescreen.scanners.governance import Governance
from gate.prescreen.scanners.guard_inputs import GuardInputs
from gate.prescreen.scanners.guarded_scripts import GuardedScripts
from gate.prescreen.scanners.hidden_text import HiddenText
from gate.prescreen.scanners.identities import Identities
from gate.prescreen.scanners.imports import Imports
from gate.prescreen.scanners.infrastructure import Infrastructure
from gate.prescreen.scanners.injection import Injection
from gate.prescreen.scanners.machine import Machine
from gate.prescreen.scanners.meanings import Meanings
from gate.prescreen.scanners.named import NamedThings
from gate.prescreen.scanners.opaque import Opaque
from gate.prescreen.scanners.ordered import Ordered
from gate.prescreen.scanners.owners import Owners
from gate.prescreen.scanners.passed_on import PassedOn
from gate.prescreen.scanners.protections import Protections
from gate.prescreen.scanners.replaced_code import ReplacedCode
from gate.prescreen.scanners.search_order import SearchOrder
from gate.prescreen.scanners.secret_uses import SecretUses
from gate.prescreen.scanners.secrets import Secrets
from gate.prescreen.scanners.semgrep import Semgrep
from gate.prescreen.scanners.shared_state import SharedState
from gate.prescreen.scanners.shifted_arguments import ShiftedArguments
from gate.prescreen.scope import sources
from gate.prescreen.unread import settle
from gate.prescreen.views import make_views
from gate.redaction import REDACTED, redact
from gate.regex import regex

_LITERAL: Final = regex(r"([\"'])[^\"'\n]{3,}\1")

SCANNERS: Final[dict[str, Scanner]] = {
    scanner.name: scanner
    for scanner in (
        Semgrep(),
        Bandit(),
        PyAst(),
        Secrets(),
        HiddenText(),
        Opaque(),
        Governance(),
        GuardInputs(),
        GuardedScripts(),
        Builds(),
        Collisions(),
        Commands(),
        ComputedNumbers(),
        DeletionsTaken(),
        Dependencies(),
        Destinations(),
        DispatchByName(),
        Identities(),
        Imports(),
        Infrastructure(),
        Injection(),
        Machine(),
        Meanings(),
        NamedThings(),
        Ordered(),
        Owners(),
        PassedOn(),
        Protections(),
        ReplacedCode(),
        SearchOrder(),
        SecretUses(),
        SharedState(),
        ShiftedArguments(),
    )
}


def prescreen(request: PrescreenRequest, progress: Progress | None = None) -> Prescreened:
    """Run all scanners and gather what they found; one that fails never costs the others.

    ``progress`` is told each scanner's name as it ends (from a worker thread). Findings are in a fixed
    order; the same unreadable file is named once. Never raises for what the change contains.
    """
    start = time.monotonic()
    read = sources(request)
    request = replace(request, sources=read)
    views = make_views(request)
    request = replace(request, views=views)
    unreadable = [(v.path, v.unreadable) for v in views.of(side="head") if v.unreadable]
    unread = ended("files", (), [*read.unread, *unreadable])
    unread = replace(
        unread, stages=tuple(replace(s, seconds=time.monotonic() - start) for s in unread.stages)
    )
    theirs = plugins.loaded("gate.scanners")
    every = SCANNERS | {name: cast(Scanner, scanner) for name, scanner in theirs.items()}
    with ThreadPoolExecutor(len(every), thread_name_prefix="scanner") as pool:
        running = [pool.submit(_one, name, scanner, request, progress) for name, scanner in every.items()]
        results = settle([unread, *(future.result() for future in running)], views)
    results = lower_apparent(results, views)
    values = tuple(sorted({value for result in results for value in result.secrets}))
    findings = sorted(
        (_redacted(f, values) for f in _once(f for result in results for f in result.findings)),
        key=lambda f: (f.primary.path, f.primary.line or 0, f.rule_id, f.shape),
    )
    stages = tuple(stage for result in results for stage in result.stages)
    return Prescreened(findings=tuple(findings), stages=stages, secrets=values)


def _one(called: str, scanner: Scanner, request: PrescreenRequest, progress: Progress | None) -> Prescreened:
    start = time.monotonic()
    name = f"prescreen:{called}"
    try:
        result = scanner.scan(request)
    except InconclusiveError as error:
        reason = f"{error.message}. {error.advice}".rstrip(". ") + "."
        result = _failed(name, reason)
    except Exception as error:  # noqa: BLE001 - a scanner's bug must not cost what the others found
        reason = f"internal error ({type(error).__name__}); details in {crash_log.write_log(error)}"
        result = _failed(name, reason)
    seconds = time.monotonic() - start
    if progress is not None:
        progress(called)
    return replace(result, stages=tuple(replace(stage, seconds=seconds) for stage in result.stages))


def _redacted(finding: Finding, values: tuple[str, ...]) -> Finding:
    """No finding of any scanner shows a credential, and none about secrets shows a literal (RP-6)."""

    def clean(text: str) -> str:
        for value in values:
            text = text.replace(value, REDACTED)
        text = redact(text)
        return _LITERAL.sub(r"\1[redacted]\1", text) if finding.topic == "secret" else text

    evidence = {key: clean(value) for key, value in finding.evidence.items()}
    return replace(finding, evidence=evidence, shape=clean(finding.shape))


def _failed(name: str, reason: str) -> Prescreened:
    return Prescreened(findings=(), stages=(Stage(name=name, outcome=StageOutcome.FAILED, reason=reason),))


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """All findings, but a file that several scanners could not read only once."""
    named: set[str] = set()
    for finding in findings:
        if finding.rule_id == UNSCANNED.id:
            if finding.primary.path in named:
                continue
            named.add(finding.primary.path)
        yield finding
