"""gVisor's packets and log lines to trace lines: what is told, and what is counted when it is missing."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.tracing.codec import read_trace
from gate.tracing.readers.gvisor import log, session, wire
from gate.tracing.readers.gvisor.translator import Translator
from tests.unit.tracing.gvisor_packets import (
    CALL,
    CODE,
    LAUNCHER,
    begun,
    ended,
    lines,
    logged,
    message,
    opens,
    packet,
    paths,
    raw,
)


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


def test_lines_of_two_threads_that_come_joined_are_two() -> None:
    it = begun()
    it.packets([raw("unlink"), raw("mkdir")])
    idle = logged("newfstatat(AT_FDCWD /work/tree, 0x1 /tmp/none, 0x2, 0x0) = 0 (0x0) (2µs)", way="X")
    went = ended("chdir(0x1 /tmp)")
    brace = logged('unlink(0x1f /tmp/x}{"msg":")'), logged("mkdir(0x1 m, 0o755)", second=1)
    joined = (
        b"".join(line.rstrip(b"\n").replace(b'": "', b'":"') for line in (idle, went, *brace)) + 4 * b"\n"
    )
    out = []
    for at in range(0, len(joined), 7):
        out += it.lines(joined[at : at + 7])
    assert [path for path, _ in paths(it, out)] == ['/tmp/x}{"msg":"', "/tmp/m"]
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] == 0


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
