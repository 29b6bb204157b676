"""The walls there are, strongest first, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from gate.errors import CouldNotLook, UsageError
from gate.model.run import Capability
from gate.sandbox import gvisor, microvm
from gate.sandbox.bubblewrap import BubblewrapBackend, Wish
from gate.sandbox.deno import DenoBackend
from gate.sandbox.docker import DockerBackend
from gate.sandbox.gvisor import GvisorBackend
from gate.sandbox.interface import Backend
from gate.sandbox.microvm import MicrovmBackend
from gate.sandbox.restricted import RestrictedBackend
from gate.sandbox.wasm import WasmBackend

BACKENDS: Final[dict[str, Callable[[], Backend]]] = {
    "microvm": MicrovmBackend,
    "gvisor": GvisorBackend,
    "docker": DockerBackend,
    "bubblewrap": BubblewrapBackend,
}
"""Strongest first. ``auto`` takes one of these."""
SCRIPTED: Final[dict[str, Callable[[], Backend]]] = {
    "wasm": WasmBackend,
    "deno": DenoBackend,
    "restricted": RestrictedBackend,
}
"""Language runtimes inside bubblewrap: only when asked for by name; they run little, and untraced."""

_HESITATES: Final[dict[str, Callable[[], str]]] = {"microvm": microvm.hesitates, "gvisor": gvisor.hesitates}
"""Tells without starting anything why ``auto`` would rather not; empty: it has no reason."""
_STRENGTH: Final = {"none": 0, "process": 1, "container": 2, "user-kernel": 3, "vm": 4}


def choose(
    name: str,
    minimum: str,
    tracer: Wish = "auto",
    *,
    defer: bool = False,
    failed: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Backend, Capability, list[Capability]]:
    """The backend to use, what its trial start found, and what every tried backend's found.

    ``name`` is a backend or ``auto``. ``minimum`` is the weakest isolation accepted (``process``,
    ``container``, ``user-kernel``, ``vm``). ``tracer`` other than ``auto`` (``unotify``, ``strace``):
    only walls that are traced so. ``defer``: a wall may leave its trial start to its ``open``, which
    raises WallFailed; ``failed`` names walls for which that happened, and why.

    The rule of ``auto``: the strongest wall that works *well*, that is, one with no ``reserve`` (a machine
    without KVM is slow; gVisor takes about twice a container's time). Where none of those is strong enough,
    the strongest with a reserve; only then is that one started at all.

    Raises UsageError for an unknown name, CouldNotLook (with what is missing and how to get it)
    when nothing that works is strong enough. A wall is never swapped for a weaker one silently:
    a backend asked for by name is the only one tried.
    """
    known = {**BACKENDS, **SCRIPTED}
    if name != "auto" and name not in known:
        raise UsageError(f"unknown sandbox backend {name!r}", advice=f"Known: auto, {', '.join(known)}.")
    if minimum not in _STRENGTH:
        raise UsageError(f"unknown isolation {minimum!r}", advice=f"Known: {', '.join(_STRENGTH)}.")
    tried: list[Capability] = []
    second: tuple[Backend, Capability] | None = None
    for candidate in _order() if name == "auto" else (name,):
        backend = known[candidate]()
        if candidate in failed:
            tried.append(_lacking(candidate, failed[candidate]))
            continue
        if isinstance(backend, DockerBackend):
            backend.defer = defer
        if isinstance(backend, BubblewrapBackend):
            backend.tracer = tracer
        elif tracer == "strace":
            why = "strace traces only bubblewrap: set sandbox.tracer to auto for this wall"
            tried.append(_lacking(candidate, why))
            continue
        found = backend.probe()
        if found.available and tracer not in ("auto", found.tracer):
            found = replace(found, available=False, reason=f"it is traced by {found.tracer}, not {tracer}")
        tried.append(found)
        if not found.available or _STRENGTH[found.isolation] < _STRENGTH[minimum]:
            continue
        if name != "auto" or not found.reserve:
            return backend, found, tried
        second = second or (backend, found)
    if second is not None:
        return *second, tried
    raise CouldNotLook(
        f"no sandbox of isolation {minimum!r} or stronger works here: {'; '.join(map(_why, tried))}",
        advice="`gate doctor` lists what is missing and how to get it.",
    )


def _lacking(name: str, reason: str) -> Capability:
    return Capability(backend=name, available=False, isolation="none", tracer="none", reason=reason)


def _order() -> list[str]:
    """Those without a reserve first, each part strongest first."""
    return sorted(BACKENDS, key=lambda name: bool(_HESITATES.get(name, str)()))


def _why(found: Capability) -> str:
    if found.available:
        return f"{found.backend} gives only {found.isolation!r}"
    return f"{found.backend}: {found.reason}"
