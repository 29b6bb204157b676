"""The backends there are, strongest first, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, cast

from gate import plugins
from gate.errors import InconclusiveError, UsageError
from gate.model.run import Capability
from gate.sandbox.contract import Backend, BackendOptions, TracerChoice


def _microvm() -> Backend:
    from gate.sandbox.backends.microvm.backend import MicrovmBackend

    return MicrovmBackend()


def _gvisor() -> Backend:
    from gate.sandbox.backends.gvisor.backend import GvisorBackend

    return GvisorBackend()


def _docker() -> Backend:
    from gate.sandbox.backends.container.docker import DockerBackend

    return DockerBackend()


def _bubblewrap() -> Backend:
    from gate.sandbox.backends.bubblewrap.backend import BubblewrapBackend

    return BubblewrapBackend()


def _wasm() -> Backend:
    from gate.sandbox.backends.script.wasm import WasmBackend

    return WasmBackend()


def _deno() -> Backend:
    from gate.sandbox.backends.script.deno import DenoBackend

    return DenoBackend()


def _restricted() -> Backend:
    from gate.sandbox.backends.script.restricted import RestrictedBackend

    return RestrictedBackend()


BACKENDS: Final[dict[str, Callable[[], Backend]]] = {
    "microvm": _microvm,
    "gvisor": _gvisor,
    "docker": _docker,
    "bubblewrap": _bubblewrap,
}
"""Strongest first; what a backend needs is imported when it is made. ``auto`` takes one of these."""
SCRIPTED: Final[dict[str, Callable[[], Backend]]] = {
    "wasm": _wasm,
    "deno": _deno,
    "restricted": _restricted,
}
"""Language runtimes inside bubblewrap: only when asked for by name; they run little, and untraced."""

_STRENGTH: Final = {"none": 0, "process": 1, "container": 2, "user-kernel": 3, "vm": 4}


def choose(
    name: str,
    minimum: str,
    tracer: TracerChoice = "auto",
    *,
    defer: bool = False,
    quick: bool = False,
    failed: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Backend, Capability, list[Capability]]:
    """The backend to use, what its trial start found, and what every tried backend's found.

    ``name`` is a backend or ``auto``. ``minimum`` is the weakest isolation accepted (``process``,
    ``container``, ``user-kernel``, ``vm``). ``tracer`` other than ``auto`` (``unotify``, ``strace``):
    only backends that are traced so. ``defer``: a backend may leave its trial start to its ``open``, which
    raises BackendFailedError; ``failed`` names backends for which that happened, and why. ``quick``: of those
    that are strong enough ``auto`` takes the one that starts first, not the strongest.

    The rule of ``auto``: the strongest backend that works *well*, that is, one with no ``reserve`` (a machine
    without KVM is slow; gVisor takes about twice a container's time). Where none of those is strong enough,
    the strongest with a reserve; only then is that one started at all.

    Raises UsageError for an unknown name, InconclusiveError (with what is missing and how to get it)
    when nothing that works is strong enough. A backend is never swapped for a weaker one silently:
    a backend asked for by name is the only one tried.
    """
    theirs = plugins.loaded("gate.backends") if name not in ("auto", *BACKENDS, *SCRIPTED) else {}
    known = {
        **BACKENDS,
        **SCRIPTED,
        **{key: cast(Callable[[], Backend], made) for key, made in theirs.items()},
    }
    if name != "auto" and name not in known:
        raise UsageError(f"unknown sandbox backend {name!r}", advice=f"Known: auto, {', '.join(known)}.")
    if minimum not in _STRENGTH:
        raise UsageError(f"unknown isolation {minimum!r}", advice=f"Known: {', '.join(_STRENGTH)}.")
    tried: list[Capability] = []
    second: tuple[Backend, Capability] | None = None
    for candidate in _order(quick=quick) if name == "auto" else (name,):
        backend = known[candidate]()
        backend.options = BackendOptions(tracer=tracer, defer_trial=defer)
        found = _lacking(candidate, failed[candidate]) if candidate in failed else _trial(backend, tracer)
        tried.append(found)
        if not found.available or _STRENGTH[found.isolation] < _STRENGTH[minimum]:
            continue
        if name != "auto" or not found.reserve:
            return backend, found, tried
        second = second or (backend, found)
    if second is not None:
        return *second, tried
    raise InconclusiveError(
        f"no sandbox of isolation {minimum!r} or stronger works here: {'; '.join(map(_why, tried))}",
        advice="`gate doctor` lists what is missing and how to get it.",
    )


def _trial(backend: Backend, tracer: TracerChoice) -> Capability:
    """What a trial start finds, where this tracer is wanted."""
    if tracer != "auto" and tracer not in backend.tracers:
        why = f"it is not traced by {tracer}: set sandbox.tracer to auto for this backend"
        return _lacking(backend.name, why)
    found = backend.probe()
    if found.available and tracer not in ("auto", found.tracer):
        return replace(found, available=False, reason=f"it is traced by {found.tracer}, not {tracer}")
    return found


def _lacking(name: str, reason: str) -> Capability:
    return Capability(backend=name, available=False, isolation="none", tracer="none", reason=reason)


def _order(*, quick: bool = False) -> list[str]:
    """Those without a reserve first, each part strongest first; ``quick``: the quickest first."""
    if quick:
        return list(reversed(BACKENDS))
    return sorted(BACKENDS, key=lambda name: bool(BACKENDS[name]().reason_not_preferred()))


def _why(found: Capability) -> str:
    if found.available:
        return f"{found.backend} gives only {found.isolation!r}"
    return f"{found.backend}: {found.reason}"
