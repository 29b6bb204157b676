"""Runs inside the installing sandbox: installs requirement lines with uv (else pip), as many as can be had.

Reads plan.json beside it (uv_plan.py makes it). All of it at once where that works; else one look tells which
exact versions have no wheel, and the nearest newer ones take their places; what the installer blames goes,
and last come halves, so that what cannot be had is told apart. Then each of ``also`` that can be had, and a
look whether ``runner`` starts; last, everything is compiled (bytecode.py). Writes one JSON object: ``failed``
([line without its hashes, what the installer said]), ``replaced`` ([line, the version that is there, why]),
``given_up`` (tiers), ``unreachable`` (what it said when no index answered), ``built`` (did any of ``trial``
build?), ``steps`` (for people: seconds and what). Standard library only.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time

from . import bytecode, runner_check
from . import installer_text as text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_RUNS = 150
MOST_BLAMED = 12
MOST_DOUBTED = 40
TEXT = 1500
LOOK_SECONDS = 30.0
COMPILE_SECONDS = 60.0
NO_TIME = "no time was left"
_FAR = "2100-01-01T00:00:00Z"
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
        self.began = time.monotonic()
        self.until = self.began + float(plan["seconds"])
        self.runs = 0
        self.failed: list[tuple[str, str]] = []
        self.swaps: dict[str, tuple[str, str]] = {
            line: (version, why) for line, version, why in plan.get("swaps", [])
        }
        """Line as it was asked for → the version that takes its place, and why."""
        self.built = False
        self.steps: list[str] = []

    def call(self, words: list[str], seconds: float | None = None) -> tuple[int, str, str]:
        """A program's end, output and error text. 1 and a sentence where there was no time."""
        self.runs += 1
        left = self.until - time.monotonic()
        left = left if seconds is None else min(left, seconds)
        if left <= 0 or self.runs > MOST_RUNS:
            return 1, "", NO_TIME
        begun = time.monotonic()
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=left)  # noqa: PLW1510
        except subprocess.TimeoutExpired:
            return 1, "", NO_TIME
        finally:
            self.steps.append(f"{time.monotonic() - begun:.2f} {' '.join(words[1:4])}"[:60])
        said = done.stderr.decode("utf-8", "replace").strip()
        return (
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            said or f"ended with {done.returncode}",
        )

    def run(
        self,
        lines: list[str],
        options: list[str],
        program: str = "program",
        *,
        into: str = "into",
        seconds: float | None = None,
    ) -> str:
        """Install exactly these lines; empty when that went well, else what the installer said."""
        if not lines:
            return ""
        _write(_LINES, lines)
        replaced = {text_of.name_of(line) for line in self.swaps}
        constraints = [line for line in self.plan["constraints"] if text_of.name_of(line) not in replaced]
        _write(_CONSTRAINTS, constraints)
        words = [*self.plan[program], *self.plan[into], *options, "-r", _LINES]
        if constraints:
            words += ["-c", _CONSTRAINTS]
        status, _, said = self.call(words, seconds)
        if status == 0:
            return ""
        if _UNREACHABLE.search(said) and not any(" @ " in line for line in lines):
            raise UnreachableError(said)
        return said

    def attempts(self) -> list[list[str]]:
        """Further arguments, tried in turn. The date does not count for what a newer version replaces."""
        names = sorted({text_of.name_of(line) for line in self.swaps})
        exempt = [word for name in names for word in ("--exclude-newer-package", f"{name}={_FAR}")]
        return [[*options, *(exempt if options else [])] for options in self.plan["attempts"]]

    def swapped(self, lines: list[str]) -> list[str]:
        """The lines with the versions that take others' places."""
        return [
            text_of.with_version(line, f"=={self.swaps[line][0]}") if line in self.swaps else line
            for line in lines
        ]

    def halves(self, lines: list[str]) -> None:
        """As many of the lines as can be had."""
        if not lines:
            return
        said = ""
        for options in self.attempts():
            said = self.run(self.swapped(lines), options)
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
        self.swaps.pop(line, None)
        self.failed.append((line.split(" --hash", maxsplit=1)[0][:300], text_of.shortened(said, TEXT)))

    def without_culprits(self, lines: list[str], optional: list[str]) -> tuple[list[str], list[str]]:
        """Installs the lines but for those that the installer blames first, one after the other, until the
        rest can be had or it blames none. Gives what is still to do, and which of ``optional`` were left out.
        """
        lines = [*lines, *optional]
        out: list[str] = []
        for _ in range(MOST_BLAMED):
            said, culprits = "", []
            for options in self.attempts():
                said = self.run(self.swapped(lines), options)
                if not said:
                    return [], out
                culprits = text_of.blamed(said, lines)
                if any(text_of.pin_of(line) for line in culprits):
                    break  # without a date there is no other file of that version
            if not culprits or said == NO_TIME:
                break
            for line in culprits:
                if line in optional:
                    out.append(line)
                else:
                    self.fail(line, said)
            lines = [line for line in lines if line not in culprits]
        return [line for line in lines if line not in optional], optional

    def look_ahead(self, lines: list[str]) -> None:
        """Exact versions without a wheel are replaced by the nearest newer version that has one, or told. A
        line with hashes is never replaced.
        """
        pins = {text_of.name_of(line): line for line in lines if text_of.pin_of(line)}
        asked, found = dict(pins), {}
        for _ in range(MOST_BLAMED if pins and self.plan["resolver"] else 0):
            status, out, said = self.look(
                [text_of.at_least(pin) for pin in asked.values()],
                ["--resolution", "lowest"],
            )
            found = text_of.versions(out) if status == 0 else {}
            culprits = text_of.blamed(said, list(asked.values()))
            if status == 0 or not culprits:
                break
            asked = {name: pin for name, pin in asked.items() if pin not in culprits}
        doubted = [
            pin
            for name, pin in pins.items()
            if found and not (name in found and text_of.same_version(text_of.pin_of(pin), found[name]))
        ]
        for line in doubted[:MOST_DOUBTED]:
            name = text_of.name_of(line)
            status, _, said = self.look([line.split(" --hash")[0]], [])
            if status == 0 or said == NO_TIME:
                continue  # the very version can be had: one that was withdrawn, for example
            if name in found and not text_of.has_hash(line):
                self.swaps[line] = (found[name], text_of.shortened(said, TEXT))
            else:
                self.fail(line, said)

    def compile(self) -> None:
        """Bytecode beside every module, so that no start makes it anew. Where packages were built, whose run
        is told as one of the change, no further program is started for it.
        """
        out, left = str(self.plan["out"]), min(COMPILE_SECONDS, self.until - time.monotonic())
        if self.plan["python"] == "python3":
            bytecode.compile_below(out, left)
        elif not self.plan["trial"]:
            words = [self.plan["python"], "-I", "-S", "-B", os.path.abspath(bytecode.__file__)]
            self.call([*words, out, str(left)])

    def look(self, lines: list[str], options: list[str]) -> tuple[int, str, str]:
        """What the resolver makes of these lines alone, without what they need."""
        _write(_LINES, lines)
        status, out, said = self.call([*self.plan["resolver"], *options, _LINES], LOOK_SECONDS)
        if status and _UNREACHABLE.search(said):
            raise UnreachableError(said)
        return status, out, said

    def try_to_build(self) -> None:
        """Which of ``trial`` can be built: the others go the way of what has no wheel."""
        lines: list[str] = list(self.plan["trial"])
        spare = all(line in self.swaps for line in lines)  # then it is not worth waiting for
        seconds = float(self.plan["seconds"]) / 10 if spare else None
        refused: dict[str, str] = {}
        while lines:
            said = self.run(lines, ["--no-deps"], "plain", into="aside", seconds=seconds)
            if not said:
                break
            culprits = text_of.blamed(said, lines) or lines[:1]
            if said == NO_TIME and spare:  # so it would be the next time
                said, culprits = "Failed to build in the time for it", lines
            refused |= dict.fromkeys(culprits, said)
            lines = [line for line in lines if line not in culprits]
        self.built = bool(lines)
        for line in lines:
            self.swaps.pop(line, None)
        for line, said in refused.items():
            if line in self.swaps:
                self.swaps[line] = (self.swaps[line][0], text_of.shortened(said, TEXT))
            else:
                self.fail(line, said)

    def all(self) -> list[int]:
        """Every tier, or as much of it as can be had. Returns the tiers that were given up."""
        tiers: list[list[str]] = list(self.plan["tiers"])
        needed: int = self.plan["needed"]
        if self.plan["trial"]:
            self.try_to_build()
            if not self.built:
                os.makedirs(self.plan["out"], exist_ok=True)  # the launcher looks for it
                return []
        else:
            if not self.run(self.swapped(_joined(tiers)), self.attempts()[0]):
                return []
            self.look_ahead(_joined(tiers[:needed]))
        refused = {line for line, _ in self.failed}
        must = [line for line in _joined(tiers[:needed]) if line not in refused]
        left, out = self.without_culprits(must, _joined(tiers[needed:]))
        self.halves(left)
        return [number for number in range(needed, len(tiers)) if set(tiers[number]) & set(out)]

    def asked(self) -> list[str]:
        """The lines that are installed, as far as they were asked for."""
        refused = {line for line, _ in self.failed}
        return [line for line in _joined(self.plan["tiers"][: self.plan["needed"]]) if line not in refused]

    def also(self) -> None:
        """What is of use and nobody asked for: as far as it can be had."""
        for line in self.plan["also"]:
            try:
                self.run([line], [], "plain")
            except UnreachableError:
                return


def _joined(tiers: list[list[str]]) -> list[str]:
    return [line for tier in tiers for line in tier]


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
        if installer.built or not installer.plan["trial"]:
            installer.also()
            if installer.plan["runner"]:
                runner_check.see_to(installer)
            if installer.plan["resolver"]:  # pip's own runs are told from others by the programs they start
                installer.compile()
    except UnreachableError as error:
        unreachable = str(error)[-TEXT:]
    told = {
        "failed": installer.failed,
        "replaced": [[line, *swap] for line, swap in installer.swaps.items()],
        "given_up": given_up,
        "unreachable": unreachable,
        "built": installer.built,
        "steps": installer.steps[:100],
    }
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
