"""Runs inside the installing sandbox: does pytest start with what was installed, and if not, what does it.

A runner of years ago does not start under a newer Python (pytest 6.2.4 under 3.11: ``AttributeError:
__spec__``), and then no test runs. Newer versions of it, its plugins and what it needs take their places;
never where a hash says which files count. Standard library only.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

from . import installer_text as text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .installer import Installer

SECONDS = 30.0
_SITE = "lib/python*/site-packages"


def see_to(installer: Installer) -> None:
    """Start the runner; where it fails, try newer versions: of the package that failed, of the runner with
    all that belongs to it within its major version, then of any.
    """
    out = str(installer.plan["out"])
    text = fault(out)
    if not text:
        return
    said = text.splitlines()[-1][:200]
    before = installed(out)
    lines = installer.asked()
    freed = {"pytest", *needs(out, "pytest"), *(name for name in before if name.startswith("pytest-"))}
    pinned = [line for line in lines if text_of.name_of(line) in freed and text_of.pin_of(line)]
    if any(text_of.has_hash(line) for line in pinned):
        installer.failed.append(("pytest", f"it does not start: {said}"))
        return
    replaced = {line: installer.swaps.pop(line, None) for line in pinned}
    major = int(before["pytest"].partition(".")[0]) if before["pytest"][:1].isdecimal() else 0
    tries = [(freed & {failing(text)}, ""), (freed, f"pytest<{major + 1}"), (freed, "pytest")]
    for names, more in tries:
        if names and not _try(installer, lines, names, more) and not fault(out):
            break
    else:
        if installer.run(["pytest"], ["--upgrade"], "plain") or fault(out):
            installer.failed.append(("pytest", f"it does not start: {said}"))
    now = installed(out)
    for line, swap in replaced.items():
        found = now.get(text_of.name_of(line), "")
        if swap is not None and swap[0] == found:
            installer.swaps[line] = swap
        elif found and not text_of.same_version(found, text_of.pin_of(line)):
            installer.swaps[line] = (found, f"pytest did not start: {said}")


def _try(installer: Installer, lines: list[str], names: set[str], more: str) -> str:
    """Install the lines, those of ``names`` in any newer version; empty when that went well."""
    loose = [
        text_of.at_least(line) if text_of.name_of(line) in names and text_of.pin_of(line) else line
        for line in installer.swapped(lines)
    ]
    upgrade = [word for name in sorted(names) for word in ("--upgrade-package", name)]
    return installer.run([*loose, *([more] if more else [])], upgrade, "plain")


def failing(text: str) -> str:
    """The installed package in which a traceback ends; empty where it ends in none."""
    found = re.findall(r"site-packages/([A-Za-z0-9_]+)[/.]", text)
    return text_of.plain(found[-1]) if found else ""


def fault(out: str) -> str:
    """What the runner says when it does not start; empty where it does, or is not there."""
    if "pytest" not in installed(out):
        return ""
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
    words = ["python3", "-B", "-m", "pytest", "--version"]
    try:
        done = subprocess.run(  # noqa: PLW1510
            words,
            cwd="/tmp",  # noqa: S108  # inside the sandbox
            env={**kept, "PYTHONUSERBASE": out},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = done.stderr.decode("utf-8", "replace").strip()
    return "" if done.returncode == 0 else text or "it said nothing"


def installed(out: str) -> dict[str, str]:
    """Versions by name."""
    found = {}
    for folder in pathlib.Path(out).glob(f"{_SITE}/*.dist-info"):
        name, _, version = folder.stem.partition("-")
        found[text_of.plain(name)] = version
    return found


def needs(out: str, name: str) -> set[str]:
    """Names of what an installed package needs, without its extras."""
    found: set[str] = set()
    for path in pathlib.Path(out).glob(f"{_SITE}/{name}-*.dist-info/METADATA"):
        text = path.read_text("utf-8", "replace")
        lines = re.findall(r"^Requires-Dist: ([A-Za-z0-9][\w.-]*)([^\n]*)", text, re.MULTILINE)
        found |= {text_of.plain(needed) for needed, rest in lines if "extra ==" not in rest}
    return found
