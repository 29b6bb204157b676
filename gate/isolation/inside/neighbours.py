"""Criterion 4: two sandboxes at once, and what an earlier one left. Runs inside sandboxes only.

The same program runs in both at once: it leaves marks wherever it can, holds them for a while, and looks
for the other's all the time. A third run looks for the marks of both.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import time
from collections.abc import Callable

from kit import ARGUMENTS, head_of, libc, print_answers

PLACES = (
    "/tmp",
    "/dev/shm",
    "/work",
    "/work/home",
    "/work/tree",
    "/var/tmp",
    "/run",
    "/run/gate",
    "/dev/mqueue",
)
SEGMENT, QUEUE, SEMAPHORES = 0x6761, 0x6762, 0x6763
CREATE = 0o1000 | 0o666
PAUSE = 0.1
Look = Callable[[str], str]


def mark_of(side: str) -> str:
    """The name that one side leaves everywhere; fresh for every self-test."""
    return f"gate-{ARGUMENTS.get('mark', 'x')}-{side}"


def leave(side: str) -> list[object]:
    """Marks in files, sockets, System V objects, processes. What is returned must stay alive."""
    name = mark_of(side)
    kept: list[object] = []
    for place in PLACES:
        try:
            with open(os.path.join(place, name), "w") as file:
                file.write(name)
        except OSError:
            continue
    for family, address in (
        (socket.AF_INET, ("127.0.0.1", port_of(side))),
        (socket.AF_UNIX, "\0" + name),
        (socket.AF_UNIX, f"/tmp/{name}.sock"),
    ):
        try:
            link = socket.socket(family)
            link.bind(address)
            link.listen()
            kept.append(link)
        except OSError:
            continue
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        udp.bind(("127.0.0.1", port_of(side)))
        kept.append(udp)
    except OSError:
        pass
    number = 0 if side == "a" else 16
    if libc is not None:
        libc.shmget(SEGMENT + number, 4096, CREATE)
        libc.msgget(QUEUE + number, CREATE)
        libc.semget(SEMAPHORES + number, 1, CREATE)
        libc.prctl(15, ctypes.c_char_p(name[-15:].encode()), 0, 0, 0)  # PR_SET_NAME
    return kept


def port_of(side: str) -> int:
    """Each side listens on its own."""
    return int(ARGUMENTS.get("near_port", 40404)) + (side == "b")


def files(other: str) -> str:
    """By name, in every place, and anywhere below them."""
    name = mark_of(other)
    found = [place for place in PLACES if os.path.lexists(os.path.join(place, name))]
    return ", ".join(found)


def processes(other: str) -> str:
    """By the name that the other process gave itself and by its arguments."""
    name = mark_of(other)
    for pid in [text for text in os.listdir("/proc") if text.isdigit()]:
        if name[-15:].encode() in head_of(f"/proc/{pid}/comm") or f"neighbours-{other}".encode() in head_of(
            f"/proc/{pid}/cmdline"
        ).split(b"\0"):
            return f"process {pid}"
    return ""


def connects(family: int, address: object, kind: int = socket.SOCK_STREAM) -> str:
    """Whether somebody takes it."""
    with socket.socket(family, kind) as link:
        link.settimeout(0.3)
        try:
            link.connect(address)  # type: ignore[arg-type]
            if kind == socket.SOCK_DGRAM:
                link.send(b"x")
                time.sleep(0.01)
                link.send(b"x")  # the first one's ICMP answer comes with the second
        except OSError:
            return ""
    return f"{address!r} took it"


def tcp(other: str) -> str:
    """The other's listener on loopback. With a sinkhole every port answers: then its own banner counts."""
    return "" if ARGUMENTS.get("sinkhole") else connects(socket.AF_INET, ("127.0.0.1", port_of(other)))


def udp(other: str) -> str:
    """The other's datagram socket."""
    return (
        ""
        if ARGUMENTS.get("sinkhole")
        else connects(socket.AF_INET, ("127.0.0.1", port_of(other)), socket.SOCK_DGRAM)
    )


def abstract(other: str) -> str:
    """The other's Unix socket without a file, and with one."""
    return connects(socket.AF_UNIX, "\0" + mark_of(other)) or connects(
        socket.AF_UNIX, f"/tmp/{mark_of(other)}.sock"
    )


def system_v(other: str) -> str:
    """Shared memory, message queues, semaphores, by key."""
    if libc is None:
        return ""
    number = 0 if other == "a" else 16
    found = []
    if libc.shmget(SEGMENT + number, 4096, 0) >= 0:
        found.append("shared memory")
    if libc.msgget(QUEUE + number, 0) >= 0:
        found.append("a message queue")
    if libc.semget(SEMAPHORES + number, 1, 0) >= 0:
        found.append("semaphores")
    return ", ".join(found)


def signals(other: str) -> str:
    """A process number that only exists next door: any that is there but not in its own /proc."""
    mine = set(os.listdir("/proc"))
    for pid in range(2, 400):
        if str(pid) in mine:
            continue
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        except OSError:
            pass
        if not os.path.exists(f"/proc/{pid}"):
            return f"process {pid} answers but does not show"
    return ""


LOOKS: dict[str, tuple[str, Look]] = {
    "files": (f"its file in {len(PLACES)} places", files),
    "processes": ("its process by name and arguments", processes),
    "tcp": ("its listener on 127.0.0.1", tcp),
    "udp": ("its datagram socket on 127.0.0.1", udp),
    "unix-sockets": ("its abstract and its named Unix socket", abstract),
    "shared-memory": ("its System V memory, queue and semaphores", system_v),
    "signals": ("signal 0 to processes that are not its own", signals),
}


def both(side: str) -> None:
    """Leave marks and look for the other's: at once, now and then, and last when the time is over.

    Then stay: the other may have begun later and be slower, and its last look is to find this one there.
    """
    other = "b" if side == "a" else "a"
    kept = leave(side)
    seen: dict[str, str] = {}
    begin, looks = time.time(), 0
    until = begin + float(sys.argv[2])
    while True:
        last = time.time()
        for name, (_, look) in LOOKS.items():
            seen[name] = seen.get(name) or look(other)
        looks += 1
        ended = time.time()
        if last >= until:
            break
        # as long a rest as a look took: where the processor is software, all of it is somebody's
        time.sleep(max(0.0, min(max(PAUSE, ended - last), until - ended)))
    time.sleep(float(sys.argv[2]) + ended - last)
    answers = [
        {
            "id": f"near.{name}",
            "held": not seen[name],
            "tried": f"while the other ran, {looks} times: {tried}",
            "happened": seen[name] or "not seen",
        }
        for name, (tried, _) in LOOKS.items()
    ]
    answers.append(
        {
            "id": f"near.window-{side}",
            "held": bool(kept),
            "tried": f"{begin} {last}",
            "happened": f"{ended} {time.time()}",
        }
    )
    print_answers(answers)


def after() -> list[dict[str, object]]:
    """Look once for what both left."""
    answers: list[dict[str, object]] = []
    for name, (tried, look) in LOOKS.items():
        found = "; ".join(text for text in (look("a"), look("b")) if text)
        answers.append(
            {
                "id": f"after.{name}",
                "held": not found,
                "tried": f"after both had ended: {tried}",
                "happened": found or "not there",
            }
        )
    return answers


PROGRAMS = {"neighbours-a": lambda: both("a"), "neighbours-b": lambda: both("b")}
ANSWERING = {"neighbours-after": after}

if __name__ == "__main__":
    sys.exit("run by main.py")
