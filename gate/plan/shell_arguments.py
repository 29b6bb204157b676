"""The words that a shell script acts on when they are its argument, told from its text alone.

A script that is run without arguments often prints its usage and ends. So the arms of ``case "$1" in`` and
what ``$1`` is compared with are tried too, those of which a line changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.model.change import ChangedFile
from gate.regex import regex

MOST: Final = 6
BIGGEST: Final = 1 << 20
_LONGEST_LINE: Final = 2_000
_DEEPEST: Final = 20

_PLACE: Final = r"\$(?:\{?[1-4@*#]\b|\{[1-4@*]|[@*])"
"""A positional parameter, as a script says it."""
_POSITION: Final = regex(_PLACE)
_NAMED: Final = regex(rf"""^\s*(?:local\s+|readonly\s+|export\s+)?(\w+)=["']?{_PLACE}""")
_LOOP: Final = regex(rf"""^\s*for\s+(\w+)\s*(?:;|$|\bdo\b|in\s+["']?{_PLACE})""")
_GETOPTS: Final = regex(r"""\bgetopts\s+["']?(:?[\w:?]+)["']?\s+(\w+)""")
_CASE: Final = regex(r"\bcase\s+(\S+)\s+in\b")
_ARM: Final = regex(r"""^\s*\(?\s*([\w"'./:+@=,-]+(?:\s*\|\s*[^\s|()]+)*)\s*\)""")
_WORD: Final = regex(r"-{0,2}[\w][\w./:+@=,-]{0,60}\Z")
_IS: Final = regex(r"""["']?(\$\{?\w+)[^\s"'=]*["']?\s*={1,2}\s*["']?(-{0,2}\w[\w./:+@-]{0,60})["']?""")
_ARM_ENDS: Final = regex(r";;|;&")
_ESAC: Final = regex(r"\s*esac\b|.*;;\s*esac\b")
_TAKES_ONE: Final = regex(r"\bshift\b|\$\{?2\b|\$OPTARG\b|\$\{OPTARG")


@dataclass(slots=True)
class _Arm:
    words: list[str]
    takes_one: bool = False
    """It reads a further word."""
    touched: bool = False
    letters: str | None = None
    """What getopts was told, for an arm that asks what it found."""


@dataclass(slots=True)
class _Case:
    over: bool
    """Over an argument of the script's."""
    letters: str | None
    arm: _Arm | None = None


def changed_words(file: ChangedFile, text: str) -> tuple[list[tuple[str, ...]], int]:
    """Argument vectors to run a script with, and how many more there would be.

    One for each arm of a ``case`` over an argument, and for each comparison of an argument with a fixed
    word, of which a line changed. Options that read a further word get one.
    """
    found: dict[tuple[str, ...], None] = {}
    for arm in _arms(file, text):
        if not arm.touched:
            continue
        word = next((w for w in arm.words if _WORD.match(w)), None)
        if word is None:
            continue
        if arm.letters is not None:
            if len(word) != 1:
                continue
            found.setdefault((f"-{word}", *(["x"] if word + ":" in arm.letters else [])))
        else:
            found.setdefault((word, *(["x"] if arm.takes_one else [])))
    words = list(found)
    return words[:MOST], max(0, len(words) - MOST)


def _arms(file: ChangedFile, text: str) -> Iterator[_Arm]:
    lines = text[:BIGGEST].split("\n")
    asked, letters = _asked(lines)
    cases: list[_Case] = []
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE or line.lstrip().startswith("#"):
            continue
        rest = line
        for found in _CASE.finditer(line):
            cases.append(_Case(over=_is_argument(found[1], asked), letters=letters.get(_name(found[1]))))
            rest = line[found.end() :]
        if len(cases) > _DEEPEST:
            return
        touched = file.touches(number)
        if cases:
            yield from _in_case(cases, line, rest, touched)
        for said in _IS.finditer(line):
            if _is_argument(said[1], asked):
                yield _Arm(words=[said[2]], touched=touched)


def _in_case(cases: list[_Case], line: str, rest: str, touched: bool) -> Iterator[_Arm]:
    """One line inside of ``case``: the arms that end with it."""
    inner = cases[-1]
    if inner.arm is None and (inner.over or inner.letters is not None) and (found := _ARM.match(rest)):
        words = [word.strip().strip("\"'") for word in found[1].split("|")]
        inner.arm = _Arm(words=words, letters=inner.letters)
    for case in cases:
        if case.arm is not None:
            case.arm.takes_one = case.arm.takes_one or bool(_TAKES_ONE.search(line))
            case.arm.touched = case.arm.touched or touched
    over = bool(_ESAC.match(line))
    if inner.arm is not None and (over or _ARM_ENDS.search(rest)):
        yield inner.arm
        inner.arm = None
    if over:
        cases.pop()


def _is_argument(said: str, asked: set[str]) -> bool:
    said = said.strip("\"'")
    return bool(_POSITION.match(said)) or _name(said) in asked


def _asked(lines: list[str]) -> tuple[set[str], dict[str, str]]:
    """Variables that hold an argument, and those that getopts fills with what it was told to look for."""
    names: set[str] = set()
    letters: dict[str, str] = {}
    for line in lines:
        if len(line) > _LONGEST_LINE:
            continue
        if found := _NAMED.match(line) or _LOOP.match(line):
            names.add(found[1])
        if opts := _GETOPTS.search(line):
            letters[opts[2]] = opts[1]
    return names, letters


def _name(said: str) -> str:
    """``${action}`` and ``$action`` as ``action``; what is no plain variable as nothing."""
    found = re.match(r"[\"']?\$\{?(\w+)", said)
    return found[1] if found else ""
