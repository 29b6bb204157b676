"""Memory behind bubblewrap where this user may make no control group: looks now and then hold it."""

from __future__ import annotations

import pytest

from gate.sandbox.backends.bubblewrap import backend as bubblewrap
from gate.sandbox.backends.bubblewrap import cgroup
from gate.sandbox.backends.registry import BACKENDS
from tests.contract.backend_contract import CASES, run_case
from tests.contract.capabilities import capability


@pytest.mark.parametrize("seconds", [0.02, 60.0])
def test_what_took_more_between_two_looks_is_told_as_out_of_memory(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the looks come late: the kernel's own, wider limit then refused before one did."""
    if not capability("bubblewrap").available:
        pytest.skip(capability("bubblewrap").reason)
    monkeypatch.setattr(cgroup, "make", lambda _: None)
    monkeypatch.setattr(bubblewrap, "_POLL_SECONDS", seconds)
    (bomb,) = [case for case in CASES if case.name == "memory bomb"]
    run_case(BACKENDS["bubblewrap"](), bomb)
