"""`gate doctor`: what this machine offers, what is missing and how to get it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from gate.dataclass import dataclass
from gate.errors import Exit
from gate.verbs.interface import Verb


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnostic:
    """One thing examined. ``needed``: without it a check ends inconclusive."""

    group: str
    name: str
    ok: bool
    detail: str
    advice: str = ""
    needed: bool = False


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--fix", action="store_true", help="first register gVisor with the engine and fetch a guest kernel"
    )
    parser.add_argument(
        "--python",
        metavar="VERSION",
        action="append",
        default=[],
        help="first make sandboxes with that Python (3.13), so that no check has to; may be given again",
    )


def _run(arguments: argparse.Namespace) -> int:
    fixed = _fix() if arguments.fix else []
    fixed += [line for version in arguments.python for line in _make_python(version)]
    lines = [*fixed, *_machine(), *_scanners(), *_backends()]
    if arguments.json:
        json.dump([asdict(line) for line in lines], sys.stdout, indent=2)
        print()
    else:
        _show(lines)
    return Exit.OK if all(line.ok for line in lines if line.needed) else Exit.INCONCLUSIVE


def _fix() -> list[Diagnostic]:
    """Do what can be done here for the strong backends; what could not is a line with advice."""
    from gate.errors import InconclusiveError
    from gate.sandbox.backends.gvisor import setup
    from gate.sandbox.backends.microvm import image

    def kernel() -> str:
        return f"kernel for virtual machines: {image.fetch_kernel().release}"

    lines = []
    for name, make in (("gvisor", setup.register), ("microvm", kernel)):
        try:
            lines.append(Diagnostic(group="fixed", name=name, ok=True, detail=make()))
        except InconclusiveError as error:
            lines.append(
                Diagnostic(group="fixed", name=name, ok=False, detail=error.message, advice=error.advice)
            )
    return lines


def _make_python(version: str) -> list[Diagnostic]:
    """Make what the backends that work here need for that Python."""
    from gate.errors import InconclusiveError
    from gate.sandbox.backends.registry import BACKENDS
    from gate.sandbox.contract import BackendOptions

    lines = []
    for name, make in BACKENDS.items():
        backend = make()
        if not backend.probe().available:
            continue
        line, there = f"{name} with Python {version}", backend.pythons()
        try:
            if version not in there:
                raise InconclusiveError(
                    "not to be had", advice=f"To be had: {', '.join(there) or 'none; install mmdebstrap'}"
                )
            print(f"making {line} ...", file=sys.stderr, flush=True)
            backend.options = BackendOptions(python=version)
            backend.install_cache_key()
            lines.append(Diagnostic(group="fixed", name=name, ok=True, detail=f"Python {version}"))
        except InconclusiveError as error:
            lines.append(
                Diagnostic(group="fixed", name=name, ok=False, detail=error.message, advice=error.advice)
            )
    return lines


def _machine() -> list[Diagnostic]:
    lines = [
        Diagnostic(
            group="machine",
            name="system",
            ok=sys.platform == "linux",
            detail=f"{platform.system()} {platform.release()} {platform.machine()}, "
            f"Python {platform.python_version()}, {os.cpu_count()} cores",
            advice="The sandboxes need Linux; run gate in a Linux machine or container.",
            needed=True,
        )
    ]
    from gate import process
    from gate.errors import InconclusiveError

    try:
        done = process.run(["git", "--version"], deadline=5)
        lines.append(
            Diagnostic(
                group="machine", name="git", ok=done.ok, detail=done.stdout.decode().strip(), needed=True
            )
        )
    except InconclusiveError:
        lines.append(
            Diagnostic(
                group="machine",
                name="git",
                ok=False,
                detail="not found",
                advice="Install it: apt-get install git",
                needed=True,
            )
        )
    actions = Path("/proc/sys/kernel/seccomp/actions_avail")
    has = actions.exists() and "user_notif" in actions.read_text()
    lines.append(
        Diagnostic(
            group="tracers",
            name="unotify",
            ok=has,
            detail="seccomp user notification" if has else "the kernel has no seccomp user notification",
            advice="Linux 5.5 or newer has it.",
        )
    )
    strace = shutil.which("strace")
    lines.append(
        Diagnostic(
            group="tracers",
            name="strace",
            ok=bool(strace),
            detail=strace or "not found",
            advice="Only a last resort; apt-get install strace",
        )
    )
    return lines


def _scanners() -> list[Diagnostic]:
    import importlib.metadata

    lines = []
    for name in ("bandit", "semgrep"):
        try:
            version = importlib.metadata.version(name)
            lines.append(Diagnostic(group="scanners", name=name, ok=True, detail=version, needed=True))
        except importlib.metadata.PackageNotFoundError:
            lines.append(
                Diagnostic(
                    group="scanners",
                    name=name,
                    ok=False,
                    detail="not installed",
                    advice=f"Install gate again, or: pip install {name}",
                    needed=True,
                )
            )
    return lines


def _backends() -> list[Diagnostic]:
    from gate.sandbox.backends.registry import BACKENDS

    lines = []
    for name, make in BACKENDS.items():
        backend = make()
        found = backend.probe()
        detail = f"{found.isolation}, traced by {found.tracer}"
        if found.available and (more := backend.pythons(made=True)):
            detail += f", also with Python {', '.join(more)}"
        lines.append(
            Diagnostic(
                group="backends",
                name=name,
                ok=found.available,
                detail=f"{detail}; {found.version}" if found.available else "not available",
                advice="" if found.available else found.reason,
            )
        )
    some = [line.name for line in lines if line.ok]
    lines.append(
        Diagnostic(
            group="backends",
            name="any",
            ok=bool(some),
            detail=", ".join(some)
            or "none: nothing can be run, every check that has code to run is inconclusive",
            advice="On Debian and Ubuntu: apt-get install bubblewrap, or docker.io",
            needed=True,
        )
    )
    return lines


def _show(lines: list[Diagnostic]) -> None:
    group = ""
    for line in lines:
        if line.group != group:
            group = line.group
            print(f"{group}")
        print(f"  {'ok' if line.ok else 'no':<3} {line.name:<12} {line.detail}")
        if not line.ok and line.advice:
            print(f"      {'':<12} {line.advice}")


VERB: Final = Verb(
    name="doctor",
    summary="say what this machine offers: backends, tracers, scanners; what is missing and how to get it",
    description="Every backend is really started once. Exit code 3 when a check could not be whole here.",
    arguments=_arguments,
    run=_run,
)
