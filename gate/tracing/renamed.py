"""Files that differ from those of another run by a name made up anew each time: ``/tmp/x-vdez80su/link``.

Only what differs is taken for such a name, never what looks like one: the same depth and length, everything
else of the path the same, and the same content once the one name stands for the other. A program's arguments
are the same where they differ in such files alone, and each run wrote its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.model.varied import Channel
from gate.tracing.outgoing import Outgoing

TEMPORARY_NAMES = Channel(kind="file-name", to="machine")
"""Names of the files that a run wrote outside the tree and the home: other ones each time, and nobody reads
them.
"""
_MOST = 200
"""Files laid beside each other at most: each with each."""


def without_renamed(given: Mapping[Channel, tuple[bytes, ...]], known: Outgoing) -> Outgoing:
    """``given`` without the files that ``known`` has under another name, and without the programs that got
    the names of such files. Each file of ``known`` stands for one.
    """
    given = _without_their_arguments(given, known)
    spare = {c: values for c, values in known.items() if _is_scratch(c) and c not in given}
    mine = [c for c in given if _is_scratch(c) and c not in known]
    if not spare or len(mine) > _MOST or len(spare) > _MOST:
        return given
    gone = set()
    for channel in mine:
        twin = next((c for c, values in spare.items() if _alike(channel, given[channel], c, values)), None)
        if twin is not None:
            gone.add(channel)
            del spare[twin]
    return {c: values for c, values in given.items() if c not in gone}


def is_alike(one: Outgoing, other: Outgoing) -> bool:
    """Did two runs give away the same, but for names of files that a program made up? Secrets of two lengths
    stand in no two names of one length; what a digest of one is worth in such a name, nobody can read.
    """
    if one == other:
        return True
    mine, theirs = one.get(TEMPORARY_NAMES, ()), other.get(TEMPORARY_NAMES, ())
    if len(mine) != len(theirs) or {**one, TEMPORARY_NAMES: ()} != {**other, TEMPORARY_NAMES: ()}:
        return False
    return all(a == b or any(_renames(_text(a), _text(b))) for a, b in zip(mine, theirs, strict=True))


def _without_their_arguments(given: Mapping[Channel, tuple[bytes, ...]], known: Outgoing) -> Outgoing:
    mine, theirs = (frozenset(names.get(TEMPORARY_NAMES, ())) for names in (given, known))
    if not mine or not theirs:
        return given

    def is_same(word: bytes, other: bytes) -> bool:
        option, _, path = word.partition(b"/")
        option_there, _, path_there = other.partition(b"/")
        paths = b"/" + path, b"/" + path_there
        if option != option_there or paths[0] not in mine or paths[1] not in theirs:
            return False
        return any(_renames(*map(_text, paths)))

    def is_renamed(channel: Channel) -> bool:
        commands, others = given[channel], known.get(channel, ())
        if channel.kind != "argv" or len(commands) != len(others):
            return False
        pairs = [(a.split(b"\0"), b.split(b"\0")) for a, b in zip(commands, others, strict=True) if a != b]
        return all(
            len(a) == len(b) and all(x == y or is_same(x, y) for x, y in zip(a, b, strict=True))
            for a, b in pairs
        )

    return {channel: values for channel, values in given.items() if not is_renamed(channel)}


def _is_scratch(channel: Channel) -> bool:
    return channel.kind == "file" and channel.to == "machine" and channel.part.startswith("/")


def _alike(one: Channel, values: tuple[bytes, ...], other: Channel, others: tuple[bytes, ...]) -> bool:
    names = list(_renames(one.part, other.part))
    if not names or len(values) != len(others):
        return False
    for mine, theirs in names:
        values = tuple(value.replace(mine.encode(), theirs.encode()) for value in values)
    return values == others


def _text(path: bytes) -> str:
    return path.decode(errors="surrogateescape")


def _renames(one: str, other: str) -> Iterator[tuple[str, str]]:
    """The names in which two paths differ; none where the paths are not built alike."""
    parts, others = one.split("/"), other.split("/")
    if len(parts) != len(others):
        return
    pairs = [(a, b) for a, b in zip(parts, others, strict=True) if a != b]
    if all(len(a) == len(b) and a for a, b in pairs):
        yield from pairs
