"""Source lines for behaviours, from what the driver's audit hook said. The code can forge all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.dataclass import dataclass
from gate.model.behaviour import BehaviourKind as Kind
from gate.model.location import Location
from gate.tracing.behaviour.accumulator import Cell
from gate.tracing.behaviour.left_behind import LEAVES
from gate.tracing.behaviour.paths import TREE, classify_path

_DIRECT: Final = "open.direct"
"""The changed file itself named what is opened, not a library that it called."""
_OPENS: Final = ("open", _DIRECT)
_EVENTS: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.CONNECT: ("socket.connect", "urllib.Request", "socket.getaddrinfo"),
    Kind.SEND: ("socket.sendto", "socket.connect"),
    Kind.DNS: ("socket.getaddrinfo", "socket.gethostbyname", "urllib.Request", "socket.connect"),
    Kind.LISTEN: ("socket.bind",),
    Kind.EXEC: ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pty.spawn"),
    Kind.READ: _OPENS,
    Kind.PROBE: _OPENS,
    Kind.CANARY: _OPENS,
    Kind.WRITE: (*_OPENS, "os.rename", "os.symlink"),
    Kind.RENAME: ("os.rename",),
    Kind.LINK: ("os.symlink", "os.link"),
    Kind.DELETE: ("os.remove", "os.rmdir", "shutil.rmtree"),
    Kind.CHMOD: ("os.chmod",),
    Kind.SIGNAL: ("os.kill",),
    Kind.EVADE: ("os.kill", "ctypes.dlopen", *_OPENS),
    Kind.DENIED: ("ctypes.dlopen",),
}
_BEGINS: Final = (*_EVENTS[Kind.EXEC], "os.fork")
_SITES: Final = 2_000
_LONGEST: Final = 300
"""Characters of a host's name that are compared."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What was said to have done one kind of thing. ``first``: where each name stands first in ``sites``."""

    sites: list[tuple[str, Location]]
    first: dict[str, int]
    only: Location | None


class Hints:
    """Looks a behaviour up among the sites of a driver's report (shape: driver/line_recorder.py)."""

    def __init__(self, report: Mapping[str, object]) -> None:
        self._sites: dict[str, list[tuple[str, Location]]] = {}
        self._told: dict[tuple[tuple[str, ...], Kind], _Told] = {}
        items = report.get("items")
        for item in items if isinstance(items, list) else ():
            sites = item.get("sites") if isinstance(item, dict) else None
            for site in (sites if isinstance(sites, list) else ())[:_SITES]:
                self._take(site)

    def _take(self, site: object) -> None:
        if not isinstance(site, list) or len(site) != 4:
            return
        event, subject, path, line = site
        texts = isinstance(event, str) and isinstance(subject, str) and isinstance(path, str)
        if texts and isinstance(line, int) and 0 < line < 10_000_000 and path:
            self._sites.setdefault(event, []).append((subject, Location(path=path, line=line)))

    def opened_by_name(self) -> frozenset[str]:
        """Stable names of the files that the changed code opened itself."""
        return frozenset(_shown(subject) for subject, _ in self._sites.get(_DIRECT, ()) if subject)

    def at(self, cell: Cell) -> Location | None:
        """The line that said it did this; else the only line that did anything of the kind; else None."""
        events = _BEGINS if cell.detail.get("how") == LEAVES else _EVENTS.get(cell.kind, ())
        told = self._told.get((events, cell.kind)) or self._tell(events, cell.kind)
        if cell.kind in (Kind.EXEC, Kind.EXIT):
            found = next((n for n, (said, _) in enumerate(told.sites) if _starts(cell, said)), None)
        else:
            found = min((told.first[name] for name in _names(cell) if name in told.first), default=None)
        if found is not None:
            return told.sites[found][1]
        if told.only is not None and cell.kind not in (Kind.READ, Kind.WRITE, Kind.PROBE, Kind.CANARY):
            return told.only
        return None

    def _tell(self, events: tuple[str, ...], kind: Kind) -> _Told:
        """Made once: a run can show 20,000 things, and its driver can have told 8,000 places."""
        sites = [site for event in events for site in self._sites.get(event, ())]
        first: dict[str, int] = {}
        for n, (subject, _) in enumerate(sites):
            if subject:
                first.setdefault(_meant(kind, subject), n)
        places = {location for _, location in sites}
        self._told[(events, kind)] = told = _Told(sites, first, places.pop() if len(places) == 1 else None)
        return told


def _starts(cell: Cell, subject: str) -> bool:
    """True when an audit event's subject names the program that the trace saw."""
    argv = (cell.detail.get("argv", ""), cell.detail.get("begun", ""))
    same = subject.rsplit("/", 1)[-1] == cell.detail.get("program", "")
    return bool(subject) and (same or any(subject in words for words in argv))


def _meant(kind: Kind, subject: str) -> str:
    """What an audit event's subject is called where the trace has seen it: one of ``_names``."""
    if kind in (Kind.CONNECT, Kind.SEND, Kind.LISTEN):
        return subject
    return subject.rsplit(":", 1)[0].lower() if kind is Kind.DNS else _shown(subject)


def _names(cell: Cell) -> Iterator[str]:
    if cell.kind is Kind.DNS:
        name = cell.detail.get("name", cell.subject)
        yield from (name[:end] for end in range(min(len(name), _LONGEST) + 1))
    elif cell.kind in (Kind.CONNECT, Kind.SEND, Kind.LISTEN):
        yield cell.subject
    else:
        yield from (cell.subject, cell.subject.rstrip("/"))
        yield from (cell.detail[name] for name in ("path", "old") if name in cell.detail)


def _shown(path: str) -> str:
    return classify_path(path if path.startswith("/") else f"{TREE}/{path}").shown
