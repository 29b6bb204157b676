"""Python as WebAssembly (Pyodide) in Deno without any permission, inside bubblewrap.

Pyodide is no sandbox of its own: its ``js`` bridge reaches the runtime around it. The sandbox is Deno's
permission boundary, whose last permission is given back before the code starts, and bubblewrap around that.
"""

from __future__ import annotations

import base64
import hashlib
import io
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gate import process
from gate.errors import InconclusiveError
from gate.resources import inside_dir
from gate.sandbox.backends.script import deno
from gate.sandbox.backends.script.backend import ScriptedBackend, python_words
from gate.sandbox.images.runtimes import cache, copy_readable

VERSION: Final = "314.0.7"
_SHA512: Final = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
"""npm's integrity value of that version of the package ``pyodide``."""
_NEEDED: Final = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
    "package.json",
)
INSTALL_HINT: Final = "In a checkout: make setup. It needs npm (or the package `pyodide` from a mirror) once."
_RUNNER: Final = inside_dir() / "runtimes" / "wasm.mjs"
_PLACE: Final = "/opt/wasm"
_RUN: Final = "/opt/gate/runtimes/wasm.mjs"
_READS: Final = f"--allow-read={_PLACE},/work/tree"


def folder() -> Path:
    """Where this version of everything lies; it may be empty."""
    return cache(f"wasm-{VERSION}")


def set_up(say: Callable[[str], None] = lambda _: None) -> None:
    """Fetch Pyodide by npm, check it against its pinned hash, take a snapshot of a started interpreter.

    Does nothing where all is there. Raises InconclusiveError.
    """
    place = folder()
    if not (place / "pyodide").is_dir():
        say(f"fetching pyodide {VERSION} by npm")
        with tempfile.TemporaryDirectory() as scratch:
            unpacked = Path(scratch, "pyodide")
            unpacked.mkdir()
            for name, data in _package(Path(scratch)).items():
                (unpacked / name).write_bytes(data)
                (unpacked / name).chmod(0o644)
            unpacked.chmod(0o755)  # the sandbox's user reads it
            copy_readable(unpacked, place / "pyodide")
    if not (place / "snapshot.bin").is_file():
        say("taking a snapshot of a started interpreter")
        _snapshot(place)


def _package(scratch: Path) -> dict[str, bytes]:
    """The files we need of npm's package. Raises InconclusiveError for any other content than the pinned
    one.
    """
    if shutil.which("npm") is None:
        raise InconclusiveError("npm is not installed", advice=INSTALL_HINT)
    home = {"HOME": str(scratch), "npm_config_update_notifier": "false"}
    done = process.run(["npm", "pack", f"pyodide@{VERSION}", "--silent"], deadline=300, cwd=scratch, env=home)
    archive = next(scratch.glob("pyodide-*.tgz"), None)
    if archive is None:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise InconclusiveError(f"npm could not fetch pyodide: {' '.join(said)}", advice=INSTALL_HINT)
    data = archive.read_bytes()
    if base64.b64encode(hashlib.sha512(data).digest()).decode("ascii") != _SHA512:
        raise InconclusiveError("the pyodide package is not the one that was pinned", advice="Do not use it.")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
        found = {}
        for name in _NEEDED:
            part = tar.extractfile(f"package/{name}")
            if part is None:
                raise InconclusiveError(f"the pyodide package holds no {name}", advice=INSTALL_HINT)
            found[name] = part.read()
    return found


def _snapshot(place: Path) -> None:
    """Our own interpreter, started and frozen; nothing of any change is near."""
    with tempfile.TemporaryDirectory() as scratch:
        runner = Path(scratch, "wasm.mjs")
        text = _RUNNER.read_text(encoding="utf-8").replace(f"{_PLACE}/", f"{place}/")
        runner.write_text(text, encoding="utf-8")
        made = Path(scratch, "snapshot.bin")
        words: list[str | bytes | Path] = [
            deno.find(),
            "run",
            *deno.CLOSED,
            f"--allow-read={place},{scratch}",
            f"--allow-write={scratch}",
        ]
        done = process.run(
            [*words, runner, "--make-snapshot", made],
            deadline=180,
            cwd=Path(scratch),
            env={"HOME": scratch, "DENO_DIR": scratch},
        )
        if not made.is_file():
            said = done.stderr.decode(errors="replace").strip()[-300:]
            raise InconclusiveError(
                f"no snapshot could be taken: {said}", advice="It works without one, but slowly."
            )
        copy_readable(made, place / "snapshot.bin")


class WasmBackend(ScriptedBackend):
    """Implements contract.Backend."""

    name = "wasm"

    def prepare(self) -> tuple[tuple[str, str], ...]:
        """Deno, Pyodide, the snapshot."""
        place = folder()
        if not (place / "pyodide").is_dir() or not (place / "snapshot.bin").is_file():
            raise InconclusiveError("Pyodide is not set up", advice=INSTALL_HINT)
        return ((str(deno.program()), deno.DENO), (str(place), _PLACE))

    def version(self) -> str:
        """Pyodide's and Deno's."""
        return f"Pyodide {VERSION}, Deno {deno.version()}"

    def translate(self, argv: tuple[str, ...]) -> tuple[str, ...] | None:
        """A Python script or ``-c CODE``; nothing else runs there."""
        words = python_words(argv)
        return (deno.DENO, "run", *deno.CLOSED, _READS, _RUN, *words) if words else None
