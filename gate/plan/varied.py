"""Probes run again in a pinned world, with the same planted secrets or with others."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from gate.model.canary import Canary
from gate.model.run import Probe
from gate.plan.probes import job_of

SEED: Final = 1
"""Of what chance answers: the same in every run, so that only the secrets differ."""


def varied_probe(probe: Probe, planted: tuple[Canary, ...], started: float) -> Probe:
    """The same probe with these secrets. ``started``: the time of day that its clocks begin with, the same in
    all runs, seconds since 1970.
    """
    job = job_of(probe) | {"pin": SEED, "pin_time": started}
    return replace(probe, argv=(*probe.argv[:-1], json.dumps(job, sort_keys=True)), planted=planted)
