"""What gVisor tells of descriptors, links and names that no packet can hold."""

from __future__ import annotations

import json

import pytest

from gate.tracing.readers.gvisor import wire
from tests.unit.tracing.gvisor_packets import (
    CALL,
    CODE,
    LAUNCHER,
    begun,
    ended,
    gave,
    lines,
    logged,
    message,
    opens,
    packet,
    paths,
    raw,
)


@pytest.mark.parametrize("folder", ["/proc/self/fd/9", "/dev/fd/9", "/proc/7/task/7/fd/9"])
def test_a_path_through_a_descriptor_is_told_as_what_it_leads_to(folder: str) -> None:
    it = begun()
    it.packets([*opens(b"/work/home", 3), gave("dup2", 9, 3, 9)])
    out = it.packets(opens(folder.encode() + b"/.npmrc", 4))
    asked = f"{folder}/.npmrc".replace("/dev/fd", "/proc/self/fd")
    assert [(path, asked.replace("/dev/fd", "/proc/self/fd")) for path, _ in paths(it, out)] == [
        ("/work/home/.npmrc", asked)
    ]
    out = it.packets([raw("unlink"), raw("rename")])
    out += it.lines(logged(f"unlink(0x1 {folder}/.bashrc)", second=9))
    assert paths(it, out) == [("/work/home/.bashrc", None)]


def test_a_descriptor_means_what_was_given_last_and_children_inherit() -> None:
    it = begun()
    it.packets([*opens(b"/etc", 3), *opens(b"/work/home", 4)])
    it.packets([raw("fork"), packet(wire.CLONE, CODE, f3=9, f4=9)])
    it.packets([gave("fcntl", 3, 4, 0), packet(wire.PIPE, CODE, f2=b"", f5=4, f6=5)])
    it.packets([gave("socket", 6, 2, 2)])
    out = it.packets([*opens(b"/proc/self/fd/3/x", 8), *opens(b"/proc/self/fd/4", 8)])
    assert not paths(it, it.packets([gave("fcntl", 9, 4, 2)]))
    out += it.packets(opens(b"/proc/self/fd/6", 8))
    out += it.packets(opens(b"/proc/self/fd/3/passwd", 8, group=9))
    out += it.packets(opens(b"/proc/7/fd/3/y", 8, group=9))
    assert [path for path, _ in paths(it, out)] == [
        "/work/home/x", "/proc/self/fd/4", "/proc/self/fd/6", "/etc/passwd", "/work/home/y",
    ]  # fmt: skip


def test_a_call_that_only_reads_a_descriptors_flags_gives_none() -> None:
    it = begun()
    it.packets([*opens(b"/work/home", 3), gave("fcntl", 1, 3, 1), gave("openat", 0)])
    it.packets([packet(wire.RAW, CODE, f2=message(f1=2, f2=2), f4=CALL["openat"])])  # failed
    out = it.packets([*opens(b"/proc/self/fd/1", 5), *opens(b"/proc/self/fd/2", 5)])
    assert [path for path, _ in paths(it, out)] == ["/proc/self/fd/1", "/proc/self/fd/2"]


_RIGHTS = (
    "sendmsg(0x4 socket:[1], 0x7e {name=0x0, namelen=0, iovecs=0x7e {base=0xa5, len=1}, "
    "control={0x7e {level=SOL_SOCKET, type=SCM_RIGHTS, length=20, content: 3}}, flags=0}, 0x0)"
)


@pytest.mark.parametrize(
    ("call", "sent", "unparsed"),
    [
        ("sendmsg", _RIGHTS, 1),
        ("sendmsg", _RIGHTS.replace("RIGHTS", "CREDENTIALS"), 0),
        ("sendmmsg", "sendmmsg(0x4 socket:[1], 0x7e, 0x2, 0x4000)", 1),
        ("sendmmsg", "sendmmsg(0x6 socket:[1], 0x7e, 0x2, 0x4000)", 0),
        ("sendmmsg", "sendmmsg(0x5 socket:[1], 0x7e, 0x2, 0x4000)", 1),
        ("sendmmsg", "sendmmsg(0x9 socket:[1], 0x7e, 0x2, 0x4000)", 1),
        ("sendmsg", _RIGHTS.replace("0x4", "0x6"), 1),
    ],
)
def test_descriptors_that_were_sent_to_somebody_make_paths_through_them_uncertain(
    call: str, sent: str, unparsed: int
) -> None:
    it = begun()
    it.packets([gave("socket", 6, 2, 2), gave("socket", 5, 2, 2), gave("socket", 9, 2, 2)])
    pair = packet(wire.SOCKETPAIR, CODE, f2=b"", f7=4, f8=5)
    it.packets([pair, gave("accept4", 9, 3)])  # numbers that were an Internet socket's
    it.packets([*opens(b"/work/home", 3), *opens(b"/proc/self/fd/7/.npmrc", 8), raw(call)])
    it.lines(logged(sent))
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] == unparsed


_BEFORE = logged("openat(AT_FDCWD /, 0x1 /opt, O_RDONLY, 0o0)") + logged("execve(0x1 /bin/x, 0x2 [], 0x3 [])")
"""What the log has for ``begun``."""


