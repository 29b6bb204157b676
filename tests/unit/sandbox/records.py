"""What the host's tests are told of a run."""

from __future__ import annotations

from gate.sandbox.protocol import End, Receiver, Started

END = End(
    status=0,
    completed=True,
    seconds=1.5,
    peak_memory=7,
    stdout_total=3,
    stderr_total=4,
    limits_hit=(),
    leftover_killed=0,
    tracer_ok=True,
    clock="real",
)


def heard(*, end: End | None = END, started: bool = True) -> Receiver:
    """What a launcher said of one run: all of it, ended well."""
    heard = Receiver(b"key")
    heard.started = Started(pid=1, t=0.0) if started else None
    heard.end = end
    return heard
