"""Names that are nearly the name of a package everybody uses (typosquats). Data: rules/packages/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from packaging.utils import canonicalize_name

from gate.regex import regex
from gate.resources import rules_dir
from gate.supply.manifests import Ecosystem

_TARGETS: Final = 2000
"""How many of the most used names are worth imitating."""
_AFFIXES: Final = regex(
    r"^(?:python-|py-?|node-|js-|lib-?)|(?:-?python\d?|-?py\d?|-?js|-node|-lib|-sdk|-api|-cli|-dev|s|\d)$"
)
_LOOKS: Final = str.maketrans("0135", "oles")


@cache
def known_names(ecosystem: Ecosystem) -> tuple[str, ...]:
    """The most used names, most used first."""
    text = (rules_dir() / "packages" / f"{ecosystem}.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def _known(ecosystem: Ecosystem) -> frozenset[str]:
    return frozenset(_plain(name, ecosystem) for name in known_names(ecosystem))


@cache
def _targets(ecosystem: Ecosystem) -> dict[str, str]:
    """Targets by themselves and by every form with one letter left out (symmetric deletes)."""
    out: dict[str, str] = {}
    for name in known_names(ecosystem)[:_TARGETS]:
        plain = _plain(name, ecosystem)
        if len(plain) >= 4:
            for form in (plain, *_deletions(plain)):
                out.setdefault(form, plain)
    return out


def _plain(name: str, ecosystem: Ecosystem) -> str:
    return canonicalize_name(name) if ecosystem == "pypi" else name.lower()


def _deletions(name: str) -> Iterator[str]:
    for i in range(len(name)):
        yield name[:i] + name[i + 1 :]


def is_known(name: str, ecosystem: Ecosystem) -> bool:
    """True for one of the most used names."""
    return _plain(name, ecosystem) in _known(ecosystem)


def imitates(name: str, ecosystem: Ecosystem) -> str | None:
    """The much used package that ``name`` is one slip away from, or None. Known names imitate nobody.

    One letter more, less, other or swapped (names of five letters and more), look-alike digits, dropped
    or added separators, and the usual affixes (``python-``, ``-js`` ...).
    """
    plain = _plain(name, ecosystem)
    if len(plain) < 4 or plain in _known(ecosystem) or len(plain) > 80:
        return None
    squeezed = _squeezed(ecosystem)
    bare = re.sub(r"[-_.]", "", plain)
    for form in (bare, bare.translate(_LOOKS)):
        if form in squeezed:
            return squeezed[form]
    if len(plain) >= 5:
        targets = _targets(ecosystem)
        for form in (plain, *_deletions(plain)):
            target = targets.get(form)
            if target and abs(len(target) - len(plain)) <= 1 and _one_step(plain, target):
                return target
    for match in _AFFIXES.finditer(plain):
        stripped = plain[: match.start()] + plain[match.end() :]
        if len(stripped) >= 5 and stripped in _top(ecosystem):
            return stripped
    return None


@cache
def _squeezed(ecosystem: Ecosystem) -> dict[str, str]:
    names = (_plain(n, ecosystem) for n in known_names(ecosystem)[:_TARGETS] if len(n) >= 4)
    return {re.sub(r"[-_.]", "", name): name for name in names}


@cache
def _top(ecosystem: Ecosystem) -> frozenset[str]:
    return frozenset(_plain(n, ecosystem) for n in known_names(ecosystem)[:300])


def _one_step(one: str, two: str) -> bool:
    """Damerau-Levenshtein distance exactly 1."""
    if one == two:
        return False
    if len(one) == len(two):
        differ = [i for i, (a, b) in enumerate(zip(one, two, strict=True)) if a != b]
        if len(differ) == 1:
            return True
        i = differ[0]
        return differ == [i, i + 1] and one[i] == two[i + 1] and one[i + 1] == two[i]
    short, long = sorted((one, two), key=len)
    return len(long) - len(short) == 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


_CONFUSED: Final = str.maketrans("01l5", "oiis")
_OWNERS: Final = 2
"""Parts of a place that say whose it is: the host, and on a shared host the owner."""
_SHORTEST: Final = 5


def poses_as(new: str, old: str) -> str:
    """The host or owner of ``old`` that one of ``new`` can be taken for: one letter, a hyphen or a look-alike
    apart. Empty where there is none. Both are places as gate/supply/inputs/places.py names them.
    """
    now, was = _whose(new), _whose(old)
    pairs = ((a, b) for a in now for b in was if a != b and b not in now and min(len(a), len(b)) >= _SHORTEST)
    return next((other for one, other in pairs if is_nearly(one, other)), "")


def is_nearly(one: str, other: str) -> bool:
    """Are these two names that a reader takes for the same, and that are not?"""
    a, b = (
        re.sub(r"[-_.]", "", word.lower()).replace("rn", "m").translate(_CONFUSED) for word in (one, other)
    )
    return one != other and min(len(a), len(b)) >= _SHORTEST and (a == b or _one_step(a, b))


def _whose(place: str) -> list[str]:
    """``owner:github.com/astral-sh`` to ``github``, ``astral-sh``: without the last part of a host."""
    words = place.lower().partition(" ")[0].rpartition(":")[2].split("/")[:_OWNERS]
    return [part for word in words for part in (word.split(".")[-2:-1] if "." in word else [word])]
