"""What an installation with uv (else pip) is told: the plan that installer.py carries out, and uv's words.

Nothing secret is in a plan: addresses with passwords stand in configuration files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from gate.dataclass import dataclass
from gate.sandbox.dependencies import installer_files, layers
from gate.sandbox.dependencies.index import Index
from gate.sandbox.dependencies.install import OUT, PORT, Means, configuration
from gate.sandbox.dependencies.layer_store import Layer, Replaced
from gate.sandbox.dependencies.needs import Needs
from gate.sandbox.dependencies.reasons import CONTRADICTS, NO_WHEEL
from gate.sandbox.tree_archive import TREE
from gate.supply.python.requirements import names_of

TRIED_AGAIN: Final = (NO_WHEEL, CONTRADICTS)
"""Why a line was left out that may go well once others were built."""
_SCRIPTS: Final = ("installer.py", "installer_text.py", "runner_check.py", "bytecode.py")
_INSIDE: Final = "installing"
"""The package of the scripts inside."""
_START: Final = f"import sys; from {_INSIDE}.installer import main; sys.exit(main())\n"
UV_CONFIGURATION: Final = "uv.toml"
_MARGIN: Final = 10.0
"""Seconds that the installer inside ends before the host's deadline, to tell how far it came."""


@dataclass(frozen=True, kw_only=True)
class InstallTarget:
    """What is installed for: the interpreter's version (``3.11.2``) and its command inside. ``newest``: no
    later release counts (UTC, ISO 8601), empty for all.
    """

    version: str = "3.11.2"
    command: str = "python3"
    newest: str = ""

    @property
    def minor(self) -> str:
        """As ``3.11``."""
        return ".".join(self.version.split(".")[:2])


def is_near(pinned: str, version: str) -> bool:
    """Would a project that wants the one version be content with the other (semantic versioning)?"""
    one, other = pinned.split("."), version.split(".")
    return one[:1] == other[:1] and (one[0] != "0" or one[:2] == other[:2])


def building_plan(plan: dict[str, Any], trial: list[str], before: Layer) -> dict[str, Any]:
    """The plan of a second run, which builds what the first found no wheel of."""
    gone = {line for line, why in before.failed if why not in TRIED_AGAIN}
    tiers = [[line for line in tier if shown(line) not in gone] for tier in plan["tiers"]]
    full = {shown(line): line for tier in tiers for line in tier}
    swaps = [(full[shown(r.line)], r.version, r.why) for r in before.replaced if shown(r.line) in full]
    wanted = [full[line] for line in map(shown, trial) if line in full]
    return plan | {"tiers": tiers, "trial": wanted, "swaps": swaps}


def shown(line: str) -> str:
    """As the installer tells of a line."""
    return line.split(" --hash", maxsplit=1)[0][:300]


def installation_plan(
    needs: Needs,
    target: InstallTarget,
    means: Means,
    *,
    builds: bool = False,
    swaps: Sequence[Replaced] = (),
    runner: bool = False,
) -> dict[str, Any]:
    """What installer.py is told; without anything secret in it."""
    of = needs.merged
    with_uv = bool(installer_files.uv()[0])
    attempts: list[list[str]] = [[]]
    if with_uv and target.newest and not of.locked:
        attempts = [["--exclude-newer", target.newest], []]
    program = _uv_words(target, builds=builds) if with_uv else _pip_words(means, builds=builds)
    has_pytest = "pytest" in names_of((*of.tests, *of.lines))
    # a lock's packages go together; else tests' needs are looked at first, since they name more
    tiers = [[*of.tests, *of.lines], list(of.extras)]
    there = {shown(line): line for line in tiers[0] if "--hash" not in line}
    return {
        "program": [*program, *(["--no-deps"] if of.locked else [])],
        "plain": program,
        "out": OUT,
        "into": ["--prefix", OUT] if with_uv else [],
        "aside": ["--prefix", "/work/trial"] if with_uv else [],
        "resolver": _resolver_words(target) if with_uv else [],
        "also": [] if has_pytest else ["pytest"],
        "attempts": attempts,
        "tiers": tiers,
        "needed": 1,
        "swaps": [(there[r.line], r.version, r.why) for r in swaps if r.line in there],
        "trial": [],
        "runner": runner and with_uv,
        "python": target.command,
        "constraints": list(of.constraints),
        "seconds": max(5.0, means.deadline - _MARGIN),
    }


def _uv_words(target: InstallTarget, *, builds: bool) -> list[str]:
    words = [f"{TREE}/uv", "pip", "install", "--quiet", "--python", target.command]
    words += ["--no-progress", "--color", "never", "--link-mode", "hardlink", "--cache-dir", "/work/cache"]
    return [*words, *([] if builds else ["--no-build"])]


def _resolver_words(target: InstallTarget) -> list[str]:
    words = [f"{TREE}/uv", "pip", "compile", "--quiet", "--python", target.command, "--no-header"]
    words += ["--no-progress", "--color", "never", "--cache-dir", "/work/cache", "--no-annotate"]
    return [*words, "--no-build", "--no-deps"]


def _pip_words(means: Means, *, builds: bool) -> list[str]:
    words = ["python3", f"{TREE}/pip", "install", "--isolated", "--disable-pip-version-check", "--no-input"]
    words += ["--no-cache-dir", "--no-compile", "--user", "--break-system-packages", "--quiet"]
    words += ["--no-warn-script-location", "--progress-bar", "off", "--retries", "1", "--timeout", "15"]
    words += ["--proxy", f"http://127.0.0.1:{PORT}", *([] if builds else ["--only-binary", ":all:"])]
    return words + (["--cert", f"{TREE}/{installer_files.CERTIFICATES}"] if means.index.certificates else [])


def uv_configuration(index: Index) -> bytes:
    """For uv (uv.toml): the machine's index first. Addresses may hold a password, so they stand in a file."""
    lines = [f"[[index]]\nurl = {json.dumps(address)}" for address in index.more]
    lines.append(f"[[index]]\nurl = {json.dumps(index.url)}\ndefault = true")
    plain = [f"{place.host}:{place.port}" for place in index.hosts() if place.plain]
    return (f"allow-insecure-host = {json.dumps(plain)}\n" + "\n".join(lines) + "\n").encode()


@cache
def scripts_version() -> str:
    """A digest of the scripts: another installer makes other layers."""
    return layers.name_of("\n".join(Path(__file__).with_name(name).read_text("utf-8") for name in _SCRIPTS))


def installer_kit(plan: dict[str, Any], means: Means) -> installer_files.InstallerFiles:
    """What the installing sandbox gets: scripts, plan, configuration, uv or pip."""
    files = {
        "start.py": _START.encode(),
        f"{_INSIDE}/__init__.py": b"",
        f"{_INSIDE}/plan.json": json.dumps(plan).encode(),
        **{f"{_INSIDE}/{name}": Path(__file__).with_name(name).read_bytes() for name in _SCRIPTS},
        installer_files.CONFIGURATION: configuration(means.index),
        UV_CONFIGURATION: uv_configuration(means.index),
    }
    if means.index.certificates:
        files[installer_files.CERTIFICATES] = means.index.certificates
    return installer_files.InstallerFiles(files, uv=installer_files.uv()[1])
