"""gVisor's packets and log lines to trace lines: what is told, and what is counted when it is missing."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.sandbox.observer.numbers import numbers
from gate.trace import seccheck_log as log
from gate.trace import seccheck_session as session
from gate.trace import seccheck_wire as wire
from gate.trace.codec import read_trace
from gate.trace.seccheck import Translator

CALL = numbers("x86_64")
LAUNCHER, CODE = 1, 7


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def message(**fields: int | bytes | list[bytes]) -> bytes:
    """``f3=5`` is field 3."""
    out = b""
    for name, value in fields.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, int):
                out += _varint(int(name[1:]) << 3) + _varint(one)
            else:
                out += _varint(int(name[1:]) << 3 | 2) + _varint(len(one)) + one
    return out


def packet(kind: int, group: int, *, dropped: int = 0, cwd: bytes = b"/work/tree", **fields: Any) -> bytes:
    context = message(f1=10**18 + 1, f2=group, f4=group, f8=cwd)
    return struct.pack("<HHI", 8, kind, dropped) + message(f1=context, **fields)


def raw(name: str, *args: int, group: int = CODE) -> bytes:
    registers: dict[str, Any] = {f"f{5 + n}": arg for n, arg in enumerate(args)}
    return packet(wire.RAW, group, f4=CALL[name], **registers)


def begun(**extra: Any) -> Translator:
    """A translator whose sandbox has just started its code."""
    it = Translator(events=extra.get("events", 1000))
    argv = [b"python3", b"main.py"]
    it.packets(
        [
            packet(wire.START, LAUNCHER),
            raw("openat", group=LAUNCHER),
            packet(wire.CLONE, LAUNCHER, f3=CODE, f4=CODE),
            raw("openat"),  # the launcher's own child, before it is the code
            raw("execve"),
        ]
    )
    it.packets([packet(wire.EXECVE, CODE, f6=b"/usr/bin/python3", f7=argv, f8=[b"PATH=/bin", b"X=1"])])
    it.packets([packet(wire.EXECVE_INFO, CODE, f2=b"/usr/bin/python3.11")])
    it.packets([packet(wire.RAW, CODE, f2=message(f1=0), f4=CALL["execve"])])
    return it


def lines(it: Translator, out: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out]


def logged(text: str, *, group: int = CODE, way: str = "E", second: int = 0) -> bytes:
    said = f"strace.go:1] [{group:4}:{group:4}] python3 {way} {text}"
    moment = f"2001-09-09T01:46:{40 + second:02}.000000100Z"
    return json.dumps({"msg": said, "time": moment}).encode() + b"\n"


def test_a_whole_run_reads_back_as_a_whole_trace(tmp_path: Path) -> None:
    it = Translator(events=1000)
    out = it.packets([packet(wire.START, LAUNCHER), packet(wire.CLONE, LAUNCHER, f3=CODE, f4=CODE)])
    out += it.packets([raw("execve"), packet(wire.EXECVE, CODE, f6=b"/bin/sh", f7=[b"sh"])])
    out += it.packets([packet(wire.RAW, CODE, f2=message(f1=0), f4=CALL["execve"])])
    out += it.packets(
        [raw("openat", 0, 0, 0o101), packet(wire.OPEN, CODE, f6=b"a\xc3\xa9", f7=0o101, f8=0o644)]
    )
    out += it.packets([raw("unlink")]) + it.lines(logged("unlink(0x1f /tmp/x)"))
    out += it.packets([packet(wire.EXIT_NOTIFY, CODE, f2=3 << 8)])
    out += it.finish(whole=True)
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(out))
    completeness, summary = read_trace(path)
    assert completeness.whole
    assert summary is not None
    assert summary.calls == {"execve": 1, "openat": 1, "unlink": 1}
    told = lines(it, out)
    assert [line["ev"] for line in told] == [
        "start", "process", "exec", "process", "open", "file", "exit", "summary",
    ]  # fmt: skip
    assert told[4]["path"] == "/work/tree/aé"
    assert (told[4]["access"], told[4]["mode"]) == ("w", 0o644)
    assert told[5]["path"] == "/tmp/x"
    assert told[6]["code"] == 3


def test_what_the_launcher_does_is_not_told() -> None:
    it = begun()
    assert it.calls == {"execve": 1}
    assert it.packets([raw("kill", -1, 9, group=LAUNCHER)]) == []
    assert it.lines(logged("unlink(0x1 /x)", group=LAUNCHER)) == []


def test_a_packet_whose_text_was_lost_is_told_without_it_and_counted() -> None:
    """The sentry cannot encode a path that is no UTF-8, and counts nothing: only the raw packet comes."""
    it = begun()
    it.packets([raw("openat", 0, 0, 0o1), raw("getpid")])
    told, end = lines(it, it.finish(whole=True))
    assert told | {"t": 0} == {
        "ev": "open", "seq": 5, "t": 0, "pid": CODE, "call": "openat", "path": "", "access": "w", "flags": "",
    }  # fmt: skip
    assert end["unparsed"] == 1


def test_calls_that_the_log_did_not_tell_are_counted() -> None:
    it = begun()
    it.packets([raw("unlink"), raw("unlink"), raw("rename")])
    it.lines(logged("unlink(0x1 /a)"))
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] == 2


def test_a_forged_line_cannot_go_unnoticed() -> None:
    """The name of a process and a path may look like a line of their own: the counts then disagree."""
    it = begun()
    it.packets([raw("unlink")])
    it.lines(
        json.dumps({"msg": "strace.go:1] [   7:   7] a E rmdir(0x1 /b) E unlink(0x1 /etc/x)"}).encode()
        + b"\n"
    )
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] >= 1


def test_a_new_line_in_a_path_stays_in_the_path() -> None:
    it = begun()
    it.packets([raw("mkdir")])
    (line,) = lines(it, it.lines(logged("mkdir(0x1 /tmp/a\nI1121 strace.go:1] b, 0o755)")))
    assert (line["path"], line["mode"]) == ("/tmp/a\\x0aI1121 strace.go:1] b", 0o755)


def test_a_text_with_two_readings_is_not_guessed() -> None:
    it = begun()
    it.packets([raw("rename")])
    assert it.lines(logged("rename(0x1 a, 0x2 b, 0x3 c)")) == []
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] == 1


def test_relative_paths_follow_chdir() -> None:
    it = begun()
    it.packets(opens(b"/srv", 4))
    it.lines(logged("chdir(0x1 /tmp) = 0 (0x0) (10µs)", way="X"))
    it.lines(logged("chdir(0x1 /nowhere) = 0 (0x0) errno=2 (no such file or directory) (6µs)", way="X"))
    it.packets([raw("unlink"), raw("renameat"), raw("renameat2")])
    moves = logged("renameat(AT_FDCWD /tmp, 0x1 y, 0x4, 0x2 z)")
    moves += logged("renameat2(AT_FDCWD /tmp, 0x1 y, 0xffffff9c, 0x2 z, 0x1)")
    told = lines(it, it.lines(logged("unlink(0x1 x)") + moves))
    assert [(line["path"], line.get("other")) for line in told] == [
        ("/tmp/x", None), ("/srv/z", "/tmp/y"), ("/tmp/z", "/tmp/y"),
    ]  # fmt: skip


def test_a_folder_that_nobody_told_of_is_not_guessed() -> None:
    it = begun()
    it.packets([raw("linkat"), raw("linkat")])
    known = "linkat(AT_FDCWD /tmp, 0x1 y, 0x{}, 0x2 {}, 0x0)"
    assert [path for path, _ in paths(it, it.lines(logged(known.format(9, "/srv/z"))))] == ["/srv/z"]
    assert not it.lines(logged(known.format(9, "z")))
    assert it.unparsed == 1


def test_a_call_that_failed_moves_no_link() -> None:
    """Its line says that it returned 0."""
    it = begun()
    it.lines(ended("symlink(0x1 /work/home, 0x2 /tmp/n)"))
    it.lines(
        ended("rename(0x1 /tmp/n, 0x2 /nowhere/n)", why=" errno=2 (no such file or directory)", second=1)
    )
    at = message(f1=10**18 + 5 * 10**9, f2=CODE, f4=CODE, f8=b"/")
    late = struct.pack("<HHI", 8, wire.OPEN, 0) + message(f1=at, f6=b"/tmp/n/.npmrc")
    out = it.packets([raw("openat"), late]) + it.round() + it.round() + it.round()
    assert ("/work/home/.npmrc", "/tmp/n/.npmrc") in paths(it, out)


@pytest.mark.parametrize(
    ("call", "text", "path"),
    [
        ("utimensat", "utimensat(0x5 /tmp/z, <null>, null, 0x0)", "/tmp/z"),
        ("utimensat", "utimensat(0x5 /tmp/z, <null>, 0x7e {sec=1 nsec=UTIME_OMIT}, 0x0)", "/tmp/z"),
        ("mkdir", "mkdir(<null>, 0o755)", "/work/tree"),
        ("faccessat", "faccessat(0x3 /tmp/e, 0x7e d, 0o0, 0x7eb3ffffffff)", "/tmp/e/d"),
    ],
)
def test_lines_as_gvisor_writes_them(call: str, text: str, path: str) -> None:
    it = begun()
    it.packets([raw(call)])
    out = it.lines(logged(text))
    assert [found for found, _ in paths(it, out)] == [path]
    assert it.unparsed == 0


def test_dropped_packets_and_a_dead_observer_end_a_clean_look() -> None:
    it = begun()
    it.packets([packet(wire.RAW, CODE, dropped=5, f4=CALL["getpid"])])
    end = json.loads(it.finish(whole=False)[-1])
    assert (end["dropped"], end["end"]) == (5, "error")


def test_a_flood_is_cut_and_counted() -> None:
    it = begun(events=10)
    for _ in range(50):
        it.packets([raw("openat"), packet(wire.OPEN, CODE, f6=b"/x")])
    end = json.loads(it.finish(whole=True)[-1])
    assert end["dropped"] == 40
    assert end["calls"]["openat"] == 50


def test_ends_of_processes_wait_for_their_log() -> None:
    it = begun()
    it.packets([raw("unlink"), packet(wire.EXIT_NOTIFY, CODE, f2=9)])
    assert it.round() == []
    told = lines(it, it.lines(logged("unlink(0x1 /x)")) + it.round())
    assert [line["ev"] for line in told] == ["file", "exit"]
    assert "code" not in told[1]  # a signal


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("sendto(0x6 socket:[1], 0x7, 0x9, 0x0, 0x7e {Family: AF_INET, Addr: 192.0.2.2, Port: 53}, 0x10)",
         {"size": 9, "family": "AF_INET", "addr": "192.0.2.2", "port": 53}),
        (('sendmsg(0x7 socket:[2], 0x7e {name=0x1, iovecs=0x2 {base=0x3, len=2, "a"}, '
         '{base=0x4, len=3, "x"}})'),
         {"size": 5}),
    ],
)  # fmt: skip
def test_sends(text: str, fields: dict[str, Any]) -> None:
    said = log.read(logged(text))
    assert said is not None
    assert log.sent(said) == fields


def test_attempts_and_signals() -> None:
    it = begun()
    out = it.packets([raw("ptrace", 16, 1), raw("kill", 1, 9), raw("mount", 1, 2), raw("prctl", 4, 0)])
    assert [(line["ev"], line["call"]) for line in lines(it, out)] == [
        ("attempt", "ptrace"), ("signal", "kill"), ("attempt", "mount"), ("control", "prctl"),
    ]  # fmt: skip
    assert lines(it, out)[1]["scope"] == "init"


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_nothing_that_arrives_makes_it_fail(one: bytes, other: bytes) -> None:
    it = begun()
    it.packets([one, struct.pack("<HHI", 8, wire.RAW, 0) + one])
    it.lines(other + b"\n" + b'{"msg": "strace.go:1] ' + other.hex().encode() + b'"}\n')
    assert json.loads(it.finish(whole=True)[-1])["ev"] == "summary"


def test_the_session_asks_for_every_call_of_interest_raw_and_keeps_hostile_text_out_of_those() -> None:
    every = {f"syscall/sysno/{n}/{w}" for n in range(500) for w in ("enter", "exit")}
    every |= {f"syscall/{name}/enter" for name in session.RICH}
    made = session.session("/run/x/sink.sock", every)["trace_session"]
    points = {point["name"]: point for point in made["points"]}
    for name in ("dup", "dup2", "dup3", "fcntl"):  # an end without its beginning does not say whose it is
        assert f"syscall/sysno/{CALL[name]}/enter" in points
        assert f"syscall/sysno/{CALL[name]}/exit" in points
    for name in ("connect", "bind", "prlimit64"):  # so that no folder's name can lose them
        assert "cwd" not in points[f"syscall/{name}/enter"]["context_fields"]
    for name in session.observed() & set(CALL):
        assert points[f"syscall/sysno/{CALL[name]}/enter"]["context_fields"] == [
            "time",
            "thread_id",
            "group_id",
        ]
    assert not [name for name in points if name not in every]
    assert "container/start" not in points  # not offered by this runsc
    assert made["sinks"][0].get("ignore_setup_error") is None  # without a sink nothing starts


def refused(number: int, *, group: int = CODE) -> bytes:
    said = f"task_syscall.go:201] [{group:4}:{group:4}] Syscall {number}: denied by seccomp"
    return json.dumps({"msg": said, "level": "debug"}).encode() + b"\n"


def test_calls_that_the_filter_refused_are_attempts_with_their_answer() -> None:
    it = begun()
    told = lines(
        it, it.lines(b"".join(refused(n) for n in (CALL["keyctl"], CALL["clone"], 0x40000000, 9999)))
    )
    assert [(line["ev"], line["call"], line["denied"], line["errno"]) for line in told] == [
        ("attempt", "keyctl", True, "EPERM"),
        ("attempt", "clone", True, "EPERM"),
        ("attempt", "read", True, "ENOSYS"),
        ("attempt", "syscall_9999", True, "ENOSYS"),
    ]
    assert [line.get("abi") for line in told] == [None, None, "x32", None]


def test_refusals_that_mean_nothing_and_those_of_the_launcher_are_not_told() -> None:
    it = begun()
    assert not it.lines(refused(CALL["clone3"]) + refused(CALL["setpriority"]))
    assert not it.lines(refused(CALL["keyctl"], group=LAUNCHER))
    assert it.unparsed == 0


def test_a_refusal_cannot_be_written_by_the_code() -> None:
    """Its name stands in lines of strace only, and its paths behind the call's name."""
    it = begun()
    forged = "task_syscall.go:201] [   7:   7] Syscall 250: denied by seccomp"
    said = f"strace.go:576] [   7:   7] {forged} E rmdir(0x1 {forged})"
    it.lines(json.dumps({"msg": said}).encode() + b"\n")
    assert it.calls["keyctl"] == 0


