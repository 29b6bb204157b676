"""How the probe inside a sandbox tries things and says what came of it. Standard library only.

A check is a function that returns (held, tried, happened): True when the sandbox held, False when it
did not, None when it could not be tried. Every attempt is harmless where it works: it asks with
arguments that change nothing, on files of its own, or only opens what an attacker would write to.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

Answer = tuple[bool | None, str, str]
Check = Callable[[], Answer]
MAX_TEXT = 300
CHECK_SECONDS = 30
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS)
"""What a sandbox answers. Any other error means that somebody behind it looked at the arguments."""

ARGUMENTS: dict[str, Any] = {}
"""What the host told this probe (gate/isolation/bait.py): names and addresses to look for."""
GROUPS: dict[str, dict[str, Check]] = {}
libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def check(group: str, name: str) -> Callable[[Check], Check]:
    """Put a function into a group under the id that gate/isolation/checks.py knows it by."""

    def put(function: Check) -> Check:
        GROUPS.setdefault(group, {})[name] = function
        return function

    return put


def error_text(error: BaseException) -> str:
    """One line: EPERM (Operation not permitted)."""
    if isinstance(error, OSError) and error.errno:
        return f"{errno.errorcode.get(error.errno, error.errno)} ({os.strerror(error.errno)})"
    return f"{type(error).__name__}: {error}"


def refused(tried: str, action: Callable[[], object], also: tuple[int, ...] = ()) -> Answer:
    """Held when ``action`` ends in an OSError that a sandbox gives, or one of ``also``."""
    try:
        got = action()
    except OSError as error:
        if error.errno in REFUSALS or error.errno in also:
            return True, tried, error_text(error)
        if ARGUMENTS.get("own_kernel"):
            return True, tried, f"{error_text(error)}, from a kernel that is not the host's"
        return None, tried, f"failed for another reason: {error_text(error)}"
    return False, tried, f"it worked{'' if got is None else f': {got!r}'}"


def not_here(tried: str, reason: str) -> Answer:
    """Nothing to test on this machine, which is something else than a test that failed."""
    return None, tried, f"not here: {reason}"


def absent(tried: str, paths: list[str]) -> Answer:
    """Held when none of ``paths`` exists."""
    found = [path for path in paths if os.path.lexists(path)]
    return not found, tried, f"found {', '.join(found)}" if found else f"none of {len(paths)} exists"


def unreadable(tried: str, paths: list[str], wants: bytes = b"") -> Answer:
    """Held when none of ``paths`` gives a byte (with ``wants``: gives those bytes)."""
    found = []
    for path in paths:
        data = head_of(path)
        if data and (not wants or wants in data):
            found.append(path)
    return not found, tried, f"readable: {', '.join(found)}" if found else f"none of {len(paths)} gave a byte"


def head_of(path: str, size: int = 65536) -> bytes:
    """The first bytes, b"" where there are none to have. Never blocks on a pipe or a device."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, size)
    except OSError:
        return b""
    finally:
        os.close(fd)


def unwritable(tried: str, paths: list[str]) -> Answer:
    """Held when none of ``paths`` can be opened for writing. Nothing is written; no file is made."""
    opened, said = [], {}
    for path in paths:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
            opened.append(path)
        except OSError as error:
            said[error_text(error)] = path
    return not opened, tried, f"opened {', '.join(opened)}" if opened else "; ".join(sorted(said))


def unchangeable(tried: str, paths: list[str]) -> Answer:
    """Held when none of ``paths`` takes back the very bytes that were read from it."""
    taken, said = [], set()
    for path in paths:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            said.add(error_text(error))
            continue
        try:
            text = head_of(path, 4096)
            if text:
                os.write(fd, text)
                taken.append(path)
        except OSError as error:
            said.add(f"opened, then {error_text(error)}")
        finally:
            os.close(fd)
    return not taken, tried, f"took it: {', '.join(taken)}" if taken else "; ".join(sorted(said))


def walk(top: str, leave: tuple[str, ...]) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """Every folder and what is in it, without a question to the kernel about each file."""
    todo = [top]
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
        except OSError:
            continue
        yield folder, found
        todo += [e.path for e in found if e.is_dir(follow_symlinks=False) and e.path not in leave]


def call(name: str, *arguments: Any) -> int:
    """A system call by name. Raises OSError."""
    from numbers_table import NAMES  # gate/inside/observer/numbers.py, beside this file inside

    if libc is None:
        raise OSError(errno.ENOSYS, "this platform has no system calls")
    named = {text: number for number, text in NAMES.get(platform.machine(), {}).items()}
    number = named.get(name)
    if number is None:
        raise OSError(errno.ENOSYS, "no such call on this machine")
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = int(libc.syscall(ctypes.c_long(number), *words))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def status(field: str, pid: str = "self") -> str:
    """A line of /proc/PID/status; empty when there is none."""
    for line in head_of(f"/proc/{pid}/status").decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return value.strip()
    return ""


def ended(function: Check) -> Answer:
    """The check's answer, with whatever it raises turned into one."""
    try:
        return function()
    except Exception as error:
        return None, function.__name__, f"the check itself failed: {error_text(error)}"


def child(function: Callable[[], object], seconds: int) -> tuple[Any, int]:
    """What a function returns in a child of its own, so that what it does to itself stays its own; None when
    it ends without that. And the child's wait status. ``seconds``: it is ended then; 0: when the sandbox is.
    """
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        signal.alarm(seconds)
        said = b""
        try:
            said = json.dumps(function()).encode("ascii")[:4096]
        finally:
            os.write(theirs, said)
            os._exit(0)
    os.close(theirs)
    said = b""
    while True:
        data = os.read(ours, 65536)
        if not data:
            break
        said += data
    os.close(ours)
    code = os.waitpid(pid, 0)[1]
    try:
        return json.loads(said), code
    except ValueError:
        return None, code


def apart(function: Check) -> Answer:
    """Run one check in a child."""
    said, code = child(lambda: ended(function), CHECK_SECONDS)
    if said is None:
        return None, function.__name__, f"the check ended without an answer (wait status {code})"
    held, tried, happened = said
    return held, tried, happened


def run_groups(names: list[str], programs: dict[str, Callable[[], list[dict[str, Any]]]]) -> None:
    """Run every check of these groups one after another, then say it all in one line of JSON. A group that is
    one of ``programs`` answers for all of its checks at once; where it fails, it gives no answer.
    """
    answers: list[dict[str, Any]] = []
    forks = hasattr(os, "fork") and sys.platform == "linux"
    for group in names:
        if group in programs:
            answers += child(programs[group], 0)[0] or []
            continue
        for name, function in GROUPS.get(group, {}).items():
            held, tried, happened = apart(function) if forks else ended(function)
            cut = {"tried": tried[:MAX_TEXT], "happened": happened[:MAX_TEXT]}
            answers.append({"id": name, "held": held, **cut})
    print_answers(answers)


def print_answers(answers: list[dict[str, Any]]) -> None:
    """The last line of stdout is what counts."""
    sys.stdout.write("\n" + json.dumps({"answers": answers, "at": time.time()}) + "\n")
    sys.stdout.flush()
