"""Files that differ from those of another run by a name made up anew each time: ``/tmp/x-vdez80su/link``.

Only what differs is taken for such a name, never what looks like one: the same depth and length, everything
else of the path the same, and the same content once the one name stands for the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.model.varied import Channel
from gate.tracing.outgoing import Outgoing

_MOST = 200
"""Files laid beside each other at most: each with each."""


def without_renamed(given: Mapping[Channel, tuple[bytes, ...]], known: Outgoing) -> Outgoing:
    """``given`` without the files that ``known`` has under another name. Each of ``known`` stands for one."""
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


def _is_scratch(channel: Channel) -> bool:
    return channel.kind == "file" and channel.to == "machine" and channel.part.startswith("/")


def _alike(one: Channel, values: tuple[bytes, ...], other: Channel, others: tuple[bytes, ...]) -> bool:
    names = list(_renames(one.part, other.part))
    if not names or len(values) != len(others):
        return False
    for mine, theirs in names:
        values = tuple(value.replace(mine.encode(), theirs.encode()) for value in values)
    return values == others


def _renames(one: str, other: str) -> Iterator[tuple[str, str]]:
    """The names in which two paths differ; none where the paths are not built alike."""
    parts, others = one.split("/"), other.split("/")
    if len(parts) != len(others):
        return
    pairs = [(a, b) for a, b in zip(parts, others, strict=True) if a != b]
    if all(len(a) == len(b) and a for a, b in pairs):
        yield from pairs
