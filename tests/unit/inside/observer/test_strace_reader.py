"""strace's output to a trace: what it prints, what the code may write into it, and what is no such output."""

# ruff: noqa: E501, ISC004  # the lines are strace's

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.inside.observer import strace_line, table
from gate.inside.observer.numbers import AUDIT_ARCH, numbers
from gate.inside.observer.strace_reader import _HARMLESS_PRCTL, Reader
from gate.inside.observer.text import bytes_of, text_of
from gate.model.run import Completeness
from gate.tracing.bpf.assembler import RET_ALLOW, RET_TRAP
from gate.tracing.bpf.user_notification import PR_HARMLESS, RET_ENOSYS
from gate.tracing.codec import read_trace
from gate.tracing.events import Event, Exec, File, Net, Open, Process
from gate.tracing.readers import strace
from tests.unit.tracing.bpf.test_user_notification import answer

E = TypeVar("E")
BEGIN = "700 seccomp(0x1, 0, {len=94, filter=0x7f00}) = 0"
CWD = "-100<\\x2f\\x77\\x6f\\x72\\x6b>"
END = "700 +++ exited with 0 +++"


def hexed(raw: bytes) -> str:
    """As strace -xx prints it."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in raw) + '"'


def read(path: Path, *said: str, begin: bool = True, end: bool = True) -> tuple[list[Event], Completeness]:
    """The events after the start line, and what was lost."""
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    reader = Reader(out, live=False)
    whole = "\n".join([*([BEGIN] if begin else []), *said, *([END] if end else [])]) + "\n"
    source = os.memfd_create("said")  # to a reader the same as a pipe whose writer is gone
    try:
        with open(source, "wb", closefd=False) as file:
            file.write(whole.encode("utf-8", "surrogateescape"))
        os.lseek(source, 0, os.SEEK_SET)
        reader.run(source)
    finally:
        os.close(source)
        os.close(out)
    events: list[Event] = []
    completeness, _ = read_trace(path, events.append)
    return events[1:-1], completeness


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file for all examples of a property: each begins it anew."""
    return tmp_path_factory.mktemp("trace") / "t"


