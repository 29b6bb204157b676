"""What an incident looks like: its steps by kind at base and head, its programs as a tree, its destinations.

All of it comes from the behaviours of the report. Nothing is drawn here: the values have plain texts of the
change (the template escapes them) and whole numbers, which are units of the drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.escape import shorten_middle
from gate.model.behaviour import Behaviour, BehaviourKind
from gate.report import summary
from gate.report.incidents import AWAY

_KIND: Final = BehaviourKind
LANES: Final[tuple[tuple[str, tuple[BehaviourKind, ...]], ...]] = (
    ("Processes", (_KIND.EXEC, _KIND.SIGNAL, _KIND.EXIT, _KIND.LIMIT)),
    ("Files", (_KIND.READ, _KIND.WRITE, _KIND.DELETE, _KIND.RENAME, _KIND.LINK, _KIND.CHMOD)),
    ("Network", (_KIND.DNS, _KIND.CONNECT, _KIND.HTTP, _KIND.SEND, _KIND.LISTEN)),
    ("Secrets", (_KIND.CANARY,)),
    ("Evasion", (_KIND.EVADE, _KIND.PROBE, _KIND.DENIED)),
)
"""Rows of a run, in the order in which they are shown; every kind of behaviour is in one of them."""
_TRACK: Final = 1_000
"""Width of a track, in units of its drawing."""
MOST_STEPS: Final = 12
"""Steps shown of one lane and side; the rest is counted."""
_MOST_NODES: Final = 12
_MOST_TREE: Final = 40
_ROW: Final = 40
_LABEL: Final = 38


@dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """One row of the run: what base did that head does not, above what head does and base does not."""

    name: str
    base: tuple[Behaviour, ...]
    head: tuple[Behaviour, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """The common time axis of an incident's lanes, in seconds from the beginning of the run."""

    start: float
    end: float

    def marks(self, items: Iterable[Behaviour]) -> tuple[int, ...]:
        """Where on a track, from 0 to 1,000, these were first seen; those that no clock saw are left out."""
        times = [b.first_seen for b in items if b.first_seen is not None]
        return tuple(sorted({round(_TRACK * (t - self.start) / (self.end - self.start)) for t in times}))


@dataclass(kw_only=True, slots=True)
class Program:
    """A program and those that it started. ``steps`` counts what it was seen to do itself."""

    name: str
    steps: int = 0
    started: dict[str, Program] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A box of the network map. ``y``: its middle. ``full`` is the text that ``text`` was shortened from."""

    text: str
    full: str
    y: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """A line from a program to a destination, and whether a planted secret went there."""

    start: int
    end: int
    secret: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkMap:
    """Programs at the left, destinations at the right. ``more`` were left out."""

    height: int
    programs: tuple[Node, ...]
    places: tuple[Node, ...]
    edges: tuple[Edge, ...]
    more: int

    @property
    def words(self) -> str:
        """The picture in a sentence, for who cannot see it; untrusted."""
        lines = [
            f"{program.full} to {place.full}{' with a planted secret' if edge.secret else ''}"
            for edge in self.edges
            for program in self.programs
            for place in self.places
            if program.y == edge.start and place.y == edge.end
        ]
        return "Network map: " + "; ".join(lines)


def lanes(new: Iterable[Behaviour], gone: Iterable[Behaviour]) -> tuple[Lane, ...]:
    """The lanes in which something was seen on either side."""
    head, base = summary.ordered(new), summary.ordered(gone)
    made = (
        Lane(
            name=name,
            base=in_time(b for b in base if b.kind in kinds),
            head=in_time(b for b in head if b.kind in kinds),
        )
        for name, kinds in LANES
    )
    return tuple(lane for lane in made if lane.base or lane.head)


def clock(shown: Sequence[Lane]) -> Clock | None:
    """An axis that holds every step of the lanes; None where no clock saw any."""
    times = [b.first_seen for lane in shown for b in (*lane.base, *lane.head) if b.first_seen is not None]
    if not times:
        return None
    edge = max(0.001, (max(times) - min(times)) / 20)
    return Clock(start=max(0.0, min(times) - edge), end=max(times) + edge)


def in_time(items: Iterable[Behaviour]) -> tuple[Behaviour, ...]:
    """The steps as they came; those without a time last, in the order they had."""
    return tuple(sorted(items, key=lambda b: (b.first_seen is None, b.first_seen or 0.0)))


def process_tree(items: Iterable[Behaviour]) -> Program | None:
    """The programs that did it, as who started whom; None where no program is known.

    The root has no name when the chains begin with different programs.
    """
    root, room = Program(name=""), _MOST_TREE
    for item in items:
        at = root
        for name in item.actor.split(">")[:10] if item.actor else ():
            if name not in at.started:
                if not room:
                    break
                room -= 1
                at.started[name] = Program(name=name)
            at = at.started[name]
        at.steps += at is not root
    if not root.started:
        return None
    return next(iter(root.started.values())) if len(root.started) == 1 else root


def network_map(items: Sequence[Behaviour]) -> NetworkMap | None:
    """Who reached what; None where nothing was reached. One destination a row, however it was reached."""
    names = {
        b.subject: b.detail["host"]
        for b in items
        if b.kind is BehaviourKind.CONNECT and b.detail.get("host", b.subject) not in b.subject
    }
    found: dict[tuple[str, str], bool] = {}
    for item in items:
        if place := _place(item, names):
            actor = item.actor.rsplit(">", 1)[-1] or "?"
            secret = item.kind is BehaviourKind.CANARY
            found[actor, place] = found.get((actor, place), False) or secret
    if not found:
        return None
    programs = list(dict.fromkeys(actor for actor, _ in found))
    places = list(dict.fromkeys(place for _, place in found))
    rows = max(min(len(programs), _MOST_NODES), min(len(places), _MOST_NODES))
    left, right = _column(programs, rows), _column(places, rows)
    edges = tuple(
        Edge(start=left[actor].y, end=right[place].y, secret=secret)
        for (actor, place), secret in found.items()
        if actor in left and place in right
    )
    return NetworkMap(
        height=rows * _ROW,
        programs=tuple(left.values()),
        places=tuple(right.values()),
        edges=edges,
        more=len(programs) - len(left) + len(places) - len(right),
    )


def _column(texts: Sequence[str], rows: int) -> dict[str, Node]:
    kept = texts[:_MOST_NODES]
    return {
        text: Node(
            text=shorten_middle(text, _LABEL),
            full=text[:300],
            y=rows * _ROW * (2 * number + 1) // (2 * len(kept)),
        )
        for number, text in enumerate(kept)
    }


def _place(item: Behaviour, names: dict[str, str]) -> str:
    """Where a behaviour reaches to: ``host (address:port)`` as far as each is known; empty: nowhere."""
    known = {host: f"{host} ({address})" for address, host in names.items()}
    match item.kind:
        case BehaviourKind.CONNECT | BehaviourKind.SEND:
            address = item.subject
            return known[names[address]] if address in names else address
        case BehaviourKind.DNS:
            name = item.detail.get("name") or item.subject
            return known.get(name, name)
        case BehaviourKind.HTTP:
            parts = item.subject.split(" ")
            host = item.detail.get("host") or (parts[1] if len(parts) > 1 else "")
            return known.get(host) or next((text for text in known.values() if host and host in text), host)
        case BehaviourKind.CANARY if item.detail.get("channel") in AWAY:
            place = item.detail.get("to", "").partition(" ")[0] or item.subject.rpartition(" ")[2]
            return known[names[place]] if place in names else known.get(place, place)
    return ""
