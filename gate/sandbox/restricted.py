"""RestrictedPython in a process of its own inside bubblewrap. Never alone: such rules have been got around
before (CVE-2023-37271, CVE-2024-47532, CVE-2025-22153), so the outer wall is what holds.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Final

from gate.errors import CouldNotLook
from gate.sandbox.runtimes import cache, put
from gate.sandbox.scripted import ScriptedBackend, python_words

_PLACE: Final = "/opt/restricted"
_RUN: Final = "/opt/gate/restricted_run.py"
HOW_TO_GET: Final = "Install it with: pip install 'gate-ci[walls]'"


class RestrictedBackend(ScriptedBackend):
    """Implements interface.Backend."""

    name = "restricted"
    reserve = "it runs a small part of Python only, and no tracer tells what the language refused"

    def prepare(self) -> tuple[tuple[str, str], ...]:
        """The package, copied so that the sandbox's user can read it."""
        found = importlib.util.find_spec("RestrictedPython")
        if found is None or found.origin is None:
            raise CouldNotLook("RestrictedPython is not installed", advice=HOW_TO_GET)
        place = cache(f"restricted-{self._package()}")
        if not (place / "RestrictedPython").is_dir():
            put(Path(found.origin).parent, place / "RestrictedPython")
        return ((str(place), _PLACE),)

    @staticmethod
    def _package() -> str:
        try:
            return importlib.metadata.version("RestrictedPython")
        except importlib.metadata.PackageNotFoundError:
            raise CouldNotLook("RestrictedPython is not installed", advice=HOW_TO_GET) from None

    def version(self) -> str:
        """The package's."""
        return f"RestrictedPython {self._package()}"

    def translate(self, argv: tuple[str, ...]) -> tuple[str, ...] | None:
        """A Python script or ``-c CODE``; nothing else runs there."""
        words = python_words(argv)
        return ("python3", "-I", "-S", "-B", _RUN, *words) if words else None
