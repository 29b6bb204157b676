"""RestrictedPython in a process of its own inside bubblewrap. Never alone: such rules have been got around
before (CVE-2023-37271, CVE-2024-47532, CVE-2025-22153), so the outer sandbox is what holds.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Final

from gate.errors import InconclusiveError
from gate.sandbox.backends.script.backend import ScriptedBackend, python_words
from gate.sandbox.images.runtimes import cache, copy_readable

_PLACE: Final = "/opt/restricted"
_RUN: Final = "/opt/gate/runtimes/restricted_run.py"
INSTALL_HINT: Final = "Install it with: pip install 'gate-ci[backends]'"


class RestrictedBackend(ScriptedBackend):
    """Implements contract.Backend."""

    name = "restricted"
    reserve = "it runs a small part of Python only, and no tracer tells what the language refused"

    def prepare(self) -> tuple[tuple[str, str], ...]:
        """The package, copied so that the sandbox's user can read it."""
        found = importlib.util.find_spec("RestrictedPython")
        if found is None or found.origin is None:
            raise InconclusiveError("RestrictedPython is not installed", advice=INSTALL_HINT)
        place = cache(f"restricted-{self._package()}")
        if not (place / "RestrictedPython").is_dir():
            copy_readable(Path(found.origin).parent, place / "RestrictedPython")
        return ((str(place), _PLACE),)

    @staticmethod
    def _package() -> str:
        try:
            return importlib.metadata.version("RestrictedPython")
        except importlib.metadata.PackageNotFoundError:
            raise InconclusiveError("RestrictedPython is not installed", advice=INSTALL_HINT) from None

    def version(self) -> str:
        """The package's."""
        return f"RestrictedPython {self._package()}"

    def translate(self, argv: tuple[str, ...]) -> tuple[str, ...] | None:
        """A Python script or ``-c CODE``; nothing else runs there."""
        words = python_words(argv)
        return ("python3", "-I", "-S", "-B", _RUN, *words) if words else None
