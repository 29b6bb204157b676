"""What a run gets whose check has runs that do not end."""

from __future__ import annotations

import json
from dataclasses import replace

from gate.model.run import Completeness, Outcome, Probe, RunRecord
from gate.sandbox.patience import Patience
from gate.sandbox.run_record import RunObservation, to_record
from tests.unit.sandbox.records import heard


def _probe(name: str, verb: str) -> Probe:
    job = json.dumps({"items": [{"do": verb, "path": name}]})
    return Probe(
        id=name, phase="import", target=name, path=name, argv=("python3", "driver", job), deadline=20
    )


def _endless(probe: Probe) -> RunRecord:
    seen = RunObservation(ending="said", seconds=20.0, completeness=Completeness())
    return replace(to_record(heard(), seen, probe, "head", 0), outcome=Outcome.TIMED_OUT, seconds=20.0)


def test_what_never_ends_in_one_runtime_takes_no_time_from_another() -> None:
    patience = Patience(600, 20)
    bundle, next_bundle, module = (
        _probe("a.js", "javascript"),
        _probe("b.js", "javascript"),
        _probe("a.py", "import"),
    )
    assert patience.deadline(next_bundle, "head") == 20
    patience.ended(_endless(bundle))
    assert patience.deadline(next_bundle, "head") == 8
    assert patience.deadline(module, "head") == 20
    patience.ended(_endless(module))
    assert patience.deadline(_probe("b.py", "import"), "head") == 8