def only(events: list[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            f"openat({CWD}, {hexed(b'a b')}, 0x80241, 0666) = 3",
            {"path": "/work/a b", "access": "w", "flags": "O_CREAT|O_TRUNC", "mode": 0o666},
        ),
        (
            f"openat(4<\\x2f\\x65\\x74\\x63>, {hexed(b'passwd')}, 0) = -1 ENOENT (No such file or directory)",
            {"path": "/etc/passwd", "access": "r"},
        ),
        (
            f"openat2({CWD}, {hexed(b'/x')}, {{flags=0x1, mode=0, resolve=0x4}}, 24) = 3<\\x2f\\x78>",
            {"path": "/x", "access": "w"},
        ),
        (
            f"renameat2({CWD}, {hexed(b'a')}, 3<\\x2f\\x62>, {hexed(b'c')}, 0x1) = 0",
            {"path": "/b/c", "other": "/work/a", "flags": "RENAME_NOREPLACE"},
        ),
        ("fchmod(3<\\x2f\\x61>, 04755)      = 0", {"path": "/a", "mode": 0o4755}),
        (f"fchownat({CWD}, {hexed(b'/a')}, -1, 5, 0) = 0", {"path": "/a", "uid": -1, "gid": 5}),
        (
            f"execve({hexed(b'/bin/ls')}, [{hexed(b'ls')}, {hexed(b'[,')}], [{hexed(b'PATH=/x')}, {hexed(b'S=1')}]) = 0",
            {"path": "/bin/ls", "argv": ["ls", "[,"], "argc": 2, "env": {"PATH": "/x"}, "envc": 2},
        ),
        ("socket(0x2, 0x1|0x80000, 0) = 5<\\x73>", {"family": "AF_INET", "kind": "SOCK_STREAM", "proto": 0}),
        (
            'connect(5<\\x73>, {sa_family=0x2, sin_port="\\x11\\x5c", sin_addr="\\xcb\\x00\\x71\\x07"}, 16) = -1 EINPROGRESS'
            " (Operation now in progress)",
            {"family": "AF_INET", "addr": "203.0.113.7", "port": 4444},
        ),
        ('bind(5<\\x73>, {sa_family=0x1, sun_path=@"\\x61"}, 4) = 0', {"family": "AF_UNIX", "addr": "@a"}),
        (
            'sendto(6<\\x73>, "\\x68\\x69", 2, 0, {sa_family=0xa, sin6_port="\\x00\\x35", sin6_flowinfo="\\x00\\x00\\x00\\x00",'
            ' sin6_addr="\\x20\\x01\\x0d\\xb8\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01", sin6_scope_id=0}, 28) = 2',
            {"family": "AF_INET6", "addr": "2001:db8::1", "port": 53, "size": 2, "head": "hi"},
        ),
        (
            'sendmsg(6<\\x73>, {msg_name={sa_family=0x2, sin_port="\\x00\\x35", sin_addr="\\xc0\\x00\\x02\\x01"}, msg_namelen=16,'
            ' msg_iov=[{iov_base="\\x78", iov_len=1}, {iov_base="\\x79", iov_len=1}], msg_iovlen=2, msg_controllen=0,'
            " msg_flags=0}, 0) = 2",
            {"addr": "192.0.2.1", "port": 53, "size": 2, "head": "xy"},
        ),
        (
            'sendto(4<\\x73>, [{nlmsg_len=20, nlmsg_type=0x16, nlmsg_flags=0x301, nlmsg_seq=1, nlmsg_pid=0}, "\\x00"], 20, 0,'
            " {sa_family=0x10, nl_pid=0, nl_groups=00000000}, 12) = 20",
            {"family": "AF_NETLINK", "addr": "0:0", "size": 20},
        ),
        ("kill(-1, 9) = 0", {"sig": "SIGKILL", "target": -1, "scope": "all"}),
        ('memfd_create("\\x6d", 0x1) = 3<\\x2f\\x6d>(deleted)', {"name": "m", "flags": "MFD_CLOEXEC"}),
        ('prctl(0xf, "\\x6e") = 0', {"op": "PR_SET_NAME", "value": "n"}),
        ("prlimit64(0, 0x4, {rlim_cur=0, rlim_max=5}, NULL) = 0", {"op": "RLIMIT_CORE", "value": "0:5"}),
        (
            "ptrace(0) = -1 EPERM (Operation not permitted) (INJECTED)",
            {"detail": "PTRACE_TRACEME pid=0", "denied": True, "errno": "EPERM"},
        ),
        (
            "--- SIGSYS {si_signo=31, si_code=0x1, si_errno=40, si_call_addr=0x7f, si_syscall=41, si_arch=0xc000003e} ---",
            {"call": "socket", "detail": "AF_VSOCK", "denied": True},
        ),
        (
            "--- SIGSYS {si_signo=31, si_code=0x1, si_call_addr=0x7f, si_syscall=5, si_arch=0x40000003} ---",
            {"call": "syscall_5", "abi": "i386", "denied": True},
        ),
        (
            "--- SIGSYS {si_signo=31, si_code=0x1, si_call_addr=0x7f, si_syscall=0x40000002, si_arch=0xc000003e} ---",
            {"call": "open", "abi": "x32", "number": 2},
        ),
    ],
)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64")
def test_what_strace_prints(tmp_path: Path, line: str, wanted: dict[str, object]) -> None:
    _, completeness = read(tmp_path / "t", f"700 {line}")
    assert completeness.whole
    told = [json.loads(text) for text in (tmp_path / "t").read_text().splitlines()][2]
    assert {key: told.get(key) for key in wanted} == wanted


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.binary(min_size=1, max_size=60).filter(lambda raw: b"\0" not in raw), min_size=1, max_size=5)
)
@pytest.mark.slow
def test_any_name_and_word_comes_through_as_it_was(trace: Path, words: list[bytes]) -> None:
    """TR-5: names with quotes, brackets, line ends or whole lines of strace in them."""
    path = b"/work/" + words[0].lstrip(b"/").replace(b"..", b"__")
    argv = ", ".join(map(hexed, words))
    events, completeness = read(
        trace,
        f"700 openat({CWD}, {hexed(path)}, 0) = 3<{hexed(path)[1:-1]}>",
        f"700 execve({hexed(path)}, [{argv}], []) = -1 ENOENT (No such file or directory)",
        f"700 unlink({hexed(path)}) = 0",
    )
    assert completeness.whole
    assert [bytes_of(e.asked or e.path) for e in only(events, Open)] == [path]
    (made,) = only(events, Exec)
    assert [bytes_of(word) for word in made.argv] == words
    assert len(only(events, File)) == 1


