"""Source lines for behaviours, from what the driver's audit hook said. The code can forge all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.model.behaviour import BehaviourKind as Kind
from gate.model.location import Location
from gate.trace.cells import Cell
from gate.trace.paths import TREE, place
from gate.trace.view_left import LEAVES

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


class Hints:
    """Looks a behaviour up among the sites of a driver's report (shape: launcher/driver_seen.py)."""

    def __init__(self, report: Mapping[str, object]) -> None:
        self._sites: dict[str, list[tuple[str, Location]]] = {}
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
        told = [site for event in events for site in self._sites.get(event, ())]
        for subject, location in told:
            if _means(cell, subject):
                return location
        places = {location for _, location in told}
        if len(places) == 1 and cell.kind not in (Kind.READ, Kind.WRITE, Kind.PROBE, Kind.CANARY):
            return places.pop()
        return None


def _means(cell: Cell, subject: str) -> bool:
    """True when an audit event's subject names what the trace saw."""
    if not subject:
        return False
    if cell.kind in (Kind.CONNECT, Kind.SEND, Kind.LISTEN):
        return subject == cell.subject
    if cell.kind is Kind.DNS:
        return cell.detail.get("name", cell.subject).startswith(subject.rsplit(":", 1)[0].lower())
    if cell.kind in (Kind.EXEC, Kind.EXIT):
        program = cell.detail.get("program", "")
        argv = (cell.detail.get("argv", ""), cell.detail.get("begun", ""))
        return subject.rsplit("/", 1)[-1] == program or any(subject in words for words in argv)
    return _shown(subject) in (
        cell.subject,
        cell.subject.rstrip("/"),
        cell.detail.get("path"),
        cell.detail.get("old"),
    )


def _shown(path: str) -> str:
    return place(path if path.startswith("/") else f"{TREE}/{path}").shown
