"""Head makes main's request to main's host, and says something else in it: another account, channel or
mailbox, or a field that main does not send.

A host that is known says nothing of whose account there is meant. Medium is a field whose name tells that
(channel, organisation, tenant, bucket, recipient ...), where main said the same in two runs and head says
another, or one more; high where the new value is nearly main's own, as a forged name is. Any other field that
is new is told as low: what is in it is for a reader. A field that varies by itself is told to nobody.

Find out who owns the other account, and who asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.languages.path_roles import is_test_code
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.probing import HOST
from gate.model.request_fields import FieldChange
from gate.model.rule import Confidence, Severity
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, LIKELY, LOW, MEDIUM, rule
from gate.supply.lookalike import is_nearly

_SHOWN: Final = 4
_USUAL: Final = frozenset(
    (
        "header accept",
        "header accept-language",
        "header content-type",
        "header cache-control",
        "header cookie",
    )
)
"""New headers that every client has some day and that say nothing."""


@rule(
    "request-field",
    "A known request says something else",
    severity="medium",
    confidence="medium",
    topic="destination",
    cwe=(506, 201),
    attack=("T1567", "T1020"),
    why="Another account of a known service, or one recipient more, takes data to somebody else over a host "
    "that nobody asks about.",
    fix="Find out who owns the other account, and who asked for it.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each request with fields that name somebody else, and one for its other new fields."""
    groups: dict[tuple[str, str, bool], list[FieldChange]] = {}
    for one in context.fields:
        if one.host == HOST or one.host.endswith("." + HOST) or (one.is_new and one.part in _USUAL):
            continue
        groups.setdefault((one.host, one.request, one.names_whom), []).append(one)
    for (host, request, whom), fields in groups.items():
        severity, sure = _weight(context, fields)
        message = (
            "Makes main's request and names another account, place or recipient in it."
            if whom
            else "Makes main's request with fields that main does not send."
        )
        evidence = {
            "host": host[:200],
            "request": request[:200],
            "fields": "; ".join(_told(one) for one in fields[:_SHOWN]),
            "probe": _target(context, fields[0]),
        }
        yield Finding.of(
            check.meta,
            message,
            Location(path=_path(context, fields[0])),
            shape=" ".join((host, request, *sorted(one.part for one in fields)))[:400],
            severity=severity,
            confidence=sure,
            evidence={name: text for name, text in evidence.items() if text},
        )


def _weight(context: SignalContext, fields: list[FieldChange]) -> tuple[Severity, Confidence]:
    if not fields[0].names_whom or is_test_code(_path(context, fields[0])):
        return LOW, LIKELY
    near = any(_is_forged(one) for one in fields)
    return (HIGH if near else MEDIUM), LIKELY


def _is_forged(one: FieldChange) -> bool:
    """Is a value nearly what main says, so that a reader takes it for the same?"""
    return any(is_nearly(after, before) for after in one.after for before in one.before)


def _told(one: FieldChange) -> str:
    after = ", ".join(one.after[:_SHOWN])[:120]
    if one.is_new:
        return f"{one.part}: {after} (new)"
    return f"{one.part}: {', '.join(one.before[:_SHOWN])[:120]} → {after}"


def _path(context: SignalContext, one: FieldChange) -> str:
    paths = (run.probe.path for run in context.runs if run.probe.id == one.probe)
    return next(filter(None, paths), "") or next((f.path for f in context.change.files), ".")


def _target(context: SignalContext, one: FieldChange) -> str:
    return next((run.probe.target for run in context.runs if run.probe.id == one.probe), "")[:200]
