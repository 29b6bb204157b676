"""Criterion 1: commands run, but only so much of them. Each program here uses up one thing; inside only."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import neighbours
from kit import ARGUMENTS, Answer, check, error_text, print_answers, status

GROUP = "standing"


def answer(name: str, held: object, tried: str, happened: str) -> dict[str, object]:
    """One entry of the last line."""
    return {"id": name, "held": held, "tried": tried, "happened": happened[:250]}


@check(GROUP, "command.shell")
def shell() -> Answer:
    """Commands do run (that is what the sandbox is for), but with no more rights than the code has."""
    done = subprocess.run(
        ["/bin/sh", "-c", "id -u; grep CapEff /proc/self/status"],
        capture_output=True,
        check=False,
        timeout=10,
    )
    lines = done.stdout.decode("utf-8", "replace").split()
    if len(lines) < 3:
        return None, "sh -c 'id -u; grep CapEff'", f"exit {done.returncode}: {done.stderr[:80]!r}"
    return (
        lines[0] == str(os.getuid()) != "0" and int(lines[2], 16) == 0,
        "sh -c 'id -u; grep CapEff'",
        f"user {lines[0]}, capabilities {lines[2]}",
    )


@check(GROUP, "command.loader")
def loader() -> Answer:
    """A program started through the dynamic loader (IS-4) or from memory gets no more either."""
    ids = []
    for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"):
        if os.path.exists(path):
            done = subprocess.run(
                [path, "/bin/cat", "/proc/self/status"], capture_output=True, check=False, timeout=10
            )
            ids += [line.split()[1] for line in done.stdout.decode().splitlines() if line.startswith("Uid:")]
    fd = os.memfd_create("x", 0)
    with open("/bin/cat", "rb") as source:
        os.write(fd, source.read())
    done = subprocess.run(
        [f"/proc/self/fd/{fd}", "/proc/self/status"],
        capture_output=True,
        check=False,
        timeout=10,
        pass_fds=(fd,),
    )
    ids += [line.split()[1] for line in done.stdout.decode().splitlines() if line.startswith("Uid:")]
    if not ids:
        return None, "cat through ld.so and from a memfd", "none ran"
    return "0" not in ids, "cat through ld.so and from a memfd", f"users {ids}"


@check(GROUP, "command.no-new-rights")
def no_new_rights() -> Answer:
    """What is executed inherits the filter and the no_new_privs bit."""
    done = subprocess.run(["/bin/cat", "/proc/self/status"], capture_output=True, check=False, timeout=10)
    fields = dict(line.split(":\t", 1) for line in done.stdout.decode().splitlines() if ":\t" in line)
    if ARGUMENTS.get("own_kernel"):
        return (
            fields.get("NoNewPrivs", "1").strip() == "1",
            "a child's status",
            f"NoNewPrivs {fields.get('NoNewPrivs', 'not told')}",
        )
    return (
        (fields.get("NoNewPrivs"), fields.get("Seccomp")) == ("1", "2"),
        "a child's status",
        f"NoNewPrivs {fields.get('NoNewPrivs')}, Seccomp {fields.get('Seccomp')}",
    )


def forks() -> list[dict[str, object]]:
    """Make processes until it is refused, count, let them go."""
    limit, made, stopped = int(ARGUMENTS["pids"]), [], ""
    hold, let_go = os.pipe()
    for _ in range(limit * 3 + 64):
        try:
            pid = os.fork()
        except OSError as error:
            stopped = error_text(error)
            break
        if pid == 0:
            os.close(let_go)
            os.read(hold, 1)
            os._exit(0)
        made.append(pid)
    os.close(let_go)
    for pid in made:
        os.waitpid(pid, 0)
    return [
        answer(
            "command.fork",
            bool(stopped) and len(made) <= limit + 2,  # the launcher may not count
            f"fork up to {limit * 3 + 64} times, the limit is {limit}",
            f"{len(made)} children, then {stopped or 'no refusal'}",
        )
    ]


def fork_bomb() -> None:
    """The bomb itself: every child does the same until the deadline. Only the host can tell the end."""
    print_answers([])
    while True:
        with contextlib.suppress(OSError):
            os.fork()


def memory() -> None:
    """Take memory until something ends it."""
    print_answers([])
    held = []
    for _ in range(int(ARGUMENTS["memory"]) * 4 >> 20):
        held.append(b"x" * (1 << 20))
    print_answers(
        [answer("command.memory", False, "allocate four times the limit", f"{len(held)} MiB were given")]
    )


def processor() -> None:
    """Several processes burn for a while; together they may do no more work than the limit says."""
    usable = len(os.sched_getaffinity(0))
    allowed = float(ARGUMENTS["cpus"])
    ratios = []
    for _ in range(3):  # the machine has other work to do: the least of three comes nearest to the truth
        alone = work(1)
        ratios.append(work(4) / max(alone, 1))
    took = min(ratios)
    tried = f"work of four processes against one's, three times; limit is {allowed} processors of {usable}"
    held = took <= allowed * 1.4 or usable <= allowed
    print_answers([answer("command.cpu", held, tried, f"{took:.2f} times as much")])


def work(processes: int, seconds: float = 0.4) -> int:
    """Rounds of a loop that so many processes get through together."""
    out, into = os.pipe()
    begin = time.monotonic() + 0.1
    for _ in range(processes):
        if os.fork() == 0:
            rounds = 0
            while time.monotonic() < begin:
                pass
            while time.monotonic() < begin + seconds:
                rounds += 1
            os.write(into, b"%d\n" % rounds)
            os._exit(0)
    for _ in range(processes):
        os.wait()
    os.close(into)
    return sum(int(line) for line in os.read(out, 4096).split())


def scratch() -> list[dict[str, object]]:
    """Disk, one file's size, descriptors, then inodes: each until it is refused."""
    limit = int(ARGUMENTS["scratch"])
    return [_disk(limit), _file_size(limit), _descriptors(), _inodes()]