@pytest.mark.parametrize("line_first", [True, False])
def test_a_path_that_no_packet_can_hold_is_taken_from_the_log(line_first: bool) -> None:
    it = begun()
    line = logged("openat(AT_FDCWD /work/tree, 0x7f /tmp/\ufffdx, O_WRONLY|O_CREAT, 0o600)")
    lost = raw("openat", 0, 0x7F, 0o101, 0o600)
    it.lines(_BEFORE)
    out = it.packets([*opens(b"/tmp/a", 3), lost])
    out += it.lines(logged("openat(AT_FDCWD /work/tree, 0x7f /tmp/a, O_RDONLY, 0o0)"))
    if line_first:
        out += it.lines(line) + it.packets([gave("openat", 4)])
    else:
        out += it.packets([gave("openat", 4)]) + it.lines(line)
    out += it.packets(opens(b"/tmp/b", 5))
    out += it.lines(logged("openat(AT_FDCWD /work/tree, 0x7f /tmp/b, O_RDONLY, 0o0)"))
    told = [one for one in lines(it, out) if one["ev"] == "open"]
    assert sorted(one["path"] for one in told) == ["/tmp/a", "/tmp/b", "/tmp/\ufffdx"]
    (found,) = [one for one in told if "\ufffd" in one["path"]]
    assert (found["access"], found["mode"]) == ("w", 0o600)
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] == 0


def test_an_execution_that_no_packet_can_hold_is_taken_from_the_log() -> None:
    it = begun()
    it.lines(_BEFORE)
    call = r'execve(0x7e /bin/sh, 0x7f ["sh", "-c", "a\xff, \"b\"\n\u2028"], 0x7e ["PATH=/bin", "A=[]"])'
    out = it.packets([raw("execve", 0x7E), packet(wire.RAW, CODE, f2=message(f1=0), f4=CALL["execve"])])
    out += it.lines(logged(call))
    told = [one for one in lines(it, out) if one["ev"] in ("exec", "process")]
    assert told[-2]["path"] == "/bin/sh"
    assert told[-2]["argv"] == ["sh", "-c", 'a\\xff, "b"\\x0a\u2028']
    assert told[-2]["env"] == {"PATH": "/bin"}
    assert told[-1]["exe"] == "/bin/sh"
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] == 0


def test_a_line_of_another_call_is_not_taken_for_it() -> None:
    """Beginnings are counted in either; the address of the text must be the same, too."""
    it = begun()
    it.packets([raw("openat", 0, 0x7F), raw("getpid")])
    it.lines(_BEFORE + logged("openat(AT_FDCWD /work/tree, 0x7e /tmp/b, O_RDONLY, 0o0)"))
    told, end = lines(it, it.finish(whole=True))
    assert told["path"] == ""
    assert end["unparsed"] == 1


def test_what_neither_packet_nor_log_can_tell_is_counted() -> None:
    it = begun()
    it.lines(_BEFORE)
    it.packets([raw("openat", 0, 1), raw("execve", 1), raw("getpid")])
    it.lines(logged("openat(AT_FDCWD /, 0x1 a, O_RDONLY, 0o0, 0x2 b, O_RDONLY, 0o0, 0x7 c)"))
    it.lines(logged("execve(0x1 /bin/sh, 0x2 [unquoted], 0x3 [])"))
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] == 2


@pytest.mark.parametrize("maker", [CODE, LAUNCHER])
def test_an_open_through_a_link_is_told_as_what_it_led_to(maker: int) -> None:
    it = begun()
    call = "symlink(0x1 /work/home/.npmrc, 0x2 /tmp/n)"
    out = it.packets([raw("openat"), packet(wire.OPEN, CODE, f6=b"/tmp/n")])
    out += it.lines(ended(call, group=maker)) + it.round() + it.round() + it.round()
    opens = [line for line in lines(it, out) if line["ev"] == "open"]
    assert [(line["path"], line.get("asked")) for line in opens] == [
        ("/tmp/n", None),
        ("/work/home/.npmrc", "/tmp/n"),
    ]


def test_an_open_through_proc_is_told_as_what_it_led_to() -> None:
    it = begun()
    path = b"/proc/self/root/work/home/.pypirc"
    (told,) = lines(it, it.packets([raw("openat"), packet(wire.OPEN, CODE, f6=path)]))
    assert (told["path"], told["asked"]) == ("/work/home/.pypirc", path.decode())


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("chmod(0x1 /tmp/x, S_ISUID|0o755)", 0o4755),
        ("chmod(0x1 /tmp/x, S_ISUID|S_ISGID|S_ISVTX|0o777)", 0o7777),
        ("mkdir(0x1 /tmp/x, S_ISVTX|0o777)", 0o1777),
        ("mknodat(AT_FDCWD /tmp, 0x1 x, S_IFIFO|0o644, 0x0)", 0o10644),
        ("chmod(0x1 /tmp/x, 0o644)", 0o644),
    ],
)
def test_modes_with_names(text: str, mode: int) -> None:
    it = begun()
    (told,) = lines(it, it.lines(logged(text)))
    assert (told["path"], told["mode"]) == ("/tmp/x", mode)
    assert it.unparsed == 0
