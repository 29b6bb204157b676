"""Hands a JavaScript or TypeScript module to Node or Deno: the child of the driver becomes that program.

Node is taken where it is (it is what such code is written for): ours, whose hooks take TypeScript, else the
machine's own for JavaScript and Deno for TypeScript; Deno where there is no Node. What the program itself
does at its start is learned by an item without a path.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from typing import Any

from .. import argument_values, clock_preload, own_modules, program_runner, runtimes
from ..forced import marks

RUNNER = "runner.mjs"
HOOKS = "hooks.mjs"
DENO_OPTIONS = (
    "run", "--allow-all", "--no-prompt", "--no-remote", "--no-lock", "--cached-only", "--quiet",
    "--unstable-sloppy-imports", "--unstable-detect-cjs", "--node-modules-dir=manual",
)  # fmt: skip
_READ = 256 << 10
"""Bytes of a file that are looked at."""
_TYPED = (".ts", ".mts", ".cts", ".tsx", ".jsx")
_SOURCES = (".js", ".mjs", ".cjs", ".vue", ".svelte", *_TYPED)
_ROOM = 32_000
"""Characters of the job for lines: it is put into a pipe that nobody reads yet."""
MARKS = 6000
"""Attempts, at most, on the routes of one module."""
_HEAP = "--max-old-space-size=192"
"""MiB. Beyond it the engine ends the process by a signal, before the sandbox would end everything."""


def become(item: dict[str, Any], context: Any) -> None:
    """Execute the runtime with our runner; comes back only by MissingProgramError when there is none."""
    path = item.get("path")
    force = item.get("force")
    words = command_with_hooks() if force else command(str(path or ""), bool(item.get("typed")))
    if force:
        marks.choose(int(force["seed"]), str(force["mark"]))
    job = _job(item, context)
    if "seed" in item:
        job["attack"] = _attack(item, context)
    if force:
        made = {"word": str.__str__(marks.Mark()), "number": marks.PORTS[marks.Mark.seed]}
        job["force"] = {**made, **{key: force.get(key) for key in ("edits", "module", "line")}}
    inlet, outlet = os.pipe()
    os.write(outlet, json.dumps(job).encode("ascii"))
    os.close(outlet)
    os.dup2(inlet, 0)
    os.close(inlet)
    os.set_inheritable(context.channel.fd, True)
    _prepare_process()
    here = os.path.dirname(os.path.abspath(__file__))
    os.execv(words[0], [*words, os.path.join(here, RUNNER)])


def start(
    item: dict[str, Any], context: Any, fds: tuple[int, int], more: dict[str, Any]
) -> subprocess.Popen[bytes]:
    """Start Node with our runner as a child that answers questions about guards: it reads them from the first
    descriptor and writes to the second. ``more``: what guards/asker.mjs needs. Raises MissingProgramError.
    """
    words = command_with_hooks()
    inlet, outlet = fds
    job = {**_job(item, context), "fd": outlet, "guards": {**more, "inlet": inlet}}
    here = os.path.dirname(os.path.abspath(__file__))
    _prepare_process()
    child = subprocess.Popen(
        [words[0], "--expose-internals", *words[1:], os.path.join(here, RUNNER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=fds,
    )
    if child.stdin is not None:
        with child.stdin as stdin:
            stdin.write(json.dumps(job).encode("ascii"))
    return child


def _prepare_process() -> None:
    argument_values.lay_out()
    # Its own limit on the heap is what holds it; a soft limit of ours keeps Deno from starting.
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    os.environ.pop("PYTHONPATH", None)
    runtimes.offer_node()  # to what the code starts


def _job(item: dict[str, Any], context: Any) -> dict[str, Any]:
    """What runner.mjs is told in any case."""
    path = item.get("path")
    return {
        "fd": context.channel.fd,
        "path": os.path.abspath(path) if path else None,
        "call": bool(item.get("call")),
        "start": context.start,
        "page": bool(item.get("page")),
        "bundled": bool(item.get("bundled")),
        "lines": _watched(context.job.get("lines") or {}, path),
        "own": path,
        "watch": not path or bool(context.job.get("lines")),
        "clock": float(context.job.get("clock") or 0),
        "started": context.started,
        "nap": context.job.get("nap") or 0,
        "each": float(context.job.get("each", 1.0)),
        "grace": float(context.job.get("grace", 1.0)),
        "words": argument_values.plain_words(),
    }


def _attack(item: dict[str, Any], context: Any) -> dict[str, Any]:
    """What attacks.mjs needs. The marks are laid out here, it fills them in."""
    with own_modules.shown():
        from ..exploit.marks import ADDRESSES, FIRST_PORT, Marks

    first = Marks(item["seed"]).new()  # the folders; what an attempt names is laid out when it is made
    return {
        "seed": item["seed"],
        "program": os.path.dirname(first.program),
        "outside": os.path.dirname(first.decoy),
        "marks": MARKS,
        "networks": ADDRESSES,
        "port": FIRST_PORT,
        "name": item["targets"][0]["name"],
        "classes": list(dict.fromkeys(name for target in item["targets"] for name in target["classes"])),
        "generous": bool(item.get("generous")),
        "compared": bool(item.get("compared")),
        "behind": list(item.get("behind") or ()),
        "until": 1000 * (time.time() + max(1.0, context.until - time.monotonic() - 1.0)),
    }


def _watched(lines: dict[str, Any], own: str | None) -> dict[str, Any]:
    """The changed lines to watch: those of the own file, and of others as far as a pipe holds them."""
    room = _ROOM
    watched = {}
    for path in sorted((p for p in lines if p.endswith(_SOURCES) or p == own), key=lambda p: p != own):
        room -= len(json.dumps([path, lines[path]]))
        if room > 0:
            watched[path] = lines[path]
    return watched


def become_main(item: dict[str, Any]) -> None:
    """Execute the runtime with the file as its main program."""
    words = command(item["path"], bool(item.get("typed")))
    clock_preload.report_clock_source(words[0])
    os.execv(words[0], [*words, item["path"], *item.get("argv", [])])


def command(path: str, typed: bool) -> list[str]:
    """The runtime's command line without a file. Raises MissingProgramError."""
    node, ours = runtimes.find_node()
    deno = runtimes.find_deno()
    plain = not (typed or path.endswith(_TYPED))
    if node and ours and (not deno or plain or _has_compiler(path) or _requires(path)):
        here = os.path.dirname(os.path.abspath(__file__))
        return [node, _HEAP, "--no-warnings", "--import", f"{here}/{HOOKS}"]
    if deno and (typed or path.endswith(_TYPED) or not node):
        os.environ.update(runtimes.QUIET)
        return [deno, *DENO_OPTIONS, f"--v8-flags={_HEAP}"]
    if node:
        return [node, _HEAP]
    raise program_runner.MissingProgramError("node or deno")


def command_with_hooks() -> list[str]:
    """Node with our hooks, which put a copy in a file's place. Raises MissingProgramError."""
    node, _ = runtimes.find_node()
    if not node:
        raise program_runner.MissingProgramError("node")
    here = os.path.dirname(os.path.abspath(__file__))
    return [node, _HEAP, "--no-warnings", "--import", f"{here}/{HOOKS}"]


def _requires(path: str) -> bool:
    """Does the file call ``require``, which Deno gives to no module?"""
    try:
        with open(path, "rb") as file:
            return b"require(" in file.read(_READ)
    except OSError:
        return False


def _has_compiler(path: str) -> bool:
    """Is a compiler among the installed packages that the file sees? Without one our hooks keep imports of
    types, which Deno leaves out.
    """
    folder = os.path.dirname(os.path.abspath(path))
    while True:
        if any(os.path.isdir(f"{folder}/node_modules/{name}") for name in ("typescript", "esbuild")):
            return True
        if folder == os.path.dirname(folder):
            return False
        folder = os.path.dirname(folder)
