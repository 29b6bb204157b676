"""Owners of addresses that a change adds and that stand nowhere in the tree of base.

A new place to send to is how data leaves when no old address is replaced. In a program that ran, the run
shows whether something goes there; in settings, templates and lines that did not run, nobody saw it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.scanners.destination_lines import Role, lines_of, loads, role_of, sent_to
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.supply.addresses import Address, is_account
from gate.supply.owners import Owner, owner_of

NEW: Final = rule.meta(
    "destination.new",
    "An address of an owner that the project had nothing to do with",
    severity="medium",
    confidence="medium",
    topic="network",
    cwe=(506, 200),
    attack=("T1041", "T1567"),
    why="Whoever answers at that address gets what is sent there, and nothing in the project named them "
    "before. Settings and templates are not run by tests, so no run shows it.",
    fix="Say in the change whose address it is and what goes there; have its owner confirm it.",
)
_GOES_ON: Final = ("(", "[", "{", ",", "\\")
"""Ends of a line whose statement goes on; what ran is known of its first line."""
_MOST: Final = 5
_MOST_NAMES: Final = 60
_CATALOGUE: Final = 12
"""Owners that a file names under one key before it counts as a list of addresses of many."""
_SHORTEST: Final = 3
"""Characters of such a key."""
_LARGEST: Final = 4 << 20
_MOST_BYTES: Final = 512 << 20
_UNTOLD: Final = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".woff", ".woff2", ".ttf", ".pdf", ".zip", ".gz"),
    *(".mp4", ".mp3", ".whl", ".jar", ".so", ".wasm"),
)
_MANY: Final = "a list that names many owners"
_SAID: Final = {
    "bank": "Money can go to a bank account that stood nowhere before.",
    "number": "Something can go to a machine by a number that stood nowhere before.",
    "mail": "Mail can go to an owner that stood nowhere before.",
    "resource": "An account of the cloud that stood nowhere before.",
}
_OTHER: Final = "Something can go to an owner that stood nowhere before."


@dataclass(frozen=True, slots=True)
class _Named:
    source: Source
    first: int
    line: int
    text: str
    role: Role
    address: Address
    key: str
    joins: bool
    """Is it one entry more of a catalogue (``_catalogues``)?"""


def new_destinations(request: PrescreenRequest, told: Iterable[tuple[str, int | None]]) -> Iterator[Finding]:
    """One finding for each new owner, where it is named first, product settings before code. ``told``: lines
    (path, number) of which another finding tells already.
    """
    if not request.base.entries():
        return  # the first commit: nothing can be foreign to it
    known = set(told)
    named = [
        one
        for source in sources(request).files
        if not (is_test_code(source.path) or is_example(source.path))
        for one in _named(source)
        if (source.path, one.line) not in known
    ]
    named.sort(key=lambda one: (_severity(one) is Severity.LOW, one.source.path, one.line))
    first: dict[str, _Named] = {}
    for one in named:
        first.setdefault(one.key, one)
    keys = list(first)[:_MOST_NAMES]
    gone = _in_base(request.base, keys) if keys else set()
    count: dict[str, int] = {}
    for key in keys:
        one = first[key]
        count[one.source.path] = count.get(one.source.path, 0) + 1
        if key not in gone and count[one.source.path] <= _MOST:
            yield _finding(one)


def _named(source: Source) -> Iterator[_Named]:
    """The foreign addresses of the lines that base's file does not have."""
    role = role_of(source)
    if role == "none":
        return
    had = set(lines_of(source.base or b""))
    catalogues: frozenset[str] | None = None
    start, open_ended = 1, False
    for number, line in enumerate(lines_of(source.head), 1):
        start = start if open_ended else number
        open_ended = source.language == "python" and line.rstrip().endswith(_GOES_ON)
        if line in had:
            continue
        for found in sent_to(line, role, source.path):
            if key := _key(found, owner_of(found.text)):
                if catalogues is None:
                    catalogues = _catalogues(source, role)
                joins = _before(line, found) in catalogues
                yield _Named(source, start, number, line, role, found, key, joins)


def _before(line: str, address: Address) -> str:
    """What stands before an address on its line: in settings, their key."""
    return line.partition(address.text)[0].strip()


def _catalogues(source: Source, role: Role) -> frozenset[str]:
    """Keys under which base's file names many owners, all of whose lines stay as they are: search engines,
    feeds, mirrors. What takes another's place joins none.
    """
    if role != "settings":
        return frozenset()
    kept = set(lines_of(source.head))
    owners: dict[str, set[str]] = {}
    touched = set()
    for line in lines_of(source.base or b""):
        for found in sent_to(line, role, source.path):
            before = _before(line, found)
            owners.setdefault(before, set()).add(_key(found, owner_of(found.text)))
            if line not in kept:
                touched.add(before)
    many = (key for key, found in owners.items() if len(key) >= _SHORTEST and len(found - {""}) >= _CATALOGUE)
    return frozenset(many) - touched


def _key(found: Address, owner: Owner) -> str:
    """The text by which base would name this owner; empty where it is nobody's or our own."""
    if found.kind == "bank":
        return found.text.lower() if is_account(found.text) else ""
    if found.kind == "wallet" or not owner.host or owner.is_own or owner.is_nowhere:
        return ""
    if found.kind == "resource" or owner.is_bucket:
        return owner.account or owner.name
    if found.kind == "mail" and owner.account:
        return f"{owner.account}@{owner.host}"
    if found.kind == "url" and "." not in owner.name.strip("."):
        return ""
    return f"{owner.host}/{owner.account}" if owner.account else owner.name


def _written(key: str) -> bytes:
    """A pattern of a name as it stands in texts: accounts of banks also in groups."""
    letters = [re.escape(letter.encode()) for letter in key]
    return (rb"[ .-]?" if is_account(key.upper()) else b"").join(letters)


def _in_base(tree: Tree, keys: Iterable[str]) -> set[str]:
    """Those of the names that some file of the tree holds."""
    wanted = {key: re.compile(rb"(?<![\w-])" + _written(key) + rb"(?![\w-]|\.[a-z])") for key in keys}
    seen: set[str] = set()
    entries = [e for e in tree.entries() if e.size <= _LARGEST and not e.path.lower().endswith(_UNTOLD)]
    size = 0
    for _, data in tree.read_many(tuple(entry.path for entry in entries)):
        text = data.lower()
        for key, pattern in wanted.items():
            if key not in seen and key[:4].encode() in text and pattern.search(text):
                seen.add(key)
        size += len(data)
        if len(seen) == len(wanted) or size > _MOST_BYTES:
            break
    return seen


def _severity(one: _Named) -> Severity:
    """Low in code: its run is compared, and lines that did not run are weighed where that is known
    (gate/policy/unrun_destinations.py). Low for one entry more of a catalogue.
    """
    if one.joins or (one.role == "code" and not loads(one.text, one.address)):
        return Severity.LOW
    return Severity.MEDIUM


def _finding(one: _Named) -> Finding:
    clean = re.sub(r"//[^/@\s]*@", "//[redacted]@", one.address.text)[:200]
    return finding(
        NEW,
        _SAID.get(one.address.kind, _OTHER),
        Location(path=one.source.path, line=one.first, end_line=one.line),
        shape=one.key,
        evidence={"address": clean, "owner": one.key} | ({"joins": _MANY} if one.joins else {}),
        severity=_severity(one),
    )
