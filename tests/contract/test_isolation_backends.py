"""The self-test, against every backend of this machine, and against one with holes made on purpose."""

from __future__ import annotations

from typing import Any

import pytest

from gate.isolation.examine import examine
from gate.isolation.interface import AttemptOutcome
from gate.sandbox.backends.container import options
from gate.sandbox.backends.registry import BACKENDS, SCRIPTED

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@pytest.mark.timeout(1200)  # without KVM a machine takes seconds, and there are fifty to start
@pytest.mark.parametrize("name", [*BACKENDS, *SCRIPTED])
def test_isolation_of_every_backend_holds_what_it_claims(name: str) -> None:
    backend = {**BACKENDS, **SCRIPTED}[name]()
    found = examine(backend)
    if not found.capability.available:
        pytest.skip(f"{name}: {found.capability.reason}")
    bad = {
        result.check.id: (result.outcome.value, result.tried, result.happened)
        for result in found.results
        if result.outcome in (AttemptOutcome.BROKEN, AttemptOutcome.NOT_TRIED)
    }
    assert not bad


def test_isolation_finds_holes_that_were_made_on_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container as many start it: root, the usual capabilities, a writable root (but still no network)."""
    usual = options.sandbox_options

    def weak(**given: Any) -> dict[str, Any]:
        body = usual(**given)
        body["HostConfig"] |= {
            "CapDrop": [],
            "ReadonlyRootfs": False,
            "MaskedPaths": [],
        }
        return body | {"User": "0:0"}

    monkeypatch.setattr(options, "sandbox_options", weak)
    backend = BACKENDS["docker"]()
    if not backend.probe().available:
        pytest.skip("no engine")
    broken = {result.check.id for result in examine(backend).broken}
    expected = {
        "privilege.uid",
        "leak.boot-line",
        "write.system-folders",
        "write.any-folder",
        "write.remount",
    }
    assert expected <= broken, expected - broken
