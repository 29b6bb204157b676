"""The backends by the names that tests use, and what each one's trial start found: once for all tests."""

from __future__ import annotations

from functools import cache

from gate.model.run import Capability
from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Backend, BackendOptions


def backend_named(name: str) -> Backend:
    """``bubblewrap-strace``: the process backend with strace, the last resort of a tracer."""
    if name != "bubblewrap-strace":
        return BACKENDS[name]()
    backend = BubblewrapBackend()
    backend.options = BackendOptions(tracer="strace")
    return backend


@cache
def capability(name: str) -> Capability:
    """A trial start costs a sandbox, so it is made once in a process."""
    return backend_named(name).probe()
