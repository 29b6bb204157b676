"""Examines backends one after another: what each claims, what it holds."""

from __future__ import annotations

import time
from collections.abc import Callable

from gate.errors import InconclusiveError
from gate.isolation.bait import lay
from gate.isolation.checks import of_kind
from gate.isolation.claims import Claims, claims_of
from gate.isolation.interface import AttemptOutcome, Check, Examination, Result
from gate.isolation.leftovers import snapshot
from gate.isolation.machine import Examiner
from gate.isolation.scripted import ScriptedExaminer
from gate.isolation.statement import Answer
from gate.sandbox.contract import Backend

ProgressCallback = Callable[[str], None]


def examine(backend: Backend, say: ProgressCallback = lambda _: None) -> Examination:
    """Run every check of what the backend runs. Not available: an examination without results."""
    begin = time.monotonic()
    found = backend.probe()
    if not found.available:
        return Examination(capability=found, seconds=time.monotonic() - begin)
    claims = claims_of(found)
    before = snapshot()
    with lay() as bait:
        examiner: Examiner | ScriptedExaminer
        if claims.kind == "machine":
            examiner = Examiner(backend, claims, bait, say)
        else:
            examiner = ScriptedExaminer(backend, claims, bait, say)
        trouble = ""
        try:
            examiner.examine()
        except InconclusiveError as error:
            trouble = error.message
    left = {kind: sorted(now - before[kind]) for kind, now in snapshot().items() if now - before[kind]}
    examiner.tell(
        "after.host",
        not left,
        "compare " + ", ".join(before),
        f"left: {left}" if left else "as before",
    )
    return Examination(
        capability=found,
        results=judge(examiner.answers, claims, trouble),
        seconds=time.monotonic() - begin,
        sandboxes=len(examiner.records) + 1,
    )


def judge(answers: dict[str, Answer], claims: Claims, trouble: str) -> tuple[Result, ...]:
    """One result for every check of the table, answered or not."""
    return tuple(_result(check, answers, claims, trouble) for check in of_kind(claims.kind).values())


def _result(check: Check, answers: dict[str, Answer], claims: Claims, trouble: str) -> Result:
    answer = answers.get(check.id)
    if answer is None:
        return Result(
            check=check,
            outcome=AttemptOutcome.NOT_TRIED,
            tried=check.title,
            happened=trouble or "no answer came",
        )
    if answer.held is None:
        outcome = (
            AttemptOutcome.NOT_HERE if answer.happened.startswith("not here: ") else AttemptOutcome.NOT_TRIED
        )
    elif answer.held:
        outcome = AttemptOutcome.HELD
    elif check.id in claims.not_claimed:
        outcome = AttemptOutcome.NOT_CLAIMED
    else:
        outcome = AttemptOutcome.BROKEN
    happened = answer.happened
    if outcome is AttemptOutcome.NOT_CLAIMED:
        happened = f"{happened} ({claims.not_claimed[check.id]})"
    return Result(check=check, outcome=outcome, tried=answer.tried, happened=happened)