def _disk(limit: int) -> dict[str, object]:
    block, total, stopped = b"x" * (1 << 20), 0, ""
    try:
        for number in range((limit >> 20) * 2):
            with open(f"/tmp/fill-{number}", "wb", buffering=0) as file:
                total += file.write(block)
    except OSError as error:
        stopped = error_text(error)
    for number in range((limit >> 20) * 2 + 1):
        try:
            os.unlink(f"/tmp/fill-{number}")
        except OSError:
            break
    return answer(
        "command.disk",
        bool(stopped) and total <= limit,
        f"write {(limit >> 20) * 2} MiB to /tmp, the limit is {limit >> 20}",
        f"{total >> 20} MiB, then {stopped or 'no refusal'}",
    )


def _file_size(limit: int) -> dict[str, object]:
    """A file that says it is large, filled here and there: what is written counts, not what is said."""
    block, total, stopped = b"x" * (1 << 20), 0, ""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    fd = os.open("/tmp/large", os.O_CREAT | os.O_RDWR)
    try:
        os.ftruncate(fd, 1 << 40)
        for number in range((limit >> 20) * 2):
            total += os.pwrite(fd, block, number << 30)
    except OSError as error:
        stopped = error_text(error)
    os.close(fd)
    os.unlink("/tmp/large")
    return answer(
        "command.file-size",
        bool(stopped) and total <= limit,
        f"a sparse file of 1 TiB, filled a MiB a GiB, the scratch holds {limit >> 20} MiB",
        f"{total >> 20} MiB, then {stopped or 'no refusal'}",
    )


def _descriptors() -> dict[str, object]:
    opened, stopped = [], ""
    try:
        for _ in range(1 << 17):
            opened.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        stopped = error_text(error)
    for fd in opened:
        os.close(fd)
    return answer(
        "command.descriptors",
        bool(stopped) and len(opened) <= int(ARGUMENTS["open_files"]),
        "open /dev/null again and again",
        f"{len(opened)} times, then {stopped or 'no refusal'}",
    )


def _inodes() -> dict[str, object]:
    inodes = int(ARGUMENTS["inodes"])
    made, stopped = 0, ""
    os.mkdir("/tmp/many")
    try:
        for number in range(inodes + 1000):
            os.mknod(f"/tmp/many/{number}")
            made += 1
    except OSError as error:
        stopped = error_text(error)
    return answer(
        "command.inodes",
        bool(stopped),
        f"make {inodes + 1000} empty files, the limit is {inodes}",
        f"{made}, then {stopped or 'no refusal'}",
    )


def flood() -> None:
    """More output than is kept."""
    block = b"gate floods its output\n" * 4096
    left = int(ARGUMENTS["flood"])
    while left > 0:
        left -= os.write(1, block[:left])


def deaf() -> None:
    """Ignore every signal, leave a daemon that does the same, then sleep past the deadline."""
    print_answers([])
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            become(str(ARGUMENTS["orphan"]))
        os._exit(0)
    while True:
        time.sleep(60)


def heartbeat() -> None:
    """End well at once, with a daemon left behind that goes on beating."""
    beat, ready = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(ready, b"x")
            for fd in range(3):
                os.close(fd)
            become(str(ARGUMENTS["daemon"]))
        os._exit(0)
    os.wait()
    os.read(beat, 1)
    print_answers([])


def become(name: str) -> None:
    """A process whose arguments the host can recognise, if it ever shows there."""
    os.execv(
        sys.executable, [sys.executable, "-I", "-S", "-c", "import time\nwhile True: time.sleep(0.2)", name]
    )


def kill_launcher() -> None:
    """Signals to everything it may reach, then on as if nothing had been."""
    said = []
    for pid in (1, os.getppid()):
        for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
            try:
                os.kill(pid, number)
                said.append(f"{pid}: taken")
            except OSError as error:
                said.append(f"{pid}: {error_text(error)}")
    alive = all(os.path.exists(f"/proc/{pid}") for pid in (1, os.getppid()))
    stopped = status("State", str(os.getppid())).startswith("T")
    print_answers(
        [
            answer(
                "command.kill-launcher",
                alive and not stopped,
                "SIGTERM, SIGSTOP and SIGKILL to the launcher and to process 1",
                f"{'; '.join(sorted(set(said)))}; both go on",
            )
        ]
    )


ANSWERING: dict[str, Callable[[], list[dict[str, object]]]] = {
    "forks": forks,
    "scratch": scratch,
    **neighbours.ANSWERING,
}
"""What ends by itself and leaves the sandbox fit for others: gives its answers back."""
PROGRAMS: dict[str, Callable[[], None]] = {
    "fork-bomb": fork_bomb,
    "memory": memory,
    "processor": processor,
    "flood": flood,
    "deaf": deaf,
    "heartbeat": heartbeat,
    "kill-launcher": kill_launcher,
    **neighbours.PROGRAMS,
}
