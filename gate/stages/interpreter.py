"""Which Python the sandboxes of a check have: what the settings name, else what the project asks for.

Base's files decide; what head asks for counts where both can be had at once. Both sides run the same one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.change.interface import OpenChange
from gate.errors import BackendFailedError, InconclusiveError
from gate.model.run import Capability, NotExercised, SandboxSpec
from gate.sandbox.contract import Backend
from gate.sandbox.dependencies.automatic import python_version
from gate.sandbox.dependencies.layer_store import LayerStore
from gate.sandbox.dependencies.needs import read_needs
from gate.settings import SandboxSettings
from gate.supply.python.interpreter import chosen, fits

_HELP: Final = "sandbox.python names another one, sandbox.image an image with it (by digest)"


def take_python(
    opened: OpenChange,
    wanted: SandboxSettings,
    backend: Backend,
    capability: Capability,
    spec: SandboxSpec,
) -> tuple[NotExercised, ...]:
    """Have the backend use that Python; what no Python serves is told.

    Raises InconclusiveError where the settings name one, or an image, that cannot be had.
    """
    if not capability.layers:
        return ()
    backend.options = replace(backend.options, image=wanted.image)
    if wanted.python != "auto":
        _take(wanted.python, backend, spec)
        return ()
    if wanted.image:
        return ()
    store = LayerStore()
    paths = [file.path for file in opened.change.files]
    old = [file.old_path or file.path for file in opened.change.files]
    asked = [
        read_needs(tree, of, "3.11.2", store).python
        for tree, of in ((opened.base, old), (opened.head, paths))
    ]
    if not any(asked):
        return ()
    own = python_version(backend, spec, store)
    if all(fits(text, own) for text in asked if text):
        return ()
    others = backend.pythons(made=wanted.fast)
    python = chosen(asked, own, others)
    why = ""
    if python:
        try:
            version = _made(python, backend, spec, store)
        except BackendFailedError:
            raise
        except InconclusiveError as error:
            backend.options = replace(backend.options, python="")
            why = f": {error.message}"
            version = own
    else:
        version = own
    unmet = next((text for text in asked if text and not fits(text, version)), "")
    if not unmet:
        return ()
    path = next((path for path in paths if path.endswith((".py", ".toml"))), paths[0] if paths else "")
    reason = f"the project asks for Python {unmet[:80]}, the sandbox has {version}{why}; {_HELP}"
    return (NotExercised(path=path, target="its Python", reason=reason),)


def _take(python: str, backend: Backend, spec: SandboxSpec) -> None:
    """The one that the settings name. Raises InconclusiveError."""
    store = LayerStore()
    if _minor(python_version(backend, spec, store)) == python:
        return
    if python not in backend.pythons():
        there = ", ".join(backend.pythons()) or "no other one"
        raise InconclusiveError(
            f"{backend.name} has no Python {python} here",
            advice=f"It has its own and {there}; with mmdebstrap it can make more. {_HELP.capitalize()}.",
        )
    _made(python, backend, spec, store)


def _made(python: str, backend: Backend, spec: SandboxSpec, store: LayerStore) -> str:
    """The whole version of that Python, once the backend has it. Raises InconclusiveError."""
    backend.options = replace(backend.options, python=python)
    version = python_version(backend, spec, store)
    if _minor(version) != python:
        raise InconclusiveError(f"Debian's release that had Python {python} has {version} now")
    return version


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
