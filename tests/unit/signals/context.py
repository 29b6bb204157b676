"""Builds behaviours and contexts for the tests of behaviour rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gate.model.behaviour import Behaviour, BehaviourDiff, BehaviourKind
from gate.model.change import Change, ChangedFile, Hunk
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.run import Completeness, Outcome, Phase, Probe, RunRecord
from gate.signals.interface import SignalContext, SignalRule
from gate.signals.run import RULES

BY_ID = {rule.meta.id: rule for rule in RULES}


def behaviour(
    kind: str,
    subject: str,
    actor: str = "python",
    *,
    at: Location | None = None,
    probes: tuple[str, ...] = ("p1",),
    denied: bool = False,
    **detail: Any,
) -> Behaviour:
    """One behaviour; keyword arguments are its detail (texts)."""
    return Behaviour(
        kind=BehaviourKind(kind),
        subject=subject,
        actor=actor,
        detail=detail,
        probes=probes,
        at=at,
        denied=denied,
    )


def command(argv: str, *, actor: str = "", **detail: Any) -> Behaviour:
    """An exec behaviour of a program on PATH, as the view makes it."""
    program = argv.split(" ", maxsplit=1)[0]
    chain = f"{actor or 'python'}>{program}"
    return behaviour(
        "exec", argv[:200], chain, program=program, argv=argv, path=f"/usr/bin/{program}", **detail
    )


def changed(path: str, *lines: tuple[int, int], status: str = "modified") -> ChangedFile:
    """A changed Python file; ``lines`` are (start, count) at head."""
    return ChangedFile(
        path=path,
        old_path=None,
        status=status,  # type: ignore[arg-type]
        language="python",
        hunks=tuple(Hunk(old_start=1, old_count=0, new_start=s, new_count=n) for s, n in lines),
        old_mode=None,
        new_mode="100644",
        old_blob=None,
        new_blob="b",
        binary=False,
        size=1,
    )


def run(
    phase: Phase = "import",
    *,
    probe: str = "p1",
    path: str | None = "shop/cart.py",
    trace: Path | None = None,
    condition: str = "",
) -> RunRecord:
    """One complete run at head."""
    return RunRecord(
        probe=Probe(
            id=probe,
            phase=phase,
            target=f"{phase} shop.cart",
            path=path,
            argv=("python3",),
            condition=condition,
        ),
        side="head",
        outcome=Outcome.COMPLETED,
        exit_code=0,
        seconds=0.1,
        peak_memory=None,
        completed=True,
        trace=trace,
        completeness=Completeness(),
    )


def context(
    *new: Behaviour,
    phase: Phase = "import",
    files: tuple[ChangedFile, ...] | None = None,
    runs: tuple[RunRecord, ...] | None = None,
    gone: tuple[Behaviour, ...] = (),
) -> SignalContext:
    """A context with one probe, p1, of this phase and for shop/cart.py, and its second look, p1~ci."""
    shown = (changed("shop/cart.py", (1, 20)),) if files is None else files
    change = Change(repo="r", base="b", head="h", merge_base="b", commits=(), files=shown)
    both = (run(phase), run(phase, probe="p1~ci", condition="as in CI"))
    return SignalContext(
        change=change, diff=BehaviourDiff(new=new, gone=gone), runs=both if runs is None else runs
    )


def findings(rule_id: str, *new: Behaviour, phase: Phase = "import") -> list[Finding]:
    """What one rule says."""
    rule: SignalRule = BY_ID[rule_id]
    return list(rule.check(context(*new, phase=phase)))
