"""Servers that gate starts for the tests (driver/services.py): what they do for themselves is nobody's doing.

A server is known by its program's file, which lies in the read-only system. Left out is only what it does in
its own folder, on its own sockets and to its own processes. What else it does is told as everybody's is: code
that has a database run a program or write a file elsewhere is seen doing so.
"""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex
from gate.tracing.behaviour.program_chains import Actors
from gate.tracing.events import Event, Exec, Exit, File, Fork, Net, Open, PathQuery, Process, Signal, Socket

_PROGRAMS: Final = regex(r"/usr/lib/postgresql/\d{1,2}/bin/postgres|/usr/bin/redis-(?:server|check-rdb)")
_FOLDER: Final = "/work/services"
_OWN: Final = regex(r"(?:/work/services|/dev/shm/PostgreSQL\.\d+)(?:/|\Z)")
_LOOKED_AT: Final = regex(r"/proc/?|/proc/\d+/stat|/proc/(?:self/|\d+/)?net/(?:tcp6?|unix)")
"""What the driver asks about a program that may serve: the kernel's lists of sockets, and of what works."""
_LAID: Final = regex(r"/work/services(?:/|\Z)|/usr/share/gate-postgresql\.tar\Z")
_READ: Final = regex(
    r"/usr/(?:share|lib)/|/sys/devices/system/|/proc/meminfo\Z"
    r"|/etc/(?:gnutls/config|malloc\.conf|ssl/openssl\.cnf|localtime|timezone|nsswitch\.conf|passwd|group|ld\.so\.[a-z.]+)\Z"
)
"""What such a program reads of the system when it starts."""
_WAKING: Final = frozenset(("SIGURG", "SIGUSR1", "SIGUSR2", "SIGALRM"))
_OWN_ADDRESSES: Final = frozenset(("127.0.0.1", "::1", ""))
_LOCAL: Final = frozenset(("AF_UNIX", "AF_INET", "AF_INET6"))


class Services:
    """Which processes are such servers, while a trace is read."""

    def __init__(self) -> None:
        self._pids: set[int] = set()

    def met(self, event: Process) -> bool:
        """Take in a process line. True for a server's own process."""
        if _PROGRAMS.fullmatch(event.exe):
            self._pids.add(event.pid)
            return True
        self._pids.discard(event.pid)
        return False

    def is_one(self, pid: int) -> bool:
        """True for a server's process."""
        return pid in self._pids

    def gone(self, event: Exit) -> bool:
        """Take in the end of a process. True for a server's."""
        ours = event.pid in self._pids
        self._pids.discard(event.pid)
        return ours

    def own(self, event: Event, actors: Actors) -> bool:
        """True for what a server does for itself, and for what the driver does to start it."""
        if isinstance(event, Exec):
            begins = event.cwd == _FOLDER and any(word.startswith(_FOLDER) for word in event.argv[1:])
            return begins and not event.denied and _PROGRAMS.fullmatch(event.path) is not None
        if not isinstance(event, (Open, PathQuery, File, Net, Socket, Signal, Fork)) or event.denied:
            return False
        if isinstance(event, PathQuery) and event.path == _FOLDER:
            return True
        if actors.is_driver(event.pid):
            if isinstance(event, Open) and not event.writes and _LOOKED_AT.fullmatch(event.path):
                return event.pid == actors.root  # driver/serving.py; a fork server has others' packages in it
            return isinstance(event, (Open, PathQuery, File)) and _is_in(_LAID, event.path)
        if event.pid not in self._pids:
            return False
        if isinstance(event, (Open, PathQuery)):
            reads = isinstance(event, PathQuery) or not event.writes
            return _is_in(_OWN, event.path) or (reads and _is_in(_READ, event.path))
        if isinstance(event, File):
            return all(_is_in(_OWN, path) for path in (event.path, event.other) if path)
        if isinstance(event, Net):
            return event.call in ("bind", "listen", "accept", "accept4") and (
                event.addr in _OWN_ADDRESSES or _is_in(_OWN, event.addr)
            )
        if isinstance(event, Socket):
            return event.family in _LOCAL and event.kind != "SOCK_RAW"
        if isinstance(event, Signal):
            return event.sig in _WAKING or event.scope in ("self", "child")
        return True  # it starts processes of its own


def _is_in(places: re.Pattern[str], path: str) -> bool:
    return places.match(path) is not None and "/.." not in path
