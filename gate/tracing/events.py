r"""The trace vocabulary, version 1: one JSON object a line, the first ``start``, the last ``summary``.

Every tracer (seccomp user notification, gVisor's sink, strace) speaks this. Text comes from the
code under test and is hostile. How bytes become text is decided in one place, so that a path survives
the trip (gate/inside/observer/text.py): UTF-8 where it is valid, ``\xNN`` for every other byte and for
control characters, ``\\`` for a backslash; ``bytes_of`` is the way back. A plain printable path without
a backslash is itself.

Calls are reported *before* the kernel runs them: an event says what was asked for, not whether it
worked, except ``denied`` (our filter or supervisor refused it, by number, with ``errno``).
Arguments are what the tracer read at that moment; another thread may have changed them since
(docs/observation.md), so nothing is ever enforced on them.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

VERSION: Final = 1

Text = Annotated[str, Meta(max_length=65536)]
Name = Annotated[str, Meta(max_length=256)]
Count = Annotated[int, Meta(ge=0, le=1 << 62)]
Pid = Annotated[int, Meta(ge=0, le=1 << 31)]
Seconds = Annotated[float, Meta(ge=0, le=1e7)]
Abi = Literal["native", "x86_64", "aarch64", "i386", "x32", "other"]


class _Line(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="ev"
):
    """``seq`` counts all lines from 0 without a gap; ``t`` is seconds since the trace began."""

    seq: Count
    t: Seconds


class Start(_Line, frozen=True, kw_only=True, tag="start"):
    """The first line."""

    version: Literal[1]
    tracer: Name
    arch: Name
    wall: float
    """Unix time at t=0, of the observer's clock."""


class _Call(_Line, frozen=True, kw_only=True):
    """What every call carries. ``pid`` is the process (thread group), ``tid`` the thread if another
    one; both as the observer sees them. Who that is: the latest ``Process`` line of that pid.
    """

    pid: Pid
    call: Name
    tid: Pid = 0
    """0: the main thread."""
    denied: bool = False
    errno: Name = ""
    """What a denied call was answered with (``EPERM``)."""
    abi: Abi = "native"


class Process(_Line, frozen=True, kw_only=True, tag="process"):
    """From here on ``pid`` is this program: seen for the first time, or after an exec that worked."""

    pid: Pid
    ppid: Pid
    exe: Text
    comm: Text
    inner: Pid = 0
    """The pid the code itself sees (its own pid namespace); 0 unknown."""
    uid: Count = 0
    why: Literal["first", "exec"] = "first"


class Fork(_Call, frozen=True, kw_only=True, tag="fork"):
    """A new process or thread is asked for: fork, vfork, clone. ``flags``: ``CLONE_VM|...``."""

    flags: Text = ""
    thread: bool = False


class Exit(_Line, frozen=True, kw_only=True, tag="exit"):
    """A process ended. ``code`` from exit_group; None when only its end was seen (a signal, our kill)."""

    pid: Pid
    code: int | None = None


class Exec(_Call, frozen=True, kw_only=True, tag="exec"):
    """execve, execveat. ``path`` as in Open (``asked`` too), or ``/memfd:NAME`` for a file that only lives
    in memory.

    ``argv`` is cut at 64 words and 16 KiB in all (``argc`` has the real count); ``env`` holds only
    variables that change what runs or where data goes (LD_PRELOAD, PYTHONPATH, http_proxy ...).
    """

    path: Text
    argv: Annotated[tuple[Text, ...], Meta(max_length=64)] = ()
    argc: Count = 0
    cwd: Text = ""
    env: dict[Name, Text] = {}
    envc: Count = 0
    asked: Text = ""


class Open(_Call, frozen=True, kw_only=True, tag="open"):
    """open, openat, openat2, creat. ``path`` is absolute and, outside the read-only system folders, free
    of links, ``..`` and /proc's aliases: where the call really led. ``asked`` is what the code wrote,
    made absolute, when that is another text. ``flags``: ``O_RDWR|O_CREAT``.
    """

    path: Text
    access: Literal["r", "w", "rw", "path"]
    flags: Text = ""
    mode: int | None = None
    """Permission bits when a file may be created."""
    asked: Text = ""

    @property
    def writes(self) -> bool:
        """Could change the file: opened for writing, created or cut."""
        return self.access in ("w", "rw") or "O_CREAT" in self.flags or "O_TRUNC" in self.flags


