"""Which probes talked to the simulated network: those that an outage can make do something else."""

from __future__ import annotations

from gate.model.run import RunRecord
from gate.tracing.readers.sinkhole import HttpRequest, Sent, read_log

_PHASES = ("call", "import", "script", "test")


def connected(runs: tuple[RunRecord, ...]) -> list[str]:
    """Ids of the probes of the first look that sent something at head, calls first, each once."""
    plain = [
        r for r in runs if r.side == "head" and not r.repeat and not r.probe.condition and r.probe.driver
    ]
    plain = [r for r in plain if r.probe.phase in _PHASES and not r.probe.planted]
    plain.sort(key=lambda run: _PHASES.index(run.probe.phase))
    return list(dict.fromkeys(run.probe.id for run in plain if _sent(run)))


def _sent(run: RunRecord) -> bool:
    """True where an HTTP request or other bytes of a connection arrived; names alone do not fail."""
    if run.network is None:
        return False
    return any(isinstance(event, (HttpRequest, Sent)) for event in read_log(run.network).events)
