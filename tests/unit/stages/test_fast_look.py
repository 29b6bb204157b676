"""A fast look: which probes are left, how that is told, and what it does to settings and thresholds."""

from __future__ import annotations

import pytest

from gate.errors import UsageError
from gate.model.exercised import UnrunReason
from gate.model.run import ExecutionPlan, Probe
from gate.sandbox.backends import registry
from gate.settings import load
from gate.stages.fast_look import imports_only


def probe(phase: str, number: int = 0) -> Probe:
    return Probe(id=f"{phase}{number}", phase=phase, target=phase, path="a.py", argv=())  # type: ignore[arg-type]


def test_imports_stay_and_the_rest_is_counted() -> None:
    plan = ExecutionPlan(
        probes=(probe("idle"), probe("import"), probe("call", 1), probe("call", 2), probe("test"))
    )
    kept, left = imports_only(plan)
    assert [p.phase for p in kept.probes] == ["idle", "import"]
    assert left == "2 call probes, 1 test probe"


def test_nothing_to_import_needs_no_idle_probe_either() -> None:
    kept, left = imports_only(ExecutionPlan(probes=(probe("idle"), probe("install"), probe("script"))))
    assert kept.probes == ()
    assert left == "1 installation probe, 1 script probe"


def test_nothing_left_out_says_nothing() -> None:
    assert imports_only(ExecutionPlan(probes=(probe("idle"), probe("import"))))[1] == ""


@pytest.mark.parametrize(("unrun", "counts"), [("fail", "warn"), ("warn", "warn"), ("pass", "pass")])
def test_what_it_did_not_run_never_fails_by_itself(unrun: str, counts: str) -> None:
    flags: dict[str, tuple[object, str]] = {"policy.unrun": (unrun, "x"), "sandbox.fast": (True, "--fast")}
    assert load(environ={}, flags=flags).thresholds_for(is_ai=False).unrun == counts
    del flags["sandbox.fast"]
    assert load(environ={}, flags=flags).thresholds_for(is_ai=False).unrun == unrun


def test_fast_and_deep_are_refused_together() -> None:
    flags: dict[str, tuple[object, str]] = {
        "sandbox.deep": (True, "--deep"),
        "sandbox.fast": (True, "--fast"),
    }
    with pytest.raises(UsageError, match="exclude each other") as error:
        load(environ={}, flags=flags)
    assert "--fast" in error.value.advice


def test_the_quickest_backend_comes_first_and_the_choice_is_the_same_set() -> None:
    assert registry._order(quick=True)[0] == "bubblewrap"
    assert set(registry._order(quick=True)) == set(registry.BACKENDS)


def test_unrun_lines_say_that_the_full_look_may_run_them() -> None:
    assert "--fast" in UnrunReason.FAST_LOOK.advice
