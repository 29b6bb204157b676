"""Where the project's programs and settings send to: addresses that changed while all around them stayed.

A line of base and one of head that differ in nothing but the address they hold are the same call, the same
setting; whoever answers there is another one. No run is needed to see it, and where the run reaches the line,
the new connection confirms it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from gate.languages.path_roles import is_example, is_test_code
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.scanners.destination_lines import Role, lines_of, role_of, sent_to
from gate.prescreen.scanners.new_destinations import NEW, new_destinations
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex
from gate.supply.addresses import addresses_in, is_account
from gate.supply.lookalike import is_nearly
from gate.supply.owners import owner_of

CHANGED: Final = rule.meta(
    "destination.changed",
    "What is sent goes to another owner's machine than before",
    severity="high",
    confidence="medium",
    topic="network",
    cwe=(506, 200),
    attack=("T1041", "T1567", "T1036"),
    why="The same call with the same data now goes to somebody else: nothing else in the change tells that "
    "it is another's, and tests that replace the network pass as before.",
    fix="Say in the change whose address that is; have its owner confirm it.",
)
RULES: Final[tuple[RuleMeta, ...]] = (CHANGED, NEW)
_MOST: Final = 5
_HELD: Final = regex(r"(?:\x00[\"'`,\s]{0,6})+")
_DIGITS: Final = regex(r"\d+(?:\.\d+)*")


class Destinations:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "destinations"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the lines of both sides of every changed program and settings file, then ask base for the
        owners that are left.
        """
        changed = [f for source in sources(request).files if source.base is not None for f in _one(source)]
        told = [(f.primary.path, f.primary.line) for f in changed]
        return ended(self.name, [*changed, *new_destinations(request, told)])


def _one(source: Source) -> Iterator[Finding]:
    role = role_of(source)
    if role == "none":
        return
    gone = defaultdict[str, list[list[str]]](list)
    old, new = lines_of(source.base or b""), lines_of(source.head)
    kept = set(new)
    for line in old:
        if line not in kept and (read := _read(line, role, source.path)):
            gone[read[0]].append(read[1])
    had = set(old)
    count = 0
    for number, line in enumerate(new, 1):
        read = _read(line, role, source.path) if line not in had else None
        if not read or not gone.get(read[0]):
            continue
        before = gone[read[0]].pop(0)
        for address in read[1]:
            made = _judged(address, before) if address not in before else None
            if made and count < _MOST:
                count += 1
                yield _finding(source, number, address, before, *made)


def _read(line: str, role: Role, path: str) -> tuple[str, list[str]] | None:
    """What the line is without its addresses and figures, and these; None where nothing is sent to one."""
    found = list(sent_to(line, role, path))
    if not found:
        return None
    parts, at = [], 0
    for one in found:
        parts.append(_DIGITS.sub("0", line[at : one.start]))
        at = one.end
    parts.append(_DIGITS.sub("0", line[at:]))
    return _HELD.sub("\x00", "\x00".join(parts)).strip(), [one.text for one in found]


def _judged(address: str, before: list[str]) -> tuple[Severity, Confidence, str] | None:
    """How grave it is that this address stands where those stood, and what is told."""
    if "://" not in address and re.fullmatch(r"(?:0x|bc1|[13])\w{25,}", address):
        was = any(re.fullmatch(r"(?:0x|bc1|[13])\w{25,}", one) for one in before)
        return (Severity.HIGH, Confidence.HIGH, "Payments go to another account.") if was else None
    if is_account(address) or any(map(is_account, before)):
        return (
            (Severity.HIGH, Confidence.HIGH, "Money goes to another bank account.")
            if _is_bank(address)
            else None
        )
    now, was_owned = owner_of(address), [owner for one in before if (owner := owner_of(one)).host]
    if not now.host or now.is_own or not was_owned or any(now.same_as(one) for one in was_owned):
        return None
    if now.is_nowhere and now.label != "example":
        return None
    if now.is_bucket and any(one.is_bucket for one in was_owned):
        nearly = any(is_nearly(now.name, one.name) for one in was_owned)
        grave = Severity.HIGH if nearly else Severity.MEDIUM
        return grave, Confidence.MEDIUM, "What is kept in a bucket now goes to another one."
    like = next((one for one in was_owned if now.poses_as(one) or is_nearly(now.name, one.name)), None)
    if like is not None and not like.is_own:
        message = f"What went to {like.name} now goes to a name that is nearly the same."
        return Severity.CRITICAL, Confidence.HIGH, message
    if all(one.is_own for one in was_owned):
        return Severity.MEDIUM, Confidence.MEDIUM, "What stayed on this machine goes to another."
    if any(now.name != one.name and now.label == one.label for one in was_owned):
        return Severity.MEDIUM, Confidence.LOW, "The same name under another top level domain."
    if any((now.name, now.account) == (one.name, one.account) for one in was_owned):
        return Severity.MEDIUM, Confidence.MEDIUM, "Another account's number stands in the same address."
    if any(now.name == one.name for one in was_owned):
        return Severity.HIGH, Confidence.MEDIUM, "What is sent here goes to another account of the same host."
    return Severity.HIGH, Confidence.MEDIUM, "What is sent here goes to another owner's machine."


def _is_bank(address: str) -> bool:
    return any(one.kind == "bank" for one in addresses_in(address))


def _finding(
    source: Source,
    number: int,
    address: str,
    before: list[str],
    severity: Severity,
    sure: Confidence,
    said: str,
) -> Finding:
    mild = is_test_code(source.path) or is_example(source.path)
    clean = [re.sub(r"//[^/@\s]*@", "//[redacted]@", one)[:200] for one in (address, *before[:3])]
    return finding(
        CHANGED,
        said,
        Location(path=source.path, line=number),
        shape=f"{clean[1]} {clean[0]}",
        evidence={"before": ", ".join(clean[1:]), "after": clean[0]},
        severity=Severity.LOW if mild else severity,
        confidence=sure,
    )
