"""The simulated network fails at first, where a probe of the second look asks for it."""

from __future__ import annotations

import json
from typing import Any, Final, Protocol

from gate.errors import InconclusiveError
from gate.model.run import Probe

_MOST: Final = 255
"""What one byte of the sinkhole's orders holds."""


class Failing(Protocol):
    """A sandbox whose network may be able to fail (session.RunningSandbox)."""

    def fail_network(self, failures: int) -> bool:
        """Let so many requests to each destination fail. False: it cannot. Raises InconclusiveError."""
        ...


class NotFailingError(InconclusiveError):
    """The network does not fail as the probe wants it: nothing of the code was run."""


def fail_as_asked(sandbox: Failing, probe: Probe) -> None:
    """Let the network of the sandbox fail as ``failures`` in the job says. Raises NotFailingError."""
    failures = _wanted(probe)
    if not failures:
        return
    try:
        able = sandbox.fail_network(failures)
    except InconclusiveError as error:
        raise NotFailingError(error.message) from error
    if not able:
        raise NotFailingError("the network of this sandbox cannot be made to fail")


def _wanted(probe: Probe) -> int:
    if not probe.driver or not probe.condition:
        return 0
    job: Any = json.loads(probe.argv[-1])
    failures = job.get("failures") if isinstance(job, dict) else None
    return min(failures, _MOST) if type(failures) is int and failures > 0 else 0
