"""Which targets of a changed Makefile to run: those of which a line changed, told from its text alone."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.model.change import ChangedFile
from gate.regex import regex

MOST: Final = 8
BIGGEST: Final = 1 << 20
_ASSIGN: Final = regex(r"\s*(?:export\s+|override\s+)?([\w.-]+)\s*(?:\?|\+|:{0,3}|!)=")
_RULE: Final = regex(r"([^\t#=:][^=:]*)::?(?!=)")
_NAME: Final = regex(r"[\w][\w./+@-]{0,80}\Z")
_DIRECTIVE: Final = regex(r"\s*-?(?:include|define|endef|ifn?eq|ifn?def|else|endif|export|vpath)\b")


@dataclass(slots=True)
class _Rule:
    names: list[str]
    text: str = ""
    touched: bool = False


@dataclass(slots=True)
class _Reading:
    rules: list[_Rule] = field(default_factory=list)
    variables: set[str] = field(default_factory=set)
    """Names whose assignment the change touches."""
    elsewhere: bool = False
    """A changed line is neither in a rule nor a plain assignment, or acts when make reads it."""


def changed_targets(file: ChangedFile, text: str) -> tuple[list[str], list[str]]:
    """Targets to run and targets left out, in the file's order.

    A target is chosen for a changed line of its rule or for using a variable that changed; the first one
    stands for what make does while it reads the file.
    """
    reading = _read(file, text)
    names_changed = "|".join(map(re.escape, sorted(reading.variables))) or "\0"
    used = re.compile(rf"\$[({{](?:{names_changed})[)}}]")
    chosen: dict[str, None] = {}
    named = [rule for rule in reading.rules if rule.names]
    for rule in named:
        if rule.touched or (reading.variables and used.search(rule.text)):
            chosen.update(dict.fromkeys(rule.names))
    if named and (reading.elsewhere or (reading.variables and not chosen)):
        chosen.setdefault(named[0].names[0])
    names = list(chosen)
    return names[:MOST], names[MOST:]


def _read(file: ChangedFile, text: str) -> _Reading:
    reading = _Reading()
    rule: _Rule | None = None
    goes_on = False
    for number, line in enumerate(text.split("\n"), 1):
        touched = file.touches(number)
        in_recipe = line.startswith("\t") and rule is not None
        assigned = _ASSIGN.match(line)
        if (in_recipe or goes_on) and rule is not None:
            rule.text += line + "\n"
            rule.touched = rule.touched or touched
        elif assigned and not in_recipe:
            rule = None
            if touched:
                reading.variables.add(assigned[1])
                reading.elsewhere = reading.elsewhere or "$(shell" in line or "!=" in line
        elif found := _RULE.match(line):
            names = [name for name in found[1].split() if _NAME.match(name)]
            rule = _Rule(names=names, text=line + "\n", touched=touched)
            reading.rules.append(rule)
        elif line.strip() and not line.lstrip().startswith("#"):
            rule = None
            reading.elsewhere = reading.elsewhere or (touched and _acts(line))
        goes_on = line.endswith("\\")
    return reading


def _acts(line: str) -> bool:
    """True for a line that may do something when make reads it."""
    return "$(" in line or _DIRECTIVE.match(line) is not None