FORGED = (
    b"x, 0x1 /etc/hosts, O_RDONLY",
    b'\n701 openat(-100<\\x2f>, "\\x2f", 0) = 3',
    b'" <unfinished ...>',
    b") = 0\n700 +++ exited with 0 +++",
    b"<... openat resumed>) = 3",
)


@pytest.mark.parametrize("name", FORGED)
def test_a_name_cannot_forge_a_line(tmp_path: Path, name: bytes) -> None:
    events, completeness = read(
        tmp_path / "t", f"700 openat({CWD}, {hexed(name)}, 0) = -1 ENOENT (No such file or directory)"
    )
    assert completeness.whole
    assert [event.path for event in only(events, Open)] == [text_of(b"/work/" + name)]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(max_size=80), max_size=8))
@pytest.mark.slow
def test_no_text_crashes_it_and_what_is_no_line_is_counted(trace: Path, texts: list[str]) -> None:
    _, completeness = read(trace, *(f"700 {text}" for text in texts))
    if any(text.isalpha() for text in texts):
        assert completeness.unparsed


_PIECES = st.sampled_from(
    [
        "700 ", "701 ", "openat(", "execve(", "connect(", "vfork(", "seccomp(0x1, 0, {", CWD, '"\\x2f"', "[", "]", "{", "}",
        ", ", ") = 0", ") = -1 EPERM (Operation not permitted)", " <unfinished ...>", "<... openat resumed>", "NULL",
        "sa_family=0x2", "sin_port=", "0x80000", "|", "+++ exited with 0 +++", "+++ killed by SIGKILL +++",
        "--- SIGSYS {", " /* 701 in strace's PID NS */", "\n", "flags=0x", "msg_iov=[", "iov_len=99999999999999999999",
    ]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(_PIECES, max_size=25))
@pytest.mark.slow
def test_broken_lines_never_crash_it(trace: Path, pieces: list[str]) -> None:
    read(trace, "700 " + "".join(pieces))
    end = json.loads(trace.read_text().splitlines()[-1])
    assert end["ev"] == "summary"
    assert end["end"] != "error", end


@pytest.mark.parametrize(
    "line",
    [
        "700 openat(AT_FDCWD, /etc/passwd, 0) = 3",
        '700 openat(-100, "plain", 0) = 3',
        "700 nosuchcall(1) = 0",
        "700 openat(0x7ffd00, 0) = ",
        "garbage",
        '700 connect(5, {sa_family=0x2, sin_port="\\x01"}, 16) = 0',
        "700 <... openat resumed>) = 3",
    ],
)
def test_a_line_that_is_not_understood_makes_the_trace_incomplete(tmp_path: Path, line: str) -> None:
    assert read(tmp_path / "t", line)[1].unparsed == 1


def test_an_address_that_strace_could_not_read_is_counted_and_told(tmp_path: Path) -> None:
    events, completeness = read(tmp_path / "t", f"700 openat({CWD}, 0x7ffd1234, 0) = -1 EFAULT (Bad address)")
    assert completeness.unparsed == 1
    assert [(event.path, event.access) for event in only(events, Open)] == [("", "rw")]


def test_calls_cut_by_other_threads_are_put_together(tmp_path: Path) -> None:
    events, completeness = read(
        tmp_path / "t",
        "700 vfork( <unfinished ...>",
        f"701 execve({hexed(b'/bin/true')}, [{hexed(b'true')}], [] <unfinished ...>",
        "700 <... vfork resumed>) = 7 /* 701 in strace's PID NS */",
        "701 <... execve resumed>) = 0",
        f"701 openat({CWD}, {hexed(b'/a')}, 0 <unfinished ...>",
        f"700 openat({CWD}, {hexed(b'/b')}, 0) = 3<\\x2f\\x62>",
        "701 <... openat resumed>) = 3<\\x2f\\x61>",
        "701 +++ exited with 0 +++",
    )
    assert completeness.whole
    assert [(event.pid, event.path) for event in only(events, Open)] == [(700, "/b"), (701, "/a")]
    children = [event for event in only(events, Process) if event.pid == 701]
    assert {(child.ppid, child.exe) for child in children} == {(700, ""), (700, "/bin/true")}


