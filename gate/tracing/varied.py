"""What follows the secret: several runs with one set of secrets laid beside several with another.

What differs between runs with the *same* secrets is noise (opaque): there, only sizes and counts can decide.
What is the same in all of those, the same in all runs with the other secrets, and differs between both,
depends on the secret, however it was encoded or encrypted (TightLip, NSDI 2007; Privacy Oracle, CCS 2008).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gate.dataclass import dataclass
from gate.model.varied import Channel, How
from gate.regex import regex
from gate.tracing.outgoing import Outgoing

_LEAST: Final = 4
"""Bytes by which sizes of noise must differ: numbers and times lose a digit by themselves."""
_LONG: Final = 8
"""Bytes of noise that can hold something worth being told as undecided."""
_MANY: Final = 4
"""Files of one kind that make a family."""
_NUMBER: Final = regex(r"\d+")
_BREAKS: Final = bytes(c for c in range(128) if not chr(c).isalnum() and chr(c) not in "+/_-.")
_SPACES: Final = bytes.maketrans(_BREAKS, b" " * len(_BREAKS))
Runs = Sequence[Outgoing]


@dataclass(frozen=True, kw_only=True, slots=True)
class SecretDifference:
    """One channel that follows the secret: how, and the values with the first set and with the other."""

    channel: Channel
    how: How
    first: tuple[bytes, ...]
    other: tuple[bytes, ...]


def differences(same: Runs, others: Runs) -> list[SecretDifference]:
    """What follows the secret. ``same``: two or more runs with one set; ``others``: runs with others."""
    channels = sorted({channel for run in (*same, *others) for channel in run})
    found = []
    chance = _by_chance(channels, same, others)
    for channel in channels:
        if _family(channel) in chance:
            continue
        a, b = _values(same, channel), _values(others, channel)
        how = _decided(a, b)
        if how == "count" and channel.kind == "sleep" and {*a[0]} == {*b[0]}:
            continue  # whoever waits in a loop for something to end does so more often on a busy machine
        if how is not None:
            found.append(SecretDifference(channel=channel, how=how, first=a[0], other=b[0]))
    return found


def _family(channel: Channel) -> Channel | None:
    """What a file among many of its kind has in common with the others; None for other channels."""
    if channel.place != "machine":
        return None
    to, part = (_NUMBER.sub("#", text) for text in (channel.to, channel.part))
    return None if (to, part) == (channel.to, channel.part) else replace(channel, to=to, part=part)


def _by_chance(channels: Sequence[Channel], same: Runs, others: Runs) -> set[Channel | None]:
    """Families of files (``certs3/ca.pem``) of which some differ by themselves: threads that draw from one
    chance get now this, now that, and among many some agree by accident.
    """
    sizes: Counter[Channel] = Counter()
    vary = set()
    for channel in channels:
        if (family := _family(channel)) is not None:
            sizes[family] += 1
            if not all(_all_same(_values(runs, channel)) for runs in (same, others)):
                vary.add(family)
    return {family for family in vary if sizes[family] >= _MANY}


def undecided(same: Runs, others: Runs) -> list[Channel]:
    """Channels that vary by themselves, long enough to hold something, of which nothing decides."""
    channels = {channel for run in (*same, *others) for channel in run}
    out = []
    for channel in sorted(channels):
        a, b = _values(same, channel), _values(others, channel)
        if all(_all_same([sorted(values) for values in runs]) for runs in (a, b)):
            continue  # the same pieces in another order each time, as threads have it
        if _decided(a, b) is None and any(
            _noise(group) for group in zip(*(_pieces(v) for v in a), strict=False)
        ):
            out.append(channel)
    return out


def _noise(group: Sequence[bytes]) -> bool:
    return len(set(group)) > 1 and max(map(len, group)) >= _LONG


def _values(runs: Runs, channel: Channel) -> list[tuple[bytes, ...]]:
    return [run.get(channel, ()) for run in runs]


def _decided(a: list[tuple[bytes, ...]], b: list[tuple[bytes, ...]]) -> How | None:
    """How the channel follows the secret; None: it does not, or nothing decides."""
    count_a, count_b = {len(v) for v in a}, {len(v) for v in b}
    if len(count_a) > 1 or len(count_b) > 1:
        return None  # how often varies by itself: nothing can be laid beside anything
    if count_a != count_b:
        return "presence" if {0} in (count_a, count_b) else "count"
    bags_a, bags_b = [sorted(v) for v in a], [sorted(v) for v in b]
    steady = _all_same(bags_a) and _all_same(bags_b)
    if steady and bags_a[0] == bags_b[0]:
        in_order = _all_same(a) and _all_same(b)
        return "order" if in_order and a[0] != b[0] else None
    if _all_same(a) or not _all_same(bags_a):
        return _by_place(a, b)
    return _by_place([tuple(v) for v in bags_a], [tuple(v) for v in bags_b])


def _by_place(a: list[tuple[bytes, ...]], b: list[tuple[bytes, ...]]) -> How | None:
    """Value by value, as they stand beside each other."""
    found: set[How] = set()
    for group in zip(*a, *b, strict=True):
        how = _of_value(group[: len(a)], group[len(a) :])
        if how is not None:
            found.add(how)
    return "content" if "content" in found else next(iter(found), None)


def _of_value(a: Sequence[bytes], b: Sequence[bytes]) -> How | None:
    if _all_same(a) and _all_same(b):
        return None if a[0] == b[0] else "content"
    # Part of it varies by itself: a time beside a token, say.
    pieces_a, pieces_b = [_pieces((v,)) for v in a], [_pieces((v,)) for v in b]
    if len({len(p) for p in (*pieces_a, *pieces_b)}) == 1:
        for group in zip(*pieces_a, *pieces_b, strict=True):
            first, other = group[: len(a)], group[len(a) :]
            if _all_same(first) and _all_same(other) and first[0] != other[0]:
                return "content"
    sizes_a, sizes_b = {len(v) for v in a}, {len(v) for v in b}
    if len(sizes_a) == len(sizes_b) == 1 and abs(sizes_a.pop() - sizes_b.pop()) >= _LEAST:
        return "size"
    return None


def _pieces(values: Sequence[bytes]) -> list[bytes]:
    """The words of what was given away."""
    return [piece for value in values for piece in value.translate(_SPACES).split()]


def _all_same(values: Sequence[object]) -> bool:
    return all(value == values[0] for value in values)
