"""JavaScript and TypeScript by Deno without any permission, inside bubblewrap."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final

from gate.sandbox.backends.script.backend import ScriptedBackend
from gate.sandbox.images.runtimes import find, program, version

__all__ = ["CLOSED", "DENO", "DenoBackend", "find", "program", "version"]

DENO: Final = "/opt/deno"
CLOSED: Final = (
    "--no-prompt",
    "--deny-import",
    "--no-config",
    "--no-remote",
    "--no-npm",
    "--no-lock",
    "--cached-only",
    "--quiet",
)
"""No question to anybody, no settings of the tree's, nothing from a network."""
_SOURCES: Final = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")


class DenoBackend(ScriptedBackend):
    """Implements contract.Backend."""

    name = "deno"
    trial = ("deno", "eval", "console.log('ready')")
    reserve = "it runs JavaScript and TypeScript only, and no tracer watches what the code does in it"

    def prepare(self) -> tuple[tuple[str, str], ...]:
        """Deno alone."""
        return ((str(program()), DENO),)

    def version(self) -> str:
        """Deno's."""
        return f"Deno {version()}"

    def translate(self, argv: tuple[str, ...]) -> tuple[str, ...] | None:
        """``node FILE ...``, ``deno run FILE ...`` (its flags are not passed on), ``deno eval CODE``."""
        name, *words = argv or ("",)
        if Path(name).name not in ("node", "deno", "bun", "tsx", "ts-node"):
            return None
        if words[:1] == ["eval"] and len(words) == 2:  # deno's own eval would give every permission
            code = base64.b64encode(words[1].encode()).decode("ascii")
            return (DENO, "run", *CLOSED, f"data:text/javascript;base64,{code}")
        if words[:1] == ["run"]:
            words = words[1:]
        words = words[next((n for n, word in enumerate(words) if not word.startswith("-")), len(words)) :]
        if not words or not words[0].endswith(_SOURCES):
            return None
        return (DENO, "run", *CLOSED, *words)