def test_a_program_that_is_another_one_by_now_is_told_as_itself(tmp_path: Path) -> None:
    """strace tells `nohup` when the process is `sleep` already: /proc says what it became."""
    out = os.open(tmp_path / "t", os.O_WRONLY | os.O_CREAT)
    reader = Reader(out)
    with subprocess.Popen(["sleep", "60"]) as child:
        reader.line(BEGIN)
        for name in (b"nohup", b"sleep"):
            reader.line(f"{child.pid} execve({hexed(b'/usr/bin/' + name)}, [{hexed(name)}], []) = 0")
        reader.line(END)
        reader.finish("exited")
        child.kill()
    os.close(out)
    lines = [json.loads(line) for line in (tmp_path / "t").read_text().splitlines()]
    told = [(line["exe"].rpartition("/")[2], line["comm"]) for line in lines if line.get("why") == "exec"]
    assert told == [("nohup", "nohup"), ("sleep", "sleep")]


def test_a_memory_file_is_known_when_its_program_is_gone(tmp_path: Path) -> None:
    ask = hexed(b"/proc/self/fd/3")
    run = f"701 execve({ask}, [{ask}], []) = 0"
    born = ["700 vfork() = 701", "700 +++ exited with 0 +++", run, "701 +++ exited with 0 +++"]
    made = '700 memfd_create("\\x78", 0) = 3<\\x2f\\x6d>(deleted)'
    events, _ = read(tmp_path / "a", made, *born, end=False)
    assert [(e.path, e.asked) for e in only(events, Exec)] == [("/memfd:x (deleted)", "/proc/self/fd/3")]
    taken = f"700 openat({CWD}, {hexed(b'/bin/true')}, 0) = 3<\\x2f\\x78>"
    events, _ = read(tmp_path / "b", made, taken, *born, end=False)
    assert [e.path for e in only(events, Exec)] == ["/proc/self/fd/3"]


def test_the_own_program_and_folder_are_known_when_the_process_is_gone(tmp_path: Path) -> None:
    """Under load strace's lines are read long after the calls: /proc has nothing of the process any more."""
    gone = 1 << 23  # no process has such a number
    events, _ = read(
        tmp_path / "t",
        f"{gone} execve({hexed(b'/usr/bin/tool')}, [{hexed(b'tool')}], []) = 0",
        f"{gone} openat({CWD}, {hexed(b'/proc/self/exe')}, 0x1) = -1 ETXTBSY (Text file busy)",
        f"{gone} openat({CWD}, {hexed(b'/proc/self/cwd/a')}, 0x1) = 3",
        f"{gone} +++ exited with 0 +++",
    )
    assert [e.path for e in only(events, Open)] == ["/usr/bin/tool", "/work/a"]


def test_a_thread_that_dies_within_a_call_is_told(tmp_path: Path) -> None:
    events, completeness = read(
        tmp_path / "t",
        f"700 openat({CWD}, {hexed(b'/etc/shadow')}, 0 <unfinished ...>",
        "700 +++ killed by SIGKILL +++",
        end=False,
    )
    assert completeness.whole
    assert [event.path for event in only(events, Open)] == ["/etc/shadow"]


KILLED = "701 +++ killed by SIGKILL +++"
UNREAD = ["701 ???( <unfinished ...>", "701 <... ??? resumed>)                = ?"]


@pytest.mark.parametrize("said", [UNREAD, ["701 ???() = ?"], UNREAD[:1]])
def test_a_call_of_a_thread_that_is_being_killed_is_none(tmp_path: Path, said: list[str]) -> None:
    _, whole = read(tmp_path / "t", "700 fork() = 701", *said, KILLED)
    assert whole.whole
    for after in (["701 +++ exited with 0 +++"], ["701 sched_yield() = 0", KILLED], []):  # it was not killed
        _, cut = read(tmp_path / "t", "700 fork() = 701", *said, *after)
        assert cut.unparsed >= 1, after


def test_a_thread_that_is_killed_before_its_call_is_back_made_it(tmp_path: Path) -> None:
    line = f"701 <... openat resumed>{hexed(b'/etc/passwd')}, 0) = ? <unavailable>"
    events, whole = read(
        tmp_path / "t", "700 fork() = 701", f"701 openat({CWD},  <unfinished ...>", line, KILLED
    )
    assert whole.whole
    assert only(events, Open)[0].path == "/etc/passwd"


def test_the_backends_own_calls_are_left_out(tmp_path: Path) -> None:
    events, completeness = read(
        tmp_path / "t",
        f"600 openat({CWD}, {hexed(b'/newroot')}, 0) = 3",
        f"700 openat({CWD}, {hexed(b'/launcher')}, 0) = 3",
        "nonsense",
        BEGIN,
        f"600 openat({CWD}, {hexed(b'/newroot')}, 0) = 3",
        f"700 openat({CWD}, {hexed(b'/code')}, 0) = 3",
        begin=False,
    )
    assert completeness.whole
    assert [event.path for event in only(events, Open)] == ["/code"]


