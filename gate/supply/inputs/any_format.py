"""References to code of others in a file that no reader knows: ``host/owner/name``, be it with a version.

Formats of builders, generators and deployments are without number, and nearly all of them name what they
take in the same way, by a word. What a word is for is not known here; that an owner who is easily taken for
another has come in its place is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from gate.regex import regex
from gate.supply.lookalike import is_nearly

_WORD: Final = regex(
    r"(?:(?P<key>[\w.-]{1,60})[\"']?\s{0,20}[:=](?!//)\s{0,20}[\"']?)?"
    r"(?P<word>[^\s\"'`,;=(){}\[\]<>|]{3,300})"
)
_SCHEME: Final = regex(r"(?:[a-z][a-z0-9+.-]{0,15}://)(?:[^/@\s]{1,100}@)?")
_HOST: Final = regex(r"(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,20}(?::\d{1,5})?")
_PART: Final = regex(r"[A-Za-z0-9][\w.-]{0,100}")
_VERSION: Final = regex(r"(?:@|:(?=v?\d))[\w.+-]{1,80}$")
_KEYS: Final = frozenset(
    {
        *("package", "packages", "git", "repo", "repository", "source", "image", "uses", "remote", "module"),
        *(
            "plugin",
            "extends",
            "from",
            "import",
            "chart",
            "model",
            "base_model",
            "dataset",
            "base",
            "feature",
        ),
        *("template", "preset", "bundle", "formula", "tap", "crate", "gem"),
    }
)
"""Settings whose value is somebody's code where it has the form ``owner/name``."""
_FILE: Final = regex(r"\.[a-z][a-z0-9]{1,4}$")
_SHORTEST: Final = 4
_MORE: Final = 6
"""Letters by which a name is longer that is taken for another: ``acme-ci`` for ``acme``."""
_LONGEST_LINE: Final = 2_000
_MOST: Final = 2_000


class Reference(NamedTuple):
    """One word that names code of others: ``host`` (empty: the one that the tool knows), ``owner``, ``name``
    (all that stands behind the owner), the line from 1 on.
    """

    host: str
    owner: str
    name: str
    line: int

    @property
    def place(self) -> str:
        """Host, owner and name as they are written."""
        return "/".join(part for part in (self.host, self.owner, self.name) if part)


class Impostor(NamedTuple):
    """A reference of head, and the one of base whose owner or host it is easily taken for."""

    now: Reference
    was: Reference

    @property
    def is_slip(self) -> bool:
        """Is it the same name from an owner or a host that is one letter apart? Projects do move to an owner
        with a longer name.
        """
        pairs = ((self.now.owner, self.was.owner), (self.now.host, self.was.host))
        return self.now.name == self.was.name and any(is_nearly(*pair) for pair in pairs)


def references(text: str) -> tuple[Reference, ...]:
    """What the words of a text refer to; at most 2,000. Never raises."""
    found: list[Reference] = []
    for number, line in enumerate(text.split("\n"), 1):
        if "/" not in line or len(line) > _LONGEST_LINE:
            continue
        for match in _WORD.finditer(line):
            one = _reference(match["word"], (match["key"] or "").lower(), number)
            if one is not None:
                found.append(one)
                if len(found) == _MOST:
                    return tuple(found)
    return tuple(found)


def impostors(base: str, head: str) -> Iterator[Impostor]:
    """References that head has and base has not, from an owner or a host that is nearly one of base."""
    old, new = references(base), references(head)
    owners = {(one.host, one.owner) for one in old}
    hosts = {one.host for one in old}
    for now in dict.fromkeys(new):
        if (now.host, now.owner) in owners:
            continue
        was = next((one for one in old if _poses(now, one, hosts)), None)
        if was is not None:
            yield Impostor(now, was)


def _reference(word: str, key: str, line: int) -> Reference | None:
    bare = _SCHEME.sub("", word, count=1).rstrip(".")
    has_scheme = bare != word.rstrip(".")
    version = _VERSION.search(bare)
    if version is not None:
        bare = bare[: version.start()]
    parts = bare.removesuffix(".git").split("/")
    host = parts[0].lower() if _HOST.fullmatch(parts[0].lower()) else ""
    rest = parts[1:] if host else parts
    if len(rest) < 2 or has_scheme > bool(host) or not all(_PART.fullmatch(part) for part in rest):
        return None
    if not host and ((version is None and key not in _KEYS) or _FILE.search(rest[-1])):
        return None
    return Reference(host, rest[0], "/".join(rest[1:]), line)


def _poses(now: Reference, was: Reference, hosts: set[str]) -> bool:
    if now.host == was.host:
        if is_nearly(now.owner.lower(), was.owner.lower()):
            return True
        return now.name == was.name and _is_longer(now.owner.lower(), was.owner.lower())
    same = (now.owner, now.name) == (was.owner, was.name)
    return same and now.host not in hosts and is_nearly(now.host, was.host)


def _is_longer(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return (
        len(short) >= _SHORTEST
        and 0 < len(long) - len(short) <= _MORE
        and (long.startswith(short) or long.endswith(short))
    )
