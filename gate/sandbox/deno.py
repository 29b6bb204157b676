"""JavaScript and TypeScript by Deno without any permission, inside bubblewrap."""

from __future__ import annotations

import base64
import shutil
import sys
from pathlib import Path
from typing import Final

from gate import proc
from gate.errors import CouldNotLook
from gate.sandbox.scripted import ScriptedBackend, cache, put

DENO: Final = "/opt/deno"
HOW_TO_GET: Final = "Install it with: pip install 'gate-ci[walls]' (or deno from https://deno.com)"
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


def find() -> Path:
    """Deno's program: beside this Python (the ``deno`` wheel) or on PATH. Raises CouldNotLook."""
    for found in (Path(sys.executable).with_name("deno"), Path(shutil.which("deno") or "/nowhere")):
        if found.is_file():
            return found
    raise CouldNotLook("deno is not installed", advice=HOW_TO_GET)


def version() -> str:
    """As ``2.9.8``."""
    said = proc.run([find(), "--version"], deadline=10, env={"DENO_NO_UPDATE_CHECK": "1"}).stdout
    words = said.decode(errors="replace").split()
    return words[1] if len(words) > 1 else "?"


def program() -> Path:
    """A copy that the sandbox's user can read, one for each version. Raises CouldNotLook."""
    target = cache("deno") / version()
    if not target.exists():
        put(find(), target)
    return target


class DenoBackend(ScriptedBackend):
    """Implements interface.Backend."""

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