def test_who_has_not_ended_or_never_began_is_no_whole_trace(tmp_path: Path) -> None:
    assert read(tmp_path / "a", f"700 openat({CWD}, {hexed(b'/a')}, 0) = 3", end=False)[1].truncated
    assert read(tmp_path / "b", begin=False)[1].truncated


def test_what_a_connected_socket_was_connected_to_is_remembered(tmp_path: Path) -> None:
    inode = "\\x73\\x6f\\x63\\x6b\\x65\\x74\\x3a\\x5b\\x38\\x5d"  # socket:[8]
    events, _ = read(
        tmp_path / "t",
        f"700 socket(0x2, 0x2, 0) = 5<{inode}>",
        f'700 connect(5<{inode}>, {{sa_family=0x2, sin_port="\\x00\\x35", sin_addr="\\xc0\\x00\\x02\\x01"}}, 16) = 0',
        f'700 sendmsg(5<{inode}>, {{msg_name=NULL, msg_namelen=0, msg_iov=[{{iov_base="\\x61", iov_len=1}}],'
        " msg_iovlen=1, msg_controllen=0, msg_flags=0}, 0) = 1",
        f'700 sendto(5<{inode}>, "\\x61", 1, 0, NULL, 0) = 1',
    )
    assert [(e.call, e.addr, e.port, e.proto) for e in only(events, Net)] == [
        ("connect", "192.0.2.1", 53, "udp"),
        ("sendmsg", "192.0.2.1", 53, "udp"),
    ]


def test_a_flood_is_bounded_and_counted(tmp_path: Path) -> None:
    out = os.open(tmp_path / "t", os.O_WRONLY | os.O_CREAT)
    reader = Reader(out, live=False, events=100)
    reader.line(BEGIN)
    for number in range(5000):
        reader.line(f"700 openat({CWD}, {hexed(b'/f%d' % number)}, 0) = 3")
    reader.line(f"700 execve({hexed(b'/bin/sh')}, [], []) = 0")
    reader.line(END)
    reader.finish("exited")
    os.close(out)
    completeness, summary = read_trace(tmp_path / "t")
    assert completeness.dropped == 4900
    assert summary is not None
    assert summary.calls == {"openat": 5000, "execve": 1}


def test_lines_too_long_or_cut_are_no_lines(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\n" + b"x" * (strace_line.MAX_LINE + 10) + b"\nb\n\xff\ncut")
    source = os.open(tmp_path / "f", os.O_RDONLY)
    assert list(strace_line.lines(source)) == ["a", None, "b", None, None]
    os.close(source)


@given(st.binary(max_size=200))
def test_the_twins_agree(raw: bytes) -> None:
    assert bytes_of(text_of(raw)) == raw == bytes_of(text_of(raw))


def test_prctls_that_nobody_tells_are_the_same_ones() -> None:
    assert frozenset(PR_HARMLESS) == _HARMLESS_PRCTL


@pytest.mark.parametrize("arch", sorted(AUDIT_ARCH))
def test_what_strace_does_not_know_is_not_carried_out(arch: str) -> None:
    known = [name for name in strace.printed_calls(arch) if name not in ("fchmodat2", "listmount")]
    program = strace.filter_program(known, arch)
    native, there = AUDIT_ARCH[arch], numbers(arch)
    for name, number in there.items():
        got = answer(program, number, native, (2,))
        if name in ("fchmodat2", *table.UNSUPPORTED):
            assert got == RET_ENOSYS, name
        elif name == "listmount" or name not in table.SILENT | table.OBSERVED | table.REFUSED:
            assert got == RET_TRAP, name
        else:
            assert got == RET_ALLOW, name
    assert answer(program, there["openat"], 0x40000003) == RET_TRAP
    assert answer(program, 0x40000000 | there["openat"], native) == RET_TRAP
    assert answer(program, 99999, native) == RET_TRAP
    assert answer(program, there["clone"], native, (0x00800000,)) == RET_TRAP
    assert answer(program, there["seccomp"], native, (1, 8)) == RET_TRAP
    assert answer(program, there["socket"], native, (40,)) == RET_TRAP | 40
    assert answer(program, there["socket"], native, (17,)) == RET_TRAP | 17