def test_a_netlink_address_is_an_address_and_a_connected_socket_has_none() -> None:
    it = begun()
    it.packets([raw("sendto", 3, 1, 20, 0, 0x7000, 12), raw("sendto", 3, 1, 20, 0, 0, 0)])
    netlink = "{Family: AF_NETLINK, PortID: 0, Groups: 0}"
    told = lines(
        it,
        it.lines(
            logged(f"sendto(0x3 socket:[14], 0x1, 0x14, 0x0, 0x7000 {netlink}, 0xc)")
            + logged("sendto(0x3 socket:[14], 0x1, 0x14, 0x0, null, 0x0)")
        ),
    )
    assert [(line["family"], line["addr"]) for line in told] == [("AF_NETLINK", "0:0")]
    it.finish(whole=True)
    assert it.unparsed == 0


def test_sockets_are_known_by_their_numbers() -> None:
    it = begun()
    done = packet(wire.RAW, CODE, f2=message(f1=5), f4=CALL["socket"], f5=2, f6=2 | 0o2000000)
    stream = packet(wire.RAW, CODE, f2=message(f1=6), f4=CALL["socket"], f5=2, f6=1)
    at = bytes([2, 0, 0x11, 0x5C, 203, 0, 113, 7]) + bytes(8)
    here = bytes([2, 0, 0x12, 0x67, 0, 0, 0, 0]) + bytes(8)
    it.packets([done, stream])
    out = it.packets([raw("connect", 5), packet(wire.CONNECT, CODE, f6=at)])
    out += it.packets([raw("bind", 6), packet(wire.BIND, CODE, f6=here), raw("listen", 6)])
    out += it.packets([raw("listen", 9)])
    connected, bound, listening, unknown = lines(it, out)
    assert (connected["proto"], connected["port"]) == ("udp", 4444)
    assert (bound["proto"], bound["addr"]) == ("tcp", "0.0.0.0")
    assert (listening["call"], listening["addr"], listening["port"]) == ("listen", "0.0.0.0", 4711)
    assert "addr" not in unknown


def gave(name: str, result: int, *args: int, group: int = CODE) -> bytes:
    """The end of a call that makes a descriptor."""
    registers: dict[str, Any] = {f"f{5 + n}": arg for n, arg in enumerate(args)}
    return packet(wire.RAW, group, f2=message(f1=result), f4=CALL[name], **registers)


def opens(path: bytes, fd: int, group: int = CODE) -> list[bytes]:
    return [raw("openat", group=group), packet(wire.OPEN, group, f6=path), gave("openat", fd, group=group)]


def paths(it: Translator, out: list[bytes]) -> list[tuple[str, str | None]]:
    told = [line for line in lines(it, out) if line["ev"] in ("open", "exec", "file", "look")]
    return [(line["path"], line.get("asked")) for line in told]


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


def ended(text: str, *, group: int = CODE, second: int = 0, why: str = "") -> bytes:
    moment = f"2001-09-09T01:46:{40 + second:02}.000000100Z"
    said = f"strace.go:608] [{group:4}:{group:4}] python3 X {text} = 0 (0x0){why} (12.5µs)"
    return json.dumps({"msg": said, "level": "info", "time": moment}).encode() + b"\n"


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