class PathQuery(_Call, frozen=True, kw_only=True, tag="look"):
    """Asks about a path without opening it: stat, access, readlink families; chdir."""

    path: Text


class File(_Call, frozen=True, kw_only=True, tag="file"):
    """Changes the file tree: unlink, rmdir, mkdir, mknod, rename, link, symlink, chmod, chown, truncate,
    utime, setxattr families (``call`` tells which).

    ``path`` is what changes (the *new* name for rename and link), free of links and aliases as in Open;
    ``other`` the old name (rename, link) or the link's text as written (symlink).
    """

    path: Text
    other: Text = ""
    flags: Text = ""
    mode: int | None = None
    uid: int | None = None
    gid: int | None = None
    size: int | None = None


class Socket(_Call, frozen=True, kw_only=True, tag="socket"):
    """socket, socketpair. ``family``: ``AF_INET``; ``kind``: ``SOCK_STREAM``; ``proto`` a number."""

    family: Name
    kind: Name
    proto: int = 0


class Net(_Call, frozen=True, kw_only=True, tag="net"):
    """connect, bind, listen, accept, sendto, sendmsg, sendmmsg with the address they name.

    ``addr``: IPv4/IPv6 text without brackets; a path for AF_UNIX (``@name``: abstract); ``pid:groups``
    for AF_NETLINK; ``cid`` for AF_VSOCK; hex for families we do not decode. ``size`` is the byte count
    of a send, ``head`` its first bytes (at most 256, escaped as all text) where they were read.
    """

    family: Name = ""
    addr: Text = ""
    port: Annotated[int, Meta(ge=0, le=1 << 32)] | None = None
    proto: Name = ""
    """``tcp``, ``udp``, ``raw`` ... when the socket could be looked at."""
    size: int | None = None
    head: Text = ""


class Signal(_Call, frozen=True, kw_only=True, tag="signal"):
    """kill, tgkill, tkill, rt_sigqueueinfo, pidfd_send_signal. ``target`` as the code wrote it
    (its own pid namespace).
    """

    sig: Name
    target: int
    scope: Literal["self", "parent", "child", "group", "all", "init", "other"]


class Memfd(_Call, frozen=True, kw_only=True, tag="memfd"):
    """memfd_create, memfd_secret: a file without a path."""

    name: Text = ""
    flags: Text = ""


class Control(_Call, frozen=True, kw_only=True, tag="control"):
    """A process changes its own standing: prctl, setuid family, chroot, personality, seccomp,
    setrlimit ... ``op`` names what (``PR_SET_NAME``), ``value`` its argument as text.
    """

    op: Name = ""
    value: Text = ""


class Attempt(_Call, frozen=True, kw_only=True, tag="attempt"):
    """A call nothing ordinary makes: ptrace, mount, bpf, io_uring, keyctl, foreign ABI, unknown numbers ...

    Normally ``denied``. ``detail`` is its decoded arguments as text (``PTRACE_ATTACH pid=7``).
    """

    number: int = -1
    detail: Text = ""


class Summary(_Line, frozen=True, kw_only=True, tag="summary"):
    """The last line; a trace without it is truncated.

    ``events`` lines of calls written, ``dropped`` not written for want of budget, ``unparsed`` whose
    arguments could not be read or understood (those lines are still written), ``calls`` counts every
    notification by name, also dropped ones. ``end``: why the tracer stopped.
    """

    events: Count
    dropped: Count
    unparsed: Count
    calls: dict[Name, Count]
    end: Literal["exited", "killed", "error", "deadline"]
    error: Text = ""


Event = (
    Start
    | Process
    | Fork
    | Exit
    | Exec
    | Open
    | PathQuery
    | File
    | Socket
    | Net
    | Signal
    | Memfd
    | Control
    | Attempt
    | Summary
)

CALL_TYPES: Final = (Fork, Exec, Open, PathQuery, File, Socket, Net, Signal, Memfd, Control, Attempt)
