"""Runs inside the installing sandbox: installs requirement lines with uv (else pip), as many as can be had.

Reads plan.json beside it: ``program`` (argv that requirements are added to), ``attempts`` (lists of further
arguments, tried in turn), ``tiers`` (lists of lines: later ones are given up first), ``constraints``,
``seconds``. All of it at once where that works; else halves, so that what cannot be had is told apart.
Last, each of ``also`` that can be had, with what it needs. Writes one JSON object: ``failed`` ([line without
its hashes, what the installer said]), ``given_up`` (tiers), ``unreachable`` (what it said when no index
answered). Standard library only.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_RUNS = 150
MOST_BLAMED = 8
TEXT = 1500
_UNREACHABLE = re.compile(
    r"[Ff]ailed to fetch|error sending request|Could not connect|tunnel error|operation timed out"
    r"|Max retries exceeded|ProxyError|NewConnectionError|Request failed after"
)
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_LINES = "/tmp/requirements.txt"  # noqa: S108  # inside the sandbox
_CONSTRAINTS = "/tmp/constraints.txt"  # noqa: S108


class UnreachableError(Exception):
    """No index answers: further attempts would say the same."""


class Installer:
    """One plan, and how far it came."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.until = time.monotonic() + float(plan["seconds"])
        self.runs = 0
        self.failed: list[tuple[str, str]] = []

    def run(self, lines: list[str], options: list[str], program: str = "program") -> str:
        """Install exactly these lines; empty when that went well, else what the installer said."""
        if not lines:
            return ""
        self.runs += 1
        left = self.until - time.monotonic()
        if left <= 0 or self.runs > MOST_RUNS:
            return "no time was left"
        _write(_LINES, lines)
        _write(_CONSTRAINTS, self.plan["constraints"])
        words = [*self.plan[program], *options, "-r", _LINES]
        if self.plan["constraints"]:
            words += ["-c", _CONSTRAINTS]
        try:
            done = subprocess.run(  # noqa: PLW1510
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=left,
            )
        except subprocess.TimeoutExpired:
            return "no time was left"
        if done.returncode == 0:
            return ""
        said = done.stderr.decode("utf-8", "replace").strip()[-4 * TEXT :] or f"ended with {done.returncode}"
        if _UNREACHABLE.search(said) and not any(" @ " in line for line in lines):
            raise UnreachableError(said)
        return said

    def halves(self, lines: list[str]) -> None:
        """As many of the lines as can be had."""
        if not lines:
            return
        said = ""
        for options in self.plan["attempts"]:
            said = self.run(lines, options)
            if not said:
                return
            if len(lines) > 1:
                break
        if len(lines) == 1:
            self.fail(lines[0], said)
            return
        middle = len(lines) // 2
        self.halves(lines[:middle])
        self.halves(lines[middle:])

    def fail(self, line: str, said: str) -> None:
        """That line cannot be had."""
        self.failed.append((line.split(" --hash", maxsplit=1)[0][:300], said[-TEXT:]))

    def without_culprits(self, lines: list[str]) -> list[str]:
        """The lines but for those that the installer blames first, one after the other, until the rest can be
        had (then nothing is left to do) or it blames none of them.
        """
        for _ in range(MOST_BLAMED):
            for options in self.plan["attempts"]:
                said = self.run(lines, options)
                if not said:
                    return []
            blamed = [line for line in lines if _blames(said, line)]
            if len(blamed) != 1:
                break
            self.fail(blamed[0], said)
            lines = [line for line in lines if line != blamed[0]]
        return lines

    def all(self) -> list[int]:
        """Every tier, or as much of it as can be had. Returns the tiers that were given up."""
        tiers: list[list[str]] = list(self.plan["tiers"])
        for count in range(len(tiers), 0, -1):
            lines = [line for tier in tiers[:count] for line in tier]
            if count <= self.plan["needed"]:
                break
            for options in self.plan["attempts"]:
                if not self.run(lines, options):
                    return list(range(count, len(tiers)))
        self.halves(self.without_culprits([line for tier in tiers[: self.plan["needed"]] for line in tier]))
        return list(range(self.plan["needed"], len(tiers)))

    def also(self) -> None:
        """What is of use and nobody asked for: as far as it can be had."""
        for line in self.plan["also"]:
            try:
                self.run([line], [], "plain")
            except UnreachableError:
                return


def _blames(said: str, line: str) -> bool:
    """Is that line's package the first that the text says something about?"""
    text = " ".join(re.sub(r"[^\x20-\x7e]", " ", said).split())
    first = re.search(r"(?:Because|for|build|download|fetch|of|package) `?([A-Za-z0-9][\w.-]*)", text)
    name = re.match(r"[A-Za-z0-9][\w.-]*", line)
    return bool(first and name) and _plain(first[1]) == _plain(name[0])  # type: ignore[index]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower().rstrip("-")


def _write(path: str, lines: list[str]) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write("".join(line + "\n" for line in lines))


def main() -> int:
    """Carry out the plan; 0, whatever could be had."""
    with open(os.path.join(_FOLDER, "plan.json"), encoding="utf-8") as file:
        installer = Installer(json.load(file))
    unreachable = ""
    given_up: list[int] = []
    try:
        given_up = installer.all()
        installer.also()
    except UnreachableError as error:
        unreachable = str(error)[-TEXT:]
    told = {
        "failed": installer.failed,
        "given_up": given_up,
        "unreachable": unreachable,
    }
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
