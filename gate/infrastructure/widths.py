"""How much one setting lets through, base against head: who is trusted, what is allowed, how far.

Presence says that there is a protection; its value says what it is worth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from ipaddress import ip_network
from typing import Final, NamedTuple

from gate.infrastructure.facts import FileFacts, Width

Key = tuple[str, str]
ANYBODY: Final = frozenset(
    ("*", "0.0.0.0/0", "::/0", "0.0.0.0", "all", "Internet", "http://*", "https://*", "*:*")  # noqa: S104 - data
)
"""Members that stand for everybody."""
_LADDERS: Final = (
    ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    ("off", "none", "never", "optional_no_ca", "optional", "on", "required", "require"),
    ("trust", "password", "ident", "md5", "scram-sha-256", "cert"),
    ("sslv3", "tlsv1", "tlsv1.1", "tlsv1.2", "tlsv1.3"),
    ("1.0", "1.1", "1.2", "1.3"),
    ("tls10", "tls11", "tls12", "tls13"),
    ("tls_1_0", "tls_1_1", "tls_1_2", "tls_1_3"),
    ("privileged", "baseline", "restricted"),
    ("none", "lax", "strict"),
    ("disabled", "permissive", "strict"),
    ("disabled", "permissive", "enforcing"),
    ("disabled", "alternative", "conditional", "required"),
    ("audit", "enforce"),
    ("dryrun", "warn", "deny"),
    ("ignore", "fail"),
)
"""Values of settings in rising order of what they protect (libpq, nginx, TLS, pod security ...)."""


class Grown(NamedTuple):
    """``width`` is head's; ``path`` is head's; ``before`` is base's text; ``new`` the members that
    came (of ``covered``: that are gone).
    """

    width: Width
    path: str
    before: str
    new: tuple[str, ...]


def grown(
    base: Mapping[str, FileFacts], head: Mapping[str, FileFacts], subject_now: Callable[[str], str]
) -> Iterator[Grown]:
    """What lets more through than the same setting of base. ``subject_now``: a subject of base at head."""
    old, new = _by_key(base, subject_now), _by_key(head, lambda subject: subject)
    moved: dict[str, list[str]] = defaultdict(list)
    elsewhere = [
        member
        for (what, subject), places in new.items()
        if what == "covered" and (what, subject) not in old
        for _, width in places
        for member in width.members
    ]
    for (what, subject), places in old.items():
        if (what, subject) not in new:
            moved[what] += [member for _, width in places for member in width.members]
    for key, places in new.items():
        if key not in old:
            continue
        before = [width for _, width in old[key]]
        known = [*(member for width in before for member in width.members), *moved[key[0]]]
        text = before[0].text
        told: set[tuple[str, int, tuple[str, ...]]] = set()
        for path, width in places:
            if key[0] == "covered":
                still = [*(member for _, one in places for member in one.members), *elsewhere]
                gone = dict.fromkeys(member for one in before for member in one.members)
                came = tuple(one for one in gone if not any(covers(other, one) for other in still))
            else:
                came = tuple(one for one in width.members if not any(covers(other, one) for other in known))
            if key[0] == "allowed":
                came = tuple(one for one in came if _widens(one, known))
            weaker = width.measure > max(one.measure for one in before) + width.slack
            if (came or weaker) and (path, width.line, came) not in told:
                told.add((path, width.line, came))  # two tables may know one setting
                yield Grown(width, path, text, came)


def covers(wide: str, narrow: str) -> bool:
    """Does what base trusted already contain this member: the same text, a pattern, a network around it?"""
    if wide == narrow or wide in ANYBODY:
        return True
    try:
        outer, inner = ip_network(wide, strict=False), ip_network(narrow, strict=False)
    except ValueError:
        return "*" in wide and fnmatchcase(narrow, wide.replace("[", "[[]"))
    return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]


def _widens(pattern: str, known: list[str]) -> bool:
    """Is this a pattern that takes in what stood there by name?"""
    return "*" in pattern and (pattern in ANYBODY or any(covers(pattern, one) for one in known))


def ladder(value: str) -> frozenset[tuple[int, int]]:
    """The ladders that a value stands on, each with how far from the top."""
    low = value.strip().lower()
    return frozenset(
        (number, len(steps) - steps.index(low)) for number, steps in enumerate(_LADDERS) if low in steps
    )


def _by_key(
    files: Mapping[str, FileFacts], subject_now: Callable[[str], str]
) -> dict[Key, list[tuple[str, Width]]]:
    found: dict[Key, list[tuple[str, Width]]] = defaultdict(list)
    for path, facts in files.items():
        for width in facts.widths:
            found[width.what, subject_now(width.subject)].append((path, width))
    return found
