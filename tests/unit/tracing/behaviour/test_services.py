"""What a server that gate starts does for itself is not told; what it does for the code is."""

from __future__ import annotations

from typing import Literal

import pytest

from gate.tracing.behaviour.program_chains import Actors
from gate.tracing.behaviour.services import Services
from gate.tracing.events import Event, Exec, Exit, File, Fork, Net, Open, PathQuery, Process, Signal, Socket

POSTGRES = "/usr/lib/postgresql/15/bin/postgres"
OWN = "/work/services/postgresql/base/1/2"


def _known(exe: str = POSTGRES) -> Services:
    services = Services()
    services.met(Process(seq=1, t=0.0, pid=7, ppid=1, exe=exe, comm="postgres", why="exec"))
    return services


QUIET: list[Event] = [
    Open(seq=2, t=0.0, pid=7, call="openat", path=OWN, access="rw", flags="O_RDWR|O_CREAT"),
    Open(seq=2, t=0.0, pid=7, call="openat", path="/usr/share/postgresql/15/system_views", access="r"),
    PathQuery(seq=2, t=0.0, pid=7, call="stat", path="/etc/localtime"),
    Open(seq=2, t=0.0, pid=7, call="openat", path="/etc/passwd", access="r"),
    File(seq=2, t=0.0, pid=7, call="rename", path=OWN, other=f"{OWN}.new"),
    Net(seq=2, t=0.0, pid=7, call="listen", family="AF_INET", addr="127.0.0.1", port=5432),
    Net(seq=2, t=0.0, pid=7, call="bind", family="AF_UNIX", addr="/work/services/.s.PGSQL.5432"),
    Socket(seq=2, t=0.0, pid=7, call="socket", family="AF_INET", kind="SOCK_STREAM"),
    Signal(seq=2, t=0.0, pid=7, call="kill", sig="SIGURG", target=9, scope="other"),
    Fork(seq=2, t=0.0, pid=7, call="clone"),
]
TOLD: list[Event] = [
    Open(seq=2, t=0.0, pid=7, call="openat", path="/work/tree/a", access="w", flags="O_WRONLY|O_CREAT"),
    Open(seq=2, t=0.0, pid=7, call="openat", path="/work/services/../tree/a", access="w", flags="O_CREAT"),
    Open(seq=2, t=0.0, pid=7, call="openat", path="/work/servicesx", access="r"),
    Open(seq=2, t=0.0, pid=7, call="openat", path="/etc/passwd", access="rw", flags="O_RDWR"),
    Open(seq=2, t=0.0, pid=7, call="openat", path="/etc/passwd.d/x", access="r"),
    Open(seq=2, t=0.0, pid=7, call="openat", path="/work/home/.aws/credentials", access="r"),
    Open(seq=2, t=0.0, pid=7, call="openat", path="/usr/share/x", access="w", flags="O_WRONLY"),
    File(seq=2, t=0.0, pid=7, call="symlink", path="/work/services/pg_tblspc/1", other="/work/tree"),
    File(seq=2, t=0.0, pid=7, call="rename", path="/work/tree/a", other=OWN),
    Net(seq=2, t=0.0, pid=7, call="connect", family="AF_INET", addr="192.0.2.1", port=443),
    Net(seq=2, t=0.0, pid=7, call="bind", family="AF_INET", addr="0.0.0.0", port=5432),
    Socket(seq=2, t=0.0, pid=7, call="socket", family="AF_NETLINK", kind="SOCK_RAW"),
    Socket(seq=2, t=0.0, pid=7, call="socket", family="AF_INET", kind="SOCK_RAW"),
    Signal(seq=2, t=0.0, pid=7, call="kill", sig="SIGKILL", target=9, scope="other"),
    Exec(seq=2, t=0.0, pid=7, call="execve", path="/bin/sh", argv=("sh", "-c", "id"), cwd="/work/services"),
    Fork(seq=2, t=0.0, pid=7, call="clone", denied=True),
]


@pytest.mark.parametrize("event", QUIET, ids=repr)
def test_its_own_business(event: Event) -> None:
    assert _known().own(event, Actors())
    assert not _known("/work/tree/postgres").own(event, Actors()), "only the system's own program is one"
    assert not _known("/usr/lib/postgresql/15/bin/psql").own(event, Actors())


@pytest.mark.parametrize("event", TOLD, ids=repr)
def test_what_it_does_for_others(event: Event) -> None:
    assert not _known().own(event, Actors())


def test_a_process_that_becomes_another_program_or_ends_is_none() -> None:
    services = _known()
    assert not services.met(Process(seq=3, t=0.0, pid=7, ppid=1, exe="/bin/sh", comm="sh", why="exec"))
    assert not services.own(QUIET[0], Actors())
    services = _known()
    assert services.gone(Exit(seq=3, t=0.0, pid=7, code=0))
    assert not services.gone(Exit(seq=4, t=0.0, pid=7, code=0))


def test_its_start_is_not_told_and_anothers_is() -> None:
    words = (POSTGRES, "-D", "/work/services/postgresql")
    start = Exec(seq=2, t=0.0, pid=8, call="execve", path=POSTGRES, argv=words, cwd="/work/services")
    assert Services().own(start, Actors())
    for path, argv, cwd in (
        (POSTGRES, words, "/work/tree"),
        (POSTGRES, (POSTGRES, "-D", "/work/tree/pg"), "/work/services"),
        ("/work/tree/postgres", words, "/work/services"),
    ):
        other = Exec(seq=2, t=0.0, pid=8, call="execve", path=path, argv=argv, cwd=cwd)
        assert not Services().own(other, Actors())


@pytest.mark.parametrize(
    ("path", "access", "driver", "own"),
    [
        ("/proc/net/tcp", "r", True, True),
        ("/proc/12/net/unix", "r", True, True),
        ("/proc", "r", True, True),
        ("/proc/31/stat", "r", True, True),
        ("/proc/31/environ", "r", True, False),
        ("/proc/net/tcp", "r", False, False),
        ("/proc/net/route", "r", True, False),
        ("/proc/net/tcp", "rw", True, False),
    ],
)
def test_the_driver_asks_what_listens(path: str, access: Literal["r", "rw"], driver: bool, own: bool) -> None:
    actors = Actors()
    if driver:
        actors._drivers.add(7)
        actors.root = 7
    flags = "O_RDWR" if access == "rw" else ""
    event = Open(seq=2, t=0.0, pid=7, call="openat", path=path, access=access, flags=flags)
    assert Services().own(event, actors) is own


def test_a_fork_server_of_the_driver_asks_nothing_of_the_kind() -> None:
    """It has loaded the packages that the code asks for."""
    actors = Actors()
    actors.root = 6
    actors._drivers |= {6, 7}
    event = Open(seq=2, t=0.0, pid=7, call="openat", path="/proc/31/stat", access="r")
    assert not Services().own(event, actors)
