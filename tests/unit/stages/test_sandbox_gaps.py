"""What a sandbox did not show is told, each cause once."""

from __future__ import annotations

from dataclasses import replace

from gate.model.run import Capability, Completeness
from gate.model.stage import SkipReason
from gate.stages.sandbox_gaps import lost_runs, missing_observers
from tests.unit.signals.context import run

WHOLE = Capability(backend="docker", available=True, isolation="container", tracer="unotify")


def test_a_backend_with_every_observer_misses_none() -> None:
    assert not list(missing_observers(WHOLE, "sinkhole", "sinkhole"))
    assert not list(missing_observers(WHOLE, "none", "none"))


def test_a_backend_without_observers_says_so_and_looked() -> None:
    files, network = missing_observers(replace(WHOLE, backend="wasm", tracer="none"), "sinkhole", "none")
    assert (files.name, files.skip_reason) == ("files", SkipReason.NO_TRACER)
    assert files.reason == "wasm has no tracer: files are not compared with calls"
    assert (network.name, network.skip_reason) == ("network", SkipReason.NO_SIMULATED_NETWORK)
    assert network.reason == ("wasm has no simulated network: connections fail, second stages are not seen")
    assert files.looked
    assert network.looked


def test_clean_runs_are_not_lost() -> None:
    assert lost_runs((run("import"), run("call"))) == ""


def test_one_cause_is_told_once_and_three_at_most() -> None:
    fault = replace(run("import"), fault="the engine is gone")
    hole = replace(run("import"), completeness=Completeness(dropped=1))
    told = lost_runs((fault, fault, fault, hole))
    target = f"{fault.probe.target} at {fault.side}"
    assert told == f"the engine is gone ({target} and 2 more); trace incomplete ({target})"
    assert lost_runs(tuple(replace(fault, fault=f"cause {n}") for n in range(5))).count("cause") == 3
